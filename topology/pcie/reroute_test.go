package pcie_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/pcie"
)

// without returns the tree on a copy of its graph where links between two
// nodes are out of service.
func without(g *topology.Graph, tree *pcie.Tree, ends ...[2]string) (*topology.Graph, *pcie.Tree) {
	c := *g
	c.Links = slices.Clone(g.Links)
	for i, l := range c.Links {
		a, b := g.Nodes[l.From].Name, g.Nodes[l.To].Name
		if slices.Contains(ends, [2]string{a, b}) || slices.Contains(ends, [2]string{b, a}) {
			c.Links[i].Down = true
		}
	}
	return &c, tree.Reroute(&c, 0)
}

func TestUplinkDown(t *testing.T) {
	// Without the uplink of switch 0 its devices reach each other and nobody
	// else.
	g, tree := build(t, server())
	g, tree = without(g, tree, [2]string{"n0.pcie-sw0", "n0.rc0"})
	p, _ := names(t, g, tree, tree.GPU(0), tree.NIC(0))
	assert.Equal(t, topology.PIX, p.Kind)
	_, ok := tree.Route(tree.GPU(0), tree.GPU(3), nil)
	assert.False(t, ok)
	p, _ = names(t, g, tree, tree.GPU(3), tree.GPU(5))
	assert.Equal(t, topology.SYS, p.Kind)
}

func TestSocketLinkDown(t *testing.T) {
	s := server()
	g, tree := build(t, s)
	_, two := without(g, tree, [2]string{"n0.cpu0", "n0.cpu1"})
	_, ok := two.Route(two.GPU(3), two.GPU(5), nil)
	assert.False(t, ok)

	// With a third socket there is a way around: one more link and socket, 100 ns
	// on the 640 of the direct way.
	s.Sockets = 3
	s.Bridges = append(s.Bridges, pcie.Bridge{Socket: 2, Link: onDie})
	g, tree = build(t, s)
	g, tree = without(g, tree, [2]string{"n0.cpu0", "n0.cpu1"})
	p, hops := names(t, g, tree, tree.GPU(3), tree.GPU(5))
	assert.Equal(t, topology.SYS, p.Kind)
	assert.Equal(t, 740*ns, p.Latency)
	assert.Contains(t, hops, "n0.cpu0 > n0.cpu2 (3 upi links)")
}

func TestMemoryDown(t *testing.T) {
	// The receiver's memory is out of service: the sender's holds the buffer.
	s := server()
	s.P2P = pcie.Nowhere
	g, tree := build(t, s)
	g, tree = without(g, tree, [2]string{"n0.cpu1", "n0.mem1"})
	p, hops := names(t, g, tree, tree.GPU(3), tree.GPU(5))
	require.True(t, p.Staged)
	assert.Contains(t, hops, "n0.cpu0 > n0.mem0 (1 ddr4 link)")
	// Both GPUs are on socket 0, and its memory is out: that of socket 1.
	g, tree = build(t, s)
	g, tree = without(g, tree, [2]string{"n0.cpu0", "n0.mem0"})
	p, hops = names(t, g, tree, tree.GPU(3), tree.GPU(4))
	require.True(t, p.Staged)
	assert.Contains(t, hops, "n0.cpu1 > n0.mem1 (1 ddr4 link)")
	assert.Equal(t, topology.PHB, p.Kind)
}

func TestBouncesShareTheMemory(t *testing.T) {
	// Five pairs bounce through the 80 GB/s of one socket's memory: each byte is
	// written once and read once, so that 16 GB/s are left for each, less than
	// the 24 of a GPU's link.
	s := server()
	s.P2P = pcie.Nowhere
	_, tree := build(t, s)
	load := map[topology.ResourceID]int32{}
	for i := range 5 {
		p, ok := tree.Route(tree.GPU(i), tree.GPU((i+1)%5), nil)
		require.True(t, ok)
		for _, h := range p.Hops {
			load[h.Resource] += h.Share
		}
	}
	memory, _ := tree.Route(tree.GPU(0), tree.Memory(0), nil)
	last := memory.Hops[len(memory.Hops)-1].Resource
	assert.EqualValues(t, 5, load[last], "written")
	assert.EqualValues(t, 5, load[last-1], "read")
}
