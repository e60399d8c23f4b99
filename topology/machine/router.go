package machine

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/nvlink"
)

// router finds paths from coordinates. Hosts that are alike share a template,
// whose paths are shifted.
type router struct {
	built       *builder // what the machine was built of
	name        string
	gpus, hosts int32   // GPUs of a host
	slots       []int32 // of each rank: host x gpus + GPU; nil if all are in service
	firstTrunk  topology.ResourceID
	places      []place // by host

	// Between hosts.
	fabric  *fabric.Fabric
	ports   int32    // of a host
	ceiling sim.Rate // of a transfer over one pair of ports

	notes []string // on what takes another way than as built
}

// place is where a host finds its routes: a template, and how far its links
// and trunks are from those there.
type place struct {
	*template
	links, trunks int32
}

// template is the routes of a host, and of all that are like it.
type template struct {
	// Within a host. On an even NVSwitch domain of one tier up and down say it
	// all; otherwise NVLink is asked, if it joins all, then the table of pairs.
	up, down []topology.ResourceID
	hop      sim.Time
	nvlink   *nvlink.Wiring
	pairs    []local // [a*gpus+b]

	// To the network and back.
	out, in []exits  // by GPU
	relays  [][]exit // by GPU and rail, where traffic changes rails over NVLink
}

// local is a path within a host.
type local struct {
	hops    []topology.Hop
	den     int32
	held    []topology.Hop // within a host only
	latency sim.Time
	rate    sim.Rate // ceiling; 0 is none
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
	n := r.gpus * r.hosts
	if r.slots != nil {
		n = int32(len(r.slots))
	}
	if uint32(a) >= uint32(n) || uint32(b) >= uint32(n) {
		return topology.Path{}, fmt.Errorf("route from rank %d to rank %d of %s: the ranks are 0 to %d", a, b, r.name, n-1)
	}
	if r.slots != nil {
		a, b = r.slots[a], r.slots[b]
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

// shift returns the twin of a template's resource at a place.
func (r *router) shift(id topology.ResourceID, p *place) topology.ResourceID {
	if id < r.firstTrunk {
		return id + topology.ResourceID(p.links)
	}
	return id + topology.ResourceID(p.trunks)
}

func (r *router) within(h, a, b int32, buf []topology.Hop) (topology.Path, error) {
	if a == b {
		return topology.Path{Hops: buf[:0], Den: 1}, nil
	}
	t := &r.places[h]
	if t.up != nil {
		hops := append(buf[:0],
			topology.Hop{Resource: r.shift(t.up[a], t), Share: 1},
			topology.Hop{Resource: r.shift(t.down[b], t), Share: 1})
		return topology.Path{Hops: hops, Den: 1, Latency: t.hop, Kind: topology.NVL}, nil
	}
	if t.pairs == nil {
		p, ok := t.nvlink.Route(int(a), int(b), buf)
		if !ok {
			return p, r.noRoute(h, h, a, b)
		}
		for i := range p.Hops {
			p.Hops[i].Resource = r.shift(p.Hops[i].Resource, t)
		}
		return p, nil
	}
	l := &t.pairs[a*r.gpus+b]
	if !l.ok {
		if r.fabric == nil {
			return topology.Path{}, r.noRoute(h, h, a, b)
		}
		return r.between(h, h, a, b, buf)
	}
	hops := r.append(buf[:0], l, t, 1)
	p := topology.Path{Den: l.den, Latency: l.latency, Rate: l.rate, Kind: l.kind, Staged: l.staged}
	n := len(hops)
	for _, hop := range l.held {
		hops = append(hops, topology.Hop{Resource: r.shift(hop.Resource, t), Share: hop.Share})
	}
	p.Hops = hops[:n]
	if len(hops) > n {
		// Clipped: who merges the two must not write over what is held.
		p.Hops, p.Held = hops[:n:n], hops[n:]
	}
	return p, nil
}

// append adds a local way at a place, each share taken times.
func (r *router) append(hops []topology.Hop, l *local, p *place, times int32) []topology.Hop {
	for _, hop := range l.hops {
		hops = append(hops, topology.Hop{Resource: r.shift(hop.Resource, p), Share: hop.Share * times})
	}
	return hops
}

func (r *router) between(ha, hb, a, b int32, buf []topology.Hop) (topology.Path, error) {
	p := topology.Path{Hops: buf[:0], Den: 1, Kind: topology.NET}
	ta, tb := &r.places[ha], &r.places[hb]
	n := units(ta, tb, a, b)
	p.Rate = r.ceiling * sim.Rate(n)
	if n != 1 || ha == hb {
		return r.spread(p, n, ha, hb, a, b)
	}
	out, in := ways(ta, tb, a, b, 0, 1)
	if !out.ok || out.den != 1 || in.den != 1 {
		return r.spread(p, n, ha, hb, a, b)
	}
	var ok bool
	p.Hops = r.append(p.Hops, &out.local, ta, 1)
	p.Hops, p.Den, p.Latency, ok = r.fabric.Route(ha*r.ports+out.port, hb*r.ports+in.port, p.Hops)
	if !ok {
		return p, r.noRoute(ha, hb, a, b)
	}
	for i := range out.hops {
		p.Hops[i].Share *= p.Den
	}
	p.Hops = r.append(p.Hops, &in.local, tb, p.Den)
	p.Latency += out.latency + in.latency
	p.Staged = out.staged || in.staged
	return p, nil
}

// units returns over how many ways the traffic of a pair is spread.
func units(ta, tb *place, a, b int32) int32 {
	in := int32(len(tb.in[b]))
	if ta.relays != nil || in == 0 || len(ta.out[a]) == 0 {
		return in
	}
	return lcm(int32(len(ta.out[a])), in)
}

// ways returns the k-th of n equal ways from a to b: the port that it leaves
// by and the port that it arrives at. With relays it leaves on the rail on
// which it arrives, over NVLink to a GPU with a port there if need be.
func ways(ta, tb *place, a, b, k, n int32) (out, in *exit) {
	in = &tb.in[b][k*int32(len(tb.in[b]))/n]
	if ta.relays != nil {
		return &ta.relays[a][in.rail], in
	}
	return &ta.out[a][k*int32(len(ta.out[a]))/n], in
}

// spread composes a path of n equal ways, of which any may be sprayed itself.
func (r *router) spread(p topology.Path, n, ha, hb, a, b int32) (topology.Path, error) {
	ta, tb := &r.places[ha], &r.places[hb]
	if n == 0 || ta.relays == nil && len(ta.out[a]) == 0 {
		return p, r.noRoute(ha, hb, a, b)
	}
	var room [8]topology.Hop
	parts := int32(1) // of one way
	for k := range n {
		out, in := ways(ta, tb, a, b, k, n)
		if !out.ok {
			return p, r.noRoute(ha, hb, a, b)
		}
		_, den, _, ok := r.fabric.Route(ha*r.ports+out.port, hb*r.ports+in.port, room[:0])
		if !ok {
			return p, r.noRoute(ha, hb, a, b)
		}
		parts = lcm(parts, lcm(den, lcm(out.den, in.den)))
	}
	p.Den = n * parts
	for k := range n {
		out, in := ways(ta, tb, a, b, k, n)
		hops, den, latency, _ := r.fabric.Route(ha*r.ports+out.port, hb*r.ports+in.port, room[:0])
		for _, h := range out.hops {
			p.Hops = topology.AppendHop(p.Hops, topology.Hop{Resource: r.shift(h.Resource, ta), Share: h.Share * parts / out.den})
		}
		for _, h := range hops {
			p.Hops = topology.AppendHop(p.Hops, topology.Hop{Resource: h.Resource, Share: h.Share * parts / den})
		}
		for _, h := range in.hops {
			p.Hops = topology.AppendHop(p.Hops, topology.Hop{Resource: r.shift(h.Resource, tb), Share: h.Share * parts / in.den})
		}
		p.Latency = max(p.Latency, latency+out.latency+in.latency)
		p.Staged = p.Staged || out.staged || in.staged
	}
	return p, nil
}

func (r *router) noRoute(ha, hb, a, b int32) error {
	return fmt.Errorf("route in %s: nothing joins n%d.gpu%d and n%d.gpu%d", r.name, ha, a, hb, b)
}

func lcm(a, b int32) int32 { return a / gcd(a, b) * b }

func gcd(a, b int32) int32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
