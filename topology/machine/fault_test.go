package machine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/fault"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
)

func faulty(t testing.TB, m *topology.Machine, faults ...string) *topology.Machine {
	t.Helper()
	var fs []fault.Fault
	for _, s := range faults {
		f, err := fault.Parse(s)
		require.NoError(t, err)
		fs = append(fs, f)
	}
	n, err := fault.Apply(m, fs...)
	require.NoError(t, err)
	require.NoError(t, n.CheckRoutes())
	return n
}

func rate(t testing.TB, m *topology.Machine, a, b int32) float64 {
	t.Helper()
	p, _ := route(t, m, a, b)
	_, r := m.Graph.Bottleneck(p)
	return float64(r)
}

func TestSlowLinkLimitsItsTrunk(t *testing.T) {
	// GPU 0 sends 5/18 over plane 0. At half of 5 x 20 GB/s the plane has 50, so
	// the transfer runs at 50 x 18/5 = 180 GB/s, half of 360. Only from GPU 0.
	whole := build(t, dgxH100(2))
	m := faulty(t, whole, "n0.gpu0>n0.nvswitch0 x0.5")
	assert.InEpsilon(t, 180e9, rate(t, m, 0, 1), 1e-12)
	assert.InEpsilon(t, 360e9, rate(t, m, 1, 0), 1e-12)
	assert.InEpsilon(t, 360e9, rate(t, m, 8, 9), 1e-12)
	assert.InEpsilon(t, 360e9, rate(t, whole, 0, 1), 1e-12, "the machine before stays whole")
	assert.Same(t, whole.Router, m.Router, "routes stay")
	assert.Equal(t, []string{"fault: n0.gpu0>n0.nvswitch0 x0.5: 1 connection"}, m.Notes)
}

func TestPlaneDown(t *testing.T) {
	// One host without plane 1: 14 links of 20 GB/s, in trunks again.
	m := faulty(t, build(t, dgxH100(3)), "n1.nvswitch1 down")
	assert.InEpsilon(t, 280e9, rate(t, m, 8, 15), 1e-12)
	p, _ := route(t, m, 8, 15)
	assert.Len(t, p.Hops, 2)
	for _, h := range []int32{0, 2} {
		q, names := route(t, m, 8*h, 8*h+7)
		assert.Equal(t, fmt.Sprintf("n%d.gpu0 > n%d.nvswitch (18 nvlink4 links)", h, h), names[0])
		assert.Less(t, q.Hops[0].Resource, p.Hops[0].Resource, "hosts without fault keep their trunks")
	}
	// All hosts: each has trunks of its own, but one template.
	m = faulty(t, build(t, dgxH100(3)), "n*.nvswitch1 down")
	seen := map[topology.ResourceID]bool{}
	for h := range int32(3) {
		p, names := route(t, m, 8*h, 8*h+7)
		assert.Equal(t, fmt.Sprintf("n%d.gpu0 > n%d.nvswitch (14 nvlink4 links)", h, h), names[0])
		seen[p.Hops[0].Resource] = true
	}
	assert.Len(t, seen, 3)
	assert.Equal(t, 9, m.Graph.Count()[topology.NVSwitch])
}

func TestLinkDownSpraysItsHost(t *testing.T) {
	// The 5 links of GPU 0 to plane 0 are gone: 13 x 20 = 260 GB/s to and from
	// it; the others keep 18, but by planes, so that no wire is counted twice.
	m := faulty(t, build(t, dgxH100(2)), "n0.gpu0>n0.nvswitch0 down")
	assert.InEpsilon(t, 260e9, rate(t, m, 0, 1), 1e-12)
	assert.InEpsilon(t, 260e9, rate(t, m, 1, 0), 1e-12, "what is down is down both ways")
	assert.InEpsilon(t, 360e9, rate(t, m, 1, 2), 1e-12)
	p, _ := route(t, m, 1, 2)
	assert.Len(t, p.Hops, 8)
	// Three of the five are left: 16 links.
	m = faulty(t, build(t, dgxH100(2)), "n0.gpu0<>n0.nvswitch0 x3")
	assert.InEpsilon(t, 320e9, rate(t, m, 0, 1), 1e-12)
}

func TestGPUWithoutNVLinkTakesPCIe(t *testing.T) {
	m := faulty(t, build(t, dgxH100(2)), "n0.gpu3<>n0.nvswitch* down")
	p, names := route(t, m, 3, 2)
	assert.Equal(t, topology.PIX, p.Kind)
	assert.Equal(t, "n0.gpu3 > n0.pcie-sw1 (pcie5 x16)", names[0])
	p, _ = route(t, m, 3, 7)
	assert.Equal(t, topology.SYS, p.Kind)
	p, _ = route(t, m, 0, 1)
	assert.Equal(t, topology.NVL, p.Kind)
	assert.Len(t, p.Hops, 2)
	assert.Contains(t, m.Notes, "n0.gpu3 has no NVLink left: its traffic takes PCIe")

	m = faulty(t, build(t, dgxH100(4)), "n[1-3].gpu3<>n*.nvswitch* down")
	assert.Contains(t, m.Notes, "n1.gpu3 has no NVLink left: its traffic takes PCIe (and so on 2 more hosts)")

	// In a rack GPU 0 shares a PCIe tree with its tray alone, and within it
	// there is no peer path; to the other trays it takes the network.
	m = faulty(t, build(t, nvl72(2)), "n0.gpu0<>n0.nvswitch* down")
	p, _ = route(t, m, 0, 71)
	assert.Equal(t, topology.NET, p.Kind)
	p, _ = route(t, m, 0, 1)
	assert.Equal(t, topology.C2C, p.Kind)
}

func TestGPUDown(t *testing.T) {
	m := faulty(t, build(t, dgxH100(2)), "n0.gpu3 down")
	require.Len(t, m.Ranks, 15)
	assert.Equal(t, "n0.gpu4", m.Graph.Nodes[m.Ranks[3]].Name)
	assert.Equal(t, "n1.gpu0", m.Graph.Nodes[m.Ranks[7]].Name)
	p, names := route(t, m, 3, 14)
	assert.Equal(t, topology.NET, p.Kind)
	assert.Equal(t, "n0.gpu4 > n0.nvswitch (18 nvlink4 links)", names[0], "to the GPU on the receiver's rail")
	p, _ = route(t, m, 0, 1)
	assert.Len(t, p.Hops, 2, "the others still see equal planes")
	assert.Contains(t, m.Notes, "15 of 16 GPUs are in service; they are ranks 0 to 14, in order")
	_, err := m.Route(0, 15, nil)
	assert.ErrorContains(t, err, "the ranks are 0 to 14")
	// A second fault on top of the first.
	m = faulty(t, m, "n1.gpu7 down")
	assert.Len(t, m.Ranks, 14)
	assert.Equal(t, []string{
		"fault: n0.gpu3 down: 1 GPU with 5 connections", "fault: n1.gpu7 down: 1 GPU with 5 connections",
		// As in NCCL, the GPUs that are there share the NICs beside them.
		"n0.gpu2 leaves by NICs 2, 3 instead of NIC 2", "n1.gpu6 leaves by NICs 6, 7 instead of NIC 6",
		"14 of 16 GPUs are in service; they are ranks 0 to 13, in order",
	}, m.Notes)
}

func TestNICDown(t *testing.T) {
	// GPUs 2 and 3 share a switch with NICs 2 and 3. Without NIC 2 both use 3.
	m := faulty(t, build(t, dgxH100(2)), "n0.nic2 down")
	_, names := route(t, m, 2, 10)
	assert.Contains(t, names, "n0.nic3 > leaf3 (1 ndr link)")
	assert.Contains(t, names, "leaf2 > n1.nic2 (1 ndr link)", "the receiver's NIC is as before")
	assert.Contains(t, m.Notes, "n0.gpu2 leaves by NIC 3 instead of NIC 2")
	_, names = route(t, m, 9, 3)
	assert.Contains(t, names, "leaf3 > n0.nic3 (1 ndr link)")
	// And then NIC 3: what is said of the GPUs is said anew.
	again := faulty(t, m, "n0.nic3 down")
	assert.Contains(t, again.Notes, "n0.gpu2 leaves by NIC 0 instead of NIC 2")
	assert.NotContains(t, again.Notes, "n0.gpu2 leaves by NIC 3 instead of NIC 2")
	// Without both they go over the host bridge to another switch of the socket.
	m = faulty(t, build(t, dgxH100(2)), "n0.nic[23] down")
	_, names = route(t, m, 2, 10)
	assert.Contains(t, names, "n0.nic0 > leaf0 (1 ndr link)")
	// A cable rather than the NIC.
	m = faulty(t, build(t, dgxH100(2)), "n0.nic2>leaf2 down")
	_, names = route(t, m, 2, 10)
	assert.Contains(t, names, "n0.nic3 > leaf3 (1 ndr link)")
}

func TestCableAndSpineDown(t *testing.T) {
	// Two spines over eight leaves of 32 ports: each leaf has 16 cables to each.
	s := dgxH100(32)
	s.Fabric.Spines, s.Relay = 4, machine.RelayNever
	whole := build(t, s)
	// Spine 1 is gone for all: trunks of three.
	m := faulty(t, whole, "spine1 down")
	p, names := route(t, m, 0, 8+1)
	assert.Len(t, p.Hops, 8)
	assert.Equal(t, "leaf0 > spine (24 ndr links)", names[3])
	// One leaf without spine 1: three ways to and from it, four between others.
	m = faulty(t, whole, "leaf1>spine1 down")
	p, _ = route(t, m, 0, 8+1)
	assert.EqualValues(t, 3, p.Den)
	assert.Len(t, p.Hops, 3+3+2*3)
	p, _ = route(t, m, 0, 8+2)
	assert.EqualValues(t, 4, p.Den)
	// Later: as long as the slowest way.
	m = faulty(t, whole, "leaf1<>spine1 +5us")
	p, _ = route(t, m, 0, 8+1)
	before, _ := route(t, whole, 0, 8+1)
	assert.Equal(t, before.Latency+5*sim.Microsecond, p.Latency)
	p, _ = route(t, m, 0, 8+2)
	assert.Equal(t, before.Latency, p.Latency)
}

// TestLeafWithoutSpines: what changes rails over NVLink passes no spine, so a
// leaf may lose all of them.
func TestLeafWithoutSpines(t *testing.T) {
	m := faulty(t, build(t, dgxH100(2)), "leaf0<>spine* down")
	p, names := route(t, m, 1, 8)
	assert.Equal(t, topology.NET, p.Kind)
	for _, name := range names {
		assert.NotContains(t, name, "spine")
	}
	assert.InEpsilon(t, 48e9, rate(t, m, 1, 8), 0.1)
}

func TestCoreDown(t *testing.T) {
	// The classic fat tree of radix 4, 16 hosts: pods of 2 leaves and 2 spines, 2
	// cores over each spine. Without core 0 plane 0 has one way, plane 1 two; the
	// halves stay halves, since a leaf hashes over its spines.
	s := machine.Spec{Name: "fat", Hosts: 16, Host: machine.Host{GPUs: 1}, Fabric: &fabric.Spec{
		Kind: fabric.FatTree, Tiers: 3, Radix: 4, Port: ndr, SwitchLatency: 130 * ns,
	}}
	m := faulty(t, build(t, s), "core0 down")
	p, names := route(t, m, 0, 15)
	assert.EqualValues(t, 2, p.Den)
	assert.Contains(t, names, "spine0 > core1 (1 ndr link)")
	assert.Contains(t, names, "spine1 > core (2 ndr links)")
	// One pod has lost a spine: half of the ways.
	m = faulty(t, build(t, s), "spine0 down")
	p, _ = route(t, m, 0, 15)
	assert.EqualValues(t, 1, p.Den)
	assert.InEpsilon(t, 50e9, rate(t, m, 0, 15), 1e-12)
	p, _ = route(t, m, 8, 15)
	assert.EqualValues(t, 4, p.Den, "two of two parts over the cores of plane 0, one by one")
}

func TestLateLinks(t *testing.T) {
	m := faulty(t, build(t, dgxH100(2)), "n0.gpu0>n0.nvswitch2 +3us", "n1.nic5>leaf5 +1us", "n1.gpu0<>n1.pcie-sw0 +2us")
	p, _ := route(t, m, 0, 1)
	assert.Equal(t, 4120*ns, p.Latency, "the last byte comes by the slowest plane: 1,120 + 3,000")
	p, _ = route(t, m, 1, 0)
	assert.Equal(t, 1120*ns, p.Latency)
	p, _ = route(t, m, 8+5, 5)
	assert.Equal(t, 2960*ns, p.Latency)
	p, _ = route(t, m, 0, 8)
	assert.Equal(t, 3960*ns, p.Latency)
}

func TestNarrowPCIe(t *testing.T) {
	// x8 is half of 48 GB/s.
	m := faulty(t, build(t, dgxH100(2)), "n0.gpu2<>n0.pcie-sw1 x8")
	assert.InEpsilon(t, 24e9, rate(t, m, 2, 10), 1e-12)
	assert.InEpsilon(t, 48e9, rate(t, m, 3, 11), 1e-12)
	m = faulty(t, build(t, dgxH100(2)), "class:ndr x0.5")
	assert.InEpsilon(t, 25e9, rate(t, m, 2, 10), 1e-12)
}

func TestTwoTierFaults(t *testing.T) {
	s := machine.Spec{Name: "dgx-2", Host: machine.Host{GPUs: 16, NVLink: &nvlink.Spec{
		Planes: []int{1, 1, 1, 1, 1, 1}, Link: nvl4, Tier: &nvlink.Tier{Groups: 2, Uplinks: []int{8, 8, 8, 8, 8, 8}},
	}}}
	// Switches 1 and 7 are twins: without their trunk five planes lead across,
	// six within a board.
	m := faulty(t, build(t, s), "n0.nvswitch1<>n0.nvswitch7 down")
	assert.InEpsilon(t, 100e9, rate(t, m, 0, 15), 1e-12)
	assert.InEpsilon(t, 120e9, rate(t, m, 0, 7), 1e-12)
	// A trunk of two links for the 8 GPUs' share: capacity 2 x 20 x 6.
	m = faulty(t, build(t, s), "n0.nvswitch1<>n0.nvswitch7 x2")
	p, _ := route(t, m, 0, 15)
	assert.InEpsilon(t, 240e9, float64(m.Graph.Capacity(p.Hops[1].Resource)), 1e-12)
}

func TestFaultErrors(t *testing.T) {
	unrelayed, bare := dgxH100(2), dgxH100(2)
	unrelayed.Relay = machine.RelayNever
	bare.Host.NVLink, bare.Host.PCIe = nil, nil
	for _, c := range []struct {
		name  string
		spec  machine.Spec
		fault string
		want  string
	}{
		{"no such name", dgxH100(2), "n0.gpu33 down", `nothing is named "n0.gpu33"; the nearest names are n0.gpu3`},
		{"no such link", dgxH100(2), "n0.gpu0>n1.gpu0 down", "no link joins n0.gpu0 and n1.gpu0; n0.gpu0 has links to n0.nvswitch0"},
		{"no such class", dgxH100(2), "class:edr x0.5", `no class of links is named "edr"; the classes are nvlink4`},
		{"all NICs", dgxH100(2), "n1.nic* down", "n1.gpu0 cannot reach other hosts: no NIC in service is in its reach"},
		{"alone", dgxH100(1), "n0.gpu2 >  * down", "nothing joins n0.gpu0 and n0.gpu2"},
		{"leaf", unrelayed, "leaf*<>spine* down", "n0.gpu0 cannot reach n1.gpu1: no way through the network is left"},
		{"leaf and no NVLink", bare, "leaf*<>spine* down", "n0.gpu0 cannot reach n1.gpu1: no way through the network is left"},
		{"grid", machine.Grid(2, 2, nvl4, ndr), "n0.gpu1<>leaf1 down", "n0.gpu0 cannot reach n1.gpu1: it has no way to rail 1"},
		{"faster", dgxH100(1), "n0.gpu0>n0.nvswitch0 200GB/s", "carries 100 GB/s"},
		{"wider", dgxH100(1), "n0.gpu0<>n0.nvswitch1 x4", "has a width of 4"},
		{"none left", dgxH100(1), "* down", "no GPU is left in service"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := fault.Parse(c.fault)
			require.NoError(t, err)
			_, err = fault.Apply(build(t, c.spec), f)
			assert.ErrorContains(t, err, c.want)
		})
	}
}
