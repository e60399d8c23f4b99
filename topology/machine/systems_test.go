package machine_test

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

const ns = sim.Nanosecond

// Round figures for the tests; those of the real machines are in the
// catalogue.
var (
	nvl4   = topology.Wire{Rate: 20e9, Latency: 500 * ns, Class: topology.Class{Name: "nvlink4"}}
	gen5   = topology.Wire{Rate: 48e9, Latency: 100 * ns, Width: 16, Class: topology.Class{Name: "pcie5"}}
	onDie  = topology.Wire{Rate: 300e9, Class: topology.Class{Name: "on-die"}}
	upi    = topology.Wire{Rate: 22e9, Latency: 60 * ns, Width: 3, Class: topology.Class{Name: "upi"}}
	memory = topology.Wire{Rate: 150e9, Latency: 80 * ns, Class: topology.Class{Name: "ddr5"}}
	ndr    = topology.Wire{Rate: 50e9, Latency: 100 * ns, Class: topology.Class{Name: "ndr"}}
	ring   = topology.Wire{Rate: 429.50e9, Latency: 936250 * sim.Picosecond, Class: topology.Class{Name: "port"}}
)

func under(kind pcie.ParentKind, i int, w topology.Wire) pcie.Slot {
	return pcie.Slot{Under: pcie.Parent{Kind: kind, Index: i}, Link: w}
}

// pairedTree has two sockets, each with host bridges of one switch with two
// GPUs and two NICs: eight of each.
func pairedTree() *pcie.Spec {
	s := &pcie.Spec{
		Sockets: 2, SocketLink: upi, Memory: memory,
		SwitchLatency: 115 * ns, BridgeLatency: 150 * ns, SocketLatency: 40 * ns,
	}
	for i := range 4 {
		s.Bridges = append(s.Bridges, pcie.Bridge{Socket: i / 2, Link: onDie})
		s.Switches = append(s.Switches, under(pcie.OnBridge, i, gen5))
	}
	for i := range 8 {
		s.GPUs = append(s.GPUs, under(pcie.OnSwitch, i/2, gen5))
		s.NICs = append(s.NICs, under(pcie.OnSwitch, i/2, gen5))
	}
	return s
}

// dgxH100 is hosts of eight GPUs on four NVSwitches, on eight rails.
func dgxH100(hosts int) machine.Spec {
	s := machine.Spec{
		Name: "dgx-h100", Hosts: hosts,
		Host: machine.Host{
			GPUs:   8,
			NVLink: &nvlink.Spec{Planes: []int{5, 4, 4, 5}, Link: nvl4, SwitchLatency: 120 * ns},
			PCIe:   pairedTree(),
		},
	}
	if hosts > 1 {
		s.Fabric = &fabric.Spec{Kind: fabric.RailOptimized, Port: ndr, SwitchLatency: 130 * ns, NICLatency: 500 * ns, Radix: 64}
	}
	if hosts > 256 {
		s.Fabric.Tiers = 3
	}
	return s
}

// dgx1 is eight GPUs in a hybrid cube mesh; NICs are shared by pairs.
func dgx1(hosts int) machine.Spec {
	s := dgxH100(hosts)
	s.Name = "dgx-1"
	s.Host.PCIe.NICs = nil
	for i := range 4 {
		s.Host.PCIe.NICs = append(s.Host.PCIe.NICs, under(pcie.OnSwitch, i, gen5))
	}
	s.Host.NVLink = &nvlink.Spec{Link: nvl4, Edges: [][3]int{
		{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {1, 2, 2}, {1, 3, 1}, {2, 3, 2},
		{4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2},
		{0, 4, 2}, {1, 5, 2}, {2, 6, 1}, {3, 7, 1},
	}}
	return s
}

// nvl72 is racks of 18 trays with four GPUs, two CPUs and four NICs.
func nvl72(racks int) machine.Spec {
	planes := make([]int, 18)
	for i := range planes {
		planes[i] = 1
	}
	c2c := topology.Wire{Rate: 450e9, Latency: 50 * ns, Class: topology.Class{Name: "nvlink-c2c"}}
	tray := &pcie.Spec{Sockets: 2, SocketLink: upi, Memory: memory, BridgeLatency: 150 * ns, SocketLatency: 40 * ns}
	for i := range 4 {
		tray.Bridges = append(tray.Bridges, pcie.Bridge{Socket: i / 2, Link: onDie})
		tray.GPUs = append(tray.GPUs, under(pcie.OnSocket, i/2, c2c))
		tray.NICs = append(tray.NICs, under(pcie.OnBridge, i, gen5))
	}
	s := machine.Spec{
		Name: "nvl72", Hosts: racks,
		Host: machine.Host{GPUs: 72, Trays: 18, NVLink: &nvlink.Spec{Planes: planes, Link: nvl4, SwitchLatency: 120 * ns}, PCIe: tray},
	}
	if racks > 1 {
		s.Fabric = &fabric.Spec{Kind: fabric.RailOptimized, Port: ndr}
	}
	return s
}

// pcieServer is eight GPUs without NVLink.
func pcieServer() machine.Spec {
	s := dgxH100(1)
	s.Name = "pcie"
	s.Host.NVLink = nil
	return s
}
