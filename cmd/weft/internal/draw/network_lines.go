package draw

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// join draws what joins the shapes: what one of the lower has to the upper.
func (f *fabric) join() {
	type pair struct{ low, high int32 }
	sums := map[pair]*bundle{}
	var order []pair
	for i, l := range f.g.Links {
		a, b := f.of[l.From], f.of[l.To]
		if a < 0 || b < 0 || a == b || familyOf(f.g.Nodes[l.From].Kind, f.g.Nodes[l.To].Kind) != network && f.tiers > 0 {
			continue
		}
		x, y := f.shapes[a], f.shapes[b]
		if x.y < y.y || x.y == y.y && x.x > y.x {
			if l.Down { // seen from the other end, it may be up
				if s := sums[pair{b, a}]; s != nil {
					s.lost++
				}
			}
			continue
		}
		p := pair{a, b}
		if sums[p] == nil {
			sums[p] = &bundle{}
			order = append(order, p)
		}
		sums[p].add(f.index, topology.LinkID(i))
	}
	ends := map[int32][]int32{} // of the upper edge of the low, the lower edge of the high
	for _, p := range order {
		ends[p.low<<1] = append(ends[p.low<<1], p.high)
		ends[p.high<<1|1] = append(ends[p.high<<1|1], p.low)
	}
	along := func(s shape, list []int32, other int32) float64 {
		slices.SortStableFunc(list, func(p, q int32) int { return cmp.Compare(f.shapes[p].x, f.shapes[q].x) })
		if len(list) == 1 {
			return s.x + s.w/2
		}
		inset := min(12, s.w/4)
		return s.x + inset + (s.w-2*inset)*float64(slices.Index(list, other))/float64(len(list)-1)
	}
	for _, p := range order {
		a, b, sum := f.shapes[p.low], f.shapes[p.high], sums[p]
		l := line{family: sum.family, rate: sum.rate / sim.Rate(a.of), down: sum.rate == 0, odd: sum.slow || sum.lost > 0}
		l.tip = fmt.Sprintf("%s to %s: %s each way", f.g.Nodes[a.nodes[0]].Name, f.g.Nodes[b.nodes[0]].Name, rate(l.rate))
		switch {
		case l.down:
			l.label = "down"
		case sum.lost > 0:
			l.label = plural(sum.lost, "link") + " down"
		case sum.slow:
			l.label = rate(l.rate)
		}
		if a.y == b.y {
			l.points, l.arch = []point{{a.x + a.w/2, a.y}, {b.x + b.w/2, b.y}}, -12-0.06*min(b.x-a.x, 700)
		} else {
			l.points = []point{{along(a, ends[p.low<<1], p.high), a.y}, {along(b, ends[p.high<<1|1], p.low), b.y + b.h}}
		}
		l.faint = len(order) > manyLines
		f.s.lines = append(f.s.lines, l)
	}
}
