package topology_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// square is four GPUs in a ring, 10, 20, 30 and 40 B/s.
func square() *topology.Graph {
	g := &topology.Graph{}
	class := g.AddClass(topology.Class{Name: "wire"})
	for _, name := range []string{"a", "b", "c", "d"} {
		g.AddNode(topology.Node{Kind: topology.GPU, Name: name})
	}
	for i := range 4 {
		g.AddDuplex(topology.Link{
			From: topology.NodeID(i), To: topology.NodeID((i + 1) % 4), Rate: sim.Rate(10 * (i + 1)), Class: class, Width: 1,
		})
	}
	return g
}

func TestValidate(t *testing.T) {
	require.NoError(t, square().Validate())
	for _, c := range []struct {
		name  string
		spoil func(*topology.Graph)
		want  []string
	}{
		{"names", func(g *topology.Graph) { g.Nodes[1].Name = "a"; g.Nodes[2].Name = "" }, []string{
			`node 1 is named "a" like node 0`, "node 2 (GPU) has no name",
		}},
		{"no such node", func(g *topology.Graph) { g.Links[3].To = 9 }, []string{"link 3 runs from node 2 to node 9, but the nodes are 0 to 3"}},
		{"self-link", func(g *topology.Graph) { g.Links[0].To = 0 }, []string{"link 0 joins a to itself"}},
		{"rates", func(g *topology.Graph) {
			g.Links[0].Rate, g.Links[1].Rate = 0, sim.Rate(math.NaN())
			g.Links[2].Rate, g.Links[3].Rate = sim.Rate(math.Inf(1)), -1
		}, []string{"link 0 (a > b): rate is 0", "link 1 (b > a): rate is NaN", "link 2 (b > c): rate is +Inf", "link 3 (c > b): rate is -1"}},
		{"latency", func(g *topology.Graph) { g.Links[0].Latency = -1 }, []string{"link 0 (a > b): latency is -1ps"}},
		{"width and class", func(g *topology.Graph) { g.Links[0].Width = 0; g.Links[1].Class = 7 }, []string{
			"width is 0, must be at least 1", "class 7 does not exist, there are 1",
		}},
		{"one way", func(g *topology.Graph) { g.Links = g.Links[:7] }, []string{"link 6 (d > a) has no link back"}},
		{"pieces", func(g *topology.Graph) { g.Links = append(g.Links[:2], g.Links[4:6]...) }, []string{
			"the graph is in 2 pieces that no link joins: {a, b}; {c, d}",
		}},
		{"trunks", func(g *topology.Graph) {
			g.AddTrunk(topology.Trunk{})
			g.AddTrunk(topology.Trunk{Links: []topology.LinkID{0}, Shares: []int32{1, 2}})
			g.AddTrunk(topology.Trunk{Links: []topology.LinkID{0, 7}, Shares: []int32{1, 0}})
			g.AddTrunk(topology.Trunk{Links: []topology.LinkID{0, 4}, Shares: []int32{1, 1}})
			g.AddTrunk(topology.Trunk{Links: []topology.LinkID{0, 8}, Shares: []int32{1, 1}})
		}, []string{
			"trunk 0 has no links", "trunk 1 has 1 links and 2 shares", "trunk 2: share 0 of member 1",
			"trunk 3: its links share neither the node they leave nor the node they reach (first: a > b, last: c > d)",
			"trunk 4: member 1 is link 8, but the links are 0 to 7",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := square()
			c.spoil(g)
			err := g.Validate()
			for _, want := range c.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

func TestPiecesNamesAFew(t *testing.T) {
	g := &topology.Graph{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		g.AddNode(topology.Node{Name: name})
	}
	assert.ErrorContains(t, g.Validate(), "in 6 pieces that no link joins: {a}; {b}; {c}; {d}; and 2 more")
}

func TestBackLinkFarAway(t *testing.T) {
	// The two directions need not lie side by side.
	g := square()
	g.Links[0], g.Links[5] = g.Links[5], g.Links[0]
	assert.NoError(t, g.Validate())
}

func TestTrunkCapacity(t *testing.T) {
	// Shares 1 and 3 over 10 and 40 B/s out of a: the first saturates at 10 x 4/1
	// = 40, the second at 40 x 4/3 = 53.3.
	g := square()
	r := g.AddTrunk(topology.Trunk{Links: []topology.LinkID{0, 7}, Shares: []int32{1, 3}})
	assert.Equal(t, sim.Rate(40), g.Capacity(r))
	assert.Equal(t, "a > several (2 wire links)", g.ResourceName(r), "b and d have nothing in common")
	assert.Equal(t, "a > b (1 wire link)", g.ResourceName(0))
	assert.Equal(t, "resource 99", g.ResourceName(99))
}

func TestMaxFlow(t *testing.T) {
	// a to c: min(10, 20) by b, min(40, 30) by d.
	g := square()
	assert.InDelta(t, 40, float64(g.MaxFlow([]topology.NodeID{0}, []topology.NodeID{2})), 1e-9)
	// {a, b} to {c, d}: the wires b-c and d-a.
	m := &topology.Machine{Graph: g, Ranks: []topology.NodeID{0, 1, 2, 3}}
	assert.InDelta(t, 60, float64(m.Bisection()), 1e-9)
	assert.Zero(t, g.MaxFlow(nil, []topology.NodeID{2}))
	assert.Zero(t, (&topology.Machine{Graph: g, Ranks: []topology.NodeID{0}}).Bisection())
}

func TestCounts(t *testing.T) {
	g := square()
	assert.Equal(t, 4, g.Count()[topology.GPU])
	assert.Equal(t, []topology.ClassTotal{{Class: 0, Links: 4, Rate: 100}}, g.ByClass())
	rate, n := g.Egress(0, topology.GPU)
	assert.Equal(t, sim.Rate(50), rate)
	assert.Equal(t, 2, n)
	_, ok := g.Node("e")
	assert.False(t, ok)
}

func TestCheckPath(t *testing.T) {
	g := square()
	hop := func(r topology.ResourceID, share int32) topology.Hop { return topology.Hop{Resource: r, Share: share} }
	for _, c := range []struct {
		name string
		path topology.Path
		to   topology.NodeID
		want string
	}{
		{"whole", topology.Path{Den: 1, Hops: []topology.Hop{hop(0, 1), hop(2, 1)}}, 2, ""},
		{"sprayed", topology.Path{Den: 4, Hops: []topology.Hop{hop(0, 1), hop(7, 3), hop(2, 1), hop(5, 3)}}, 2, ""},
		{"itself", topology.Path{Den: 1}, 0, ""},
		{"short", topology.Path{Den: 1, Hops: []topology.Hop{hop(0, 1)}}, 2, "path from a to c: 1 of what enters b stays there (hops: 1/1 of a > b (1 wire link))"},
		{"lost half", topology.Path{Den: 2, Hops: []topology.Hop{hop(0, 2), hop(2, 1)}}, 2, "0.5 of what enters b stays there"},
		{"no parts", topology.Path{}, 2, "its shares are parts of 0"},
		{"no resource", topology.Path{Den: 1, Hops: []topology.Hop{hop(8, 1)}}, 2, "hop on resource 8"},
		{"detour to itself", topology.Path{Den: 1, Hops: []topology.Hop{hop(0, 1), hop(1, 1)}}, 0, "a path to itself has 2 hops"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := g.CheckPath(c.path, 0, c.to)
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestBottleneck(t *testing.T) {
	g := square()
	p := topology.Path{Den: 2, Hops: []topology.Hop{{Resource: 0, Share: 1}, {Resource: 4, Share: 2}}}
	// 10 x 2/1 = 20 against 30 x 2/2 = 30; a ceiling of 15 is lower still.
	r, rate := g.Bottleneck(p)
	assert.Equal(t, topology.ResourceID(0), r)
	assert.Equal(t, sim.Rate(20), rate)
	p.Rate = 15
	r, rate = g.Bottleneck(p)
	assert.Equal(t, topology.ResourceID(-1), r)
	assert.Equal(t, sim.Rate(15), rate)
}

func TestAppendHopAddsShares(t *testing.T) {
	hops := topology.AppendHop(nil, topology.Hop{Resource: 3, Share: 1})
	hops = topology.AppendHop(hops, topology.Hop{Resource: 4, Share: 1})
	hops = topology.AppendHop(hops, topology.Hop{Resource: 3, Share: 1})
	assert.Equal(t, []topology.Hop{{Resource: 3, Share: 2}, {Resource: 4, Share: 1}}, hops)
}
