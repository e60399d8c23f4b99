package shortest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fault"
	"github.com/weft-sim/weft/topology/shortest"
)

// twoSpines is two GPUs, a leaf each, and two spines between the leaves.
func twoSpines(t *testing.T) *topology.Machine {
	t.Helper()
	g := &topology.Graph{}
	class := g.AddClass(topology.Class{Name: "cable"})
	node := func(kind topology.NodeKind, name string, host int32) topology.NodeID {
		return g.AddNode(topology.Node{Kind: kind, Name: name, Host: host})
	}
	wire := func(a, b topology.NodeID) {
		g.AddDuplex(topology.Link{From: a, To: b, Rate: 50 * sim.GBps, Latency: sim.Microsecond, Class: class, Width: 1})
	}
	gpus := []topology.NodeID{node(topology.GPU, "n0.gpu0", 0), node(topology.GPU, "n1.gpu0", 1)}
	leaves := []topology.NodeID{node(topology.Switch, "leaf0", -1), node(topology.Switch, "leaf1", -1)}
	for i := range gpus {
		wire(gpus[i], leaves[i])
	}
	for _, name := range []string{"spine0", "spine1"} {
		spine := node(topology.Switch, name, -1)
		wire(leaves[0], spine)
		wire(leaves[1], spine)
	}
	m, err := shortest.Build(g, gpus, shortest.Options{Name: "two spines"})
	require.NoError(t, err)
	return m
}

func hit(t *testing.T, m *topology.Machine, text string) (*topology.Machine, error) {
	t.Helper()
	f, err := fault.Parse(text)
	require.NoError(t, err)
	return fault.Apply(m, f)
}

// Half of the bytes take each spine; without one, all take the other.
func TestReroute(t *testing.T) {
	m := twoSpines(t)
	spines := func(m *topology.Machine) map[string]int32 {
		p, err := m.Route(0, 1, nil)
		require.NoError(t, err)
		require.NoError(t, m.CheckRoutes())
		parts := map[string]int32{}
		for _, h := range p.Hops {
			if n := m.Graph.Nodes[m.Graph.Links[h.Resource].To]; n.Name[0] == 's' {
				parts[n.Name] = h.Share * 2 / p.Den
			}
		}
		return parts
	}
	assert.Equal(t, map[string]int32{"spine0": 1, "spine1": 1}, spines(m))
	one, err := hit(t, m, "spine0 down")
	require.NoError(t, err)
	assert.Equal(t, map[string]int32{"spine1": 2}, spines(one))
	assert.Equal(t, map[string]int32{"spine0": 1, "spine1": 1}, spines(m), "the machine itself stays as it was")
	again, err := hit(t, m, "leaf0<>spine1 down")
	require.NoError(t, err)
	assert.Equal(t, map[string]int32{"spine0": 2}, spines(again))

	_, err = hit(t, one, "leaf0<>spine1 down")
	assert.ErrorContains(t, err, "n0.gpu0")
	assert.ErrorContains(t, err, "n1.gpu0")
	left, err := hit(t, one, "n0.gpu0 down")
	require.NoError(t, err)
	assert.Len(t, left.Ranks, 1)
	_, err = hit(t, left, "n1.gpu0 down")
	assert.ErrorContains(t, err, "no GPU is in service")
}
