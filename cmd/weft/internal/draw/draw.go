package draw

import (
	"fmt"
	"io"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Options are what a picture says beside what the machine itself does. The
// zero Options are fine.
type Options struct {
	Title     string   // "" is the name of the machine, and how many hosts it has
	Bisection sim.Rate // if it is known already; 0 has it worked out
}

// SVG writes a picture of the machine. The text depends on the machine and the
// options alone. An error is that of the writer, or of a machine without
// nodes.
func SVG(w io.Writer, m *topology.Machine, o Options) error {
	if len(m.Graph.Nodes) == 0 {
		return fmt.Errorf("draw %s: it has no nodes", m.Name)
	}
	if o.Title == "" {
		o.Title = m.Name
		if m.Hosts > 1 {
			o.Title = fmt.Sprintf("%s × %s", count(int(m.Hosts)), m.Name)
		}
	}
	if o.Bisection == 0 {
		o.Bisection = m.Bisection()
	}
	lv := split(m)
	p := page{Options: o, levels: lv, scenes: lv.scenes()}
	c := p.draw()
	if _, err := w.Write(c.Bytes()); err != nil {
		return fmt.Errorf("draw %s: %w", m.Name, err)
	}
	return nil
}

// mostPanels is how many different things of a level are drawn in full.
const mostPanels = 3

// scenes lays out the panels: the network, the domains, the units.
func (lv *levels) scenes() []*scene {
	var out []*scene
	if lv.tiers > 0 || len(lv.domains) > 1 {
		out = append(out, lv.network())
	}
	domains := classes(len(lv.domains), func(i int) uint64 { return lv.domains[i].like })
	for i, c := range domains {
		if i == mostPanels {
			break
		}
		if s := lv.around(c.members[0], lv.called(c.members, "domain")); s != nil {
			out = append(out, s)
		}
	}
	units := classes(len(lv.units), func(i int) uint64 { return lv.units[i].like })
	drawn := 0
	for _, c := range units {
		if len(lv.units[c.members[0]].nodes) < 2 {
			continue // one GPU by itself has been seen
		}
		if drawn++; drawn > mostPanels {
			break
		}
		title := lv.called(c.members, "unit")
		switch gpus, mesh := lv.made(c.members[0]); {
		case gpus <= mostDetail:
			out = append(out, lv.detailed(c.members[0], title))
		case mesh && gpus <= mostRound:
			out = append(out, lv.round(c.members[0], title))
		default:
			out = append(out, lv.ego(c.members[0], title))
		}
	}
	return out
}

// called is the title of a panel that shows one of several equal parts.
func (lv *levels) called(members []int, level string) string {
	first, all := lv.units[members[0]], len(lv.units)
	if level == "domain" {
		first, all = lv.domains[members[0]], len(lv.domains)
	}
	what := lv.noun(first)
	switch {
	case all == 1:
		return "The " + what
	case len(members) == all:
		return fmt.Sprintf("Inside each %s: all %s are equal", what, count(all))
	case len(members) == 1:
		return "Inside " + lv.name(first)
	}
	return fmt.Sprintf("Inside %s, and %s like it", lv.name(first), count(len(members)-1))
}

// noun is what a part is called.
func (lv *levels) noun(p part) string {
	n := p.nodes[0]
	if len(p.nodes) == 1 {
		return lv.g.Nodes[n].Kind.String()
	}
	d := lv.domain[n]
	inner := lv.unit[n]
	if inner >= 0 && len(lv.units[inner].nodes) == len(p.nodes) && len(lv.domains[d].nodes) != len(p.nodes) {
		return "tray"
	}
	if lv.m.Hosts < 1 || lv.g.Nodes[n].Host < 0 {
		return "group"
	}
	return "host"
}

// name is what one part is called: by the number of its host, or of its tray.
func (lv *levels) name(p part) string {
	n := p.nodes[0]
	node := lv.g.Nodes[n]
	switch what := lv.noun(p); {
	case len(p.nodes) == 1:
		return label(node)
	case what == "tray":
		first := lv.unit[lv.domains[lv.domain[n]].nodes[0]]
		for i, u := range lv.units { // trays of a host follow one another
			if lv.domain[u.nodes[0]] == lv.domain[n] {
				first = int32(i)
				break
			}
		}
		s := fmt.Sprintf("tray %d", lv.unit[n]-first)
		if lv.m.Hosts > 1 {
			s = fmt.Sprintf("host %d, %s", node.Host, s)
		}
		return s
	case node.Host < 0:
		return "the group of " + label(node)
	default:
		return fmt.Sprintf("host %d", node.Host)
	}
}

// page is the whole picture.
type page struct {
	Options
	*levels
	scenes []*scene
}

const (
	border   = 24.0
	header   = 84.0
	panelTop = 34.0
	panelGap = 22.0
	least    = 560.0 // content of the narrowest page
)

func (p *page) draw() *canvas {
	content := least
	for _, s := range p.scenes {
		content = max(content, s.w)
	}
	width := border*2 + leftGutter + content + rightGutter
	var body canvas
	y := header
	for _, s := range p.scenes {
		high := panelTop + s.h + 26
		body.rect(border, y, width-2*border, high, 10, "none", stroke{color: hair, width: 1}, "")
		body.text(border+12, y+22, s.title, font{size: 14, color: ink, bold: true})
		// A narrow scene keeps its margins near.
		s.write(&body, border+leftGutter+(content-s.w)/2, y+panelTop+4)
		y += high + panelGap
	}
	y = p.legend(&body, y-4, width)
	var c canvas
	fmt.Fprintf(&c, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="title desc" font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif">`+"\n",
		xy(width), xy(y), xy(width), xy(y))
	fmt.Fprintf(&c, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n", escape(p.Title), escape(p.describe()))
	c.rect(0.5, 0.5, width-1, y-1, 12, paper, stroke{color: hair, width: 1}, "")
	c.text(border, 40, p.Title, font{size: 22, color: ink, bold: true})
	c.text(border, 64, p.counts(), font{size: 14, color: faint})
	c.Write(body.Bytes())
	c.WriteString("</svg>\n")
	return &c
}

// counts is the line below the title.
func (p *page) counts() string {
	var parts []string
	if p.m.Hosts > 1 {
		parts = append(parts, plural(int(p.m.Hosts), "host"))
	}
	n := p.g.Count()
	for _, k := range []topology.NodeKind{topology.GPU, topology.NVSwitch, topology.Socket, topology.PCIeSwitch, topology.NIC, topology.Switch} {
		if n[k] > 0 {
			parts = append(parts, plural(n[k], k.String()))
		}
	}
	if len(p.m.Ranks) > 1 {
		parts = append(parts, "bisection "+rate(p.Bisection)+" each way")
	}
	return strings.Join(parts, " · ")
}

// describe says the picture in words, for those who cannot see it.
func (p *page) describe() string {
	s := p.Title + ": " + p.counts() + "."
	for _, sc := range p.scenes {
		s += " " + sc.title + "."
		for _, m := range sc.notes {
			s += " " + strings.Join(m.lines, "; ") + "."
		}
	}
	return strings.ReplaceAll(s, "\u00a0", " ")
}
