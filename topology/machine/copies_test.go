package machine_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fault"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

// Three GPUs in a row: a copy between the ends is stored in the middle and
// forwarded, so that it takes twice as long as a link, and the way back waits.
func TestCopiesAreStoredAndForwarded(t *testing.T) {
	port := topology.Wire{Rate: 20e9, Width: 1, Class: topology.Class{Name: "link"}}
	m, err := machine.Build(machine.Spec{Name: "row", Host: machine.Host{
		GPUs: 3, NVLink: &nvlink.Spec{Edges: [][3]int{{0, 1, 1}, {1, 2, 1}}, Link: port},
	}})
	require.NoError(t, err)
	c, err := machine.Copies(m, false)
	require.NoError(t, err)
	require.NoError(t, c.CheckRoutes())
	for _, pair := range []struct {
		m    *topology.Machine
		a, b int32
		want sim.Rate
		held int
	}{
		{m, 0, 2, 20e9, 0},
		{c, 0, 2, 10e9, 4},
		{c, 0, 1, 20e9, 0},
	} {
		p, err := pair.m.Route(pair.a, pair.b, nil)
		require.NoError(t, err)
		_, rate := pair.m.Graph.Bottleneck(p)
		assert.Equal(t, pair.want, rate, "%d to %d", pair.a, pair.b)
		assert.Len(t, p.Held, pair.held, "both links, and both ways back")
	}
	_, err = machine.Copies(m, true)
	assert.ErrorContains(t, err, "staged in host memory", "there is none")

	f, err := fault.Parse("n0.gpu0<>n0.gpu1 x0.5")
	require.NoError(t, err)
	slow, err := fault.Apply(m, f)
	require.NoError(t, err)
	c, err = machine.Copies(slow, false)
	require.NoError(t, err)
	p, err := c.Route(0, 1, nil)
	require.NoError(t, err)
	_, rate := c.Graph.Bottleneck(p)
	assert.Equal(t, sim.Rate(10e9), rate, "of the machine with its faults")
}

// Whoever adds what is held to the hops leaves the list of what is held alone.
func TestHeldIsNoRoomForHops(t *testing.T) {
	s := dgxH100(1)
	s.Host.NVLink, s.Fabric = nil, nil
	s.Host.PCIe.Copies = pcie.Nowhere
	s.Host.PCIe.Staging = pcie.Staging{Own: 0.5, Uplink: 0.1}
	m, err := machine.Copies(build(t, s), false)
	require.NoError(t, err)
	p, err := m.Route(0, 1, make([]topology.Hop, 0, 64))
	require.NoError(t, err)
	require.NotEmpty(t, p.Held)
	held := slices.Clone(p.Held)
	_ = append(p.Hops, topology.Hop{Resource: 1, Share: 99})
	assert.Equal(t, held, p.Held)
}
