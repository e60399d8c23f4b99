package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// bundle is what joins two nodes, or two things that stand for several: the
// sum of the links one way.
type bundle struct {
	rate   sim.Rate // of those in service
	width  int      // links or lanes in service
	lost   int      // links out of service
	slow   bool
	family family
	class  topology.ClassID
}

func (b *bundle) add(x *index, l topology.LinkID) {
	link := x.g.Links[l]
	b.family = familyOf(x.g.Nodes[link.From].Kind, x.g.Nodes[link.To].Kind)
	b.class = link.Class
	if link.Down {
		b.lost++
		return
	}
	b.rate += link.Rate
	b.width += int(link.Width)
	b.slow = b.slow || x.slow[l]
}

// between adds up what leads from a to b, and looks at the way back for faults.
func (x *index) between(a, b topology.NodeID) bundle {
	var s bundle
	for _, l := range x.out[a] {
		if x.g.Links[l].To == b {
			s.add(x, l)
		}
	}
	var back bundle
	for _, l := range x.out[b] {
		if x.g.Links[l].To == a {
			back.add(x, l)
		}
	}
	s.slow = s.slow || back.slow
	if back.slow || back.lost > 0 { // the poorer direction is what there is to say
		s.rate, s.width = min(s.rate, back.rate), min(s.width, back.width)
	}
	s.lost = max(s.lost, back.lost)
	return s
}

// line makes a line of a bundle, without its points.
func (x *index) line(a, b topology.NodeID) line {
	s := x.between(a, b)
	l := line{family: s.family, rate: s.rate, down: s.rate == 0, odd: s.slow || s.lost > 0}
	lanes := ""
	if s.family == nvlink && s.width > 1 {
		lanes = fmt.Sprintf("%d links, ", s.width)
	}
	l.tip = fmt.Sprintf("%s to %s: %s, %s%s each way", x.g.Nodes[a].Name, x.g.Nodes[b].Name, x.g.Classes[s.class].Name, lanes, rate(s.rate))
	switch {
	case l.down:
		l.label = "down"
		l.tip = fmt.Sprintf("%s to %s: %s, out of service", x.g.Nodes[a].Name, x.g.Nodes[b].Name, x.g.Classes[s.class].Name)
	case l.odd:
		l.label = rate(s.rate)
	}
	return l
}

// joinTree draws the PCIe trees with square corners, each parent with a bar of
// its own below it.
func (d *detail) joinTree() {
	for _, n := range d.order {
		up, ok := d.up[n]
		if !ok {
			continue
		}
		a, b := d.place[up], d.place[n]
		l := d.line(up, n)
		if d.kind(n) == topology.HostMemory {
			y := a.y + a.h/2
			l.points = []point{{b.x + b.w, y}, {a.x, y}}
			if d.side(up) > 0 {
				l.points = []point{{a.x + a.w, y}, {b.x, y}}
			}
		} else {
			from, to := a.x+a.w/2, b.x+b.w/2
			bar := a.y + a.h + rowGap*0.42
			if l.family == c2c { // beside the bar of the host bridges
				from, bar = from+14, bar+9
			}
			if math.Abs(from-to) < 6 {
				from = to
				l.points = []point{{from, a.y + a.h}, {to, b.y}}
			} else {
				l.points = []point{{from, a.y + a.h}, {from, bar}, {to, bar}, {to, b.y}}
			}
			if l.label != "" {
				d.s.words = append(d.s.words, word{to, b.y - 5, l.label, font{size: 11, color: alarm, bold: true, anchor: "middle", halo: true}})
				l.label = ""
			}
		}
		d.add(l, up, n)
	}
}

func (d *detail) add(l line, a, b topology.NodeID) {
	d.drawn[[2]topology.NodeID{a, b}], d.drawn[[2]topology.NodeID{b, a}] = true, true
	d.s.lines = append(d.s.lines, l)
}

// pairs lists the pairs of nodes in the unit that are joined and not yet in
// the picture, in the order of their places.
func (d *detail) pairs(want func(a, b topology.NodeKind) bool) [][2]topology.NodeID {
	var out [][2]topology.NodeID
	seen := map[[2]topology.NodeID]bool{}
	for _, a := range d.order {
		for _, l := range d.out[a] {
			b := d.g.Links[l].To
			if _, ok := d.place[b]; !ok || !want(d.kind(a), d.kind(b)) {
				continue
			}
			p := [2]topology.NodeID{a, b}
			if seen[p] || seen[[2]topology.NodeID{b, a}] || d.drawn[p] {
				continue
			}
			if x, y := d.place[a], d.place[b]; x.y > y.y || x.y == y.y && x.x > y.x {
				p[0], p[1] = b, a
			}
			seen[p] = true
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(p, q [2]topology.NodeID) int {
		a, b, c, e := d.place[p[0]], d.place[q[0]], d.place[p[1]], d.place[q[1]]
		return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x), cmp.Compare(c.x, e.x))
	})
	return out
}

// joinSockets draws the links between CPUs: straight between neighbours, over
// the top for the others.
func (d *detail) joinSockets() {
	var row []topology.NodeID
	for _, n := range d.order {
		if d.kind(n) == topology.Socket {
			row = append(row, n)
		}
	}
	for _, p := range d.pairs(func(a, b topology.NodeKind) bool { return a == topology.Socket && b == topology.Socket }) {
		a, b := d.place[p[0]], d.place[p[1]]
		l := d.line(p[0], p[1])
		apart := slices.Index(row, p[1]) - slices.Index(row, p[0])
		if apart == 1 {
			if d.side(p[0]) < 0 && d.side(p[1]) > 0 { // no memory stands between
				l.points = []point{{a.x + a.w, a.y + a.h/2}, {b.x, b.y + b.h/2}}
				d.add(l, p[0], p[1])
				continue
			}
		}
		top := a.y - 10 - 5*float64(apart-1)
		l.points = []point{{a.x + a.w/2 + 8*float64(apart), a.y}, {a.x + a.w/2 + 8*float64(apart), top}, {b.x + b.w/2 - 8*float64(apart), top}, {b.x + b.w/2 - 8*float64(apart), b.y}}
		d.add(l, p[0], p[1])
	}
}

// joinFan draws the links of NVSwitches to the row above as straight lines,
// whose ends are spread along the boxes.
func (d *detail) joinFan() {
	all := d.pairs(func(a, b topology.NodeKind) bool { return a == topology.NVSwitch || b == topology.NVSwitch })
	ups, downs := map[topology.NodeID][]topology.NodeID{}, map[topology.NodeID][]topology.NodeID{}
	for _, p := range all {
		if d.place[p[0]].y < d.place[p[1]].y {
			downs[p[0]] = append(downs[p[0]], p[1])
			ups[p[1]] = append(ups[p[1]], p[0])
		}
	}
	along := func(b box, list []topology.NodeID, n topology.NodeID) float64 {
		slices.SortStableFunc(list, func(p, q topology.NodeID) int { return cmp.Compare(d.place[p].x, d.place[q].x) })
		i, k := slices.Index(list, n), len(list)
		if k == 1 {
			return b.x + b.w/2
		}
		room := b.w - 16
		return b.x + 8 + room*float64(i)/float64(k-1)
	}
	for _, p := range all {
		a, b := d.place[p[0]], d.place[p[1]]
		l := d.line(p[0], p[1])
		if a.y == b.y {
			l.points = []point{{a.x + a.w/2, a.y + a.h}, {b.x + b.w/2, b.y + b.h}}
			l.arch = 26 + 0.05*(b.x-a.x)
			d.s.h = max(d.s.h, a.y+a.h+l.arch+8)
		} else {
			l.points = []point{{along(a, downs[p[0]], p[1]), a.y + a.h}, {along(b, ups[p[1]], p[0]), b.y}}
		}
		d.add(l, p[0], p[1])
	}
}

// joinMesh draws NVLinks between GPUs as arcs below their row, the deeper the
// farther.
func (d *detail) joinMesh() {
	all := d.pairs(func(a, b topology.NodeKind) bool { return a == topology.GPU && b == topology.GPU })
	if len(all) == 0 {
		return
	}
	place := map[topology.NodeID]int{}
	for _, n := range d.order {
		if d.kind(n) == topology.GPU {
			place[n] = len(place)
		}
	}
	peers := map[topology.NodeID][]topology.NodeID{}
	widths := map[int]bool{}
	for _, p := range all {
		peers[p[0]] = append(peers[p[0]], p[1])
		peers[p[1]] = append(peers[p[1]], p[0])
		widths[d.between(p[0], p[1]).width] = true
	}
	// From the left: the far ones on the left, the near ones on the left, then
	// the near and the far ones on the right, so that arcs of a GPU nest.
	at := func(n, to topology.NodeID) float64 {
		list := peers[n]
		slices.SortFunc(list, func(p, q topology.NodeID) int {
			left := func(m topology.NodeID) int {
				if place[m] < place[n] {
					return 0
				}
				return 1
			}
			return cmp.Or(cmp.Compare(left(p), left(q)), cmp.Compare(place[q], place[p]))
		})
		b := d.place[n]
		if len(list) == 1 {
			return b.x + b.w/2
		}
		return b.x + 10 + (b.w-20)*float64(slices.Index(list, to))/float64(len(list)-1)
	}
	for _, p := range all {
		a, b := d.place[p[0]], d.place[p[1]]
		l := d.line(p[0], p[1])
		apart := place[p[1]] - place[p[0]]
		l.points = []point{{at(p[0], p[1]), a.y + a.h}, {at(p[1], p[0]), b.y + b.h}}
		l.arch = 14 + 34*float64(min(apart, 8))
		if l.label == "" && len(widths) > 1 {
			l.label = fmt.Sprintf("%d×", d.between(p[0], p[1]).width)
		}
		d.s.h = max(d.s.h, a.y+a.h+l.arch+12)
		d.add(l, p[0], p[1])
	}
}

// joinOutside draws a stub below each box with links that leave the unit.
func (d *detail) joinOutside() {
	for _, n := range d.order {
		fams := map[family]bundle{}
		for _, l := range d.out[n] {
			to := d.g.Links[l].To
			if d.in(to) {
				continue
			}
			f := familyOf(d.kind(n), d.kind(to))
			b := fams[f]
			b.add(d.index, l)
			fams[f] = b
		}
		for f := range families {
			b, ok := fams[f]
			if !ok {
				continue
			}
			from := d.place[n]
			x := from.x + from.w/2
			y := from.y + from.h
			end := y + 20
			l := line{family: f, rate: b.rate, down: b.rate == 0, odd: b.slow || b.lost > 0, arrow: true, points: []point{{x, y}, {x, end}}, tip: fmt.Sprintf("%s: %s each way out of here", d.g.Nodes[n].Name, rate(b.rate))}
			d.s.lines = append(d.s.lines, l)
			d.s.h = max(d.s.h, end+14)
		}
	}
}

// joinRest draws whatever is joined and not in the picture yet.
func (d *detail) joinRest() {
	for _, p := range d.pairs(func(a, b topology.NodeKind) bool { return true }) {
		a, b := d.place[p[0]], d.place[p[1]]
		l := d.line(p[0], p[1])
		if a.y == b.y {
			l.points = []point{{a.x + a.w/2, a.y + a.h}, {b.x + b.w/2, b.y + b.h}}
			l.arch = 22
		} else {
			l.points = []point{{a.x + a.w/2 - 20, a.y + a.h}, {b.x + b.w/2 - 20, b.y}}
		}
		d.add(l, p[0], p[1])
	}
}
