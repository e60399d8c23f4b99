package machine

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// router computes what the routes of host 0 are, once.
func (b *builder) router() (*router, error) {
	r := &router{
		name: b.spec.Name, gpus: int32(b.spec.Host.GPUs), hosts: int32(b.hosts),
		links: b.hostLinks, trunks: b.hostTrunks, firstTrunk: topology.ResourceID(len(b.g.Links)),
		fabric: b.fabric, ports: int32(b.trays * b.spec.Host.ports()),
	}
	if err := b.pairs(r); err != nil {
		return nil, err
	}
	if b.hosts == 1 {
		return r, nil
	}
	if err := b.exits(r); err != nil {
		return nil, err
	}
	if !b.fabric.RailsJoined() {
		return r, b.relays(r)
	}
	return r, nil
}

// pairs fills in the paths within a host. NVLink is better than any PCIe
// path, so a pair that has both takes NVLink.
func (b *builder) pairs(r *router) error {
	if b.nvlink != nil {
		if up, down, latency, ok := b.nvlink.Even(); ok {
			r.up, r.down, r.hop = up, down, latency
			return nil
		}
		r.nvlink = b.nvlink
		if b.nvlink.Switched() && b.nvlink.Complete() {
			return nil
		}
	}
	r.pairs = make([]local, r.gpus*r.gpus)
	for x := range r.gpus {
		for y := range r.gpus {
			l := b.pair(int(x), int(y))
			if !l.ok {
				return fmt.Errorf("nothing joins n0.gpu%d and n0.gpu%d: they share no NVLink and no PCIe tree", x, y)
			}
			r.pairs[x*r.gpus+y] = l
		}
	}
	return nil
}

// pair returns the best path between two GPUs of host 0.
func (b *builder) pair(x, y int) local {
	if x == y {
		return local{den: 1, ok: true}
	}
	if b.nvlink != nil {
		if p, ok := b.nvlink.Route(x, y, nil); ok {
			return keep(p)
		}
	}
	tx, gx := b.tray(x)
	ty, gy := b.tray(y)
	if b.trees == nil || tx != ty {
		return local{}
	}
	t := b.trees[tx]
	return keep(t.Route(t.GPU(gx), t.GPU(gy), nil))
}

// tray returns the tray of a GPU and its number there.
func (b *builder) tray(gpu int) (tray, unit int) {
	n := b.spec.Host.GPUs / b.trays
	return gpu / n, gpu % n
}

func keep(p topology.Path) local {
	return local{hops: p.Hops, den: p.Den, latency: p.Latency, kind: p.Kind, staged: p.Staged, ok: true}
}

// exits chooses the NICs of each GPU and fills in the ways to them and back.
//
// As in NCCL the local NICs of a GPU are those with the best path (kind, then
// rate, then hops). If L NICs are local to G GPUs, each GPU takes
// ceil(L/G) of them, the next GPU the next ones, in the order of their
// numbers, so that GPU i and NIC i pair up and rails stay straight.
func (b *builder) exits(r *router) error {
	r.out, r.in = make([]exits, r.gpus), make([]exits, r.gpus)
	perTray := int32(b.spec.Host.ports())
	rail := func(port int32) int32 { return port % perTray % int32(b.fabric.Rails()) }
	if b.trees == nil {
		for i := range r.gpus {
			way := exit{local: local{den: 1, ok: true}, port: i, rail: rail(i)}
			r.out[i], r.in[i] = exits{way}, exits{way}
		}
		return nil
	}
	gpus := b.spec.Host.GPUs / b.trays
	nics := make([][]int, gpus)
	for i := range gpus {
		nics[i] = b.nearest(i)
	}
	for i := range int(r.gpus) {
		tray, unit := b.tray(i)
		t := b.trees[tray]
		for _, nic := range share(nics, unit) {
			port := int32(tray)*perTray + int32(nic)
			out := keep(t.Route(t.GPU(unit), t.NIC(nic), nil))
			in := keep(t.Route(t.NIC(nic), t.GPU(unit), nil))
			r.out[i] = append(r.out[i], exit{local: out, port: port, rail: rail(port)})
			r.in[i] = append(r.in[i], exit{local: in, port: port, rail: rail(port)})
		}
	}
	return nil
}

// nearest returns the NICs with the best path from GPU i of a tray.
func (b *builder) nearest(i int) []int {
	t := b.trees[0]
	var best []int
	var least reach
	for n := range b.spec.Host.PCIe.NICs {
		p := t.Route(t.GPU(i), t.NIC(n), nil)
		_, rate := b.g.Bottleneck(p)
		d := reach{kind: p.Kind, staged: p.Staged, rate: rate, hops: len(p.Hops)}
		switch {
		case len(best) == 0 || d.better(least):
			best, least = []int{n}, d
		case d == least:
			best = append(best, n)
		}
	}
	return best
}

// reach is how good a path to a NIC is.
type reach struct {
	kind   topology.PathKind
	staged bool
	rate   sim.Rate
	hops   int
}

func (a reach) better(b reach) bool {
	switch {
	case a.kind != b.kind:
		return a.kind < b.kind
	case a.staged != b.staged:
		return b.staged
	case a.rate != b.rate:
		return a.rate > b.rate
	}
	return a.hops < b.hops
}

// share returns the part of its local NICs that a GPU uses beside the other
// GPUs with the same ones.
func share(nics [][]int, gpu int) []int {
	local := nics[gpu]
	sharers, place := 0, 0
	for i, other := range nics {
		if len(other) == 0 || other[0] != local[0] {
			continue
		}
		if i == gpu {
			place = sharers
		}
		sharers++
	}
	n := (len(local) + sharers - 1) / sharers
	chosen := make([]int, n)
	for k := range chosen {
		chosen[k] = local[(place*n+k)%len(local)]
	}
	return chosen
}

// relays fills in, for each GPU and each rail, the way out on that rail: by
// the GPU's own port, or over NVLink to the first GPU that has one, counted
// from the GPU itself so that the relays are spread.
func (b *builder) relays(r *router) error {
	r.relays = make([][]exit, r.gpus)
	for g := range r.gpus {
		for rail := range int32(b.fabric.Rails()) {
			way, ok := b.relay(r, g, rail)
			if !ok {
				return fmt.Errorf("n0.gpu%d cannot reach rail %d, and no switch joins the rails: give the network 2 tiers, or the host NVLink", g, rail)
			}
			r.relays[g] = append(r.relays[g], way)
		}
	}
	return nil
}

func (b *builder) relay(r *router, g, rail int32) (exit, bool) {
	for i := range r.gpus {
		via := (g + i) % r.gpus
		for _, out := range r.out[via] {
			if out.rail != rail {
				continue
			}
			if via == g {
				return out, true
			}
			p, err := r.within(0, g, via, nil)
			if err != nil || p.Kind > topology.NVB {
				continue
			}
			return join(p, out), true
		}
	}
	return exit{}, false
}

// join returns the way over p and then out.
func join(p topology.Path, out exit) exit {
	way := exit{port: out.port, rail: out.rail, local: local{
		den: p.Den * out.den, latency: p.Latency + out.latency, kind: topology.NET, staged: p.Staged || out.staged, ok: true,
	}}
	for _, h := range p.Hops {
		way.hops = topology.AppendHop(way.hops, topology.Hop{Resource: h.Resource, Share: h.Share * out.den})
	}
	for _, h := range out.hops {
		way.hops = topology.AppendHop(way.hops, topology.Hop{Resource: h.Resource, Share: h.Share * p.Den})
	}
	return way
}
