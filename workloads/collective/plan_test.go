package collective

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// all lists the collectives and the algorithms that each has.
var all = map[workloads.Coll][]Algorithm{
	workloads.AllReduce:     {Ring},
	workloads.AllGather:     {Ring, Direct},
	workloads.ReduceScatter: {Ring, Direct},
	workloads.Broadcast:     {Ring, Direct},
	workloads.Reduce:        {Ring, Direct},
	workloads.AllToAll:      {Direct},
	workloads.AllToAllV:     {Direct},
	workloads.Gather:        {Direct},
	workloads.Scatter:       {Direct},
	workloads.Barrier:       {Ring},
}

// What a plan sends over its lanes must be what the collective needs: the
// closed forms of the package comment.
func TestPlansSendWhatTheyMust(t *testing.T) {
	const n, size = 8, sim.Bytes(8 * 1024)
	for _, c := range []struct {
		coll  workloads.Coll
		algo  Algorithm
		total sim.Bytes // over all lanes
	}{
		{workloads.AllReduce, Ring, 2 * (n - 1) * size},
		{workloads.AllGather, Ring, (n - 1) * size},
		{workloads.ReduceScatter, Ring, (n - 1) * size},
		{workloads.AllGather, Direct, (n - 1) * size},
		{workloads.Broadcast, Ring, (n - 1) * size},
		{workloads.Broadcast, Direct, (n - 1) * size},
		{workloads.Reduce, Ring, (n - 1) * size},
		{workloads.AllToAll, Direct, (n - 1) * size},
		{workloads.Gather, Direct, (n - 1) * size / n},
		{workloads.Scatter, Direct, (n - 1) * size / n},
	} {
		p, err := NewPlan(c.coll, Choice{Algorithm: c.algo}, size, OneNode(n), 0)
		require.NoError(t, err)
		assert.Equal(t, c.total, sim.Bytes(p.Lanes(n)*p.Steps)*p.Message, "%v %v", c.coll, c.algo)
	}
}

func TestEveryCollectiveHasItsAlgorithms(t *testing.T) {
	for c := workloads.AllReduce; c <= workloads.Barrier; c++ {
		for _, a := range []Algorithm{Ring, Direct} {
			_, err := NewPlan(c, Choice{Algorithm: a}, 1<<20, OneNode(4), 0)
			if assert.Contains(t, all, c) && !contains(all[c], a) {
				assert.ErrorContains(t, err, "no "+a.String()+" algorithm", "%v", c)
				_, err = Explicit(a)(c, 1<<20, make([]int32, 4))
				assert.Error(t, err)
				continue
			}
			assert.NoError(t, err, "%v %v", c, a)
		}
		ch, err := Default(c, 1<<20, make([]int32, 4))
		require.NoError(t, err)
		assert.Contains(t, all[c], ch.Algorithm, "%v: the default can run", c)
	}
}

func contains(s []Algorithm, a Algorithm) bool {
	for _, x := range s {
		if x == a {
			return true
		}
	}
	return false
}

func TestBadPlans(t *testing.T) {
	for _, c := range []struct {
		size sim.Bytes
		n    int
		root int32
	}{{-1, 2, 0}, {1, 0, 0}, {1, 2, 2}, {1, 2, -1}} {
		_, err := NewPlan(workloads.Broadcast, Choice{}, c.size, OneNode(c.n), c.root)
		assert.ErrorContains(t, err, "want at least one rank")
	}
}

// Lanes join different positions, each at most once; a cycle enters and leaves
// every position once; a chain visits all from the root, or to it.
func TestLanes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		p := Plan{
			Pattern: Pattern(rapid.IntRange(int(Cycle), int(AllToRoot)).Draw(t, "pattern")),
			Root:    int32(rapid.IntRange(0, n-1).Draw(t, "root")),
		}
		out, in := make([]int, n), make([]int, n)
		seen := map[[2]int]bool{}
		for i := range p.Lanes(n) {
			a, b := p.Lane(i, n)
			require.NotEqual(t, a, b)
			require.False(t, seen[[2]int{a, b}], "a lane twice")
			seen[[2]int{a, b}] = true
			out[a]++
			in[b]++
			if i > 0 && (p.Pattern == FromRoot || p.Pattern == ToRoot) {
				_, last := p.Lane(i-1, n)
				require.Equal(t, last, a, "a chain goes on where it was")
			}
		}
		if n == 1 {
			require.Empty(t, seen)
			return
		}
		root := int(p.Root)
		for i := range n {
			switch p.Pattern {
			case Cycle:
				require.Equal(t, [2]int{1, 1}, [2]int{out[i], in[i]})
			case AllPairs:
				require.Equal(t, [2]int{n - 1, n - 1}, [2]int{out[i], in[i]})
			case FromRoot:
				require.Equal(t, i != root, in[i] == 1, "all but the root receive")
			case ToRoot:
				require.Equal(t, i != root, out[i] == 1, "all but the root send")
			case RootToAll:
				require.Equal(t, i != root, in[i] == 1)
			case AllToRoot:
				require.Equal(t, i != root, out[i] == 1)
			}
		}
	})
}

// No plan sends less from its busiest rank than it says every algorithm must.
func TestMinimaAreMinima(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := workloads.Coll(rapid.IntRange(int(workloads.AllReduce), int(workloads.Barrier)).Draw(t, "coll"))
		a := rapid.SampledFrom(all[c]).Draw(t, "algorithm")
		n := rapid.IntRange(1, 20).Draw(t, "n")
		size := sim.Bytes(rapid.IntRange(0, 1<<20).Draw(t, "size"))
		p, err := NewPlan(c, Choice{Algorithm: a}, size, OneNode(n), int32(rapid.IntRange(0, n-1).Draw(t, "root")))
		require.NoError(t, err)
		out, in := make([]sim.Bytes, n), make([]sim.Bytes, n)
		for i := range p.Lanes(n) {
			from, to := p.Lane(i, n)
			out[from] += sim.Bytes(p.Steps) * p.Message
			in[to] += sim.Bytes(p.Steps) * p.Message
		}
		var mostOut, mostIn sim.Bytes
		for i := range n {
			mostOut, mostIn = max(mostOut, out[i]), max(mostIn, in[i])
		}
		require.GreaterOrEqual(t, mostOut, p.MinSend)
		require.GreaterOrEqual(t, mostIn, p.MinReceive)
	})
}

func TestBusFactor(t *testing.T) {
	// NVIDIA/nccl-tests, doc/PERFORMANCE.md.
	assert.Equal(t, 1.75, BusFactor(workloads.AllReduce, 8))
	assert.Equal(t, 0.875, BusFactor(workloads.AllGather, 8))
	assert.Equal(t, 0.875, BusFactor(workloads.AllToAll, 8))
	assert.Equal(t, 1.0, BusFactor(workloads.Broadcast, 8))
	assert.Equal(t, 1.0, BusFactor(workloads.AllReduce, 1))
}

func ExampleNewPlan() {
	p, _ := NewPlan(workloads.AllReduce, Choice{Algorithm: Ring}, 1*sim.GiB, OneNode(8), 0)
	fmt.Printf("%d steps of %v over %d lanes\n", p.Steps, p.Message, p.Lanes(8))
	// Output: 14 steps of 128MiB over 8 lanes
}
