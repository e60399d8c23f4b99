package collective

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// layouts draws members on nodes, the positions of a node next to each other.
func layouts(t *rapid.T) Layout {
	var l Layout
	at := int32(0)
	for range rapid.IntRange(1, 9).Draw(t, "nodes") {
		var node []int32
		for range rapid.IntRange(1, 5).Draw(t, "members") {
			node = append(node, at)
			at++
		}
		l = append(l, node)
	}
	return l
}

// Every node but the root has one parent, in both trees; all lead to the root;
// and no node has more than two children. A node inside one tree is a leaf of
// the other, save one.
func TestDoubleBinaryTree(t *testing.T) {
	for n := 1; n <= 70; n++ {
		inside := make([]int, n)
		for tree := range 2 {
			children := make([]int, n)
			roots := 0
			for r := range n {
				parent, _ := Parent(tree, r, n)
				if parent < 0 {
					roots++
					continue
				}
				children[parent]++
				steps := 0
				for at := r; at >= 0; at, _ = Parent(tree, at, n) {
					steps++
					require.LessOrEqual(t, steps, n, "a circle at node %d of %d", r, n)
				}
			}
			require.Equal(t, 1, roots, "%d nodes", n)
			for r, c := range children {
				require.LessOrEqual(t, c, 2, "node %d of %d", r, n)
				if c > 0 {
					inside[r]++
				}
			}
		}
		both := 0
		for _, k := range inside {
			if k == 2 {
				both++
			}
		}
		require.LessOrEqual(t, both, 1, "%d nodes", n)
	}
}

// Stages carry what lanes carry, wait only for what came to where they start,
// and never for themselves.
func TestStagesAreTheLanes(t *testing.T) {
	type wire struct {
		from, to int32
		part     Part
	}
	rapid.Check(t, func(t *rapid.T) {
		l := layouts(t)
		p := Pattern(rapid.IntRange(int(DoubleTree), int(Powers)).Draw(t, "pattern"))
		switch p {
		case SwitchAll, SwitchGather, SwitchScatter, SwitchAlone:
			l = l[:1]
		case SwitchDoubleTree, NetSwitch:
			for i := range l {
				l[i] = l[i][:l.Least()]
			}
			at := int32(0)
			for _, m := range l {
				for i := range m {
					m[i] = at
					at++
				}
			}
		}
		want, got := map[wire]float64{}, map[wire]float64{}
		require.NoError(t, p.EachLane(l, nil, func(lane Lane) error {
			w := wire{lane.From, lane.To, lane.Part}
			want[w] += float64(lane.Weight) / float64(p.Parts(l, nil))
			return nil
		}))
		all := p.Stages(l, nil)
		for i, s := range all {
			got[wire{s.From, s.To, s.Part}] += float64(s.Weight) / float64(p.StageParts(l, nil))
			for _, before := range s.After {
				require.Less(t, before, int32(i), "stages are in the order of their data")
				if s.Part == Through && all[before].Part == Through {
					require.True(t, all[before].To == s.From || p == NetSwitch, "stage %d goes on from where %d came", i, before)
				}
			}
		}
		for w, weight := range want {
			require.InDelta(t, weight, got[w], 1e-9, "%v", w)
		}
	})
}

func TestOrdersPassEveryMemberOnce(t *testing.T) {
	require.NoError(t, (&Orders{{0, 1, 2}, {2, 0, 1}}).Validate(3))
	for _, bad := range []Orders{{}, {{0, 1}}, {{0, 1, 1}}, {{0, 1, 3}}, {{0, 1, -1}}} {
		require.Error(t, bad.Validate(3), "%v", bad)
	}
}
