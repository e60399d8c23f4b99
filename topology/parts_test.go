package topology_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/topology"
)

// TestPartsAddUp: whatever the weights, the parts make the whole, and none is
// more than one off its due.
func TestPartsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Int32Range(0, 40), 1, 40).Draw(t, "weights")
		p := topology.Parts{Whole: rapid.Int32Range(0, 1<<20).Draw(t, "whole")}
		for _, w := range weights {
			p.Sum += w
		}
		if p.Sum == 0 {
			return
		}
		total := int32(0)
		for _, w := range weights {
			n := p.Next(w)
			due := float64(p.Whole) * float64(w) / float64(p.Sum)
			require.InDelta(t, due, float64(n), 1)
			total += n
		}
		require.Equal(t, p.Whole, total)
	})
}

func TestReduce(t *testing.T) {
	p := topology.Path{Den: 12, Hops: []topology.Hop{{Resource: 0, Share: 4}, {Resource: 1, Share: 8}}}
	p.Reduce()
	require.Equal(t, topology.Path{Den: 3, Hops: []topology.Hop{{Resource: 0, Share: 1}, {Resource: 1, Share: 2}}}, p)
}
