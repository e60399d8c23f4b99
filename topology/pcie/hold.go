package pcie

import (
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Copies returns the tree as a copy engine meets it, which reaches as far as
// the spec's Copies, or nowhere if peer access is turned off, and pays the
// driver's handover beyond.
func (t *Tree) Copies(off bool) *Tree {
	n, spec := *t, *t.spec
	spec.P2P = spec.Copies
	if off {
		spec.P2P = Nowhere
	}
	n.spec, n.engine = &spec, true
	return &n
}

// heldParts is the denominator of what staged paths hold.
const heldParts = 240

// hold adds to a path from GPU a to GPU b, staged in host memory, what it
// holds beyond its bytes; see [Staging].
//
// With up and down the slowest links to the memory and from it, and h the
// handover of a byte, a copy engine takes 1/link + h for a byte on a link, and
// 1/up + 1/down + h on all of them if it is serial. Of the opposite direction
// it takes the part that Staging says of as much.
func (t *Tree) hold(p *topology.Path, a, b int32) {
	st := t.spec.Staging
	if !t.engine {
		st.Handover, st.Serial = 0, false
	}
	if st == (Staging{}) {
		return
	}
	both := 1/float64(t.slowest(a, true)) + 1/float64(t.slowest(b, false))
	p.Den *= heldParts
	for i := range p.Hops {
		p.Hops[i].Share *= heldParts
	}
	for _, end := range [...]struct {
		v  int32
		up bool
	}{{a, true}, {b, false}} {
		for v := end.v; t.vertices[v].above >= 0; v = t.vertices[v].above {
			part := st.Uplink
			switch t.vertices[v].kind {
			case topology.GPU:
				part = st.Own
			case topology.PCIeSwitch:
			default:
				continue // on the die there is room
			}
			there, back := t.vertices[v].up, t.vertices[v].down
			if !end.up {
				there, back = back, there
			}
			rate := float64(t.g.Links[there+t.shift].Rate)
			busy := 1/rate + st.Handover.Seconds()/float64(sim.MiB)
			if st.Serial {
				busy = both + st.Handover.Seconds()/float64(sim.MiB)
			}
			held(p, there+t.shift, busy*rate-1)
			held(p, back+t.shift, busy*rate*part)
		}
	}
}

// slowest returns the rate of the slowest link between a GPU and its socket,
// one way.
func (t *Tree) slowest(v int32, up bool) sim.Rate {
	least := sim.Rate(math.Inf(1))
	for ; t.vertices[v].above >= 0; v = t.vertices[v].above {
		l := t.vertices[v].down
		if up {
			l = t.vertices[v].up
		}
		least = min(least, t.g.Links[l+t.shift].Rate)
	}
	return least
}

// held adds a part of the path's bytes to what it holds of a link.
func held(p *topology.Path, l topology.LinkID, part float64) {
	if share := int32(math.Round(part * heldParts)); share > 0 {
		p.Held = topology.AppendHop(p.Held, topology.Hop{Resource: topology.ResourceID(l), Share: share})
	}
}
