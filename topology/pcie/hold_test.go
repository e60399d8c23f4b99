package pcie_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/pcie"
)

// busy returns what a path takes of each link, in parts of its bytes.
func busy(g *topology.Graph, p topology.Path) map[string]float64 {
	out := map[string]float64{}
	for _, h := range append(append([]topology.Hop(nil), p.Hops...), p.Held...) {
		out[g.ResourceName(h.Resource)] += float64(h.Share) / float64(p.Den)
	}
	return out
}

// Links of 24 GB/s and 1 MiB / 24 GB/s of handover a MiB: a byte holds a link
// twice as long as it takes, and a quarter of that of the other direction.
func TestStagedCopiesHoldMore(t *testing.T) {
	s := server()
	s.Copies = pcie.Nowhere
	s.Staging = pcie.Staging{Own: 0.25, Uplink: 0.125, Handover: sim.TransferTime(sim.MiB, 24e9)}
	g, tree := build(t, s)

	p, _ := names(t, g, tree, tree.GPU(3), tree.GPU(5))
	assert.Empty(t, p.Held, "direct for kernels")

	tree = tree.Copies(false)
	p, _ = names(t, g, tree, tree.GPU(3), tree.GPU(5))
	require.True(t, p.Staged)
	b := busy(g, p)
	assert.InDelta(t, 2, b["n0.gpu3 > n0.rc1 (pcie4 x16)"], 0.01)
	assert.InDelta(t, 0.5, b["n0.rc1 > n0.gpu3 (pcie4 x16)"], 0.01)
	assert.InDelta(t, 2, b["n0.rc2 > n0.gpu5 (pcie4 x16)"], 0.01)
	assert.InDelta(t, 0.5, b["n0.gpu5 > n0.rc2 (pcie4 x16)"], 0.01)
	_, rate := g.Bottleneck(p)
	assert.InDelta(t, 10e9, float64(rate), 1, "the socket link of 10 GB/s, which is not held")

	// Below one switch the uplink carries both ways: 2 and an eighth of 2.
	p, _ = names(t, g, tree, tree.GPU(0), tree.GPU(1))
	b = busy(g, p)
	assert.InDelta(t, 2.25, b["n0.pcie-sw0 > n0.rc0 (pcie4 x16)"], 0.01)
	_, rate = g.Bottleneck(p)
	assert.InEpsilon(t, 24e9/2.25, float64(rate), 0.01)
}

func TestSerialStagingAlternates(t *testing.T) {
	s := server()
	s.SocketLink.Rate = 100e9
	s.Copies, s.Staging = pcie.Nowhere, pcie.Staging{Serial: true}
	g, tree := build(t, s)
	tree = tree.Copies(false)
	p, _ := names(t, g, tree, tree.GPU(3), tree.GPU(5))
	_, rate := g.Bottleneck(p)
	assert.InEpsilon(t, 12e9, float64(rate), 0.01, "half of the link: in, then out")
}

func TestCopiesGoAsFarAsTheyMay(t *testing.T) {
	s := server()
	s.P2P, s.PeerRate = pcie.WithinSwitches, 7e9
	g, tree := build(t, s)
	p, _ := names(t, g, tree, tree.GPU(3), tree.GPU(5))
	assert.True(t, p.Staged)
	p, _ = names(t, g, tree.Copies(false), tree.GPU(3), tree.GPU(5))
	assert.False(t, p.Staged)
	_, rate := g.Bottleneck(p)
	assert.Equal(t, sim.Rate(7e9), rate, "the ceiling between sockets")
	p, _ = names(t, g, tree.Copies(true), tree.GPU(0), tree.GPU(1))
	assert.True(t, p.Staged, "peer access is off")
}
