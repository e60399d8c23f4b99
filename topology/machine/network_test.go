package machine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

func TestPXN(t *testing.T) {
	// From GPU 2 of host 0 to GPU 7 of host 1. NCCL hands the bytes to GPU 7
	// over NVLink (1,120 ns), whose NIC is on the receiver's rail: 1,120 + 1,960.
	s := dgxH100(2)
	m := build(t, s)
	p, names := route(t, m, 2, 15)
	assert.Equal(t, []string{
		"n0.gpu2 > n0.nvswitch (18 nvlink4 links)", "n0.nvswitch > n0.gpu7 (18 nvlink4 links)",
		"n0.gpu7 > n0.pcie-sw3 (pcie5 x16)", "n0.pcie-sw3 > n0.nic7 (pcie5 x16)",
		"n0.nic7 > leaf7 (1 ndr link)", "leaf7 > n1.nic7 (1 ndr link)",
		"n1.nic7 > n1.pcie-sw3 (pcie5 x16)", "n1.pcie-sw3 > n1.gpu7 (pcie5 x16)",
	}, names)
	assert.Equal(t, 3080*ns, p.Latency)
	// The same rail needs no relay, nor a NIC below the same switch.
	_, names = route(t, m, 2, 10)
	assert.Len(t, names, 6)
	_, names = route(t, m, 2, 11)
	assert.Equal(t, []string{"n0.gpu2 > n0.pcie-sw1 (pcie5 x16)", "n0.pcie-sw1 > n0.nic3 (pcie5 x16)", "n0.nic3 > leaf3 (1 ndr link)"}, names[:3])
	// Every edge of the rings between hosts, and every pair of an all-to-all,
	// stays below the leaves.
	for a := range int32(8) {
		for b := range int32(8) {
			_, names = route(t, m, a, 8+b)
			assert.False(t, slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "spine") }), "%d to %d: %v", a, b, names)
			assert.Contains(t, names, fmt.Sprintf("n0.nic%d > leaf%d (1 ndr link)", b, b))
		}
	}
	// Relays on demand, and a fat tree, which has no rails: the GPU's own NIC.
	for _, change := range []func(s *machine.Spec){
		func(s *machine.Spec) { s.Relay = machine.RelayIfNeeded },
		func(s *machine.Spec) { s.Fabric.Kind = fabric.FatTree },
		// Without GPUDirect RDMA the peer would stage the bytes like the sender.
		func(s *machine.Spec) { tree := *s.Host.PCIe; tree.GDR = pcie.Nowhere; s.Host.PCIe = &tree },
	} {
		s := dgxH100(2)
		change(&s)
		_, names = route(t, build(t, s), 2, 15)
		assert.True(t, slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "n0.nic2 > ") }), "%v", names)
	}
	// Without NVLink there is no peer to hand to: across the spines.
	s.Host.NVLink = nil
	_, names = route(t, build(t, s), 2, 15)
	assert.Contains(t, names, "leaf2 > spine0 (2 ndr links)")

	// Rails that nothing joins, and relays forbidden.
	s = dgxH100(2)
	s.Fabric.Kind, s.Relay = fabric.RailOnly, machine.RelayNever
	_, err := machine.Build(s)
	assert.ErrorContains(t, err, "n0.gpu0 cannot reach rail 1, and no switch joins the rails")
	s.Relay = machine.RelayIfNeeded
	_, names = route(t, build(t, s), 2, 15)
	assert.Len(t, names, 8)
	s.Relay = 9
	_, err = machine.Build(s)
	assert.ErrorContains(t, err, "relay 9")
}

func TestRelaysOfHugeHosts(t *testing.T) {
	// 513 x 513 ways would be held one by one.
	port := topology.Wire{Rate: 50e9, Class: topology.Class{Name: "port"}}
	s := machine.Spec{Name: "huge", Hosts: 2, Host: machine.Host{GPUs: 512, NVLink: &nvlink.Spec{Planes: []int{1}, Link: port}},
		Fabric: &fabric.Spec{Kind: fabric.RailOptimized, Port: port}}
	m := build(t, s)
	_, names := route(t, m, 0, 512+300)
	assert.Equal(t, "n0.gpu0 > n0.nvswitch0 (1 port link)", names[0])
	assert.Empty(t, m.Notes)
	s.Host.GPUs = 513
	m = build(t, s)
	_, names = route(t, m, 0, 513+300)
	assert.Equal(t, "n0.gpu0 > leaf0 (1 port link)", names[0])
	assert.Equal(t, []string{"no GPU relays for others between rails (PXN): 513 GPUs of a host on 513 rails are too many to choose for"}, m.Notes)
}

func TestHostStagedNetwork(t *testing.T) {
	// Bytes bounce at both ends. Out: GPU 2, switch, host bridge, CPU (3 links),
	// memory, and back down to the NIC; in likewise.
	s := dgxH100(2)
	s.Fabric.Staged, s.Fabric.TransferRate = true, 6*sim.GBps
	m := build(t, s)
	p, names := route(t, m, 2, 10)
	assert.True(t, p.Staged)
	assert.Equal(t, []string{
		"n0.gpu2 > n0.pcie-sw1 (pcie5 x16)", "n0.pcie-sw1 > n0.rc1 (pcie5 x16)", "n0.rc1 > n0.cpu0 (1 on-die link)",
		"n0.cpu0 > n0.mem0 (1 ddr5 link)", "n0.mem0 > n0.cpu0 (1 ddr5 link)",
		"n0.cpu0 > n0.rc1 (1 on-die link)", "n0.rc1 > n0.pcie-sw1 (pcie5 x16)", "n0.pcie-sw1 > n0.nic2 (pcie5 x16)",
	}, names[:8])
	assert.Contains(t, names, "n1.cpu0 > n1.mem0 (1 ddr5 link)")
	// The plugin moves 6 GB/s over a pair of ports, the wires 48.
	r, rate := m.Graph.Bottleneck(p)
	assert.EqualValues(t, -1, r)
	assert.Equal(t, 6*sim.GBps, rate)
	p, _ = route(t, m, 2, 3)
	assert.False(t, p.Staged, "peers on a host are as before")
	assert.Zero(t, p.Rate)
	assert.Equal(t, pcie.Everywhere, dgxH100(2).Host.PCIe.GDR)

	s.Host.PCIe = nil
	_, err := machine.Build(s)
	assert.ErrorContains(t, err, "stages bytes in host memory, but the hosts have none")
}

func TestCeilingOfSeveralPorts(t *testing.T) {
	// Two NICs a GPU: twice the ceiling.
	s := dgxH100(2)
	s.Host.PCIe.NICs = nil
	for i := range 16 {
		s.Host.PCIe.NICs = append(s.Host.PCIe.NICs, under(pcie.OnSwitch, i/4, gen5))
	}
	s.Fabric.TransferRate = 6 * sim.GBps
	p, _ := route(t, build(t, s), 1, 9)
	assert.Equal(t, 12*sim.GBps, p.Rate)
}

func TestHostsOnADragonfly(t *testing.T) {
	s := dgxH100(24)
	s.Fabric = &fabric.Spec{Kind: fabric.Dragonfly, HostsPerLeaf: 2, LeavesPerPod: 4, Port: ndr, SwitchLatency: 130 * ns, NICLatency: 500 * ns}
	m := build(t, s)
	// 64 ports to hosts a group, 3 groups: 32 cables between any two.
	var global int32
	for _, l := range m.Graph.Links {
		from, to := m.Graph.Nodes[l.From], m.Graph.Nodes[l.To]
		if from.Kind == topology.Switch && to.Kind == topology.Switch && from.Unit/4 == 0 && to.Unit/4 == 1 {
			global += l.Width
		}
	}
	assert.EqualValues(t, 32, global)
	p, _ := route(t, m, 0, 8*8)
	assert.EqualValues(t, 4, p.Den, "each switch of the group has a quarter of the cables")
}

func TestECMPMachine(t *testing.T) {
	s := dgxH100(32)
	s.Fabric.Spread = fabric.ECMP
	m := build(t, s)
	p, names := route(t, m, 2, 15)
	assert.EqualValues(t, 1, p.Den)
	require.Len(t, names, 8)
	_, rate := m.Graph.Bottleneck(p)
	assert.Equal(t, sim.Rate(48e9), rate)
	// Cables fail: the hash picks among the others.
	m = faulty(t, m, "spine0 down", "leaf2<>spine1 down")
	route(t, m, 2, 15)
}

func TestDomainsOfTwoTiersWithNICs(t *testing.T) {
	// NVL36x2: 18 trays of four GPUs in two racks are one host. And 32 DGX H100
	// on one NVLink network: a tray is a DGX, with its PCIe tree and its NICs.
	racks := nvl72(2)
	racks.Host.NVLink.Tier = &nvlink.Tier{Groups: 2, Uplinks: slices.Repeat([]int{36}, 18)}
	pod := h100x256()
	pod.Host.Trays, pod.Host.PCIe = 32, pairedTree()
	pod.Hosts = 2
	pod.Fabric = &fabric.Spec{Kind: fabric.RailOptimized, Port: ndr}
	for _, s := range []machine.Spec{racks, pod} {
		m := build(t, s)
		gpus := int32(s.Host.GPUs)
		p, _ := route(t, m, 0, gpus-1)
		assert.Equal(t, topology.NVL, p.Kind)
		p, _ = route(t, m, 0, 2*gpus-1)
		assert.Equal(t, topology.NET, p.Kind)
		assert.Equal(t, int(gpus), m.Survey().LargestDomain())
		// A GPU that lost its NVLink reaches its tray by PCIe or its CPU, the other
		// trays by the network.
		m = faulty(t, m, "n1.gpu1<>n1.nvswitch* down")
		p, _ = route(t, m, gpus, gpus+1)
		assert.LessOrEqual(t, p.Kind, topology.SYS)
		assert.NotEqual(t, topology.NVL, p.Kind)
		p, _ = route(t, m, gpus+1, 2*gpus-1)
		assert.Equal(t, topology.NET, p.Kind)
		p, _ = route(t, m, gpus, 2*gpus-1)
		assert.Len(t, p.Hops, 3+len(s.Host.NVLink.Tier.Switches)/4, "the others keep their trunks")
	}
}
