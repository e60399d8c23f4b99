package machine

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/nvlink"
)

// router finds paths from coordinates. All paths within a host are those of
// host 0, shifted.
type router struct {
	name          string
	gpus, hosts   int32 // GPUs of a host
	links, trunks int32 // of a host: how far twins are apart
	firstTrunk    topology.ResourceID

	// Within a host. On an even NVSwitch domain up and down say it all;
	// otherwise NVLink is asked, if it is there, then the table of pairs.
	up, down []topology.ResourceID
	hop      sim.Time
	nvlink   *nvlink.Wiring
	pairs    []local // [a*gpus+b]

	// Between hosts.
	fabric *fabric.Fabric
	ports  int32 // of a host
	out    []exits
	in     []exits
	relays [][]exit // by GPU and rail, where the rails are not joined
}

// local is a path on host 0.
type local struct {
	hops    []topology.Hop
	den     int32
	latency sim.Time
	kind    topology.PathKind
	staged  bool
	ok      bool
}

// exit is the way between a GPU and one of its ports into the fabric: its
// number on the host, and its rail.
type exit struct {
	local
	port, rail int32
}

// exits are the ways of a GPU to its ports, over which its traffic is spread
// evenly.
type exits []exit

func (r *router) Route(a, b int32, buf []topology.Hop) (topology.Path, error) {
	if n := r.gpus * r.hosts; uint32(a) >= uint32(n) || uint32(b) >= uint32(n) {
		return topology.Path{}, fmt.Errorf("route from rank %d to rank %d of %s: the ranks are 0 to %d", a, b, r.name, n-1)
	}
	ha, hb := int32(0), int32(0)
	if r.hosts > 1 {
		ha, hb = a/r.gpus, b/r.gpus
	}
	la, lb := a-ha*r.gpus, b-hb*r.gpus
	if ha == hb {
		return r.within(ha, la, lb, buf)
	}
	return r.between(ha, hb, la, lb, buf)
}

// shift returns the twin of host 0's resource on host h.
func (r *router) shift(id topology.ResourceID, h int32) topology.ResourceID {
	if id < r.firstTrunk {
		return id + topology.ResourceID(h*r.links)
	}
	return id + topology.ResourceID(h*r.trunks)
}

func (r *router) within(h, a, b int32, buf []topology.Hop) (topology.Path, error) {
	if a == b {
		return topology.Path{Hops: buf[:0], Den: 1}, nil
	}
	if r.up != nil {
		hops := append(buf[:0],
			topology.Hop{Resource: r.shift(r.up[a], h), Share: 1},
			topology.Hop{Resource: r.shift(r.down[b], h), Share: 1})
		return topology.Path{Hops: hops, Den: 1, Latency: r.hop, Kind: topology.NVL}, nil
	}
	if r.pairs == nil {
		p, ok := r.nvlink.Route(int(a), int(b), buf)
		if !ok {
			return p, r.noRoute(h, h, a, b)
		}
		for i := range p.Hops {
			p.Hops[i].Resource = r.shift(p.Hops[i].Resource, h)
		}
		return p, nil
	}
	l := &r.pairs[a*r.gpus+b]
	return topology.Path{
		Hops: r.append(buf[:0], l, h, 1), Den: l.den, Latency: l.latency, Kind: l.kind, Staged: l.staged,
	}, nil
}

// append adds a local way on host h, each share taken times.
func (r *router) append(hops []topology.Hop, l *local, h, times int32) []topology.Hop {
	for _, hop := range l.hops {
		hops = append(hops, topology.Hop{Resource: r.shift(hop.Resource, h), Share: hop.Share * times})
	}
	return hops
}

func (r *router) between(ha, hb, a, b int32, buf []topology.Hop) (topology.Path, error) {
	p := topology.Path{Hops: buf[:0], Den: 1, Kind: topology.NET}
	n := r.units(a, b)
	if n == 1 {
		out, in := r.ways(a, b, 0, 1)
		if out.den == 1 && in.den == 1 {
			var ok bool
			p.Hops = r.append(p.Hops, &out.local, ha, 1)
			p.Hops, p.Latency, ok = r.fabric.Route(ha*r.ports+out.port, hb*r.ports+in.port, p.Hops)
			if !ok {
				return p, r.noRoute(ha, hb, a, b)
			}
			p.Hops = r.append(p.Hops, &in.local, hb, 1)
			p.Latency += out.latency + in.latency
			p.Staged = out.staged || in.staged
			return p, nil
		}
	}
	return r.spread(p, n, ha, hb, a, b)
}

// units returns over how many ways the traffic of a pair is spread.
func (r *router) units(a, b int32) int32 {
	if r.relays != nil {
		return int32(len(r.in[b]))
	}
	return lcm(int32(len(r.out[a])), int32(len(r.in[b])))
}

// ways returns the k-th of n equal ways from a to b: the port that it leaves
// by and the port that it arrives at. Where the rails are not joined it
// leaves on the rail on which it arrives, over NVLink to a GPU with a port
// there if need be.
func (r *router) ways(a, b, k, n int32) (out, in *exit) {
	in = &r.in[b][k*int32(len(r.in[b]))/n]
	if r.relays != nil {
		return &r.relays[a][in.rail], in
	}
	return &r.out[a][k*int32(len(r.out[a]))/n], in
}

// spread composes a path of n equal ways, of which any may be sprayed itself.
func (r *router) spread(p topology.Path, n, ha, hb, a, b int32) (topology.Path, error) {
	parts := int32(1) // of one way
	for k := range n {
		out, in := r.ways(a, b, k, n)
		parts = lcm(parts, lcm(out.den, in.den))
	}
	p.Den = n * parts
	var room [8]topology.Hop
	for k := range n {
		out, in := r.ways(a, b, k, n)
		hops, latency, ok := r.fabric.Route(ha*r.ports+out.port, hb*r.ports+in.port, room[:0])
		if !ok {
			return p, r.noRoute(ha, hb, a, b)
		}
		for _, h := range out.hops {
			p.Hops = topology.AppendHop(p.Hops, topology.Hop{Resource: r.shift(h.Resource, ha), Share: h.Share * parts / out.den})
		}
		for _, h := range hops {
			p.Hops = topology.AppendHop(p.Hops, topology.Hop{Resource: h.Resource, Share: h.Share * parts})
		}
		for _, h := range in.hops {
			p.Hops = topology.AppendHop(p.Hops, topology.Hop{Resource: r.shift(h.Resource, hb), Share: h.Share * parts / in.den})
		}
		p.Latency = max(p.Latency, latency+out.latency+in.latency)
		p.Staged = p.Staged || out.staged || in.staged
	}
	return p, nil
}

func (r *router) noRoute(ha, hb, a, b int32) error {
	return fmt.Errorf("route in %s: nothing joins n%d.gpu%d and n%d.gpu%d", r.name, ha, a, hb, b)
}

func lcm(a, b int32) int32 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}
