package machine

import (
	"fmt"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/pcie"
)

// Copies returns the machine with the routes of copy engines, which differ
// from those of a library's kernels within a host:
//
//   - They reach as far over PCIe as the driver lets them (pcie.Spec.Copies).
//   - What they stage in host memory is handed over by the driver, piece by
//     piece (pcie.Staging).
//   - Over NVLink through a peer they store and forward: both links are held
//     for both legs, and the way back with them, since the driver keeps one
//     buffer for a pair.
//
// With off, peer access is turned off: all is staged, NVLink or not. It is an
// error for a machine whose routes were not made by this package, or that has
// no host memory to stage in.
func Copies(m *topology.Machine, off bool) (*topology.Machine, error) {
	old, ok := m.Router.(*router)
	if !ok {
		return nil, fmt.Errorf("copies on %s: the routes of this machine are fixed, and those of copy engines are not known; name a system or describe hosts", m.Name)
	}
	b := *old.built
	b.engine, b.trees = true, make([]*pcie.Tree, len(old.built.trees))
	for i, t := range old.built.trees {
		b.trees[i] = t.Copies(off)
	}
	if off {
		if b.nvlink = nil; len(b.trees) != 1 || b.spec.Host.PCIe.Memory.IsZero() {
			return nil, fmt.Errorf("copies on %s without peer access: they are staged in host memory, and one memory must join all GPUs of a host", m.Name)
		}
	}
	n := *m
	r, err := b.router()
	if err != nil {
		return nil, fmt.Errorf("copies on %s: %w", m.Name, err)
	}
	n.Router = r
	if m.Graph != b.g { // it has faults
		g := *m.Graph
		n.Graph = &g
		faulty, ranks, err := r.Reroute(&g)
		if err != nil {
			return nil, fmt.Errorf("copies on %s: %w", m.Name, err)
		}
		n.Router, n.Ranks = faulty, ranks
	}
	return &n, nil
}

// forward makes a path through a peer one that is stored and forwarded. A byte
// takes the time of both links, on each of the two and on their ways back.
func (v *view) forward(p *topology.Path, x, y int) {
	back, _ := v.nvlink.Route(y, x, nil)
	legs := int32(len(p.Hops)) / p.Den // of one way, two
	for _, h := range p.Hops {
		p.Held = append(p.Held, topology.Hop{Resource: h.Resource, Share: h.Share * (legs - 1)})
	}
	for _, h := range back.Hops {
		p.Held = append(p.Held, topology.Hop{Resource: h.Resource, Share: h.Share * legs})
	}
}
