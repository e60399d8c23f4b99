package netfile

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// grid routes a network of dimensions as ASTRA-sim's congestion-aware backend
// does: the innermost dimension first, each by its own shortest way, around a
// ring in rising order where both ways are as long. It stores a number for each
// dimension and computes the rest.
type grid struct {
	name string
	size int32
	dims []gridDim
}

// gridDim is how the links of a dimension are numbered: each group of NPUs
// that differ in this coordinate only has perGroup links, from first on.
type gridDim struct {
	shape        string
	size, stride int32
	first        topology.LinkID
	perGroup     int32
	latency      sim.Time
}

// add lays the links of dimension k and notes their numbers.
//
// In a group, Switch has links 2i up from member i and 2i+1 down to it; Ring
// 2i from member i to the next and 2i+1 back; FullyConnected the pair (i, j),
// i < j, in order.
func (r *grid) add(g *topology.Graph, k int, d dimension, stride, npus int) {
	dim := gridDim{
		shape: d.shape, size: int32(d.size), stride: int32(stride), first: topology.LinkID(len(g.Links)), latency: d.latency,
	}
	class := g.AddClass(topology.Class{
		Name: fmt.Sprintf("dim%d-%s", k, map[string]string{"Ring": "ring", "Switch": "switch", "FullyConnected": "full"}[d.shape]),
		Raw:  d.rate / sim.Rate(d.width), Note: "given: ASTRA-sim network",
	})
	wire := topology.Link{Rate: d.rate, Latency: d.latency, Class: class, Width: d.width}
	join := func(a, b topology.NodeID) {
		wire.From, wire.To = a, b
		g.AddDuplex(wire)
	}
	for group := range npus / d.size {
		base := group%stride + group/stride*stride*d.size
		member := func(i int) topology.NodeID { return topology.NodeID(base + i*stride) }
		switch d.shape {
		case "Switch":
			kind, name, host := topology.Switch, fmt.Sprintf("switch%d.%d", k, group), int32(-1)
			if k == 0 {
				kind, name, host = topology.NVSwitch, fmt.Sprintf("n%d.nvswitch0", group), int32(group)
			}
			sw := g.AddNode(topology.Node{Kind: kind, Name: name, Host: host, Unit: int32(group)})
			for i := range d.size {
				join(member(i), sw)
			}
		case "Ring":
			last := d.size
			if d.size == 2 { // one wire, not two
				last = 1
			}
			for i := range last {
				join(member(i), member((i+1)%d.size))
			}
		default:
			for i := range d.size {
				for j := i + 1; j < d.size; j++ {
					join(member(i), member(j))
				}
			}
		}
		if group == 0 {
			dim.perGroup = int32(topology.LinkID(len(g.Links)) - dim.first)
		}
	}
	r.dims = append(r.dims, dim)
}

// Route returns the path from NPU a to NPU b. It allocates nothing where buf
// is long enough.
func (r *grid) Route(a, b int32, buf []topology.Hop) (topology.Path, error) {
	if uint32(a) >= uint32(r.size) || uint32(b) >= uint32(r.size) {
		return topology.Path{}, fmt.Errorf("route from rank %d to rank %d of %s: the ranks are 0 to %d", a, b, r.name, r.size-1)
	}
	p := topology.Path{Hops: buf[:0], Den: 1}
	at := a
	for k := range r.dims {
		d := &r.dims[k]
		from, to := at/d.stride%d.size, b/d.stride%d.size
		if from == to {
			continue
		}
		group := at%d.stride + at/(d.stride*d.size)*d.stride
		first := d.first + topology.LinkID(group*d.perGroup)
		hops := len(p.Hops)
		p.Hops = d.walk(p.Hops, first, from, to)
		passed := len(p.Hops) - hops
		p.Latency += sim.Time(passed) * d.latency
		at += (to - from) * d.stride
		switch {
		case k > 0:
			p.Kind = topology.NET
		case d.shape == "Ring" && passed > 1:
			p.Kind = topology.NVB
		default:
			p.Kind = topology.NVL
		}
	}
	return p, nil
}

// walk appends the links of a group, the first of which is first, from one
// member to another.
func (d *gridDim) walk(hops []topology.Hop, first topology.LinkID, from, to int32) []topology.Hop {
	hop := func(l int32) {
		hops = append(hops, topology.Hop{Resource: topology.ResourceID(first) + topology.ResourceID(l), Share: 1})
	}
	switch d.shape {
	case "Switch":
		hop(2 * from)
		hop(2*to + 1)
	case "Ring":
		ahead := (to - from + d.size) % d.size
		switch {
		case d.size == 2:
			hop(from)
		case ahead <= d.size-ahead:
			for i := range ahead {
				hop(2 * ((from + i) % d.size))
			}
		default:
			for i := range d.size - ahead {
				hop(2*((from-i-1+d.size)%d.size) + 1)
			}
		}
	default:
		i, j := min(from, to), max(from, to)
		pair := 2 * (i*(2*d.size-i-1)/2 + j - i - 1)
		if from > to {
			pair++
		}
		hop(pair)
	}
	return hops
}
