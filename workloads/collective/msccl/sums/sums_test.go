package sums_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective/msccl/sums"
)

func ExampleTable() {
	t := sums.NewTable(1)
	sum := t.Add(t.Input(0, 0), t.Input(1, 0))
	fmt.Println(t.Describe(sum))
	_, err := t.Verify(workloads.AllReduce, 2, 1, func(r, c int) sums.Value {
		if r == 0 {
			return sum
		}
		return t.Input(1, 0)
	})
	fmt.Println(err)
	// Output:
	// the sum of chunk 0 of ranks 0, 1
	// it is no all_reduce: at its end chunk 0 of the output of rank 1 holds chunk 0 of rank 1, expected the sum of chunk 0 of ranks 0, 1
}

func TestSumsAreTheSameInEveryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "inputs")
		order := rapid.Permutation(indices(n)).Draw(t, "order")
		tab := sums.NewTable(n)
		forth, mixed := tab.Input(0, 0), tab.Input(0, order[0])
		for i := 1; i < n; i++ {
			forth = tab.Add(forth, tab.Input(0, i))
			mixed = tab.Add(tab.Input(0, order[i]), mixed)
		}
		require.Equal(t, forth, mixed)
		require.NotEqual(t, forth, tab.Add(forth, tab.Input(0, order[0])), "a double is another sum")
		require.Equal(t, sums.Unwritten, tab.Add(forth, sums.Unwritten))
	})
}

func indices(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}
