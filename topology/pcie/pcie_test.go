package pcie_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/pcie"
)

const ns = sim.Nanosecond

var (
	gen4   = topology.Wire{Rate: 24e9, Latency: 100 * ns, Width: 16, Class: topology.Class{Name: "pcie4"}}
	onDie  = topology.Wire{Rate: 200e9, Class: topology.Class{Name: "on-die"}}
	upi    = topology.Wire{Rate: 10e9, Latency: 60 * ns, Width: 3, Class: topology.Class{Name: "upi"}}
	memory = topology.Wire{Rate: 80e9, Latency: 80 * ns, Class: topology.Class{Name: "ddr4"}}
)

func on(kind pcie.ParentKind, i int) pcie.Slot {
	return pcie.Slot{Under: pcie.Parent{Kind: kind, Index: i}, Link: gen4}
}

// server has two sockets. On socket 0 are two host bridges: switch 0 with
// GPUs 0, 1 and NIC 0, and below it switch 1 with GPU 2, on bridge 0; GPUs 3
// and 4 on bridge 1. GPU 5 and NIC 1 are on bridge 2, of socket 1.
func server() pcie.Spec {
	return pcie.Spec{
		Sockets: 2, SocketLink: upi, Memory: memory,
		Bridges:  []pcie.Bridge{{Socket: 0, Link: onDie}, {Socket: 0, Link: onDie}, {Socket: 1, Link: onDie}},
		Switches: []pcie.Slot{on(pcie.OnBridge, 0), on(pcie.OnSwitch, 0)},
		GPUs: []pcie.Slot{
			on(pcie.OnSwitch, 0), on(pcie.OnSwitch, 0), on(pcie.OnSwitch, 1),
			on(pcie.OnBridge, 1), on(pcie.OnBridge, 1), on(pcie.OnBridge, 2),
		},
		NICs:          []pcie.Slot{on(pcie.OnSwitch, 0), on(pcie.OnBridge, 2)},
		SwitchLatency: 115 * ns, BridgeLatency: 150 * ns, SocketLatency: 40 * ns,
	}
}

func build(t testing.TB, s pcie.Spec) (*topology.Graph, *pcie.Tree) {
	t.Helper()
	g := &topology.Graph{}
	var gpus []topology.NodeID
	for i := range s.GPUs {
		gpus = append(gpus, g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("n0.gpu%d", i), Unit: int32(i)}))
	}
	tree, err := pcie.Build(g, &s, gpus, 0, "n0.", 0)
	require.NoError(t, err)
	require.NoError(t, g.Validate())
	return g, tree
}

// names lists the hops of a path, after checking that they lead from a to b.
func names(t testing.TB, g *topology.Graph, tree *pcie.Tree, a, b pcie.Device) (topology.Path, []string) {
	t.Helper()
	p, ok := tree.Route(a, b, nil)
	require.True(t, ok)
	require.NoError(t, g.CheckPath(p, tree.Node(a), tree.Node(b)))
	var s []string
	for _, h := range p.Hops {
		s = append(s, g.ResourceName(h.Resource))
	}
	return p, s
}

func TestPaths(t *testing.T) {
	g, tree := build(t, server())
	for _, c := range []struct {
		name    string
		a, b    pcie.Device
		kind    topology.PathKind
		rate    sim.Rate
		latency sim.Time
		hops    int
	}{
		// Two links of 100 ns, one switch of 115 ns between them.
		{"one switch", tree.GPU(0), tree.GPU(1), topology.PIX, 24e9, 315 * ns, 2},
		{"NIC on the same switch", tree.GPU(0), tree.NIC(0), topology.PIX, 24e9, 315 * ns, 2},
		// Three links, two switches: 300 + 230.
		{"cascaded switches", tree.GPU(0), tree.GPU(2), topology.PXB, 24e9, 530 * ns, 3},
		// Two links, one host bridge: 200 + 150.
		{"one host bridge", tree.GPU(3), tree.GPU(4), topology.PHB, 24e9, 350 * ns, 2},
		// Three PCIe links and two on-die ways (0 ns); switch, two bridges and
		// the socket: 300 + 115 + 300 + 40.
		{"two host bridges of a socket", tree.GPU(0), tree.GPU(3), topology.NODE, 24e9, 755 * ns, 5},
		// Two PCIe links and the socket link: 200 + 60; two bridges, two sockets:
		// 300 + 80. The socket link is the narrowest.
		{"across sockets", tree.GPU(3), tree.GPU(5), topology.SYS, 10e9, 640 * ns, 5},
		{"GPU to its memory", tree.GPU(3), tree.Memory(0), topology.PHB, 24e9, (100 + 150 + 40 + 80) * ns, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, hops := names(t, g, tree, c.a, c.b)
			assert.Equal(t, c.kind, p.Kind, "%v", hops)
			assert.Equal(t, c.latency, p.Latency, "%v", hops)
			assert.Len(t, p.Hops, c.hops)
			assert.False(t, p.Staged)
			_, rate := g.Bottleneck(p)
			assert.Equal(t, c.rate, rate)

			back, hopsBack := names(t, g, tree, c.b, c.a)
			assert.Equal(t, c.kind, back.Kind)
			assert.Equal(t, c.latency, back.Latency)
			require.Len(t, hopsBack, len(hops))
			for i, h := range p.Hops {
				there, here := g.Links[h.Resource], g.Links[back.Hops[len(back.Hops)-1-i].Resource]
				assert.Equal(t, [2]topology.NodeID{there.From, there.To}, [2]topology.NodeID{here.To, here.From})
			}
		})
	}
	_, hops := names(t, g, tree, tree.GPU(3), tree.GPU(5))
	assert.Equal(t, []string{
		"n0.gpu3 > n0.rc1 (pcie4 x16)", "n0.rc1 > n0.cpu0 (1 on-die link)", "n0.cpu0 > n0.cpu1 (3 upi links)",
		"n0.cpu1 > n0.rc2 (1 on-die link)", "n0.rc2 > n0.gpu5 (pcie4 x16)",
	}, hops)
}

func TestBounceWithoutP2P(t *testing.T) {
	s := server()
	s.P2P = pcie.Nowhere
	g, tree := build(t, s)
	// Both GPUs below switch 0. Every byte goes up the switch's uplink, into
	// the memory of socket 0, out of it, and down the uplink again.
	p, hops := names(t, g, tree, tree.GPU(0), tree.GPU(1))
	assert.True(t, p.Staged)
	assert.Equal(t, topology.PIX, p.Kind, "as far apart as the matrix of nvidia-smi says")
	assert.Equal(t, []string{
		"n0.gpu0 > n0.pcie-sw0 (pcie4 x16)", "n0.pcie-sw0 > n0.rc0 (pcie4 x16)", "n0.rc0 > n0.cpu0 (1 on-die link)",
		"n0.cpu0 > n0.mem0 (1 ddr4 link)", "n0.mem0 > n0.cpu0 (1 ddr4 link)",
		"n0.cpu0 > n0.rc0 (1 on-die link)", "n0.rc0 > n0.pcie-sw0 (pcie4 x16)", "n0.pcie-sw0 > n0.gpu1 (pcie4 x16)",
	}, hops)

	// Both directions at once: the uplink carries a's bytes up and b's bytes up.
	back, _ := names(t, g, tree, tree.GPU(1), tree.GPU(0))
	load := map[topology.ResourceID]int32{}
	for _, q := range []topology.Path{p, back} {
		for _, h := range q.Hops {
			load[h.Resource] += h.Share
		}
	}
	assert.EqualValues(t, 2, load[p.Hops[1].Resource], "the shared uplink")
	assert.EqualValues(t, 1, load[p.Hops[0].Resource], "the GPU's own link")

	// Two host bridges of one socket: each leg crosses one, the two GPUs are NODE.
	p, _ = names(t, g, tree, tree.GPU(0), tree.GPU(3))
	assert.True(t, p.Staged)
	assert.Equal(t, topology.NODE, p.Kind)

	// Across sockets the buffer is in the memory of the receiver's socket.
	p, hops = names(t, g, tree, tree.GPU(3), tree.GPU(5))
	assert.Equal(t, topology.SYS, p.Kind)
	assert.Contains(t, hops, "n0.cpu1 > n0.mem1 (1 ddr4 link)")
	assert.NotContains(t, hops, "n0.cpu0 > n0.mem0 (1 ddr4 link)")

	p, _ = names(t, g, tree, tree.GPU(0), tree.NIC(0))
	assert.False(t, p.Staged, "P2P says nothing about NICs")
}

func TestWithoutGPUDirectTheGPUsSocketStages(t *testing.T) {
	s := server()
	s.GDR = pcie.WithinSwitches
	g, tree := build(t, s)
	p, _ := names(t, g, tree, tree.GPU(2), tree.NIC(0))
	assert.False(t, p.Staged, "PXB is within switches")

	for _, ends := range [][2]pcie.Device{{tree.GPU(3), tree.NIC(1)}, {tree.NIC(1), tree.GPU(3)}} {
		p, hops := names(t, g, tree, ends[0], ends[1])
		assert.True(t, p.Staged)
		assert.Contains(t, hops, "n0.cpu0 > n0.mem0 (1 ddr4 link)")
	}
}

func TestReach(t *testing.T) {
	// Kinds of the pairs, nearest first, and the reach that still allows them.
	pairs := []struct {
		a, b int
		need pcie.Reach
	}{
		{0, 1, pcie.WithinSwitch}, {0, 2, pcie.WithinSwitches}, {3, 4, pcie.WithinBridge}, {0, 3, pcie.WithinSocket}, {3, 5, pcie.Everywhere},
	}
	for reach := pcie.Everywhere; reach <= pcie.Nowhere; reach++ {
		s := server()
		s.P2P = reach
		_, tree := build(t, s)
		for _, p := range pairs {
			path, _ := tree.Route(tree.GPU(p.a), tree.GPU(p.b), nil)
			got := path.Staged
			assert.Equal(t, reach > p.need, got, "reach %d, GPUs %d and %d", reach, p.a, p.b)
		}
	}
}

func TestACSGoesThroughTheHostBridge(t *testing.T) {
	s := server()
	s.ACS = true
	g, tree := build(t, s)
	// A pair in one switch: up to the host bridge and down again, 4 links, the
	// uplink in both directions.
	p, hops := names(t, g, tree, tree.GPU(0), tree.GPU(1))
	assert.Equal(t, topology.PHB, p.Kind)
	assert.False(t, p.Staged)
	assert.Equal(t, []string{
		"n0.gpu0 > n0.pcie-sw0 (pcie4 x16)", "n0.pcie-sw0 > n0.rc0 (pcie4 x16)",
		"n0.rc0 > n0.pcie-sw0 (pcie4 x16)", "n0.pcie-sw0 > n0.gpu1 (pcie4 x16)",
	}, hops)
	// 4 links, the switch twice, the bridge once.
	assert.Equal(t, (4*100+2*115+150)*ns, p.Latency)
}

func TestChipToChip(t *testing.T) {
	c2c := topology.Wire{Rate: 450e9, Latency: 50 * ns, Class: topology.Class{Name: "nvlink-c2c"}}
	s := pcie.Spec{
		Sockets: 1, Memory: memory, Bridges: []pcie.Bridge{{Socket: 0, Link: onDie}},
		GPUs: []pcie.Slot{{Under: pcie.Parent{Kind: pcie.OnSocket}, Link: c2c}, {Under: pcie.Parent{Kind: pcie.OnSocket}, Link: c2c}},
		NICs: []pcie.Slot{on(pcie.OnBridge, 0)},
		P2P:  pcie.Nowhere,
	}
	g, tree := build(t, s)
	p, hops := names(t, g, tree, tree.GPU(0), tree.Memory(0))
	assert.Equal(t, topology.C2C, p.Kind)
	assert.Equal(t, []string{"n0.gpu0 > n0.cpu0 (1 nvlink-c2c link)", "n0.cpu0 > n0.mem0 (1 ddr4 link)"}, hops)
	p, _ = names(t, g, tree, tree.GPU(0), tree.GPU(1))
	assert.Equal(t, topology.C2C, p.Kind)
	assert.False(t, p.Staged, "coherent, whatever PCIe allows")
	p, _ = names(t, g, tree, tree.GPU(1), tree.NIC(0))
	assert.Equal(t, topology.PHB, p.Kind)
}

func TestTraysCountOn(t *testing.T) {
	s := server()
	g := &topology.Graph{}
	for tray := range 2 {
		var gpus []topology.NodeID
		for i := range s.GPUs {
			gpus = append(gpus, g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("n0.gpu%d", tray*len(s.GPUs)+i)}))
		}
		_, err := pcie.Build(g, &s, gpus, 0, "n0.", tray)
		require.NoError(t, err)
	}
	for _, name := range []string{"n0.cpu3", "n0.mem3", "n0.rc5", "n0.pcie-sw3", "n0.nic3", "n0.gpu11"} {
		_, ok := g.Node(name)
		assert.True(t, ok, name)
	}
}

func TestValidateSaysAllAtOnce(t *testing.T) {
	s := server()
	s.Sockets = 1
	s.Memory = topology.Wire{}
	s.P2P = pcie.Nowhere
	s.Switches[0] = on(pcie.OnSwitch, 1)
	s.Switches[1] = on(pcie.OnSocket, 0)
	s.GPUs[0] = on(pcie.OnBridge, 7)
	s.GPUs[1] = on(9, 0)
	s.NICs[0] = on(pcie.OnSocket, 0)
	s.NICs[1].Link.Rate = 0
	s.BridgeLatency = -1
	err := s.Validate()
	for _, want := range []string{
		"host bridge 2 hangs from socket 1, which does not exist; there are 1",
		"no host memory, but direct access is restricted",
		"switch 0 hangs from switch 1; list a switch after the one above it",
		"switch 1 hangs from a socket",
		"GPU 0 hangs from host bridge 7, which does not exist; there are 3",
		"GPU 1 hangs from a parent of kind 9",
		"NIC 0 hangs from a socket",
		"NIC 1: rate is 0 B/s",
		"host bridge takes -1ps",
	} {
		assert.ErrorContains(t, err, want)
	}
	ok := server()
	assert.NoError(t, ok.Validate())
	_, err = pcie.Build(&topology.Graph{}, &ok, nil, 0, "n0.", 0)
	assert.ErrorContains(t, err, "0 GPUs for 6 slots")
}
