package draw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
)

// canvas writes SVG elements.
type canvas struct{ bytes.Buffer }

// num writes a coordinate to a tenth of a pixel, so that the same picture is
// the same text everywhere.
func num(v float64) string { return strconv.FormatFloat(v+0, 'f', -1, 64) }

func round(v float64) float64 {
	if v < 0 {
		return -round(-v)
	}
	return float64(int64(v*10+0.5)) / 10
}

func xy(v float64) string { return num(round(v)) }

func escape(s string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}

// stroke is how an outline is drawn.
type stroke struct {
	color string
	width float64
	dash  string
	fill  string // of a closed path

	opacity float64 // 0 is 1
}

func (s stroke) attributes() string {
	if s.color == "" {
		return ""
	}
	a := fmt.Sprintf(` stroke="%s" stroke-width="%s"`, s.color, xy(s.width))
	if s.dash != "" {
		a += fmt.Sprintf(` stroke-dasharray="%s"`, s.dash)
	}
	if s.opacity > 0 {
		a += fmt.Sprintf(` stroke-opacity="%s"`, num(s.opacity))
	}
	return a
}

// rect draws a box with round corners; a tip is shown when it is pointed at.
func (c *canvas) rect(x, y, w, h, r float64, fill string, s stroke, tip string) {
	fmt.Fprintf(c, `<rect x="%s" y="%s" width="%s" height="%s" rx="%s" fill="%s"%s`,
		xy(x), xy(y), xy(w), xy(h), xy(r), fill, s.attributes())
	c.close("rect", tip)
}

// path draws a line along SVG path data.
func (c *canvas) path(d string, s stroke, tip string) {
	fill := s.fill
	if fill == "" {
		fill = "none"
	}
	fmt.Fprintf(c, `<path d="%s" fill="%s" stroke-linejoin="round"%s`, d, fill, s.attributes())
	c.close("path", tip)
}

func (c *canvas) close(tag, tip string) {
	if tip == "" {
		c.WriteString("/>\n")
		return
	}
	fmt.Fprintf(c, "><title>%s</title></%s>\n", escape(tip), tag)
}

// font is how a text looks. Anchor is start, middle or end; halo sets it off
// from lines beneath.
type font struct {
	size   float64
	color  string
	anchor string
	bold   bool
	halo   bool
}

// text writes a line of text whose baseline is at y.
func (c *canvas) text(x, y float64, s string, f font) {
	if s == "" {
		return
	}
	fmt.Fprintf(c, `<text x="%s" y="%s" font-size="%s" fill="%s"`, xy(x), xy(y), xy(f.size), f.color)
	if f.anchor != "" && f.anchor != "start" {
		fmt.Fprintf(c, ` text-anchor="%s"`, f.anchor)
	}
	if f.bold {
		c.WriteString(` font-weight="bold"`)
	}
	if f.halo {
		fmt.Fprintf(c, ` stroke="%s" stroke-width="4" stroke-linejoin="round" paint-order="stroke"`, paper)
	}
	fmt.Fprintf(c, ">%s</text>\n", escape(s))
}

const paper = "#ffffff"
