package catalog

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/pcie"
)

// places are where the devices of a tray can hang, in order.
type places struct {
	gpus, nics []pcie.Parent
	link       *Link // that ends there; a device may be slower
}

// deal returns the place of device i of n.
func deal(at []pcie.Parent, i, n int) pcie.Parent { return at[i*len(at)/n] }

// roots adds the host bridges and the switches below them.
func (r *resolver) roots(spec *pcie.Spec, s *System, cpu *CPU, host *Link) (*places, error) {
	roots := use(r, s.PCIe.Roots)
	if len(roots) != spec.Sockets {
		return nil, fmt.Errorf("pcie.roots %s is for %d sockets, but there are %d", s.PCIe.Roots, len(roots), spec.Sockets)
	}
	below := 1 // switches with a port of the host bridge
	each := max(1, int(use(r, s.PCIe.Switches)))
	if s.PCIe.Layout == "" || s.PCIe.Layout == sideBySide {
		below = each
	}
	ondie := topology.Wire{
		Rate:  use(r, cpu.RootRate) * sim.Rate(below),
		Class: topology.Class{Name: "root-" + cpu.Name, Raw: cpu.RootRate.Value() * sim.Rate(below), Note: cpu.RootRate.Note},
	}
	for socket, n := range roots {
		for range n {
			spec.Bridges = append(spec.Bridges, pcie.Bridge{Socket: socket, Link: ondie})
		}
	}
	if len(spec.Bridges) == 0 {
		return nil, fmt.Errorf("pcie.roots %s has no host bridge", s.PCIe.Roots)
	}
	if s.PCIe.Switch == "" {
		p := &places{link: host}
		for i := range spec.Bridges {
			p.gpus = append(p.gpus, pcie.Parent{Kind: pcie.OnBridge, Index: i})
		}
		p.nics = p.gpus
		return p, nil
	}
	sw, err := r.c.Switch(s.PCIe.Switch)
	if err != nil {
		return nil, err
	}
	l, err := r.c.Link(sw.Link)
	if err != nil {
		return nil, err
	}
	spec.SwitchLatency = use(r, sw.Latency)
	lanes := int(use(r, sw.UplinkLanes))
	upwards := slower(l, host)
	if s.PCIe.Uplink != "" {
		if upwards, err = r.c.Link(s.PCIe.Uplink); err != nil {
			return nil, err
		}
	}
	uplink, between := r.lanes(upwards, lanes), r.lanes(l, lanes)
	p := &places{link: l}
	for i := range spec.Bridges {
		bridge := pcie.Parent{Kind: pcie.OnBridge, Index: i}
		above, up := bridge, uplink
		add := func() pcie.Parent {
			spec.Switches = append(spec.Switches, pcie.Slot{Under: above, Link: up})
			return pcie.Parent{Kind: pcie.OnSwitch, Index: len(spec.Switches) - 1}
		}
		if s.PCIe.Layout == tree {
			above, up = add(), between
		}
		for k := range each {
			here := add()
			if s.PCIe.Layout != nested || k == 0 {
				p.gpus = append(p.gpus, here)
			}
			if s.PCIe.Layout != nested || k > 0 {
				p.nics = append(p.nics, here)
			}
			if s.PCIe.Layout == chain || s.PCIe.Layout == nested {
				above, up = here, between
			}
		}
	}
	return p, nil
}

// devices deals GPUs and NICs over their places.
func (r *resolver) devices(spec *pcie.Spec, s *System, g *GPU, gpus int, p *places) error {
	slot := func(at []pcie.Parent, i, n int, d Slot) (pcie.Slot, error) {
		l, err := r.c.Link(d.Link)
		if err != nil {
			return pcie.Slot{}, err
		}
		return pcie.Slot{Under: deal(at, i, n), Link: r.lanes(slower(l, p.link), int(use(r, d.Lanes)))}, nil
	}
	for i := range gpus {
		var d pcie.Slot
		var err error
		switch {
		case g.C2C != "":
			var l *Link
			if l, err = r.c.Link(g.C2C); err == nil {
				d = pcie.Slot{Under: pcie.Parent{Kind: pcie.OnSocket, Index: i * spec.Sockets / gpus}, Link: r.wire(l, 1)}
			}
		case g.PCIe != nil:
			d, err = slot(p.gpus, i, gpus, *g.PCIe)
		default:
			err = fmt.Errorf("GPU %s has neither pcie nor c2c, so it cannot hang in a PCIe tree", g.Name)
		}
		if err != nil {
			return err
		}
		spec.GPUs = append(spec.GPUs, d)
	}
	if s.NIC == "" {
		return nil
	}
	nic, err := r.c.NIC(s.NIC)
	if err != nil {
		return err
	}
	n := int(use(r, s.NICs))
	for i := range n {
		d, err := slot(p.nics, i, n, nic.PCIe)
		if err != nil {
			return err
		}
		spec.NICs = append(spec.NICs, d)
	}
	return nil
}
