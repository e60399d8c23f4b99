package nccl

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Small systems of all sorts, to draw from.
var drawn = []string{"dgx1v", "dgxa100", "a100_x4", "dgxh100", "dgxh100_1sw", "gb200_nvl8", "a6000_4_bridge", "pcie2_4090_amd", "pcie4_root_intel", "pcie8_l40s_switch_intel", "pcie8_l40s_root_amd"}

// drawRig draws a host that nobody built, or one of the systems.
func drawRig(t *rapid.T) rig {
	if rapid.Bool().Draw(t, "a system") {
		return rigs[rapid.SampledFrom(drawn).Draw(t, "system")]
	}
	b := rig{
		sm: rapid.SampledFrom([]int{60, 70, 80, 86, 89, 90, 100}).Draw(t, "sm"), sockets: rapid.IntRange(1, 3).Draw(t, "sockets"),
		gen: rapid.IntRange(3, 6).Draw(t, "gen"), switches: rapid.IntRange(0, 4).Draw(t, "switches"), gpus: rapid.IntRange(1, 6).Draw(t, "gpus"),
		nics: rapid.IntRange(1, 4).Draw(t, "nics"), nic: rapid.SampledFrom([]float64{0.1, 1.25, 12.5, 50, 100}).Draw(t, "nic"),
		cpu: CPU(rapid.IntRange(0, 3).Draw(t, "cpu")), noP2P: rapid.Bool().Draw(t, "no p2p"), noGDR: rapid.Bool().Draw(t, "no gdr"),
	}
	switch {
	case rapid.Bool().Draw(t, "switched"):
		b.planes = rapid.IntRange(1, 18).Draw(t, "planes")
	case b.gpus > 1:
		for a := range b.gpus {
			for c := a + 1; c < b.gpus; c++ {
				if n := rapid.IntRange(-1, 3).Draw(t, "links"); n > 0 {
					b.edges = append(b.edges, [3]int{a, c, n})
				}
			}
		}
	}
	return b
}

// Whatever the machine and the members, every ring and every chain passes each
// member once, nodes stay together, channels do not take more of an NVLink
// than there is of it, and a second search finds the same.
func TestSearchLaysEveryMemberOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawRig(t)
		nodes := rapid.IntRange(1, 3).Draw(t, "nodes")
		m := b.machine(t, nodes)
		all := everyRank(m)
		if len(all) < 2 {
			t.Skip("one GPU")
		}
		ranks := rapid.Permutation(all).Draw(t, "ranks")[:rapid.IntRange(2, len(all)).Draw(t, "members")]
		v := rapid.SampledFrom(releases[len(releases)-6:]).Draw(t, "release")
		c, err := Search(v, m, ranks, b.platform(), Env{NetOverhead: -1})
		require.NoError(t, err)

		require.GreaterOrEqual(t, c.Ring.Channels, 1)
		require.Equal(t, c.Ring.Channels, len(c.Rings))
		require.Equal(t, c.Tree.Channels, len(c.Trees))
		require.Equal(t, c.NVLS.Channels, len(c.Heads))
		require.GreaterOrEqual(t, c.Run, 1)
		require.LessOrEqual(t, c.PerPeer, c.P2P)
		want := everyPosition(len(ranks))
		once := func(order []int32) {
			sorted := slices.Clone(order)
			slices.Sort(sorted)
			require.Equal(t, want, sorted)
			at := 0
			for _, node := range c.Nodes {
				part := slices.Clone(order[at : at+len(node)])
				slices.Sort(part)
				members := slices.Clone(node)
				slices.Sort(members)
				require.Equal(t, members, part, "nodes stay together")
				at += len(node)
			}
		}
		for _, ring := range c.Rings {
			once(ring)
		}
		for _, tree := range c.Trees {
			once(slices.Concat(tree...))
		}
		if b.planes > 0 && len(c.Nodes) == 1 && c.Ring.TypeIntra == NVL {
			require.LessOrEqual(t, float64(c.Ring.Channels)*c.Ring.Intra, float64(b.planes)*LinkRate(v, b.sm)+1e-6)
		}
		again, err := Search(v, m, ranks, b.platform(), Env{NetOverhead: -1})
		require.NoError(t, err)
		require.Equal(t, c, again)

		s := Summary{Ranks: len(ranks), Nodes: len(c.Nodes), SM: b.sm, CPU: b.cpu, Graphs: c.Graphs}
		if b.sm >= 100 && v.before(25) {
			return
		}
		model, err := New(v, s, Env{NetOverhead: -1})
		require.NoError(t, err)
		for _, op := range Ops {
			choice, err := model.Choose(op, 1<<20)
			require.NoError(t, err)
			require.Greater(t, choice.Bandwidth, 0.)
		}
	})
}
