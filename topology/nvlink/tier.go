package nvlink

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// tier is the second tier of a domain: the ways from the planes of a group to
// those of another.
type tier struct {
	g   *topology.Graph
	per int      // GPUs of a group
	hop sim.Time // GPU to GPU of another group

	// Twins: [from][to][plane]. Otherwise the links from each group and plane
	// to and from each of the plane's upper switches: [group][plane][switch].
	twin       [][][]topology.LinkID
	rise, fall [][][]topology.LinkID

	// The trunks of all planes together, if every GPU sees the same ones.
	twins        [][]topology.ResourceID // [from][to]
	rises, falls []topology.ResourceID   // by group
}

// tier adds the second tier above the planes, by group.
func (b *builder) tier(planes [][]topology.NodeID) {
	t, s := b.w.tier, b.s
	link := s.tierLink()
	class := b.g.AddClass(link.Class)
	join := func(x, y topology.NodeID, n int, there, back sim.Time) (xy, yx topology.LinkID) {
		if x < 0 || y < 0 {
			return none, none
		}
		l := topology.Link{From: x, To: y, Rate: link.Rate * sim.Rate(n), Latency: link.Latency + there, Class: class, Width: int32(n)}
		xy = b.g.AddLink(l)
		l.From, l.To, l.Latency = y, x, link.Latency+back
		yx = b.g.AddLink(l)
		return xy, yx
	}
	groups := len(planes)
	if s.Tier.Switches == nil {
		t.hop = b.w.hop + link.Latency + s.SwitchLatency
		for range groups {
			t.twin = append(t.twin, matrix(groups, len(s.Planes), none))
		}
		for x := range groups {
			for y := x + 1; y < groups; y++ {
				for p, n := range s.Tier.Uplinks {
					t.twin[x][y][p], t.twin[y][x][p] = join(planes[x][p], planes[y][p], n, s.SwitchLatency, s.SwitchLatency)
				}
			}
		}
		return
	}
	t.hop = b.w.hop + s.SwitchLatency + 2*link.Latency + s.Tier.SwitchLatency
	t.rise, t.fall = make([][][]topology.LinkID, groups), make([][][]topology.LinkID, groups)
	unit := 0
	for p, switches := range s.Tier.Switches {
		above := make([]topology.NodeID, switches)
		for k := range above {
			above[k] = b.node("nvspine", unit)
			unit++
		}
		for group := range groups {
			var rise, fall []topology.LinkID
			for k := range above {
				up, down := join(planes[group][p], above[k], s.Tier.Uplinks[p]/switches, s.Tier.SwitchLatency, s.SwitchLatency)
				rise, fall = append(rise, up), append(fall, down)
			}
			t.rise[group], t.fall[group] = append(t.rise[group], rise), append(t.fall[group], fall)
		}
	}
}

// whole reports whether the ways of every plane that a GPU has links to are
// equal and the same from each group, so that what leaves a group does so in
// fixed proportion.
func (t *tier) whole(width []int32) bool {
	for p, n := range width {
		if n == 0 {
			continue
		}
		for x := range t.twin {
			for y := range t.twin {
				if x != y && t.twin[x][y][p] == none {
					return false
				}
			}
		}
		for x := range t.rise {
			for _, links := range [][]topology.LinkID{t.rise[x][p], t.fall[x][p]} {
				if !t.alike(links, t.rise[0][p]) {
					return false
				}
			}
		}
	}
	return true
}

// alike reports whether the same links of two sets exist, at least one, and
// all that do have one width.
func (t *tier) alike(a, b []topology.LinkID) bool {
	width := int32(0)
	for k, l := range a {
		if (l == none) != (b[k] == none) {
			return false
		}
		if l == none {
			continue
		}
		if width == 0 {
			width = t.g.Links[l].Width
		}
		if t.g.Links[l].Width != width {
			return false
		}
	}
	return width > 0
}

// addTrunks adds a trunk for each way out of a group, with the shares that a
// GPU's links give each plane.
func (t *tier) addTrunks(g *topology.Graph, width []int32) {
	for x := range t.twin {
		t.twins = append(t.twins, make([]topology.ResourceID, len(t.twin)))
		for y := range t.twin {
			if x != y {
				t.twins[x][y] = trunk(g, t.twin[x][y], width)
			}
		}
	}
	live := func(links []topology.LinkID) (n int32) {
		for _, l := range links {
			if l != none {
				n++
			}
		}
		return max(1, n)
	}
	parts := int32(1)
	if len(t.rise) > 0 {
		for _, ways := range t.rise[0] {
			parts = lcm(parts, live(ways))
		}
	}
	flat := func(planes [][]topology.LinkID) topology.ResourceID {
		var links []topology.LinkID
		var shares []int32
		for p, ways := range planes {
			for _, l := range ways {
				if width[p] > 0 {
					links, shares = append(links, l), append(shares, width[p]*parts/live(ways))
				}
			}
		}
		return trunk(g, links, shares)
	}
	for group := range t.rise {
		t.rises = append(t.rises, flat(t.rise[group]))
		t.falls = append(t.falls, flat(t.fall[group]))
	}
}

// ways appends to buf the ways on plane p from group x to group y that are in
// service. Each is one link or two, with a weight of its links.
func (t *tier) ways(x, y, p int, buf []way) []way {
	if t.twin != nil {
		if l := t.twin[x][y][p]; l != none {
			buf = append(buf, way{first: l, second: none, weight: 1})
		}
		return buf
	}
	for k, up := range t.rise[x][p] {
		down := t.fall[y][p][k]
		if up != none && down != none {
			buf = append(buf, way{first: up, second: down, weight: min(t.g.Links[up].Width, t.g.Links[down].Width)})
		}
	}
	return buf
}

// way is a way between two planes.
type way struct {
	first, second topology.LinkID
	weight        int32
}

func lcm(a, b int32) int32 { return a / gcd(a, b) * b }

func gcd(a, b int32) int32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
