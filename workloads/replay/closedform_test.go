package replay

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// W1 of the work that peers were timed on: 2(n-1) steps of S/n to the right
// neighbour, each S/(n B) + latency. The closed form is computed here in
// integers where it is whole, and compared to the picosecond.
func TestRingAllReduceClosedForm(t *testing.T) {
	for _, n := range []int{2, 4, 8, 64} {
		for _, size := range []sim.Bytes{sim.Bytes(n) * 64 * sim.KiB, 1 << 30} {
			t.Run(fmt.Sprintf("n=%d/%v", n, size), func(t *testing.T) {
				// 2^38 B/s: every size here divides into whole picoseconds or
				// is rounded up once.
				const rate = sim.Rate(1 << 38)
				lat := 1872500 * sim.Picosecond
				steps := sim.Time(2 * (n - 1))
				wire := sim.TransferTime(sim.Bytes(steps)*size/sim.Bytes(n), rate)
				want := wire + steps*lat
				m := newStar(n, rate, lat)
				p := one(n, workloads.AllReduce, size)
				for _, c := range []Collapse{Auto, Off} {
					got := run(t, p, m, Options{Collapse: c})
					require.Equal(t, want, got.StepTime, "stream, collapse %v", c)
					chunk := run(t, p, m, Options{Collapse: c, Grain: collective.Chunk})
					// Each of the steps rounds up by less than a picosecond.
					require.GreaterOrEqual(t, chunk.StepTime, want)
					require.LessOrEqual(t, chunk.StepTime, want+steps)
				}
			})
		}
	}
}

func TestW1W2WithinATenthOfAPercent(t *testing.T) {
	for _, n := range []int{8, 72, 256} {
		m := newStar(n, port, latency)
		w1 := 2 * float64(n-1) * (float64(1<<30)/(float64(n)*429.50e9) + 1.8725e-6)
		for _, o := range []Options{{}, {Grain: collective.Chunk}, {Collapse: Off}} {
			got := run(t, one(n, workloads.AllReduce, 1<<30), m, o)
			require.InEpsilon(t, w1, got.StepTime.Seconds(), 1e-3, "W1 n=%d %v %v", n, o.Grain, o.Collapse)
		}
		w2 := float64(n-1)/float64(n)*float64(1<<28)/429.50e9 + 1.8725e-6
		for _, o := range []Options{{}, {Grain: collective.Chunk}, {Collapse: Off}} {
			got := run(t, one(n, workloads.AllToAll, 1<<28), m, o)
			require.InEpsilon(t, w2, got.StepTime.Seconds(), 1e-3, "W2 n=%d %v %v", n, o.Grain, o.Collapse)
		}
	}
}

// Grains agree: chunk within 3 % of stream from 64 MiB up.
func TestGrainsAgree(t *testing.T) {
	for _, n := range []int{2, 4, 8, 72} {
		m := newStar(n, 450e9, sim.Microsecond)
		for _, c := range []workloads.Coll{workloads.AllReduce, workloads.AllGather, workloads.ReduceScatter, workloads.Broadcast, workloads.Reduce} {
			for _, size := range []sim.Bytes{64 * sim.MiB, sim.GiB} {
				chain := c >= workloads.Broadcast
				if chain && sim.Bytes(n)*512*sim.KiB > size/64 {
					continue // filling the chain is more than 3 %: see below
				}
				stream := run(t, one(n, c, size), m, Options{})
				chunk := run(t, one(n, c, size), m, Options{Grain: collective.Chunk})
				require.InEpsilon(t, stream.StepTime.Seconds(), chunk.StepTime.Seconds(), 0.03, "%v n=%d %v", c, n, size)
				// Slices hide latency under the wire, never the wire itself.
				sliced := run(t, one(n, c, size), m, Options{Grain: collective.Chunk, Slice: sim.MiB})
				require.Less(t, sliced.StepTime.Seconds(), 1.03*stream.StepTime.Seconds(), "%v n=%d %v", c, n, size)
				require.Greater(t, sliced.StepTime, sliced.Colls[0].Bound, "%v n=%d %v", c, n, size)
			}
		}
	}
}

// A chain in slices of s pays s/B once a hop more than the stream does:
// S/B + (n-2) s/B + (n-1) latency.
func TestChainPaysASliceAHop(t *testing.T) {
	const n, size, slice = 9, 64 * sim.MiB, 512 * sim.KiB
	const rate = sim.Rate(1 << 38)
	m := newStar(n, rate, sim.Microsecond)
	got := run(t, one(n, workloads.Broadcast, size), m, Options{Grain: collective.Chunk})
	want := sim.TransferTime(size, rate) + (n-2)*sim.TransferTime(slice, rate) + (n-1)*sim.Microsecond
	require.InDelta(t, float64(want), float64(got.StepTime), 300)
}

// The wrong answers of peers, each with the reason why ours differs.
func TestWrongAnswersOfPeers(t *testing.T) {
	m := newStar(1024, port, latency)
	wire := func(bytes float64) float64 { return bytes / float64(port) }

	t.Run("all-to-all is not faster than the port", func(t *testing.T) {
		got := run(t, one(1024, workloads.AllToAll, 1<<28), m, Options{})
		require.Greater(t, got.StepTime.Seconds(), wire(float64(1<<28)*1023/1024))
	})
	t.Run("chunks do not share a port for free", func(t *testing.T) {
		m := newStar(8, port, latency)
		for _, slice := range []sim.Bytes{0, 32 * sim.MiB, 4 * sim.MiB} { // 1, 4 and 32 slices a message
			got := run(t, one(8, workloads.AllReduce, 1<<30), m, Options{Grain: collective.Chunk, Slice: slice})
			require.LessOrEqual(t, float64(got.Colls[0].BusBW), float64(port), "slice %v", slice)
			require.Greater(t, float64(got.Colls[0].BusBW), 0.97*float64(port), "slice %v: a switch does not store whole messages", slice)
		}
	})
	t.Run("the time of an all-reduce depends on the ranks", func(t *testing.T) {
		var last sim.Time
		for _, n := range []int{2, 8, 64, 512} {
			got := run(t, one(n, workloads.AllReduce, 1<<20), newStar(n, port, latency), Options{})
			require.Greater(t, got.StepTime, last)
			last = got.StepTime
		}
	})
	t.Run("a small collective takes its latency", func(t *testing.T) {
		got := run(t, one(8, workloads.AllReduce, 1024), newStar(8, port, latency), Options{})
		require.GreaterOrEqual(t, got.StepTime, 14*latency)
		require.InEpsilon(t, 14*(latency.Seconds()+128/429.5e9), got.StepTime.Seconds(), 1e-6)
	})
	t.Run("kinds differ", func(t *testing.T) {
		m := newStar(8, port, latency)
		ar := run(t, one(8, workloads.AllReduce, 1<<26), m, Options{})
		ag := run(t, one(8, workloads.AllGather, 1<<26), m, Options{})
		require.InEpsilon(t, 2, ar.StepTime.Seconds()/ag.StepTime.Seconds(), 1e-6, "an all-reduce sends twice what an all-gather does")
	})
}

// Incast: seven ranks send b to one, whose port takes them in turn: 7b/B.
func TestIncast(t *testing.T) {
	const b = sim.Bytes(64 * sim.MiB)
	m := newStar(8, port, latency)
	got := run(t, one(8, workloads.Gather, 8*b), m, Options{})
	require.Equal(t, sim.TransferTime(7*b, port)+latency, got.StepTime)
	scatter := run(t, one(8, workloads.Scatter, 8*b), m, Options{})
	require.Equal(t, got.StepTime, scatter.StepTime)
}

// The ideal model is the lower bound: no incast.
func TestIdealIsBelowFluid(t *testing.T) {
	m := newStar(8, port, latency)
	for c := workloads.AllReduce; c <= workloads.Barrier; c++ {
		if c == workloads.AllToAllV {
			continue
		}
		ideal := run(t, one(8, c, 64*sim.MiB), m, Options{Model: Ideal})
		fluid := run(t, one(8, c, 64*sim.MiB), m, Options{})
		require.LessOrEqual(t, ideal.StepTime, fluid.StepTime, "%v", c)
		require.Positive(t, ideal.StepTime, "%v", c)
	}
}

// Two rings over the same ports: each gets half. Ranks 0 to 7 run two
// all-reduces at once, in two communicators: T = 2 x wire + steps x latency.
func TestTwoRingsShareALink(t *testing.T) {
	const n, size = 8, sim.Bytes(1 << 28)
	p := one(n, workloads.AllReduce, size)
	p.Comms = append(p.Comms, workloads.Comm{Name: "other", Groups: [][]int32{all(n)}})
	p.Classes[0].Streams = []workloads.Stream{{Name: "a"}, {Name: "b"}}
	second := p.Classes[0].Ops[0]
	second.Stream, second.Comm = 1, 1
	p.Classes[0].Ops = append(p.Classes[0].Ops, second)
	got := run(t, p, newStar(n, port, latency), Options{})
	want := sim.TransferTime(2*14*size/n, port) + 14*latency
	require.InDelta(t, float64(want), float64(got.StepTime), 1)
}
