package fluid

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

// loop runs a pool over and over in one engine: what start begins must end.
type loop struct {
	e    *sim.Engine
	p    *Pool
	self int32
	next func() // called when a flow ends, if set
}

func (b *loop) Handle(*sim.Engine, sim.Event) {
	if b.next != nil {
		b.next()
	}
}

func newLoop(tb testing.TB, capacity []sim.Rate) *loop {
	b := &loop{e: sim.NewEngine()}
	b.self = b.e.Register(b)
	p, err := NewPool(b.e, capacity, 1)
	require.NoError(tb, err)
	b.p = p
	return b
}

func (b *loop) run(tb testing.TB) {
	if _, err := b.e.Run(context.Background(), sim.Limits{}); err != nil {
		tb.Fatal(err)
	}
}

func (b *loop) allToAll(g int, size func(i, j int) sim.Bytes) {
	var h [2]Hop
	for i := range g {
		for j := range g {
			if s := size(i, j); i != j {
				h = [2]Hop{{LinkID(i), 1}, {LinkID(g + j), 1}}
				b.p.Start(h[:], s, Options{Target: b.self})
			}
		}
	}
}

var modes = []struct {
	name string
	mode Mode
}{{"suffix", Suffix}, {"part", Part}, {"full", Full}}

// Bar: under 1 ms, from the first start to the last end.
func BenchmarkAllToAll72Equal(b *testing.B) {
	for _, m := range modes {
		b.Run(m.name, func(b *testing.B) {
			r := newLoop(b, equalLinks(144, 900e9))
			r.p.SetMode(m.mode)
			b.ReportAllocs()
			for b.Loop() {
				r.allToAll(72, func(int, int) sim.Bytes { return 64e6 })
				r.run(b)
			}
		})
	}
}

// Bar: under 1 s. Every end is an instant of its own: 5,112 solves.
func BenchmarkAllToAll72Unequal(b *testing.B) {
	for _, m := range modes {
		b.Run(m.name, func(b *testing.B) {
			r := newLoop(b, equalLinks(144, 900e9))
			r.p.SetMode(m.mode)
			b.ReportAllocs()
			for b.Loop() {
				r.allToAll(72, unequal())
				r.run(b)
			}
		})
	}
}

// The same with a limit of 10 GB/s a flow, below any link's share: a flow that
// ends changes nobody's rate, and costs no solve of others.
func BenchmarkAllToAll72Limited(b *testing.B) {
	r := newLoop(b, equalLinks(144, 900e9))
	var h [2]Hop
	b.ReportAllocs()
	for b.Loop() {
		size := unequal()
		for i := range 72 {
			for j := range 72 {
				if s := size(i, j); i != j {
					h = [2]Hop{{LinkID(i), 1}, {LinkID(72 + j), 1}}
					r.p.Start(h[:], s, Options{Target: r.self, Limit: 10e9})
				}
			}
		}
		r.run(b)
	}
}

// 16,384 GPUs: 2,048 nodes of 8 on 8 rails, rings of 64 nodes on each rail. A
// GPU sends to the next node's GPU of its rail over its own up and down link.
func BenchmarkRings16384(b *testing.B) {
	for _, spread := range []float64{0, 1} {
		b.Run(fmt.Sprintf("spread %v", spread), func(b *testing.B) {
			const n = 16384
			r := newLoop(b, equalLinks(2*n, 50e9))
			b.ReportAllocs()
			for b.Loop() {
				rng := rand.New(rand.NewPCG(1, 2))
				for i := range n {
					node, rail := i/8, i%8
					to := node/64*64 + (node+1)%64
					r.p.Start([]Hop{{LinkID(i), 1}, {LinkID(n + to*8 + rail), 1}},
						sim.Bytes(64e6*(1-spread/2+spread*rng.Float64())), Options{Target: r.self})
				}
				r.run(b)
			}
		})
	}
}

// 2,048 GPUs that send to 4 random peers each, sizes +-50%.
func BenchmarkRandomPeers2048(b *testing.B) {
	for _, m := range modes[:2] {
		b.Run(m.name, func(b *testing.B) {
			const n = 2048
			r := newLoop(b, equalLinks(2*n, 50e9))
			r.p.SetMode(m.mode)
			for b.Loop() {
				rng := rand.New(rand.NewPCG(1, 2))
				for i := range n {
					for range 4 {
						r.p.Start([]Hop{{LinkID(i), 1}, {LinkID(n + rng.IntN(n)), 1}},
							sim.Bytes(64e6*(0.5+rng.Float64())), Options{Target: r.self})
					}
				}
				r.run(b)
			}
		})
	}
}

// The steps of rings: each flow that ends starts the next on the same links.
func BenchmarkRingSteps(b *testing.B) {
	for _, n := range []int{8, 4096} {
		b.Run(fmt.Sprintf("%d flows a step", n), func(b *testing.B) {
			r := newLoop(b, equalLinks(2*n, 50e9))
			total := 0
			var h [2]Hop
			start := func(i int) {
				h = [2]Hop{{LinkID(i), 1}, {LinkID(n + (i+1)%n), 1}}
				r.p.Start(h[:], 1e6, Options{Target: r.self, Latency: sim.Microsecond})
			}
			at := 0
			r.next = func() {
				total++
				if total+n <= b.N {
					start(at % n)
					at++
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range min(n, b.N) {
				start(i)
			}
			r.run(b)
			if total != b.N {
				b.Fatalf("%d flows ended of %d", total, b.N)
			}
		})
	}
}

// One coupled flow over a ring of 4,096 ranks: 8,192 hops.
func BenchmarkLongFlow(b *testing.B) {
	const n = 8192
	r := newLoop(b, equalLinks(n, 50e9))
	h := make([]Hop, n)
	for i := range h {
		h[i] = Hop{LinkID(i), 1}
	}
	b.ReportAllocs()
	for b.Loop() {
		r.p.Start(h, 1e6, Options{Target: r.self})
		r.run(b)
	}
}

// W2 at N = 1,024: 1,047,552 flows of 2 hops begin and end at the same instants.
func BenchmarkAllToAll1024(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		const n = 1024
		r := newLoop(b, equalLinks(2*n, 429.5e9))
		r.p.Reserve(n*(n-1), 2*n*(n-1))
		r.allToAll(n, func(int, int) sim.Bytes { return 1 << 18 })
		r.run(b)
	}
}

// One solve of everything, the bare solver.
func BenchmarkSolveAllToAll(b *testing.B) {
	for _, g := range []int{72, 576} {
		b.Run(fmt.Sprint(g), func(b *testing.B) {
			capacity := make([]int64, 2*g)
			for i := range capacity {
				capacity[i] = 1 << 60
			}
			s := NewSolver(capacity)
			s.Mode = Full
			for i := range g {
				for j := range g {
					if i != j {
						s.Add([]Hop{{LinkID(i), 1}, {LinkID(g + j), 1}}, 1, 0)
					}
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Solve()
			}
		})
	}
}
