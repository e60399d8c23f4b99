package nccl

import (
	"fmt"
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

// wire is a link of a class; NCCL's rates are its own, so any rate will do.
func wire(name string, gb float64, width int32) topology.Wire {
	return topology.Wire{Rate: sim.Rate(gb) * sim.GBps, Latency: 100 * sim.Nanosecond, Class: topology.Class{Name: name, Raw: sim.Rate(gb * 1e9)}, Width: width}
}

// rig describes a host for the tests.
type rig struct {
	sm, sockets int
	gen         int // of PCIe
	switches    int // equal, spread evenly over the sockets; 0 is devices on root ports
	gpus, nics  int
	nic         float64 // GB/s of a port
	planes      int     // NVLinks of a GPU into NVSwitches
	edges       [][3]int
	cpu         CPU
	socketRate  float64
	c2c         bool
	trays       int
	noP2P       bool
	noGDR       bool
}

func (b rig) platform() Platform {
	return Platform{SM: b.sm, CPU: b.cpu, Sockets: b.socketRate, NoP2P: b.noP2P, NoGDR: b.noGDR}
}

// machine lays the rig out, so many times.
func (b rig) machine(t require.TestingT, nodes int) *topology.Machine {
	trays := max(1, b.trays)
	gpus, nics := b.gpus/trays, b.nics/trays
	p := &pcie.Spec{Sockets: b.sockets, Memory: wire("ddr", 100, 1)}
	if b.sockets > 1 {
		p.SocketLink = wire("upi", 20, 1)
	}
	slot := wire(fmt.Sprintf("pcie%d", b.gen), float64(b.gen*6), 16)
	under := func(i, n int) pcie.Parent {
		if b.switches > 0 {
			return pcie.Parent{Kind: pcie.OnSwitch, Index: i * b.switches / n}
		}
		p.Bridges = append(p.Bridges, pcie.Bridge{Socket: i * b.sockets / n, Link: wire("mesh", 100, 1)})
		return pcie.Parent{Kind: pcie.OnBridge, Index: len(p.Bridges) - 1}
	}
	for i := range b.switches {
		p.Bridges = append(p.Bridges, pcie.Bridge{Socket: i * b.sockets / b.switches, Link: wire("mesh", 100, 1)})
		p.Switches = append(p.Switches, pcie.Slot{Under: pcie.Parent{Kind: pcie.OnBridge, Index: i}, Link: slot})
	}
	for i := range gpus {
		if b.c2c {
			p.GPUs = append(p.GPUs, pcie.Slot{Under: pcie.Parent{Kind: pcie.OnSocket, Index: i * b.sockets / gpus}, Link: wire("nvlink-c2c", 450, 1)})
			continue
		}
		p.GPUs = append(p.GPUs, pcie.Slot{Under: under(i, gpus), Link: slot})
	}
	for i := range nics {
		p.NICs = append(p.NICs, pcie.Slot{Under: under(i, nics), Link: slot})
	}
	s := machine.Spec{Name: "rig", Hosts: nodes, Host: machine.Host{GPUs: b.gpus, Trays: trays, PCIe: p}}
	switch {
	case b.planes > 0:
		s.Host.NVLink = &nvlink.Spec{Planes: []int{b.planes}, Link: wire("nvlink", 25, 1)}
	case b.edges != nil:
		s.Host.NVLink = &nvlink.Spec{Edges: b.edges, Link: wire("nvlink", 25, 1)}
	}
	if nodes > 1 {
		s.Fabric = &fabric.Spec{Kind: fabric.SingleSwitch, Port: wire("net", b.nic, 1)}
	}
	m, err := machine.Build(s)
	require.NoError(t, err)
	return m
}

// cube is the hybrid cube mesh of a DGX-1V.
var cube = [][3]int{
	{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2}, {2, 6, 1}, {3, 7, 1},
	{4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2},
}

// rigs are the systems of the collection's results, as far as its text tells
// what they are made of.
var rigs = map[string]rig{
	"dgx1v":                   {sm: 70, sockets: 2, gen: 3, switches: 4, gpus: 8, nics: 4, nic: 12.5, edges: cube},
	"dgx2":                    {sm: 70, sockets: 2, gen: 3, switches: 8, gpus: 16, nics: 8, nic: 12.5, planes: 6},
	"a100_x2":                 {sm: 80, sockets: 1, gen: 4, switches: 1, gpus: 2, nics: 2, nic: 25, planes: 12, cpu: AMD},
	"a100_x4":                 {sm: 80, sockets: 2, gen: 4, switches: 2, gpus: 4, nics: 4, nic: 25, planes: 12, cpu: AMD},
	"dgxa100":                 {sm: 80, sockets: 2, gen: 4, switches: 4, gpus: 8, nics: 8, nic: 25, planes: 12, cpu: AMD},
	"h100_x2":                 {sm: 90, sockets: 1, gen: 5, switches: 1, gpus: 2, nics: 2, nic: 50, planes: 18},
	"h100_x4":                 {sm: 90, sockets: 2, gen: 5, switches: 2, gpus: 4, nics: 4, nic: 50, planes: 18},
	"dgxh100":                 {sm: 90, sockets: 2, gen: 5, switches: 4, gpus: 8, nics: 8, nic: 50, planes: 18},
	"dgxh100_1sw":             {sm: 90, sockets: 2, gen: 5, switches: 8, gpus: 8, nics: 8, nic: 50, planes: 18},
	"hgxh100_amd":             {sm: 90, sockets: 2, gen: 5, switches: 4, gpus: 8, nics: 8, nic: 50, planes: 18, cpu: AMD},
	"h100nvl_2_bridge":        {sm: 90, sockets: 1, gen: 5, switches: 1, gpus: 2, nics: 1, nic: 50, edges: [][3]int{{0, 1, 12}}},
	"b200_x2":                 {sm: 100, sockets: 1, gen: 5, switches: 1, gpus: 2, nics: 2, nic: 50, planes: 18},
	"b200_x4":                 {sm: 100, sockets: 2, gen: 5, switches: 2, gpus: 4, nics: 4, nic: 50, planes: 18},
	"dgxb200":                 {sm: 100, sockets: 2, gen: 5, switches: 4, gpus: 8, nics: 8, nic: 50, planes: 18},
	"dgxb200_1sw":             {sm: 100, sockets: 2, gen: 5, switches: 8, gpus: 8, nics: 8, nic: 50, planes: 18},
	"dgxb300":                 {sm: 103, sockets: 2, gen: 6, switches: 4, gpus: 8, nics: 8, nic: 100, planes: 18},
	"gb200_1host":             {sm: 100, sockets: 2, gen: 5, gpus: 4, nics: 4, nic: 50, planes: 18, cpu: ARM, c2c: true},
	"gb200_nvl8":              {sm: 100, sockets: 2, gen: 5, gpus: 8, nics: 8, nic: 50, planes: 18, cpu: ARM, c2c: true, trays: 2},
	"gb200_nvl16":             {sm: 100, sockets: 2, gen: 5, gpus: 16, nics: 16, nic: 50, planes: 18, cpu: ARM, c2c: true, trays: 4},
	"gb200_nvl36":             {sm: 100, sockets: 2, gen: 5, gpus: 36, nics: 36, nic: 50, planes: 18, cpu: ARM, c2c: true, trays: 9},
	"gb200_nvl72":             {sm: 100, sockets: 2, gen: 5, gpus: 72, nics: 72, nic: 50, planes: 18, cpu: ARM, c2c: true, trays: 18},
	"a6000_4_bridge":          {sm: 86, sockets: 1, gen: 4, gpus: 4, nics: 1, nic: 12.5, edges: [][3]int{{0, 1, 4}, {2, 3, 4}}, cpu: AMD},
	"pcie2_4090_amd":          {sm: 89, sockets: 1, gen: 4, gpus: 2, nics: 1, nic: 3.125, cpu: AMD, noGDR: true},
	"pcie2_root_intel":        {sm: 89, sockets: 1, gen: 4, gpus: 2, nics: 1, nic: 12.5, socketRate: 22},
	"pcie4_root_intel":        {sm: 89, sockets: 1, gen: 4, gpus: 4, nics: 1, nic: 12.5, socketRate: 22},
	"pcie8_l40s_switch_intel": {sm: 89, sockets: 2, gen: 4, switches: 2, gpus: 8, nics: 2, nic: 25, socketRate: 22},
	"pcie8_l40s_root_intel":   {sm: 89, sockets: 2, gen: 4, gpus: 8, nics: 2, nic: 25, socketRate: 22},
	"pcie8_l40s_root_amd":     {sm: 89, sockets: 2, gen: 4, gpus: 8, nics: 2, nic: 25, cpu: AMD},
}

func everyRank(m *topology.Machine) []int32 {
	all := make([]int32, len(m.Ranks))
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// What NCCL 2.30.7 found on the collection's systems, and how many channels it
// ran of it.
func TestSearchFindsEveryResultOfNCCL(t *testing.T) {
	n := 0
	for name, f := range searched(t) {
		if f.nodes > 4 && testing.Short() {
			continue
		}
		b := rigs[f.topo]
		require.NotZero(t, b.gpus, f.topo)
		m := b.machine(t, f.nodes)
		c, err := Search(Latest, m, everyRank(m), b.platform(), Env{NetOverhead: -1, NoNetIntra: true})
		require.NoError(t, err, name)
		assert.Equal(t, f.Graphs, c.Graphs, name)
		assert.Equal(t, []int{f.compute, f.p2p, f.perPeer}, []int{c.Run, c.P2P, c.PerPeer}, name)
		assert.Equal(t, f.cross, c.Cross, name)
		n++
	}
	t.Log(n, "results of the search")
}

func BenchmarkSearch(b *testing.B) {
	for _, at := range []struct {
		name  string
		nodes int
	}{
		{"dgx1v", 1}, {"dgx1v", 2}, {"dgxa100", 2}, {"dgxh100", 1}, {"dgxh100", 16}, {"dgxh100_1sw", 2}, {"dgxh100", 128}, {"gb200_nvl72", 1}, {"gb200_nvl72", 2},
		{"pcie8_l40s_switch_intel", 1}, {"pcie8_l40s_switch_intel", 2}, {"pcie8_l40s_root_amd", 2}, {"a6000_4_bridge", 1}, {"dgx2", 2}, {"gb200_1host", 2}, {"dgxb200", 1},
	} {
		b.Run(fmt.Sprintf("%s/%d", at.name, at.nodes), func(b *testing.B) {
			r := rigs[at.name]
			m := r.machine(b, at.nodes)
			ranks := everyRank(m)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Search(Latest, m, ranks, r.platform(), Env{NetOverhead: -1, NoNetIntra: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
