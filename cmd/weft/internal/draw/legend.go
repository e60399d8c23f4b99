package draw

import (
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// legend writes what colours and widths mean, for what the machine has, from y
// on, and returns where the page ends.
func (p *page) legend(c *canvas, y, width float64) float64 {
	y += 16
	x := border
	// put makes room for an entry and begins a new line where the page ends.
	put := func(wide float64) (float64, float64) {
		if x+wide > width-border && x > border {
			x, y = border, y+22
		}
		at := x
		x += wide + 22
		return at, y
	}
	head := func(s string) {
		at, base := put(textWidth(s, 12))
		c.text(at, base, s, font{size: 12, color: ink, bold: true})
	}
	text := font{size: 12, color: ink}

	head("Colour: kind of link")
	for _, f := range p.families() {
		at, base := put(30 + textWidth(f.String(), 12))
		c.path("M"+xy(at)+" "+xy(base-4)+"h24", stroke{color: f.color(), width: 5}, "")
		c.text(at+30, base, f.String(), text)
	}
	if p.faulty() {
		at, base := put(30 + textWidth("out of service, or slower than its like", 12))
		c.path("M"+xy(at)+" "+xy(base-4)+"h24", stroke{color: alarm, width: 1.6, dash: "4 4"}, "")
		c.text(at+30, base, "out of service, or slower than its like", text)
	}
	x, y = border, y+24
	head("Width: usable bandwidth each way, its square root")
	for _, r := range []sim.Rate{25 * sim.GBps, 100 * sim.GBps, 400 * sim.GBps, 1600 * sim.GBps} {
		at, base := put(38 + textWidth(rate(r), 12))
		c.path("M"+xy(at)+" "+xy(base-4)+"h32", stroke{color: faint, width: thickness(r)}, "")
		c.text(at+38, base, rate(r), text)
	}
	x, y = border, y+24
	head("Boxes")
	n := p.g.Count()
	for k := range topology.NodeKind(topology.NodeKinds) {
		if n[k] == 0 {
			continue
		}
		at, base := put(24 + textWidth(k.String(), 12))
		c.rect(at, base-11, 18, 14, 3, paintOf(k).fill, stroke{color: paintOf(k).edge, width: 1.2}, "")
		c.text(at+24, base, k.String(), text)
	}
	return y + border
}

// families lists the kinds of links that the machine has.
func (p *page) families() []family {
	var have []family
	for _, l := range p.g.Links {
		f := familyOf(p.g.Nodes[l.From].Kind, p.g.Nodes[l.To].Kind)
		if !slices.Contains(have, f) {
			have = append(have, f)
		}
	}
	slices.Sort(have)
	return have
}

// faulty reports whether anything is out of service or slower than its like.
func (p *page) faulty() bool {
	for _, n := range p.g.Nodes {
		if n.Down {
			return true
		}
	}
	for i, l := range p.g.Links {
		if l.Down || p.slow[i] {
			return true
		}
	}
	return false
}
