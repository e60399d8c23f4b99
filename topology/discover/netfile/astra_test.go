package netfile_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover/netfile"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/shortest"
)

const ns = sim.Nanosecond

func analytical(t testing.TB, text string, o shortest.Options) *topology.Machine {
	t.Helper()
	n, err := netfile.Read("network.yml", []byte(text), netfile.Assume{})
	require.NoError(t, err)
	m, err := n.Machine(o)
	require.NoError(t, err)
	require.NoError(t, m.CheckRoutes())
	return m
}

// figures are what a path costs: latency, and the rate of its bottleneck.
func figures(t testing.TB, m *topology.Machine, a, b int32) (sim.Time, sim.Rate, topology.PathKind) {
	t.Helper()
	p, err := m.Route(a, b, nil)
	require.NoError(t, err)
	_, rate := m.Graph.Bottleneck(p)
	return p.Latency, rate, p.Kind
}

// HGX-H100-validated of ASTRA-sim: two links of 936.25 ns, 400 x 2^30 bytes/s.
func TestHGXH100Validated(t *testing.T) {
	m := analytical(t, "topology: [ Switch ]\nnpus_count: [ 8 ]\nbandwidth: [ 400.0 ]\nlatency: [ 936.25 ]\n", shortest.Options{})
	latency, rate, kind := figures(t, m, 2, 7)
	assert.Equal(t, sim.Time(1_872_500), latency)
	assert.Equal(t, sim.Rate(400*(1<<30)), rate)
	assert.Equal(t, topology.NVL, kind)
	assert.Equal(t, int32(1), m.Hosts)
	assert.Equal(t, topology.NVSwitch, m.Graph.Nodes[8].Kind)
}

// Ring_16npus of ASTRA-sim: 50 x 2^30 bytes/s and 500 ns a link. To the far
// side ASTRA-sim goes in rising order; shortest paths use both sides.
func TestRingOf16(t *testing.T) {
	const text = "topology: [ Ring ]\nnpus_count: [ 16 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n"
	m := analytical(t, text, shortest.Options{})
	for _, c := range []struct {
		a, b int32
		hops int
		kind topology.PathKind
	}{{0, 1, 1, topology.NVL}, {1, 0, 1, topology.NVL}, {15, 0, 1, topology.NVL}, {0, 15, 1, topology.NVL}, {3, 8, 5, topology.NVB}, {14, 5, 7, topology.NVB}, {5, 14, 7, topology.NVB}, {0, 8, 8, topology.NVB}} {
		p, err := m.Route(c.a, c.b, nil)
		require.NoError(t, err)
		require.NoError(t, m.Graph.CheckPath(p, m.Ranks[c.a], m.Ranks[c.b]))
		assert.Len(t, p.Hops, c.hops, "%d to %d", c.a, c.b)
		assert.Equal(t, sim.Time(c.hops)*500*ns, p.Latency)
		assert.Equal(t, c.kind, p.Kind)
	}
	_, rate, _ := figures(t, m, 0, 8)
	assert.Equal(t, sim.Rate(50*(1<<30)), rate)
	// Spread: the same length, twice the rate.
	spread := analytical(t, text, shortest.Options{Ways: 2})
	latency, rate, _ := figures(t, spread, 0, 8)
	assert.Equal(t, 4000*ns, latency)
	assert.Equal(t, sim.Rate(100*(1<<30)), rate)
}

func TestFullyConnected(t *testing.T) {
	m := analytical(t, "topology: [ FullyConnected ]\nnpus_count: [ 5 ]\nbandwidth: [ 10 ]\nlatency: [ 7 ]\n", shortest.Options{})
	assert.Len(t, m.Graph.Links, 5*4)
	for a := range int32(5) {
		for b := range int32(5) {
			if a == b {
				continue
			}
			p, err := m.Route(a, b, nil)
			require.NoError(t, err)
			require.Len(t, p.Hops, 1)
			require.NoError(t, m.Graph.CheckPath(p, m.Ranks[a], m.Ranks[b]))
			assert.Equal(t, 7*ns, p.Latency)
		}
	}
}

// Switch x Switch is machine.Grid: the same latency, rate and kind for every
// pair, and as many links.
func TestTwoSwitchesAreAGrid(t *testing.T) {
	m := analytical(t, "topology: [Switch, Switch]\nnpus_count: [8, 4]\nbandwidth: [400, 50]\nlatency: [936.25, 2000]\n", shortest.Options{})
	grid, err := machine.Build(machine.Grid(4, 8,
		topology.Wire{Rate: 400 * (1 << 30), Latency: 936_250, Class: topology.Class{Name: "inner"}},
		topology.Wire{Rate: 50 * (1 << 30), Latency: 2000 * ns, Class: topology.Class{Name: "outer"}}))
	require.NoError(t, err)
	assert.Len(t, m.Graph.Links, len(grid.Graph.Links))
	assert.Equal(t, grid.Hosts, m.Hosts)
	for a := range int32(32) {
		for b := range int32(32) {
			latency, rate, kind := figures(t, m, a, b)
			wantLatency, wantRate, wantKind := figures(t, grid, a, b)
			require.Equal(t, []any{wantLatency, wantRate, wantKind}, []any{latency, rate, kind}, "%d to %d", a, b)
			p, _ := m.Route(a, b, nil)
			q, _ := grid.Route(a, b, nil)
			require.Len(t, p.Hops, len(q.Hops))
		}
	}
	assert.Equal(t, grid.Bisection(), m.Bisection())
}

// Ring 2 x FullyConnected 8 x Switch 4, the sample of ASTRA-sim. NPU 47 is at
// (1, 7, 2), as the comment in its source has it.
func TestThreeDimensions(t *testing.T) {
	m := analytical(t, "topology: [ Ring, FullyConnected, Switch ]\nnpus_count: [ 2, 8, 4 ]\nbandwidth: [ 200.0, 100.0, 50.0 ]\nlatency: [ 50.0, 500.0, 2000.0 ]\n", shortest.Options{})
	// 0 to 47: one ring link, one direct, two of a switch: 50 + 500 + 4000 ns.
	latency, rate, kind := figures(t, m, 0, 47)
	assert.Equal(t, 4550*ns, latency)
	assert.Equal(t, sim.Rate(50*(1<<30)), rate)
	assert.Equal(t, topology.NET, kind)
	p, _ := m.Route(0, 47, nil)
	var at []string
	for _, h := range p.Hops {
		at = append(at, m.Graph.Nodes[m.Graph.Links[h.Resource].To].Name)
	}
	assert.Equal(t, []string{"n0.gpu1", "n7.gpu1", "switch2.15", "n23.gpu1"}, at)
	// Shortest paths need as many links, whichever dimension comes first.
	s := analytical(t, "topology: [ Ring, FullyConnected, Switch ]\nnpus_count: [ 2, 8, 4 ]\nbandwidth: [ 200.0, 100.0, 50.0 ]\nlatency: [ 50.0, 500.0, 2000.0 ]\n", shortest.Options{OnePath: true})
	for a := range int32(64) {
		for b := range int32(64) {
			p, _ := m.Route(a, b, nil)
			q, err := s.Route(a, b, nil)
			require.NoError(t, err)
			require.Equal(t, []any{p.Latency, len(p.Hops)}, []any{q.Latency, len(q.Hops)}, "%d to %d", a, b)
		}
	}
}

// The 1.0 form: links-count links share a dimension, in GB/s of 10^9.
func TestASTRA1(t *testing.T) {
	n, err := netfile.Read("1.0", []byte(`{
	"topology-name": "Hierarchical",
	"topologies-per-dim": ["Ring", "AllToAll", "Switch"],
	"dimension-type": ["N", "N", "P"],
	"dimensions-count": 3,
	"units-count": [4, 3, 2],
	"links-count": [4, 2, 3],
	"link-latency": [500, 500, 700],
	"link-bandwidth": [250, 25, 12.5],
	"router-latency": [0, 0, 1]
}`), netfile.Assume{})
	require.NoError(t, err)
	assert.Equal(t, netfile.ASTRANetwork1, n.Format)
	m, err := n.Machine(shortest.Options{})
	require.NoError(t, err)
	require.NoError(t, m.CheckRoutes())
	for _, c := range []struct {
		b     int32
		rate  sim.Rate
		width int32
	}{{1, 500 * sim.GBps, 2}, {4, 25 * sim.GBps, 1}, {12, 37.5 * sim.GBps, 3}} {
		p, err := m.Route(0, c.b, nil)
		require.NoError(t, err)
		_, rate := m.Graph.Bottleneck(p)
		assert.Equal(t, c.rate, rate)
		assert.Equal(t, c.width, m.Graph.Links[p.Hops[0].Resource].Width)
	}
	assert.Contains(t, fmt.Sprint(n.Notes), "router-latency")
}

func TestGridRouteAllocatesNothing(t *testing.T) {
	m := analytical(t, "topology: [Ring, FullyConnected, Switch]\nnpus_count: [8, 8, 64]\nbandwidth: [1, 1, 1]\nlatency: [1, 1, 1]\n", shortest.Options{})
	var buf [16]topology.Hop
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = m.Route(5, 4000, buf[:0]) }))
	_, err := m.Route(0, 4096, nil)
	assert.ErrorContains(t, err, "the ranks are 0 to 4095")
}
