package nvlink

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Even returns, for a switched domain whose GPUs all see the same planes, the
// resources from each GPU to the planes and back, and the latency from GPU to
// GPU: any path is up[a], then down[b]. ok is false for any other domain.
func (w *Wiring) Even() (up, down []topology.ResourceID, latency sim.Time, ok bool) {
	return w.up, w.down, w.hop, w.even
}

// Switched reports whether the domain has switches, rather than a mesh.
func (w *Wiring) Switched() bool { return w.direct == nil }

// Complete reports whether every pair of GPUs has an NVLink path.
func (w *Wiring) Complete() bool {
	if w.even {
		return true
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

// Links returns the number of links between a pair: in a switched domain what
// the poorer of the two has on the planes that they share, in a mesh their
// direct links.
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
//   - Equal planes: up a's trunk, down b's.
//   - Unequal planes: sprayed, plane by plane, in proportion to the links that
//     both ends have there.
//   - Mesh: the links between the two; else through the one peer with the
//     widest links to both (the lowest number among equals), kind NVB.
func (w *Wiring) Route(a, b int, buf []topology.Hop) (p topology.Path, ok bool) {
	p = topology.Path{Hops: buf[:0], Den: 1, Kind: topology.NVL, Latency: w.hop}
	switch {
	case a == b:
		p.Kind, p.Latency = topology.Self, 0
	case w.even:
		p.Hops = append(p.Hops, topology.Hop{Resource: w.up[a], Share: 1}, topology.Hop{Resource: w.down[b], Share: 1})
	case w.direct == nil:
		return w.spray(a, b, p)
	case w.direct[a][b] != none:
		p.Hops = append(p.Hops, topology.Hop{Resource: topology.ResourceID(w.direct[a][b]), Share: 1})
	default:
		return w.relay(a, b, p)
	}
	return p, true
}

func (w *Wiring) spray(a, b int, p topology.Path) (topology.Path, bool) {
	p.Den = 0
	for i := range w.width[a] {
		n := min(w.width[a][i], w.width[b][i])
		if n == 0 {
			continue
		}
		p.Den += n
		p.Hops = append(p.Hops,
			topology.Hop{Resource: topology.ResourceID(w.toPlane[a][i]), Share: n},
			topology.Hop{Resource: topology.ResourceID(w.fromPlane[b][i]), Share: n})
	}
	if p.Den == 0 {
		return topology.Path{Hops: p.Hops}, false
	}
	return p, true
}

func (w *Wiring) relay(a, b int, p topology.Path) (topology.Path, bool) {
	best, width := -1, int32(0)
	for via := range w.gpus {
		// The choice is symmetric in a and b, so the way back is the same.
		if n := min(w.width[a][via], w.width[via][b]); n > width {
			best, width = via, n
		}
	}
	if best < 0 {
		return topology.Path{Hops: p.Hops}, false
	}
	p.Kind, p.Latency = topology.NVB, 2*w.hop
	p.Hops = append(p.Hops,
		topology.Hop{Resource: topology.ResourceID(w.direct[a][best]), Share: 1},
		topology.Hop{Resource: topology.ResourceID(w.direct[best][b]), Share: 1})
	return p, true
}
