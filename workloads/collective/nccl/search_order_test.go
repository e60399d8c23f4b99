package nccl

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
)

func searchOf(t *testing.T, b rig, nodes int, ranks []int32, settings ...string) (*Channels, *topology.Machine) {
	t.Helper()
	env, err := ParseEnv(Latest, settings)
	require.NoError(t, err)
	m := b.machine(t, nodes)
	if ranks == nil {
		ranks = everyRank(m)
	}
	c, err := Search(Latest, m, ranks, b.platform(), env)
	require.NoError(t, err)
	return c, m
}

// The rings of a DGX-1V as NCCL 2.30.7's search has them.
func TestRingsOfACubeMesh(t *testing.T) {
	c, _ := searchOf(t, rigs["dgx1v"], 1, nil)
	assert.Equal(t, [][]int32{
		{0, 3, 2, 1, 5, 6, 7, 4}, {0, 3, 2, 1, 5, 6, 7, 4}, {0, 4, 7, 6, 5, 1, 2, 3}, {0, 4, 7, 6, 5, 1, 2, 3},
		{0, 1, 3, 7, 5, 4, 6, 2}, {0, 2, 6, 4, 5, 7, 3, 1},
	}, c.Rings)
}

// The rings that a job printed on four V100, each with two links to each other
// (a log of NCCL 2.10 of a cluster with four Omni-Path ports), "Channel 00/12"
// and on, and its last line: 12 coll channels, 16 p2p channels, 4 p2p channels
// per peer.
func TestRingsOfAFullMeshAsLogged(t *testing.T) {
	b := rig{sm: 70, sockets: 2, gen: 3, switches: 4, gpus: 4, nics: 4, nic: 12.5, edges: [][3]int{{0, 1, 2}, {0, 2, 2}, {0, 3, 2}, {1, 2, 2}, {1, 3, 2}, {2, 3, 2}}}
	c, _ := searchOf(t, b, 1, nil)
	assert.Equal(t, [][]int32{{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {0, 2, 1, 3}, {0, 3, 1, 2}, {0, 3, 2, 1}}, c.Rings)
	assert.Equal(t, []int{12, 16, 4}, []int{c.Run, c.P2P, c.PerPeer})
}

// The graphs that a job of one tray of a GB300 wrote.
func TestGraphsOfATrayAsWritten(t *testing.T) {
	b := rig{sm: 103, sockets: 2, gen: 6, gpus: 4, nics: 4, nic: 100, planes: 18, cpu: ARM, c2c: true}
	c, _ := searchOf(t, b, 1, nil)
	assert.Equal(t, Graphs{
		Ring: Graph{Channels: 16, Intra: 45, Inter: 45, TypeIntra: NVL, TypeInter: PIX, Pattern: RingPattern, Same: true},
		Tree: Graph{Channels: 16, Intra: 50, Inter: 50, TypeIntra: NVL, TypeInter: PIX, Pattern: PlainTree},
		NVLS: Graph{Channels: 4, Intra: 90, Inter: 90, TypeIntra: NVL, TypeInter: PIX, Pattern: NVLSPattern},
	}, c.Graphs)
	want := channelsOf(t, shared(t, "traces/nccl_graph_xml/gb300_1tray_graph.xml"))
	assert.Equal(t, want["0"], c.Rings)
	var trees [][]int32
	for ch := range c.Trees {
		trees = append(trees, c.Trees[ch][0])
	}
	assert.Equal(t, want["1"], trees)
	assert.Equal(t, want["3"], c.Heads)
}

// The rings that a job wrote on a virtual machine of four A100 in two pairs
// (Azure's NC A100 v4), each GPU on a NUMA node of its own. The file is of a
// release that did not yet hold channels over AMD's sockets alike, which is why
// the CPUs here are of another make.
func TestRingsOfBridgedPairsAsWritten(t *testing.T) {
	b := rig{sm: 80, sockets: 4, gen: 3, gpus: 4, nics: 1, nic: 12.5, edges: [][3]int{{0, 1, 12}, {2, 3, 12}}, cpu: Other, socketRate: 16}
	c, _ := searchOf(t, b, 1, nil)
	assert.Equal(t, Graph{Channels: 2, Intra: 12, Inter: 12, TypeIntra: SYS, TypeInter: PIX, Pattern: RingPattern}, c.Ring)
	assert.Equal(t, channelsOf(t, shared(t, "traces/nccl_graph_xml/azure_ncv4-graph.xml"))["0"], c.Rings)
}

// Between nodes of eight GPUs and NICs, channel c begins at GPU c and NIC c,
// even ones go down and odd ones up, and all come back to their NIC. Where each
// GPU sits alone with its NIC, channels go in pairs, and every other node has
// them the other way round, so that rails stay straight.
func TestRingsStayOnTheirRails(t *testing.T) {
	c, m := searchOf(t, rigs["dgxh100"], 2, nil)
	for ch, ring := range c.Rings {
		for node := range 2 {
			for step := range 8 {
				g := (ch + 8 - step) % 8
				if ch%2 == 1 {
					g = (ch + step) % 8
				}
				assert.Equal(t, int32(8*node+g), ring[8*node+step])
			}
			name := fmt.Sprintf("n%d.nic%d", node, ch)
			assert.Equal(t, name, m.Graph.Nodes[c.Ports[ch][node][0]].Name)
			assert.Equal(t, name, m.Graph.Nodes[c.Ports[ch][node][1]].Name)
		}
	}

	c, m = searchOf(t, rigs["dgxh100_1sw"], 4, nil)
	assert.Equal(t, 2, c.Cross)
	for ch := range c.Rings {
		for node := range 4 {
			in, out := ch, ch^1
			if node%2 == 1 {
				in, out = out, in
			}
			assert.Equal(t, fmt.Sprintf("n%d.nic%d", node, in), m.Graph.Nodes[c.Ports[ch][node][0]].Name)
			assert.Equal(t, fmt.Sprintf("n%d.nic%d", node, out), m.Graph.Nodes[c.Ports[ch][node][1]].Name)
			assert.Equal(t, int32(8*node+in), c.Rings[ch][8*node])
		}
	}
}

// Jobs on parts of a machine, as programs have them.
func TestSearchOfGroups(t *testing.T) {
	for _, c := range []struct {
		name       string
		nodes      int
		ranks      []int32
		ring, tree string // channels x GB/s within / between
		perNode    []int
	}{
		{"dgxh100", 1, []int32{0, 1}, "12x30/30", "12x60/60", []int{2}},
		{"dgxh100", 1, []int32{2, 3, 6, 7}, "12x30/30", "12x30/30", []int{4}},
		{"dgxh100", 2, []int32{0, 8}, "2x24/24", "2x48/24", []int{1, 1}},
		{"dgxh100", 4, []int32{5, 13, 21, 29}, "2x24/24", "2x48/24", []int{1, 1, 1, 1}},
		{"dgxh100", 2, []int32{0, 1, 8}, "2x24/24", "2x48/24", []int{2, 1}},
		{"dgxa100", 2, []int32{0, 1, 8, 9}, "2x24/24", "2x48/24", []int{2, 2}},
		{"dgx1v", 1, []int32{0, 1, 2, 3}, "4x20/20", "4x20/20", []int{4}},
		{"dgx1v", 1, []int32{0, 5}, "1x10/10", "1x10/10", []int{2}},
		{"dgx1v", 2, []int32{3, 11}, "1x10/10", "1x20/10", []int{1, 1}},
		{"gb200_nvl72", 1, []int32{0, 4, 8, 12}, "16x45/45", "16x50/50", []int{4}},
		{"pcie8_l40s_switch_intel", 1, []int32{0, 4}, "1x20/20", "1x20/20", []int{2}},
		{"pcie8_l40s_switch_intel", 2, []int32{0, 8}, "1x24/24", "1x48/24", []int{1, 1}},
	} {
		got, _ := searchOf(t, rigs[c.name], c.nodes, c.ranks)
		say := func(g Graph) string { return fmt.Sprintf("%dx%g/%g", g.Channels, g.Intra, g.Inter) }
		assert.Equal(t, []string{c.ring, c.tree}, []string{say(got.Ring), say(got.Tree)}, "%s %v", c.name, c.ranks)
		var per []int
		for _, n := range got.Nodes {
			per = append(per, len(n))
		}
		assert.Equal(t, c.perNode, per)
		for _, ring := range got.Rings {
			assert.ElementsMatch(t, everyPosition(len(c.ranks)), ring)
		}
	}
}

func everyPosition(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// The order in which a program lists its ranks names the members, and changes
// nothing else.
func TestSearchOfRanksInAnotherOrder(t *testing.T) {
	c, _ := searchOf(t, rigs["dgx1v"], 1, []int32{7, 6, 5, 4, 3, 2, 1, 0})
	assert.Equal(t, []int32{7, 4, 5, 6, 2, 1, 0, 3}, c.Rings[0])
}

func TestSearchRefuses(t *testing.T) {
	b := rigs["dgxh100"]
	m := b.machine(t, 2)
	for want, ranks := range map[string][]int32{
		"1 rank, expected at least two": {3}, "rank 16, expected 0 to 15": {0, 16}, "rank -1": {-1, 0}, "rank 5 is named twice": {5, 5},
	} {
		_, err := Search(Latest, m, ranks, b.platform(), Env{})
		assert.ErrorContains(t, err, "search channels as NCCL: "+want)
	}
	_, err := Search(Latest, rigs["dgx1v"].machine(t, 1), []int32{0, 4, 6}, rigs["dgx1v"].platform(), Env{NoSHM: true, NoP2P: true})
	assert.ErrorContains(t, err, "have no NIC in the network")
}

// A plugin that stripes over the four NICs of each GPU shows as many as there
// are GPUs: the channels are those of NICs four times as fast.
func TestGroupedNICs(t *testing.T) {
	b := rig{sm: 90, sockets: 2, gen: 5, switches: 4, gpus: 8, nics: 32, nic: 12.5, planes: 18}
	m := b.machine(t, 2)
	p := b.platform()
	single, err := Search(Latest, m, everyRank(m), p, Env{})
	require.NoError(t, err)
	assert.Equal(t, 32, single.Ring.Channels)
	p.GroupNICs = true
	grouped, err := Search(Latest, m, everyRank(m), p, Env{})
	require.NoError(t, err)
	want, _ := searchOf(t, rigs["dgxh100"], 2, nil)
	assert.Equal(t, want.Graphs, grouped.Graphs)
	assert.Equal(t, want.Rings, grouped.Rings)
	assert.Equal(t, []int{want.Run, want.P2P, want.PerPeer}, []int{grouped.Run, grouped.P2P, grouped.PerPeer})
	assert.Equal(t, "n0.nic4", m.Graph.Nodes[grouped.Ports[1][0][0]].Name)
}

// One GPU a node on a chip-to-chip link: the NIC decides.
func TestOneGPUByItsChip(t *testing.T) {
	b := rig{sm: 90, sockets: 1, gen: 5, gpus: 1, nics: 1, nic: 50, cpu: ARM, c2c: true}
	c, _ := searchOf(t, b, 4, nil)
	assert.Equal(t, Graph{Channels: 2, Intra: 24, Inter: 24, TypeIntra: LOC, TypeInter: P2C, Pattern: RingPattern, Same: true}, c.Ring)
}

// A board of which no more is known than its NVLink, alone and with a port of
// its own for each GPU.
func TestSearchWithoutPCIe(t *testing.T) {
	spec := machine.Spec{Name: "board", Host: machine.Host{GPUs: 8, NVLink: &nvlink.Spec{Planes: []int{5, 4, 4, 5}, Link: wire("nvlink4", 25, 1)}}}
	for nodes, want := range map[int]string{1: "dgxh100", 2: "dgxh100_1sw"} {
		if spec.Hosts = nodes; nodes > 1 {
			spec.Fabric = &fabric.Spec{Kind: fabric.SingleSwitch, Port: wire("ndr", 50, 1)}
		}
		m, err := machine.Build(spec)
		require.NoError(t, err)
		for _, settings := range [][]string{nil, {"NCCL_MNNVL_ENABLE=0"}} {
			env, err := ParseEnv(Latest, settings)
			require.NoError(t, err)
			c, err := Search(Latest, m, everyRank(m), Platform{SM: 90}, env)
			require.NoError(t, err)
			like, _ := searchOf(t, rigs[want], nodes, nil)
			assert.Equal(t, like.Graphs, c.Graphs)
			assert.Equal(t, like.Nodes, c.Nodes)
		}
	}
}

// Blackwell's list of rates within a node ends above what two sockets of AMD
// have between them.
func TestNoRateFits(t *testing.T) {
	b := rig{sm: 120, sockets: 2, gen: 5, gpus: 8, nics: 2, nic: 25, cpu: AMD}
	c, _ := searchOf(t, b, 1, nil)
	assert.Equal(t, Graph{Channels: 1, Intra: 0.1, TypeIntra: SYS, TypeInter: DIS, Pattern: RingPattern, Same: true}, c.Ring)
	assert.Equal(t, [][]int32{{0, 1, 2, 3, 4, 5, 6, 7}}, c.Rings)
	assert.Contains(t, c.Doubts[0], "no channel fits at any rate")
}
