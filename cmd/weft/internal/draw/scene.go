package draw

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// scene is a panel that is laid out: everything in it has its place, counted
// from the panel's own corner.
type scene struct {
	title  string
	frames []frame
	lines  []line
	boxes  []box
	words  []word
	rows   []margin // left of the picture: what a row is
	notes  []margin // right of it: what the links of a gap are
	w, h   float64
}

// frame is a box that other things stand in.
type frame struct {
	x, y, w, h float64
	title      string
	stack      bool // more of these lie behind it
	odd        bool // it differs from its like
	foot       bool // the title stands below what is in it
}

// box is one node, or several that are equal.
type box struct {
	x, y, w, h float64
	paint      paint
	label, sub string
	tip        string
	stack      bool
	down       bool
	size       float64 // of the label; 0 is the usual
}

// line is a link, or a bundle of links. Two points with an arch are a curve
// that hangs below (or, if negative, stands above) them by so much.
type line struct {
	points []point
	arch   float64
	family family
	rate   sim.Rate
	down   bool
	odd    bool
	label  string
	tip    string
	faint  bool // one of many
	arrow  bool // it leads out of the picture, downwards
}

type point struct{ x, y float64 }

// word is a text of its own.
type word struct {
	x, y float64
	text string
	font font
}

// shift moves all but the margins to the right.
func (s *scene) shift(by float64) {
	for i := range s.frames {
		s.frames[i].x += by
	}
	for i := range s.boxes {
		s.boxes[i].x += by
	}
	for i := range s.words {
		s.words[i].x += by
	}
	for i := range s.lines {
		for k := range s.lines[i].points {
			s.lines[i].points[k].x += by
		}
	}
}

// margin is a text beside the picture at a height.
type margin struct {
	y      float64
	lines  []string
	family family
	line   bool // of links: it has their colour
}

const (
	leftGutter  = 112.0
	rightGutter = 266.0
	noteLetters = 32
	letterSize  = 12.0
	rowSize     = 12.0
)

// write draws the scene with its corner at x, y. The margins lie outside.
func (s *scene) write(c *canvas, x, y float64) {
	fmt.Fprintf(c, "<g transform=\"translate(%s %s)\">\n", xy(x), xy(y))
	for _, f := range s.frames {
		f.write(c)
	}
	for _, l := range s.lines {
		l.write(c)
	}
	for _, b := range s.boxes {
		b.write(c)
	}
	for _, l := range s.lines {
		l.mark(c)
	}
	for _, w := range s.words {
		c.text(w.x, w.y, w.text, w.font)
	}
	for _, m := range s.rows {
		for i, t := range m.lines {
			c.text(-leftGutter+12, m.baseline(i), t, font{size: rowSize, color: faint})
		}
	}
	for _, m := range s.notes {
		for i, t := range m.lines {
			f := font{size: letterSize, color: ink}
			if i > 0 {
				f.color = faint
			}
			c.text(s.w+30, m.baseline(i), t, f)
		}
		if m.line && len(m.lines) > 0 {
			c.rect(s.w+18, m.baseline(0)-letterSize+2, 5, 15*float64(len(m.lines))-2, 2, m.family.color(), stroke{}, "")
		}
	}
	c.WriteString("</g>\n")
}

func (m margin) baseline(i int) float64 {
	return m.y + 4 + 15*(float64(i)-float64(len(m.lines)-1)/2)
}

func (f frame) write(c *canvas) {
	edge := stroke{color: hair, width: 1.2}
	if f.odd {
		edge = stroke{color: alarm, width: 2}
	}
	if f.stack {
		c.rect(f.x+10, f.y+10, f.w, f.h, 8, "#eef1f4", edge, "")
		c.rect(f.x+5, f.y+5, f.w, f.h, 8, "#f3f5f7", edge, "")
	}
	c.rect(f.x, f.y, f.w, f.h, 8, "#f8fafb", edge, "")
	color := ink
	if f.odd {
		color = alarm
	}
	y := f.y + 17
	if f.foot {
		y = f.y + f.h - 9
	}
	c.text(f.x+10, y, fit(f.title, letterSize, f.w-14), font{size: letterSize, color: color, bold: true})
}

func (b box) write(c *canvas) {
	edge := stroke{color: b.paint.edge, width: 1.2}
	fill := b.paint.fill
	if b.down {
		edge, fill = stroke{color: alarm, width: 1.8, dash: "4 3"}, "#ffffff"
	}
	r := min(5, b.h/4)
	if b.stack {
		c.rect(b.x+6, b.y+6, b.w, b.h, r, fill, edge, "")
		c.rect(b.x+3, b.y+3, b.w, b.h, r, fill, edge, "")
	}
	c.rect(b.x, b.y, b.w, b.h, r, fill, edge, b.tip)
	size := b.size
	if size == 0 {
		size = letterSize
	}
	f := font{size: size, color: ink, anchor: "middle"}
	mid, sub := b.y+b.h/2, b.sub
	if b.down && sub == "" && b.h >= 28 {
		sub = "down"
	}
	if sub == "" {
		c.text(b.x+b.w/2, mid+size*0.36, fit(b.label, size, b.w-2), f)
		return
	}
	c.text(b.x+b.w/2, mid-2, fit(b.label, size, b.w-2), f)
	f.size, f.color = 10, faint
	if b.down {
		f.color = alarm
	}
	c.text(b.x+b.w/2, mid+11, fit(sub, 10, b.w-2), f)
}

func (l line) write(c *canvas) {
	s := stroke{color: l.family.color(), width: thickness(l.rate)}
	if l.down {
		s = stroke{color: alarm, width: 1.6, dash: "4 4"}
	}
	if l.faint {
		s.opacity = 0.5
	}
	c.path(l.data(), s, l.tip)
	if l.arrow {
		end := l.points[len(l.points)-1]
		w := s.width/2 + 4
		c.path(fmt.Sprintf("M%s %sh%sl%s 8z", xy(end.x-w), xy(end.y), xy(2*w), xy(-w)), stroke{fill: s.color}, "")
	}
	if l.odd && !l.down {
		c.path(l.data(), stroke{color: alarm, width: max(1, s.width/3), dash: "5 4"}, "")
	}
}

// data is the line as SVG path data.
func (l line) data() string {
	p := l.points
	if l.arch != 0 {
		// A cubic curve reaches three quarters of the depth of its handles.
		d := l.arch * 4 / 3
		return fmt.Sprintf("M%s %sC%s %s %s %s %s %s", xy(p[0].x), xy(p[0].y),
			xy(p[0].x), xy(p[0].y+d), xy(p[1].x), xy(p[1].y+d), xy(p[1].x), xy(p[1].y))
	}
	var b strings.Builder
	for i, q := range p {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(xy(q.x) + " " + xy(q.y))
	}
	return b.String()
}

// mark writes the label of a line on its middle.
func (l line) mark(c *canvas) {
	if l.label == "" {
		return
	}
	a, b := l.points[0], l.points[len(l.points)-1]
	x, y := (a.x+b.x)/2, (a.y+b.y)/2+l.arch
	f := font{size: 11, color: ink, anchor: "middle"}
	if l.odd || l.down {
		f.color, f.bold = alarm, true
	}
	w := textWidth(l.label, 11) + 4
	c.rect(x-w/2, y-8, w, 16, 4, paper, stroke{}, "")
	c.text(x, y+4, l.label, f)
}
