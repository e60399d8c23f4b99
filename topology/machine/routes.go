package machine

import (
	"fmt"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

// router finds the routes of host 0, once, for all.
func (b *builder) router() (*router, error) {
	r := b.emptyRouter()
	r.fabric = b.fabric
	v := b.view()
	t, err := v.template()
	if err != nil {
		return nil, err
	}
	b.nominal = t
	for h := range int32(b.hosts) {
		r.places[h] = place{template: t, links: h * b.hostLinks, trunks: h * b.hostTrunks}
	}
	if b.fabric == nil || b.hosts == 1 {
		return r, nil
	}
	if g, rail, ok := t.stuck(); ok {
		return nil, fmt.Errorf("n0.gpu%d cannot reach rail %d, and no switch joins the rails: give the network 2 tiers, or the host NVLink (and do not forbid relays)", g, rail)
	}
	return r, nil
}

func (b *builder) emptyRouter() *router {
	r := &router{
		built: b, name: b.spec.Name, gpus: int32(b.spec.Host.GPUs), hosts: int32(b.hosts),
		firstTrunk: topology.ResourceID(len(b.g.Links)), places: make([]place, b.hosts),
		ports: int32(b.trays * b.spec.Host.ports()),
	}
	if b.spec.Fabric != nil {
		r.ceiling = b.spec.Fabric.TransferRate
	}
	return r
}

// view is a host as its routes are found: its wiring, and what of it is in
// service.
type view struct {
	*builder
	host   int32
	nvlink *nvlink.Wiring
	trees  []*pcie.Tree
	// gone says which GPUs and which ports to the fabric are out of service; nil
	// is none.
	gone, cut []bool
	r         router // for paths within the template
}

// view returns host 0 as it was built.
func (b *builder) view() *view { return &view{builder: b, nvlink: b.nvlink, trees: b.trees} }

func (v *view) present(gpu int) bool { return v.gone == nil || !v.gone[gpu] }

// template finds the routes of the host. NVLink is better than any PCIe path,
// so a pair that has both takes NVLink. A pair that nothing joins on the host
// goes through the network, if there is one.
func (v *view) template() (*template, error) {
	t := &template{}
	if err := v.within(t); err != nil {
		return nil, err
	}
	if v.fabric == nil {
		return t, nil
	}
	v.r = router{gpus: int32(v.spec.Host.GPUs), firstTrunk: topology.ResourceID(len(v.builder.g.Links)), places: []place{{template: t}}}
	v.exits(t)
	switch joined := v.fabric.RailsJoined(); {
	case !joined && v.spec.Relay == RelayNever:
		v.rails(t)
	case !joined, v.spec.Relay == RelayAlways && v.fabric.Rails() > 1 && v.nvlink != nil && !v.builder.manyRelays():
		v.relays(t)
	}
	return t, nil
}

// within fills in the paths within the host.
func (v *view) within(t *template) error {
	gpus := v.spec.Host.GPUs
	if v.nvlink != nil {
		wired := true
		for i := range gpus {
			wired = wired && (v.nvlink.Wired(i) > 0 || !v.present(i))
		}
		if up, down, latency, ok := v.nvlink.Even(); ok && wired {
			t.up, t.down, t.hop = up, down, latency
			return nil
		}
		if v.nvlink.Switched() && v.nvlink.Complete() {
			t.nvlink = v.nvlink
			return nil
		}
	}
	t.pairs = make([]local, gpus*gpus)
	for x := range gpus {
		for y := range gpus {
			if !v.present(x) || !v.present(y) {
				continue
			}
			l := v.pair(x, y)
			if !l.ok && v.fabric == nil {
				return fmt.Errorf("nothing joins n%d.gpu%d and n%d.gpu%d: %s", v.host, x, v.host, y, v.apart(x, y))
			}
			t.pairs[x*gpus+y] = l
		}
	}
	return nil
}

// pair returns the best path between two GPUs of the host.
func (v *view) pair(x, y int) local {
	if x == y {
		return local{den: 1, ok: true}
	}
	if v.nvlink != nil {
		if p, ok := v.nvlink.Route(x, y, nil); ok {
			if v.engine && p.Kind == topology.NVB {
				v.forward(&p, x, y)
			}
			return keep(p, true)
		}
	}
	tx, gx := v.tray(x)
	ty, gy := v.tray(y)
	if v.trees == nil || tx != ty {
		return local{}
	}
	t := v.trees[tx]
	return keep(t.Route(t.GPU(gx), t.GPU(gy), nil))
}

// apart says why nothing joins two GPUs of the host.
func (v *view) apart(x, y int) string {
	tx, gx := v.tray(x)
	ty, gy := v.tray(y)
	if v.trees == nil || tx != ty {
		return "they share no NVLink and no PCIe tree"
	}
	t := v.trees[tx]
	if _, whole := t.Direct(t.GPU(gx), t.GPU(gy), nil); whole {
		return "they may not reach each other over PCIe, and no host memory is left that both reach"
	}
	return "no NVLink is left between them, and links of their PCIe tree are out of service"
}

// tray returns the tray of a GPU and its number there.
func (b *builder) tray(gpu int) (tray, unit int) {
	n := b.spec.Host.GPUs / b.trays
	return gpu / n, gpu % n
}

func keep(p topology.Path, ok bool) local {
	if !ok {
		return local{}
	}
	return local{
		hops: p.Hops, den: p.Den, held: p.Held, latency: p.Latency, rate: p.Rate, kind: p.Kind, staged: p.Staged, ok: true,
	}
}
