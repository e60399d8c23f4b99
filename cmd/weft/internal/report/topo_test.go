package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

// mesh is four GPUs with two NVLinks between every two, 25 GB/s each way and
// 700 ns.
func mesh(t *testing.T) *configs.Hardware {
	t.Helper()
	spec := machine.Spec{
		Name: "mesh-4",
		Host: machine.Host{GPUs: 4, NVLink: &nvlink.Spec{
			Edges: [][3]int{{0, 1, 2}, {0, 2, 2}, {0, 3, 2}, {1, 2, 2}, {1, 3, 2}, {2, 3, 2}},
			Link: topology.Wire{Rate: 25 * sim.GBps, Latency: 700 * sim.Nanosecond,
				Class: topology.Class{Name: "nvlink2", Raw: 25 * sim.GBps, Note: "a test's own figure"}},
		}},
		Notes: []string{"the latency is a guess"},
	}
	m, err := machine.Build(spec)
	require.NoError(t, err)
	return &configs.Hardware{Machine: m, Spec: &spec}
}

func TestTopoText(t *testing.T) {
	topo, err := NewTopo(mesh(t), "x")
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, topo.Text(&b, &term.Terminal{}))
	assert.Equal(t, `mesh-4 is 1 node with 4 GPUs. There is nothing but wires between them.
Each GPU has 6 NVLinks and can send 150 GB/s over them, and receive as much.
NVLink joins all of them in one domain.
Over all wires together, one half of the GPUs can send at most 200 GB/s to the other half.

Links, by class (all rates are of one direction)
  class    links  of one, nominal     usable  all together
  nvlink2     12        25.0 GB/s  25.0 GB/s      300 GB/s

  nvlink2: a test's own figure

Ways from a GPU to another
  kind  what it crosses                       pairs  one transfer  latency
  NVL   NVLink, direct or through NVSwitches     12     50.0 GB/s   700 ns

  NVL, for example from GPU 0 to GPU 1:
    n0.gpu0 > n0.gpu1 (2 nvlink2 links)

The same as nvidia-smi topo -m shows it
        GPU0  GPU1  GPU2  GPU3
  GPU0     X   NV2   NV2   NV2
  GPU1   NV2     X   NV2   NV2
  GPU2   NV2   NV2     X   NV2
  GPU3   NV2   NV2   NV2     X

Be careful
  ! the latency is a guess
`, b.String())
}

func TestTopoCountsEveryPair(t *testing.T) {
	topo, err := NewTopo(mesh(t), "x")
	require.NoError(t, err)
	require.Len(t, topo.Paths, 1)
	assert.Equal(t, 12, topo.Paths[0].Pairs, "ordered pairs of four")
	assert.Equal(t, 50*sim.GBps, topo.Paths[0].Rate, "two links of 25 GB/s each way")
	assert.Equal(t, "NV2", Matrix(topo.Hardware).At(1, 0).String())
	assert.True(t, topo.All)
}

// TestLargeNodes: a page about a node of very many GPUs makes no square of
// them, and a matrix that nobody could read is refused.
func TestLargeNodes(t *testing.T) {
	spec := machine.Spec{Name: "star", Host: machine.Host{GPUs: 20000, NVLink: &nvlink.Spec{
		Planes: []int{1}, Link: topology.Wire{Rate: 25 * sim.GBps, Class: topology.Class{Name: "wire"}},
	}}}
	m, err := machine.Build(spec)
	require.NoError(t, err)
	hw := &configs.Hardware{Machine: m, Spec: &spec}
	topo, err := NewTopo(hw, "x")
	require.NoError(t, err)
	assert.False(t, topo.All)
	var b strings.Builder
	require.NoError(t, topo.Text(&b, &term.Terminal{}))
	assert.NotContains(t, b.String(), "nvidia-smi")
	_, err = WriteMatrix(hw)
	assert.EqualError(t, err, "show star as a matrix: read a node with 20000 GPUs, expected at most 1024; --format json has the kinds of ways")
	hw.Faulty = true
	_, err = WriteMatrix(hw)
	assert.Error(t, err)
}

// holding is the routes of a machine whose transfers hold each link for as long
// again as they use it.
type holding struct{ topology.Router }

func (h holding) Route(a, b int32, buf []topology.Hop) (topology.Path, error) {
	p, err := h.Router.Route(a, b, buf)
	p.Held = append([]topology.Hop(nil), p.Hops...)
	return p, err
}

// TestTopoCountsWhatIsHeld: the rate of a way is that of a lone transfer, with
// what it holds beyond its bytes.
func TestTopoCountsWhatIsHeld(t *testing.T) {
	hw := mesh(t)
	hw.Machine.Router = holding{hw.Machine.Router}
	topo, err := NewTopo(hw, "x")
	require.NoError(t, err)
	require.Len(t, topo.Paths, 1)
	assert.Equal(t, 25*sim.GBps, topo.Paths[0].Rate, "half of two links of 25 GB/s")
}

// TestReachSentences: no sentence says "not at all, and beyond".
func TestReachSentences(t *testing.T) {
	say := func(p2p, gdr pcie.Reach, nics int) []string {
		spec := &machine.Spec{Host: machine.Host{PCIe: &pcie.Spec{P2P: p2p, GDR: gdr, NICs: make([]pcie.Slot, nics)}}}
		return (&Topo{Hardware: &configs.Hardware{Spec: spec}}).reach()
	}
	assert.Equal(t, []string{"Over PCIe, neither GPUs nor NICs reach GPUs directly: bytes pass through host memory."}, say(pcie.Nowhere, pcie.Nowhere, 1))
	assert.Equal(t, []string{"Over PCIe, GPUs do not reach each other directly: bytes pass through host memory."}, say(pcie.Nowhere, pcie.Nowhere, 0))
	assert.Equal(t, []string{"Over PCIe, GPUs and NICs reach GPUs through switches alone (up to PXB); beyond, bytes pass through host memory."}, say(pcie.WithinSwitches, pcie.WithinSwitches, 2))
	assert.Equal(t, []string{"Over PCIe, GPUs and NICs reach GPUs everywhere on a node."}, say(pcie.Everywhere, pcie.Everywhere, 2))
	assert.Equal(t, []string{"Over PCIe, GPUs reach each other everywhere on a node.", "NICs do not reach GPUs directly (no GPUDirect RDMA)."}, say(pcie.Everywhere, pcie.Nowhere, 2))
	assert.Equal(t, []string{"Over PCIe, GPUs do not reach each other directly: bytes pass through host memory.", "NICs reach GPUs (GPUDirect RDMA) through one switch (PIX)."}, say(pcie.Nowhere, pcie.WithinSwitch, 2))
}

// TestPowerOfWhatIsInService: a GPU that is down draws nothing.
func TestPowerOfWhatIsInService(t *testing.T) {
	for nodes, want := range map[string]catalog.Watts{"1": 7 * 700, "2": 8 * 700} {
		s, err := configs.Overlay{Set: []string{"nodes=" + nodes, "faults=[n0.gpu3 down]"}}.OfSystem("dgx-h100", nil)
		require.NoError(t, err)
		hw, err := s.Hardware(nil)
		require.NoError(t, err)
		topo, err := NewTopo(hw, "x")
		require.NoError(t, err)
		assert.Equal(t, want, topo.draw(), "%s nodes: the one with the most GPUs", nodes)
	}
}
