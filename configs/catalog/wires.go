package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/pcie"
)

// wire returns n parallel links, or lanes, as one wire. Its rate is that of
// [Link.Usable], computed factor by factor so that each is accounted for.
func (r *resolver) wire(l *Link, n int) topology.Wire {
	rate := float64(use(r, l.Rate))
	terms := []string{l.Rate.String() + " nominal"}
	factor := func(x float64, what string, p Provenance) {
		rate *= x
		terms = append(terms, fmt.Sprintf("%s %s (%s, %s)", strconv.FormatFloat(x, 'g', 4, 64), what, p.Status, p.Source))
	}
	if l.Raw.Known() {
		rate = float64(use(r, l.Raw))
		terms[0] = l.Raw.String() + " raw"
		if l.LineCode.Known() {
			factor(float64(use(r, l.LineCode)), "line code", l.LineCode.Provenance())
		}
	}
	if p := l.Packet; p != nil {
		payload, overhead := float64(use(r, p.Payload)), float64(use(r, p.Overhead))
		factor(payload/(payload+overhead), "packet", p.Payload.Provenance())
	}
	if l.Calibration.Known() {
		factor(float64(use(r, l.Calibration)), "calibration", l.Calibration.Provenance())
	}
	return topology.Wire{
		Rate:    sim.Rate(rate * float64(n)),
		Latency: use(r, l.Latency),
		Class:   topology.Class{Name: l.Name, Raw: l.Nominal(), Note: strings.Join(terms, " x ")},
		Width:   int32(n),
	}
}

// lanes returns a PCIe connection as one wire: x16 is one physical link.
func (r *resolver) lanes(l *Link, n int) topology.Wire {
	w := r.wire(l, n)
	w.Class.Name += "x" + strconv.Itoa(n)
	w.Class.Raw *= sim.Rate(n)
	return w
}

// slower returns the link that two ends agree on.
func slower(a, b *Link) *Link {
	if b.Nominal() < a.Nominal() {
		return b
	}
	return a
}

// DefaultP2P is how far NCCL lets GPUs reach each other over PCIe unless it is
// told otherwise, on a host of so many GPUs (src/graph/paths.cc,
// ncclTopoCheckP2p): through switches (PXB), and everywhere (SYS) on a CPU of
// AMD with at most two GPUs. The driver may allow less.
func DefaultP2P(cpu *CPU, gpus int) pcie.Reach {
	if cpu.Vendor == "amd" && gpus <= 2 {
		return pcie.Everywhere
	}
	return pcie.WithinSwitches
}

// p2p returns how far the GPUs of a system reach each other: what its record
// says, else what the driver and NCCL make of such GPUs.
func (r *resolver) p2p(s *System, g *GPU, cpu *CPU, gpus int) pcie.Reach {
	switch {
	case s.P2P.Known():
		return pcie.Reach(use(r, s.P2P))
	case g.PeerAccess.Known() && !bool(use(r, g.PeerAccess)):
		return pcie.Nowhere
	}
	return DefaultP2P(cpu, gpus)
}

// pcie lays out the tree of a tray.
func (r *resolver) pcie(s *System, g *GPU, gpus int, acs bool) (*pcie.Spec, error) {
	cpu, err := r.c.CPU(s.CPU)
	if err != nil {
		return nil, err
	}
	host, err := r.c.Link(cpu.PCIe)
	if err != nil {
		return nil, err
	}
	spec := &pcie.Spec{
		Sockets:       int(use(r, s.Sockets)),
		BridgeLatency: use(r, cpu.BridgeLatency),
		SocketLatency: use(r, cpu.SocketLatency),
		P2P:           r.p2p(s, g, cpu, gpus),
		GDR:           pcie.Reach(use(r, s.GDR)),
		ACS:           acs,
		PeerRate:      use(r, cpu.PeerRate),
	}
	spec.Memory = topology.Wire{
		Rate:    use(r, cpu.MemoryRate) * sim.Rate(use(r, cpu.MemoryEfficiency)) / 2,
		Latency: use(r, cpu.MemoryLatency),
		Class:   topology.Class{Name: "memory-" + cpu.Name, Raw: cpu.MemoryRate.Value(), Note: "half of the bus for each direction"},
	}
	if spec.Sockets > 1 {
		l, err := r.c.Link(cpu.SocketLink)
		if err != nil {
			return nil, err
		}
		spec.SocketLink = r.wire(l, int(use(r, cpu.SocketLinks)))
	}
	p, err := r.roots(spec, s, cpu, host)
	if err != nil {
		return nil, err
	}
	if err := r.devices(spec, s, g, gpus, p); err != nil {
		return nil, err
	}
	return spec, r.staging(spec, s, g)
}

// staging says how far copies reach without host memory and what they cost
// beyond.
func (r *resolver) staging(spec *pcie.Spec, s *System, g *GPU) error {
	switch {
	case s.Copies.Known():
		spec.Copies = pcie.Reach(use(r, s.Copies))
	case g.PeerAccess.Known() && !bool(use(r, g.PeerAccess)), spec.P2P == pcie.Nowhere:
		spec.Copies = pcie.Nowhere
	}
	if g.PCIe != nil {
		l, err := r.c.Link(g.PCIe.Link)
		if err != nil {
			return err
		}
		spec.Staging = pcie.Staging{
			Own: float64(use(r, l.Opposing)), Handover: use(r, l.Handover), Serial: bool(use(r, g.SerialStaging)),
		}
	}
	if s.PCIe.Switch != "" {
		sw, err := r.c.Switch(s.PCIe.Switch)
		if err != nil {
			return err
		}
		spec.Staging.Uplink = float64(use(r, sw.Opposing))
	}
	return nil
}
