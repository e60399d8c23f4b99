package discover_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

// drawTree draws any PCIe tree, with switches nested as it happens.
func drawTree(t *rapid.T, gpus, nics int) *pcie.Spec {
	s := &pcie.Spec{Sockets: rapid.IntRange(1, 3).Draw(t, "sockets")}
	for range rapid.IntRange(1, 5).Draw(t, "bridges") {
		s.Bridges = append(s.Bridges, pcie.Bridge{Socket: rapid.IntRange(0, s.Sockets-1).Draw(t, "socket")})
	}
	slot := func() pcie.Slot {
		k := rapid.IntRange(0, len(s.Bridges)+len(s.Switches)-1).Draw(t, "under")
		if k < len(s.Bridges) {
			return pcie.Slot{Under: pcie.Parent{Kind: pcie.OnBridge, Index: k}}
		}
		return pcie.Slot{Under: pcie.Parent{Kind: pcie.OnSwitch, Index: k - len(s.Bridges)}}
	}
	for range rapid.IntRange(0, 6).Draw(t, "switches") {
		s.Switches = append(s.Switches, slot())
	}
	for range gpus {
		s.GPUs = append(s.GPUs, slot())
	}
	for range nics {
		s.NICs = append(s.NICs, slot())
	}
	return s
}

// TestInferGivesWordsBack: the words of any tree, with any of them hidden by
// NVLink or lost, are those of the tree that is inferred from them.
func TestInferGivesWordsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gpus, nics := rapid.IntRange(1, 8).Draw(t, "gpus"), rapid.IntRange(0, 6).Draw(t, "nics")
		s := machine.Spec{Host: machine.Host{GPUs: gpus, PCIe: drawTree(t, gpus, nics)}}
		if rapid.Bool().Draw(t, "mesh") {
			s.Host.NVLink = &nvlink.Spec{}
			for a := range gpus {
				for b := a + 1; b < gpus; b++ {
					if n := rapid.IntRange(0, 2).Draw(t, "links"); n > 0 {
						s.Host.NVLink.Edges = append(s.Host.NVLink.Edges, [3]int{a, b, n})
					}
				}
			}
		}
		m := discover.Relations(&s)
		whole := rapid.Bool().Draw(t, "whole")
		if !whole {
			n := len(m.Devices)
			for i := range n {
				for j := range i {
					if rapid.IntRange(0, 3).Draw(t, "lost") == 0 {
						m.Cells[i*n+j], m.Cells[j*n+i] = discover.Cell{}, discover.Cell{}
					}
				}
			}
		}
		tree, _, err := discover.Infer(m)
		require.NoError(t, err)
		got := discover.Relations(&machine.Spec{Host: machine.Host{GPUs: gpus, PCIe: tree, NVLink: s.Host.NVLink}})
		require.Empty(t, m.Diff(got))
		require.True(t, got.Complete())
	})
}

// TestInferFindsContradictions: a word changed in a complete matrix of PCIe
// either still has a tree, or is refused with the cells named.
func TestInferFindsContradictions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gpus := rapid.IntRange(3, 7).Draw(t, "gpus")
		s := machine.Spec{Host: machine.Host{GPUs: gpus, PCIe: drawTree(t, gpus, 0)}}
		m := discover.Relations(&s)
		i := rapid.IntRange(1, gpus-1).Draw(t, "i")
		j := rapid.IntRange(0, i-1).Draw(t, "j")
		c := discover.Cell{Known: true, Kind: rapid.SampledFrom([]topology.PathKind{topology.PIX, topology.PXB, topology.PHB, topology.NODE, topology.SYS}).Draw(t, "word")}
		m.Cells[i*gpus+j], m.Cells[j*gpus+i] = c, c
		tree, _, err := discover.Infer(m)
		if err != nil {
			require.ErrorIs(t, err, discover.ErrContradiction)
			require.False(t, ultrametric(m), "refused, though there is a tree")
			return
		}
		require.True(t, ultrametric(m))
		require.Empty(t, m.Diff(discover.Relations(&machine.Spec{Host: machine.Host{GPUs: gpus, PCIe: tree}})))
	})
}

// ultrametric is the plain test of whether words have a tree: of any three
// devices the two farthest words are equal.
func ultrametric(m *discover.Matrix) bool {
	n := len(m.Devices)
	for i := range n {
		for j := range n {
			for k := range n {
				if i != j && j != k && i != k && m.At(i, j).Kind > max(m.At(i, k).Kind, m.At(k, j).Kind) {
					return false
				}
			}
		}
	}
	return true
}

// TestInferCascade: PXB is a switch above switches; the least that does it.
func TestInferCascade(t *testing.T) {
	_, m := readMatrix(t, "\tGPU0\tGPU1\tNIC0\nGPU0\tX\tPIX\tPXB\nGPU1\tPIX\tX\tPXB\nNIC0\tPXB\tPXB\tX\n")
	tree, notes, err := discover.Infer(m)
	require.NoError(t, err)
	assert.Empty(t, notes)
	bridge, top, leaf := pcie.Parent{}, pcie.Parent{Kind: pcie.OnSwitch}, pcie.Parent{Kind: pcie.OnSwitch, Index: 1}
	assert.Equal(t, []pcie.Slot{{Under: bridge}, {Under: top}}, tree.Switches)
	assert.Equal(t, []pcie.Slot{{Under: leaf}, {Under: leaf}}, tree.GPUs)
	assert.Equal(t, []pcie.Slot{{Under: top}}, tree.NICs)
}

// TestInferHidden: GPUs that NVLink joins, and no NIC tells where they are.
func TestInferHidden(t *testing.T) {
	_, m := readMatrix(t, "\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\nGPU0\tX\tNV18\tNV18\t0-7\t0\nGPU1\tNV18\tX\tNV18\t0-7\t0\nGPU2\tNV18\tNV18\tX\t8-15\t1\n")
	tree, notes, err := discover.Infer(m)
	require.NoError(t, err)
	assert.Equal(t, 2, tree.Sockets)
	assert.Equal(t, []pcie.Bridge{{Socket: 0}, {Socket: 0}, {Socket: 1}}, tree.Bridges)
	assert.Contains(t, fmt.Sprint(notes), "assumed: GPU0, GPU1: no word tells")
}

// TestRelations: the words of a hand-made host, against the definitions.
func TestRelations(t *testing.T) {
	on := func(k pcie.ParentKind, i int) pcie.Slot { return pcie.Slot{Under: pcie.Parent{Kind: k, Index: i}} }
	s := machine.Spec{Host: machine.Host{
		GPUs: 4, Trays: 2,
		NVLink: &nvlink.Spec{Planes: []int{2, 2}, Down: []nvlink.Down{{GPU: 1, Plane: 0, Links: 1}}},
		PCIe: &pcie.Spec{
			Sockets:  2,
			Bridges:  []pcie.Bridge{{Socket: 0}, {Socket: 0}, {Socket: 1}},
			Switches: []pcie.Slot{on(pcie.OnBridge, 0), on(pcie.OnSwitch, 0)},
			GPUs:     []pcie.Slot{on(pcie.OnSwitch, 1), on(pcie.OnSocket, 1)},
			NICs:     []pcie.Slot{on(pcie.OnSwitch, 1), on(pcie.OnSwitch, 0), on(pcie.OnBridge, 0), on(pcie.OnBridge, 1), on(pcie.OnBridge, 2)},
		},
	}}
	m := discover.Relations(&s)
	assert.Equal(t, 2, m.GPUs, "of one tray")
	var words []string
	for j := range m.Devices {
		words = append(words, m.At(0, j).String())
	}
	assert.Equal(t, []string{"X", "NV3", "PIX", "PXB", "PHB", "NODE", "SYS"}, words)
	assert.Equal(t, "NODE", m.At(1, 6).String())
	assert.Equal(t, "1", m.Affinity[1].NUMA)
	s.Host.PCIe = nil
	s.Host.NVLink = nil
	assert.False(t, discover.Relations(&s).Complete())
}

func BenchmarkInfer(b *testing.B) {
	d, err := discover.Read("m", []byte(square(128, func(i, j int) string {
		switch {
		case i/2 == j/2:
			return "PIX"
		case i/8 == j/8:
			return "NODE"
		}
		return "SYS"
	})))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := discover.Infer(d.Hosts[0].Matrix); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for name, text := range map[string]string{"matrix": four, "nccl": board, "lstopo": lstopoGPU, "query": query} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := discover.Read(name, []byte(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
