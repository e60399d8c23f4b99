package machine

import (
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// exits chooses the NICs of each GPU and fills in the ways to them and back.
//
// As in NCCL the local NICs of a GPU are those with the best path (kind, then
// rate, then hops). If L NICs are local to G GPUs, each GPU takes
// ceil(L/G) of them, the next GPU the next ones, in the order of their
// numbers, so that GPU i and NIC i pair up and rails stay straight. A GPU that
// reaches no NIC uses those of the first peer that NVLink joins it to.
func (v *view) exits(t *template) {
	gpus := v.spec.Host.GPUs
	t.out, t.in = make([]exits, gpus), make([]exits, gpus)
	if v.trees == nil {
		for i := range int32(gpus) {
			if v.present(int(i)) && v.plugged(i) {
				way := exit{local: local{den: 1, ok: true}, port: i, rail: v.rail(i)}
				t.out[i], t.in[i] = exits{way}, exits{way}
			}
		}
	} else {
		perTray := gpus / v.trays
		for tray := range v.trays {
			nics := make([][]int, perTray)
			for i := range nics {
				if v.present(tray*perTray + i) {
					nics[i] = v.nearest(tray, i)
				}
			}
			for i := range nics {
				for _, nic := range share(nics, i) {
					v.plug(t, tray, i, nic)
				}
			}
		}
	}
	out, in := make([]exits, gpus), make([]exits, gpus)
	copy(out, t.out)
	copy(in, t.in)
	var plugged []int32
	for g := range int32(gpus) {
		if len(t.out[g]) > 0 {
			plugged = append(plugged, g)
		}
	}
	for g := range int32(gpus) {
		at, has := slices.BinarySearch(plugged, g)
		if has || !v.present(int(g)) {
			continue
		}
		if via, ok := v.peer(t, g, plugged, at, func(int32, topology.Path) bool { return true }); ok {
			there, _ := v.r.within(0, g, via, nil)
			back, _ := v.r.within(0, via, g, nil)
			for k := range t.out[via] {
				out[g] = append(out[g], join(there, t.out[via][k]))
				in[g] = append(in[g], join(back, t.in[via][k]))
			}
		}
	}
	t.out, t.in = out, in
}

// plug adds the ways between GPU i of a tray and one of its NICs.
func (v *view) plug(t *template, tray, i, nic int) {
	tree := v.trees[tray]
	port := int32(tray*v.spec.Host.ports() + nic)
	out := keep(tree.Route(tree.GPU(i), tree.NIC(nic), nil))
	in := keep(tree.Route(tree.NIC(nic), tree.GPU(i), nil))
	g := tray*(v.spec.Host.GPUs/v.trays) + i
	t.out[g] = append(t.out[g], exit{local: out, port: port, rail: v.rail(port)})
	t.in[g] = append(t.in[g], exit{local: in, port: port, rail: v.rail(port)})
}

// rail returns the rail of a host's port.
func (v *view) rail(port int32) int32 {
	return port % int32(v.spec.Host.ports()) % int32(v.fabric.Rails())
}

// plugged reports whether a port of the host is in service.
func (v *view) plugged(port int32) bool { return v.cut == nil || !v.cut[port] }

// nearest returns the NICs in service with the best path from GPU i of a tray.
// It is the distance over PCIe that counts, whatever GPUDirect RDMA says: bytes
// staged in host memory pass the same links to every NIC of a socket, and NCCL
// ranks NICs before it asks. Rates are those of the machine as it was built: a
// slow link does not change what the drivers say, and so not the choice.
func (v *view) nearest(tray, i int) []int {
	t := v.trees[tray]
	var best []int
	var least reach
	for n := range v.spec.Host.PCIe.NICs {
		direct, whole := t.Direct(t.GPU(i), t.NIC(n), nil)
		p, ok := t.Route(t.GPU(i), t.NIC(n), nil)
		if !ok || !v.plugged(int32(tray*v.spec.Host.ports()+n)) {
			continue
		}
		_, rate := v.builder.g.Bottleneck(direct)
		d := reach{kind: direct.Kind, broken: !whole, staged: p.Staged, rate: rate, hops: len(direct.Hops)}
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
	kind           topology.PathKind
	broken, staged bool // the direct way is out of service, or not taken
	rate           sim.Rate
	hops           int
}

func (a reach) better(b reach) bool {
	switch {
	case a.broken != b.broken:
		return b.broken
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
	if len(local) == 0 {
		return nil
	}
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
// the GPU's own port or another below its PCIe switches, or over NVLink to the
// first GPU that has one, counted from the GPU itself so that the relays are
// spread. Where there is neither
// and a switch joins the rails, it is a port of the GPU.
func (v *view) relays(t *template) {
	t.relays = make([][]exit, len(t.out))
	on := make([][]int32, v.fabric.Rails())
	for g, out := range t.out {
		for _, way := range out {
			if l := on[way.rail]; len(l) == 0 || l[len(l)-1] != int32(g) {
				on[way.rail] = append(l, int32(g))
			}
		}
	}
	for g := range int32(len(t.out)) {
		for rail := range int32(len(on)) {
			way, ok := v.relay(t, g, rail, on[rail])
			if own := t.out[g]; !ok && v.fabric.RailsJoined() && len(own) > 0 {
				way = own[int(rail)%len(own)]
			}
			t.relays[g] = append(t.relays[g], way)
		}
	}
}

// rails is relays without any: a GPU leaves on its own rails alone.
func (v *view) rails(t *template) {
	t.relays = make([][]exit, len(t.out))
	for g, out := range t.out {
		t.relays[g] = make([]exit, v.fabric.Rails())
		for _, way := range out {
			t.relays[g][way.rail] = way
		}
	}
}

// relay returns the way of a GPU out on a rail; on are the GPUs with a port
// there, in order.
func (v *view) relay(t *template, g, rail int32, on []int32) (exit, bool) {
	own := func(via int32) exit {
		i := slices.IndexFunc(t.out[via], func(e exit) bool { return e.rail == rail })
		return t.out[via][i]
	}
	if !v.present(int(g)) {
		return exit{}, false
	}
	at, has := slices.BinarySearch(on, g)
	if has {
		return own(g), true
	}
	if out, ok := v.beside(g, rail); ok {
		return out, true
	}
	tray, _ := v.tray(int(g))
	joined := v.fabric.RailsJoined()
	via, ok := v.peer(t, g, on, at, func(via int32, p topology.Path) bool {
		there, _ := v.tray(int(via))
		return !joined || p.Kind <= topology.NVL && there == tray && !own(via).staged
	})
	if !ok {
		return exit{}, false
	}
	p, _ := v.r.within(0, g, via, nil)
	return join(p, own(via)), true
}

// beside returns the way of a GPU to a NIC on a rail that is not its own but
// that it reaches through PCIe switches alone: a relay would gain nothing.
func (v *view) beside(g, rail int32) (exit, bool) {
	if v.trees == nil {
		return exit{}, false
	}
	tray, unit := v.tray(int(g))
	tree := v.trees[tray]
	for nic := range v.spec.Host.PCIe.NICs {
		port := int32(tray*v.spec.Host.ports() + nic)
		if v.rail(port) != rail || !v.plugged(port) {
			continue
		}
		if p, ok := tree.Route(tree.GPU(unit), tree.NIC(nic), nil); ok && !p.Staged && p.Kind <= topology.PXB && p.Kind >= topology.PIX {
			return exit{local: keep(p, true), port: port, rail: rail}, true
		}
	}
	return exit{}, false
}

// peer returns the first of some GPUs after g, in a circle, that NVLink joins
// it to and that will do; first the tray of g goes round, then the host. at is
// where g would stand among them.
func (v *view) peer(t *template, g int32, among []int32, at int, will func(via int32, p topology.Path) bool) (int32, bool) {
	tray, _ := v.tray(int(g))
	for _, near := range [...]bool{true, false} {
		for i := range among {
			via := among[(at+i)%len(among)]
			if there, _ := v.tray(int(via)); via == g || (there == tray) != near || t.pairs != nil && !t.pairs[g*int32(len(t.out))+via].ok {
				continue
			}
			if p, err := v.r.within(0, g, via, nil); err == nil && p.Kind <= topology.NVB && will(via, p) {
				return via, true
			}
		}
		if v.trays == 1 {
			break
		}
	}
	return 0, false
}

// join returns the way over p and then out, or in and then p.
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

// stuck returns a GPU that cannot leave on a rail that is in use, if relays
// are all there is.
func (t *template) stuck() (gpu, rail int32, ok bool) {
	for g := range t.relays {
		for rail, way := range t.relays[g] {
			if !way.ok {
				return int32(g), int32(rail), true
			}
		}
	}
	return 0, 0, false
}
