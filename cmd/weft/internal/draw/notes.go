package draw

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// tally is what a panel says in its margin about the links of one class.
type tally struct {
	family   family
	class    topology.ClassID
	rates    []sim.Rate // of a pair, different ones
	ends     []string
	y, lines float64
	extra    string
}

func (t *tally) add(r sim.Rate, ends string, y float64) {
	if !slices.Contains(t.rates, r) {
		t.rates = append(t.rates, r)
	}
	if !slices.Contains(t.ends, ends) {
		t.ends = append(t.ends, ends)
	}
	t.y += y
	t.lines++
}

// margin writes the tally.
func (t *tally) margin(x *index) margin {
	slices.Sort(t.rates)
	var rates []string
	for _, r := range t.rates {
		if s := rate(r); !slices.Contains(rates, s) {
			rates = append(rates, s)
		}
	}
	if n := len(rates); n > 3 {
		rates = []string{rates[0] + " to " + rates[n-1]}
	}
	m := margin{y: t.y / max(1, t.lines), family: t.family, line: true}
	m.lines = wrap(x.g.Classes[t.class].Name+": "+either(rates), noteLetters)
	m.lines = append(m.lines, wrap(strings.Join(t.ends, ", "), noteLetters)...)
	if t.extra != "" {
		m.lines = append(m.lines, wrap(t.extra, noteLetters)...)
	}
	return m
}

// either joins words: "a, b or c".
func either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// tallies keeps the classes in the order in which they are met.
type tallies []*tally

func (t *tallies) of(f family, class topology.ClassID) *tally {
	for _, have := range *t {
		if have.family == f && have.class == class {
			return have
		}
	}
	n := &tally{family: f, class: class}
	*t = append(*t, n)
	return n
}

// annotate writes the margins of a unit: on the left what a row is, on the
// right what its links are.
func (d *detail) annotate() {
	var all tallies
	seen := map[[2]topology.NodeID]bool{}
	for _, a := range d.order {
		for _, id := range d.out[a] {
			l := d.g.Links[id]
			from, to := d.g.Nodes[a], d.g.Nodes[l.To]
			if l.Down || seen[[2]topology.NodeID{l.To, a}] {
				continue
			}
			seen[[2]topology.NodeID{a, l.To}] = true
			t := all.of(familyOf(from.Kind, to.Kind), l.Class)
			p := d.place[a]
			y := p.y + p.h + 14
			if q, ok := d.place[l.To]; ok {
				y = (max(p.y, q.y) + min(p.y+p.h, q.y+q.h)) / 2
			}
			x, z := from, to
			if x.Kind > z.Kind {
				x, z = z, x
			}
			t.add(l.Rate, strings.ReplaceAll(x.Kind.String()+" – "+z.Kind.String(), " ", "\u00a0"), y)
		}
	}
	for _, t := range all {
		if t.family == nvlink {
			t.extra = d.sends(t.class)
		}
		d.s.notes = append(d.s.notes, t.margin(d.index))
	}
	d.s.spread()
	d.nameRows()
}

// sends says what one GPU has of a class of NVLinks.
func (d *detail) sends(class topology.ClassID) string {
	for _, n := range d.order {
		if d.kind(n) != topology.GPU {
			continue
		}
		var r sim.Rate
		var links int32
		for _, id := range d.out[n] {
			if l := d.g.Links[id]; l.Class == class && !l.Down && (d.kind(l.To) == topology.GPU || d.kind(l.To) == topology.NVSwitch) {
				r, links = r+l.Rate, links+l.Width
			}
		}
		if links > 0 {
			return fmt.Sprintf("%s sends %s, %s", label(d.g.Nodes[n]), rate(r), plural(int(links), "link"))
		}
	}
	return ""
}

func (d *detail) nameRows() {
	names := map[float64][]string{}
	var ys []float64
	for _, n := range d.order {
		b := d.place[n]
		y := b.y + b.h/2
		name := plurals[d.kind(n)]
		if d.kind(n) == topology.HostMemory {
			continue
		}
		if names[y] == nil {
			ys = append(ys, y)
		}
		if !slices.Contains(names[y], name) {
			names[y] = append(names[y], name)
		}
	}
	slices.Sort(ys)
	for _, y := range ys {
		d.s.rows = append(d.s.rows, margin{y: y, lines: wrap(strings.Join(names[y], ", "), 14)})
	}
}

var plurals = [...]string{
	topology.GPU: "GPUs", topology.NVSwitch: "NVSwitches", topology.PCIeSwitch: "PCIe switches", topology.RootComplex: "host bridges",
	topology.Socket: "CPUs", topology.HostMemory: "host memory", topology.NIC: "NICs", topology.Switch: "switches",
}

// spread moves the notes apart so that none lies on another, and makes room.
func (s *scene) spread() {
	slices.SortStableFunc(s.notes, func(a, b margin) int { return cmp.Compare(a.y, b.y) })
	half := func(m margin) float64 { return 7.5*float64(len(m.lines)) + 3 }
	end := 0.0
	for i := range s.notes {
		m := &s.notes[i]
		m.y = max(m.y, end+half(*m))
		end = m.y + half(*m)
	}
	// What was pushed out below goes up again as far as there is room.
	for i := len(s.notes) - 1; i >= 0; i-- {
		m := &s.notes[i]
		limit := s.h
		if i+1 < len(s.notes) {
			limit = s.notes[i+1].y - half(s.notes[i+1])
		}
		if m.y+half(*m) > limit {
			m.y = limit - half(*m)
		}
	}
	if len(s.notes) > 0 {
		if top := s.notes[0].y - half(s.notes[0]); top < 0 {
			for i := range s.notes {
				s.notes[i].y -= top
			}
			last := s.notes[len(s.notes)-1]
			s.h = max(s.h, last.y+half(last))
		}
	}
}
