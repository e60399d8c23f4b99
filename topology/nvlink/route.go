package nvlink

import (
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Even returns, for a domain of one tier whose GPUs all see the same planes,
// the resources from each GPU to the planes and back, and the latency from
// GPU to GPU: any path is up[a], then down[b]. ok is false for any other
// domain.
func (w *Wiring) Even() (up, down []topology.ResourceID, latency sim.Time, ok bool) {
	return w.up, w.down, w.hop, w.even && w.tier == nil && !w.late
}

// Switched reports whether the domain has switches, rather than a mesh.
func (w *Wiring) Switched() bool { return w.direct == nil }

// Complete reports whether every pair of GPUs has an NVLink path.
func (w *Wiring) Complete() bool {
	if w.even {
		return !slices.Contains(w.up, -1)
	}
	var buf []topology.Hop
	for a := range w.gpus {
		for b := range w.gpus {
			p, ok := w.Route(a, b, buf)
			if !ok {
				return false
			}
			buf = p.Hops
		}
	}
	return true
}

// Wired returns the number of links in service that a GPU has.
func (w *Wiring) Wired(gpu int) int {
	var n int32
	for _, links := range w.width[gpu] {
		n += links
	}
	return int(n)
}

// Group returns the group of a GPU: the GPUs that its own planes join. It is
// 0 for all GPUs of a domain of one tier.
func (w *Wiring) Group(gpu int) int {
	if w.tier == nil {
		return 0
	}
	return gpu / w.tier.per
}

// Links returns the number of links between a pair: in a switched domain what
// the poorer of the two has on the planes that they share, in a mesh their
// direct links. It counts the links of the GPUs, not those between groups.
func (w *Wiring) Links(a, b int) int {
	if w.direct != nil {
		return int(w.width[a][b])
	}
	var n int32
	for p := range w.width[a] {
		n += min(w.width[a][p], w.width[b][p])
	}
	return int(n)
}

// Route returns the NVLink path from GPU a to GPU b, with its hops in
// buf[:0]. ok is false if there is none.
//
//   - Equal planes: up a's trunk, over to b's group if it is another, down b's.
//   - Unequal planes: sprayed, plane by plane, in proportion to the links that
//     both ends have there.
//   - Mesh: the links between the two; else through the one peer with the
//     widest links to both (the lowest number among equals, or all of them if
//     the spec says BalanceRelays), kind NVB.
func (w *Wiring) Route(a, b int, buf []topology.Hop) (p topology.Path, ok bool) {
	p = topology.Path{Hops: buf[:0], Den: 1, Kind: topology.NVL, Latency: w.hop}
	switch {
	case a == b:
		p.Kind, p.Latency = topology.Self, 0
	case w.even && (w.up[a] < 0 || w.up[b] < 0):
		return topology.Path{Hops: p.Hops}, false
	case w.even:
		p.Hops = append(p.Hops, topology.Hop{Resource: w.up[a], Share: 1})
		if x, y := w.Group(a), w.Group(b); x != y {
			p.Hops, p.Latency = w.tier.cross(p.Hops, x, y), w.tier.hop
		}
		p.Hops = append(p.Hops, topology.Hop{Resource: w.down[b], Share: 1})
		if w.late {
			p.Latency = w.slowest(a, b)
		}
	case w.direct == nil:
		return w.spray(a, b, p)
	case w.direct[a][b] != none:
		p.Hops = append(p.Hops, topology.Hop{Resource: topology.ResourceID(w.direct[a][b]), Share: 1})
		if w.late {
			p.Latency = w.g.Links[w.direct[a][b]].Latency
		}
	default:
		return w.relay(a, b, p)
	}
	return p, true
}

// cross appends the trunks from group x to group y.
func (t *tier) cross(hops []topology.Hop, x, y int) []topology.Hop {
	if t.twin != nil {
		return append(hops, topology.Hop{Resource: t.twins[x][y], Share: 1})
	}
	return append(hops, topology.Hop{Resource: t.rises[x], Share: 1}, topology.Hop{Resource: t.falls[y], Share: 1})
}

// slowest returns the latency of the slowest plane between two GPUs.
func (w *Wiring) slowest(a, b int) sim.Time {
	var worst sim.Time
	x, y := w.Group(a), w.Group(b)
	var room [32]way
	for p := range w.width[a] {
		up, down := w.toPlane[a][p], w.fromPlane[b][p]
		if up == none || down == none {
			continue
		}
		ends := w.g.Links[up].Latency + w.g.Links[down].Latency
		if x == y {
			worst = max(worst, ends)
			continue
		}
		for _, v := range w.tier.ways(x, y, p, room[:0]) {
			worst = max(worst, ends+w.between(v))
		}
	}
	return worst
}

// between returns the latency of a way between planes.
func (w *Wiring) between(v way) sim.Time {
	l := w.g.Links[v.first].Latency
	if v.second != none {
		l += w.g.Links[v.second].Latency
	}
	return l
}

// spray spreads a path over the planes that both ends have, in proportion to
// the links of the poorer there. Over to another group it takes those planes
// that have a way there, each over all its ways by their links.
func (w *Wiring) spray(a, b int, p topology.Path) (topology.Path, bool) {
	x, y := w.Group(a), w.Group(b)
	var room [32]way
	usable := func(plane int) (int32, []way) {
		n := min(w.width[a][plane], w.width[b][plane])
		if n == 0 || x == y {
			return n, nil
		}
		ways := w.tier.ways(x, y, plane, room[:0])
		if len(ways) == 0 {
			n = 0
		}
		return n, ways
	}
	sum, parts := int32(0), int32(1)
	for i := range w.width[a] {
		n, ways := usable(i)
		sum += n
		if n > 0 && ways != nil {
			parts = lcm(parts, total(ways))
		}
	}
	if sum == 0 {
		return topology.Path{Hops: p.Hops}, false
	}
	if p.Den = sum * parts; w.coarse && topology.CoarseParts%p.Den != 0 {
		p.Den = topology.CoarseParts
	}
	planes := topology.Parts{Whole: p.Den, Sum: sum}
	for i := range w.width[a] {
		n, ways := usable(i)
		if n == 0 {
			continue
		}
		share := planes.Next(n)
		p.Hops = append(p.Hops, topology.Hop{Resource: topology.ResourceID(w.toPlane[a][i]), Share: share})
		if ways != nil {
			above := topology.Parts{Whole: share, Sum: total(ways)}
			for _, v := range ways {
				part := above.Next(v.weight)
				p.Hops = hop(p.Hops, v.first, part)
				if v.second != none {
					p.Hops = hop(p.Hops, v.second, part)
				}
			}
		}
		p.Hops = append(p.Hops, topology.Hop{Resource: topology.ResourceID(w.fromPlane[b][i]), Share: share})
	}
	p.Reduce()
	if x != y {
		p.Latency = w.tier.hop
	}
	if w.late {
		p.Latency = w.slowest(a, b)
	}
	return p, true
}

func hop(hops []topology.Hop, l topology.LinkID, share int32) []topology.Hop {
	if share == 0 {
		return hops
	}
	return append(hops, topology.Hop{Resource: topology.ResourceID(l), Share: share})
}

// Denominator returns the least common denominator of all paths, or more than
// limit.
func (w *Wiring) Denominator(limit int64) int64 {
	if w.even || w.direct != nil && !w.balance {
		return 1
	}
	den := int64(1)
	var buf []topology.Hop
	for a := range w.gpus {
		for b := range w.gpus {
			p, ok := w.Route(a, b, buf)
			if buf = p.Hops; ok && den%int64(p.Den) != 0 {
				if den *= int64(p.Den) / int64(gcd(int32(den%int64(p.Den)), p.Den)); den > limit {
					return den
				}
			}
		}
	}
	return den
}

func total(ways []way) int32 {
	var sum int32
	for _, v := range ways {
		sum += v.weight
	}
	return sum
}

// relay goes through the peer with the widest links, or through all equals.
func (w *Wiring) relay(a, b int, p topology.Path) (topology.Path, bool) {
	width, equals := int32(0), int32(0)
	for via := range w.gpus {
		// The choice is symmetric in a and b, so the way back is the same.
		switch n := min(w.width[a][via], w.width[via][b]); {
		case n > width:
			width, equals = n, 1
		case n == width:
			equals++
		}
	}
	if width == 0 {
		return topology.Path{Hops: p.Hops}, false
	}
	if !w.balance {
		equals = 1
	}
	p.Kind, p.Latency, p.Den = topology.NVB, 2*w.hop, equals
	if w.late {
		p.Latency = 0
	}
	for via := 0; equals > 0; via++ {
		if min(w.width[a][via], w.width[via][b]) != width {
			continue
		}
		equals--
		first, second := w.direct[a][via], w.direct[via][b]
		p.Hops = append(p.Hops,
			topology.Hop{Resource: topology.ResourceID(first), Share: 1},
			topology.Hop{Resource: topology.ResourceID(second), Share: 1})
		if w.late {
			p.Latency = max(p.Latency, w.g.Links[first].Latency+w.g.Links[second].Latency)
		}
	}
	return p, true
}
