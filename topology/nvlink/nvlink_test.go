package nvlink_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/nvlink"
)

var nvlink4 = topology.Wire{Rate: 20.6e9, Latency: 500 * sim.Nanosecond, Class: topology.Class{Name: "nvlink4", Raw: 26.5625e9}}

// dgx1 is the hybrid cube mesh of a DGX-1 V100, as read from the NCCL topology
// dump in issue NVIDIA/nccl#671 and completed so that each GPU has six links.
var dgx1 = [][3]int{
	{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {1, 2, 2}, {1, 3, 1}, {2, 3, 2},
	{4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2},
	{0, 4, 2}, {1, 5, 2}, {2, 6, 1}, {3, 7, 1},
}

// domain builds GPUs with the wiring alone.
func domain(t testing.TB, gpus int, s nvlink.Spec) (*topology.Graph, *nvlink.Wiring, []topology.NodeID) {
	t.Helper()
	g := &topology.Graph{}
	ids := make([]topology.NodeID, gpus)
	for i := range ids {
		ids[i] = g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("n0.gpu%d", i), Unit: int32(i)})
	}
	w, err := nvlink.Build(g, &s, ids, 0, "n0.")
	require.NoError(t, err)
	w.AddTrunks(g)
	require.NoError(t, g.Validate())
	return g, w, ids
}

func route(t testing.TB, g *topology.Graph, w *nvlink.Wiring, ids []topology.NodeID, a, b int) topology.Path {
	t.Helper()
	p, ok := w.Route(a, b, nil)
	require.True(t, ok, "GPU %d to %d", a, b)
	require.NoError(t, g.CheckPath(p, ids[a], ids[b]))
	return p
}

func TestPairInSwitchedNode(t *testing.T) {
	// HGX H100: 5 + 4 + 4 + 5 = 18 links of 20.6 GB/s = 370.8 GB/s from a GPU to
	// any other; two links of 500 ns and a switch of 120 ns = 1,120 ns.
	g, w, ids := domain(t, 8, nvlink.Spec{Planes: []int{5, 4, 4, 5}, Link: nvlink4, SwitchLatency: 120 * sim.Nanosecond})
	assert.Len(t, g.Trunks, 16)
	for a := range 8 {
		rate, links := g.Egress(ids[a], topology.NVSwitch)
		assert.Equal(t, 18, links)
		assert.InEpsilon(t, 370.8e9, float64(rate), 1e-12)
		for b := range 8 {
			if a == b {
				continue
			}
			p := route(t, g, w, ids, a, b)
			assert.Equal(t, topology.NVL, p.Kind)
			assert.Equal(t, 1120*sim.Nanosecond, p.Latency)
			require.Len(t, p.Hops, 2)
			for _, h := range p.Hops {
				assert.EqualValues(t, 1, h.Share)
				assert.InEpsilon(t, 370.8e9, float64(g.Capacity(h.Resource)), 1e-12)
				assert.Equal(t, g.Capacity(p.Hops[0].Resource), g.Capacity(h.Resource), "equal trunks, exactly equal capacities")
			}
			assert.Equal(t, 18, w.Links(a, b))
		}
	}
	assert.Equal(t, "n0.gpu3 > n0.nvswitch (18 nvlink4 links)", g.ResourceName(route(t, g, w, ids, 3, 0).Hops[0].Resource))
}

func TestRackOf72(t *testing.T) {
	// NVL72: 18 planes, one link each; every plane is a switch of 72 ports.
	planes := make([]int, 18)
	for i := range planes {
		planes[i] = 1
	}
	g, w, ids := domain(t, 72, nvlink.Spec{Planes: planes, Link: nvlink4})
	assert.Equal(t, 18, g.Count()[topology.NVSwitch])
	assert.Len(t, g.Links, 72*18*2)
	assert.Len(t, g.Trunks, 72*2)
	p := route(t, g, w, ids, 0, 71)
	require.Len(t, p.Hops, 2)
	assert.InEpsilon(t, 18*20.6e9, float64(g.Capacity(p.Hops[0].Resource)), 1e-12)
	for _, n := range g.Nodes {
		if n.Kind == topology.NVSwitch {
			id, _ := g.Node(n.Name)
			_, ports := g.Egress(id, topology.GPU)
			assert.Equal(t, 72, ports, n.Name)
		}
	}
}

func TestOnePlaneNeedsNoTrunk(t *testing.T) {
	g, w, ids := domain(t, 4, nvlink.Spec{Planes: []int{1}, Link: nvlink4})
	assert.Empty(t, g.Trunks)
	p := route(t, g, w, ids, 1, 2)
	assert.Equal(t, 2*500*sim.Nanosecond, p.Latency)
	assert.Equal(t, sim.Rate(20.6e9), g.Capacity(p.Hops[1].Resource))
}

func TestPairInMeshHasAThird(t *testing.T) {
	// HGX H100 4-GPU: 18 links to 3 peers, 6 each. A pair has 6 x 20.6 = 123.6
	// of the GPU's 370.8 GB/s: exactly a third. One link, no switch: 500 ns.
	g, w, ids := domain(t, 4, nvlink.Spec{
		Edges: [][3]int{{0, 1, 6}, {0, 2, 6}, {0, 3, 6}, {1, 2, 6}, {1, 3, 6}, {2, 3, 6}}, Link: nvlink4, SwitchLatency: sim.Nanosecond,
	})
	for a := range 4 {
		whole, links := g.Egress(ids[a], topology.GPU)
		assert.Equal(t, 18, links)
		for b := range 4 {
			if a == b {
				continue
			}
			p := route(t, g, w, ids, a, b)
			require.Len(t, p.Hops, 1)
			assert.Equal(t, topology.NVL, p.Kind)
			assert.Equal(t, 500*sim.Nanosecond, p.Latency)
			assert.InEpsilon(t, float64(whole)/3, float64(g.Capacity(p.Hops[0].Resource)), 1e-12)
		}
	}
	assert.True(t, w.Complete())
}

func TestHybridCubeMeshGoesThroughAPeer(t *testing.T) {
	g, w, ids := domain(t, 8, nvlink.Spec{Edges: dgx1, Link: nvlink4})
	direct := 0
	for a := range 8 {
		_, links := g.Egress(ids[a], topology.GPU)
		assert.Equal(t, 6, links, "GPU %d", a)
		for b := range 8 {
			if a == b {
				continue
			}
			p := route(t, g, w, ids, a, b)
			if w.Links(a, b) > 0 {
				direct++
				assert.Equal(t, topology.NVL, p.Kind)
				assert.Len(t, p.Hops, 1)
				continue
			}
			assert.Equal(t, topology.NVB, p.Kind)
			assert.Len(t, p.Hops, 2)
			assert.Equal(t, 1000*sim.Nanosecond, p.Latency)
		}
	}
	assert.Equal(t, 2*16, direct)
	// GPU 0 and 5 share no link. Peers: 1 (1 and 2 links), 4 (2 and 1 links):
	// the narrower of the two is one link in both cases, the lower number wins.
	p := route(t, g, w, ids, 0, 5)
	assert.Equal(t, "n0.gpu0 > n0.gpu1 (1 nvlink4 link)", g.ResourceName(p.Hops[0].Resource))
	assert.Equal(t, "n0.gpu1 > n0.gpu5 (2 nvlink4 links)", g.ResourceName(p.Hops[1].Resource))
	assert.True(t, w.Complete())
}

func TestBridgedPairsReachNoFurther(t *testing.T) {
	_, w, _ := pieces(t, nvlink.Spec{Edges: [][3]int{{0, 1, 12}, {2, 3, 12}}, Link: nvlink4})
	_, ok := w.Route(0, 2, nil)
	assert.False(t, ok)
	assert.False(t, w.Complete())
}

// pieces builds four GPUs whose wiring alone is in pieces.
func pieces(t *testing.T, s nvlink.Spec) (*topology.Graph, *nvlink.Wiring, []topology.NodeID) {
	g := &topology.Graph{}
	var ids []topology.NodeID
	for i := range 4 {
		ids = append(ids, g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("n0.gpu%d", i)}))
	}
	w, err := nvlink.Build(g, &s, ids, 0, "n0.")
	require.NoError(t, err)
	err = g.Validate()
	require.ErrorContains(t, err, "in 2 pieces that no link joins: {n0.gpu0, n0.gpu1}; {n0.gpu2, n0.gpu3}")
	return g, w, ids
}

func TestLinksDownSpray(t *testing.T) {
	// GPU 0 lost 2 of its 5 links to plane 0 and all 4 to plane 1. To GPU 1 it
	// has 3 + 0 + 4 + 5 = 12 links left, in parts 3, 4, 5 of 12. The path runs at
	// 12 x 20.6 = 247.2 GB/s. GPUs 1 and 2 keep 18, but must be sprayed too.
	g, w, ids := domain(t, 3, nvlink.Spec{Planes: []int{5, 4, 4, 5}, Link: nvlink4, Down: []nvlink.Down{{0, 0, 2}, {0, 1, 4}}})
	assert.Empty(t, g.Trunks)
	p := route(t, g, w, ids, 0, 1)
	assert.EqualValues(t, 12, p.Den)
	require.Len(t, p.Hops, 6)
	assert.EqualValues(t, []int32{3, 3, 4, 4, 5, 5}, shares(p))
	_, rate := g.Bottleneck(p)
	assert.InEpsilon(t, 247.2e9, float64(rate), 1e-12)
	assert.Equal(t, 12, w.Links(0, 1))

	_, rate = g.Bottleneck(route(t, g, w, ids, 1, 2))
	assert.InEpsilon(t, 370.8e9, float64(rate), 1e-12)
	assert.True(t, w.Complete())
}

func TestPlaneDownForAll(t *testing.T) {
	// A plane that every GPU lost leaves three even ones: trunks again.
	s := nvlink.Spec{Planes: []int{1, 1, 1, 1}, Link: nvlink4}
	for i := range 4 {
		s.Down = append(s.Down, nvlink.Down{GPU: i, Plane: 2, Links: 1})
	}
	g, w, ids := domain(t, 4, s)
	assert.Equal(t, 3, g.Count()[topology.NVSwitch])
	_, rate := g.Bottleneck(route(t, g, w, ids, 0, 3))
	assert.InEpsilon(t, 3*20.6e9, float64(rate), 1e-12)
}

func shares(p topology.Path) []int32 {
	var s []int32
	for _, h := range p.Hops {
		s = append(s, h.Share)
	}
	return s
}

func TestValidateSaysAllAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		spec nvlink.Spec
		want []string
	}{
		{"empty", nvlink.Spec{Link: nvlink4}, []string{"neither planes nor edges"}},
		{"both", nvlink.Spec{Link: nvlink4, Planes: []int{1}, Edges: [][3]int{{0, 1, 1}}}, []string{"both planes and edges"}},
		{"rate", nvlink.Spec{Planes: []int{0}}, []string{"rate of a link is 0 B/s", "plane 0: 0 links"}},
		{"edges", nvlink.Spec{Link: nvlink4, Edges: [][3]int{{0, 4, 1}, {1, 1, 1}, {0, 1, 0}, {0, 2, 1}, {2, 0, 1}}}, []string{
			"edge 0: 0-4 names a GPU that does not exist; the GPUs are 0 to 3", "edge 1 joins GPU 1 to itself",
			"edge 2: 0-1 has 0 links", "edge 4: 2-0 is listed before",
		}},
		{"down", nvlink.Spec{Link: nvlink4, Planes: []int{2}, Down: []nvlink.Down{{4, 0, 1}, {0, 0, 3}}}, []string{
			"GPU 4, plane 0 does not exist", "GPU 0, plane 0: 3 links, must be 1 to 2",
		}},
		{"down in a mesh", nvlink.Spec{Link: nvlink4, Edges: [][3]int{{0, 1, 1}}, Down: []nvlink.Down{{0, 0, 1}}}, []string{"a mesh has no planes"}},
		{"latency", nvlink.Spec{Link: nvlink4, Planes: []int{2}, SwitchLatency: -1}, []string{"latency is negative"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.spec.Validate(4)
			for _, want := range c.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

func TestEdgeLists(t *testing.T) {
	// The lists of the hardware reference: every GPU has all of its links.
	quad := func(n int) [][3]int {
		return [][3]int{{0, 1, n}, {0, 2, n}, {0, 3, n}, {1, 2, n}, {1, 3, n}, {2, 3, n}}
	}
	islands := quad(6)
	for _, e := range quad(6) {
		islands = append(islands, [3]int{e[0] + 4, e[1] + 4, e[2]})
	}
	twins := append([][3]int{{0, 4, 1}, {1, 5, 1}, {2, 6, 1}, {3, 7, 1}}, quad(1)...)
	for _, e := range quad(1) {
		twins = append(twins, [3]int{e[0] + 4, e[1] + 4, 1})
	}
	for _, c := range []struct {
		name        string
		edges       [][3]int
		gpus, links int
		whole       bool // one domain
	}{
		{"DGX-1 P100", twins, 8, 4, true}, {"DGX-1 V100", dgx1, 8, 6, true},
		{"HGX A100 4-GPU", quad(4), 4, 12, true}, {"HGX H100 4-GPU", quad(6), 4, 18, true},
		{"GH200 NVL2", [][3]int{{0, 1, 18}}, 2, 18, true}, {"8 H200 NVL", islands, 8, 18, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := &topology.Graph{}
			var ids []topology.NodeID
			for i := range c.gpus {
				ids = append(ids, g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("n0.gpu%d", i)}))
			}
			w, err := nvlink.Build(g, &nvlink.Spec{Edges: c.edges, Link: nvlink4}, ids, 0, "n0.")
			require.NoError(t, err)
			for i := range ids {
				_, links := g.Egress(ids[i], topology.GPU)
				assert.Equal(t, c.links, links)
				assert.Equal(t, c.links, w.Wired(i))
			}
			assert.Equal(t, c.whole, w.Complete())
		})
	}
}

func TestSwitchesHaveSoManyPorts(t *testing.T) {
	rack := nvlink.Spec{Planes: []int{1, 1}, Link: topology.Wire{Rate: 20e9}, Ports: 72}
	assert.NoError(t, rack.Validate(72))
	rack.Planes[1] = 70
	assert.ErrorContains(t, rack.Validate(72), "plane 1: 5040 links of 72 GPUs and 0 to other switches, but a switch has 72 ports")
	rack.Ports = 0
	assert.NoError(t, rack.Validate(72), "not known")
	rack.Ports = -1
	assert.ErrorContains(t, rack.Validate(72), "a switch has -1 ports")

	// Two groups of 36 with 36 links to the twin fill 72 ports; three do not.
	twins := nvlink.Spec{Planes: []int{1}, Link: topology.Wire{Rate: 20e9}, Ports: 72, Tier: &nvlink.Tier{Groups: 2, Uplinks: []int{36}}}
	assert.NoError(t, twins.Validate(72))
	twins.Tier.Groups = 3
	assert.ErrorContains(t, twins.Validate(108), "36 GPUs and 72 to other switches")

	// 32 groups of 20 links over 10 upper switches: 64 each.
	upper := nvlink.Spec{Planes: []int{5}, Link: topology.Wire{Rate: 20e9}, Ports: 64, Tier: &nvlink.Tier{Groups: 32, Uplinks: []int{20}, Switches: []int{10}, Ports: 64}}
	assert.NoError(t, upper.Validate(256))
	upper.Tier.Switches[0] = 5
	assert.ErrorContains(t, upper.Validate(256), "tier: plane 0: 128 links from 32 groups to each upper switch, but one has 64 ports")
}
