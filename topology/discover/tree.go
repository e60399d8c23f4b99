package discover

import (
	"fmt"

	"github.com/weft-sim/weft/topology/pcie"
)

// fromPCI makes a tree of the vertices that the dump lists. What hangs from a
// CPU directly has a host bridge of its own, unless the dump lists those.
// Devices whose NUMA node is not told are on the first.
func (b *specBuilder) fromPCI(h *Host) *tree {
	f := flattener{b: b, h: h, t: &tree{Spec: &pcie.Spec{Sockets: max(1, len(h.CPUs))}}, at: make([]pcie.Parent, len(h.PCI))}
	f.findC2C()
	used := f.used()
	below := f.fastestBelow()
	for i, p := range h.PCI {
		switch {
		case !used[i]:
		case p.Role == HostBridge:
			f.at[i] = f.bridge(p.CPU)
		case p.Role == Switch && !f.merged(i):
			up := f.parent(i)
			link := p.Link
			if r := transfer(link); r > 0 && 4*r < below[i] {
				link = PCIeLink{}
				b.note(Assumed, "switch "+p.BusID, "the uplink as listed has less than a quarter of a link below it, as the port of an idle or managed switch; taken as a full one")
			}
			f.t.Switches = append(f.t.Switches, pcie.Slot{Under: up})
			f.t.uplinks = append(f.t.uplinks, link)
			f.at[i] = pcie.Parent{Kind: pcie.OnSwitch, Index: len(f.t.Switches) - 1}
		case p.Role == Switch:
			b.note(Repaired, "switch "+h.PCI[p.Parent].BusID, "parts of one chip are listed as switches below each other; taken as one switch, as NCCL does")
			f.at[i] = f.at[p.Parent]
		default:
			f.at[i] = f.parent(i)
		}
	}
	f.devices()
	return f.t
}

// flattener turns vertices into a spec.
type flattener struct {
	b  *specBuilder
	h  *Host
	t  *tree
	at []pcie.Parent // of each vertex: what a device below it hangs from; of a device, its own parent
}

// bridge adds a host bridge to a CPU.
func (f *flattener) bridge(cpu int) pcie.Parent {
	f.t.Bridges = append(f.t.Bridges, pcie.Bridge{Socket: max(0, cpu)})
	return pcie.Parent{Kind: pcie.OnBridge, Index: len(f.t.Bridges) - 1}
}

// parent returns what a vertex hangs from.
func (f *flattener) parent(i int) pcie.Parent {
	p := f.h.PCI[i]
	if p.Parent < 0 {
		return f.bridge(p.CPU)
	}
	return f.at[p.Parent]
}

// used marks the vertices that GPUs and NICs hang from.
func (f *flattener) used() []bool {
	used := make([]bool, len(f.h.PCI))
	mark := func(i int) {
		for ; i >= 0 && !used[i]; i = f.h.PCI[i].Parent {
			used[i] = true
		}
	}
	for i, g := range f.h.GPUs {
		if f.t.c2c[i] == nil {
			mark(g.PCI)
		}
	}
	for _, n := range f.h.NICs {
		mark(n.PCI)
	}
	return used
}

// merged recognises a part of a Broadcom switch below another part of the
// same chip, by NCCL's rule (ncclTopoFlattenBcmSwitches in
// NVIDIA/nccl src/graph/topo.cc): the identities of Gen4 parts are equal, and
// those of Gen5 parts tell their level.
func (f *flattener) merged(i int) bool {
	p := f.h.PCI[i]
	if p.Parent < 0 || f.h.PCI[p.Parent].Role != Switch {
		return false
	}
	gen := broadcom(p.ID, 1)
	return gen != 0 && gen == broadcom(f.h.PCI[p.Parent].ID, 0)
}

func broadcom(id [4]uint16, level uint16) int {
	switch {
	case id[0] == 0x1000 && id[1] == 0xc010 && id[2] == 0x1000 && id[3]&0xf000 == 0xa000:
		return 4
	case id[0] == 0x1000 && id[1] == 0xc030 && id[2] == 0x1000 && id[3]&0xf000 == level<<12:
		return 5
	}
	return 0
}

// transfer is a measure of a link for comparisons: 1 is a lane of generation
// 1, 0 not known.
func transfer(l PCIeLink) float64 {
	if l.Rate > 0 {
		return float64(l.Rate) / 0.25e9
	}
	if l.Gen == 0 || l.Width == 0 {
		return 0
	}
	return float64(l.Width) * float64(int(1)<<(l.Gen-1))
}

// fastestBelow returns the measure of the fastest device link below each
// vertex.
func (f *flattener) fastestBelow() []float64 {
	best := make([]float64, len(f.h.PCI))
	for i := len(f.h.PCI) - 1; i >= 0; i-- {
		p := f.h.PCI[i]
		if p.Role == Endpoint {
			best[i] = transfer(p.Link)
		}
		if p.Parent >= 0 {
			best[p.Parent] = max(best[p.Parent], best[i])
		}
	}
	return best
}

// devices fills in the slots. A GPU whose way is the link to its CPU hangs
// from that. Ports of one adapter are one
// NIC.
func (f *flattener) devices() {
	h := f.h
	for i := range h.GPUs {
		g := &h.GPUs[i]
		if f.t.c2c[i] != nil {
			f.b.note(Assumed, fmt.Sprintf("GPU%d", g.Index), "reaches its CPU over its chip-to-chip link; its PCIe link is left out")
			f.t.GPUs = append(f.t.GPUs, pcie.Slot{Under: pcie.Parent{Kind: pcie.OnSocket, Index: max(0, g.CPU)}})
			continue
		}
		f.t.GPUs = append(f.t.GPUs, pcie.Slot{Under: f.at[g.PCI]})
	}
	ports := make(map[int]int)
	for i := range h.NICs {
		n := &h.NICs[i]
		if n.PCI < 0 {
			f.t.NICs = append(f.t.NICs, pcie.Slot{Under: f.bridge(n.CPU)})
			f.t.nics = append(f.t.nics, n)
			continue
		}
		if k, ok := ports[n.PCI]; ok {
			both := *f.t.nics[k]
			both.Speed += n.Speed
			f.t.nics[k] = &both
			f.b.note(Assumed, both.Name+"+"+n.Name, "are ports of one adapter; taken as one NIC with the speed of both")
			continue
		}
		ports[n.PCI] = len(f.t.nics)
		f.t.NICs = append(f.t.NICs, pcie.Slot{Under: f.at[n.PCI]})
		f.t.nics = append(f.t.nics, n)
	}
}

// findC2C finds, for each GPU, its link to the CPU, if nothing shares
// its way through PCIe.
func (f *flattener) findC2C() {
	h := f.h
	sharers := make([]int, len(h.PCI)) // devices below each vertex
	count := func(i int) {
		for ; i >= 0; i = h.PCI[i].Parent {
			sharers[i]++
		}
	}
	for _, g := range h.GPUs {
		count(g.PCI)
	}
	for _, n := range h.NICs {
		count(n.PCI)
	}
	f.t.c2c = make([]*Link, len(h.GPUs))
	for i := range h.GPUs {
		g := &h.GPUs[i]
		root := g.PCI
		for root >= 0 && h.PCI[root].Parent >= 0 {
			root = h.PCI[root].Parent
		}
		for k := range g.Links {
			if g.Links[k].Kind == C2C && (root < 0 || sharers[root] == 1) {
				f.t.c2c[i] = &g.Links[k]
			}
		}
	}
}
