package fluid

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
)

// load is a random set of flows with bytes.
type load struct {
	den      int32
	capacity []sim.Rate
	flows    []loadFlow
}

type loadFlow struct {
	start sim.Time
	hops  []Hop
	bytes sim.Bytes
	o     Options
}

func drawLoad(t *rapid.T) load {
	l := load{den: rapid.SampledFrom([]int32{1, 2, 18}).Draw(t, "den")}
	for range rapid.IntRange(1, 6).Draw(t, "links") {
		l.capacity = append(l.capacity, sim.Rate(rapid.SampledFrom([]int64{25, 50, 100, 429, 900}).Draw(t, "capacity"))*sim.GBps)
	}
	for range rapid.IntRange(1, 20).Draw(t, "flows") {
		f := loadFlow{
			start: sim.Time(rapid.Int64Range(0, 20).Draw(t, "start")) * 10 * sim.Microsecond,
			bytes: sim.Bytes(rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, 40e6)).Draw(t, "bytes")),
		}
		for range rapid.IntRange(0, 4).Draw(t, "hops") {
			f.hops = append(f.hops, Hop{LinkID(rapid.IntRange(0, len(l.capacity)-1).Draw(t, "link")), rapid.Int32Range(1, 18).Draw(t, "hop weight")})
		}
		f.o.Weight = rapid.Int32Range(0, 3).Draw(t, "weight")
		f.o.Latency = sim.Time(rapid.Int64Range(0, 2).Draw(t, "latency")) * sim.Microsecond
		if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
			f.o.Limit = sim.Rate(rapid.Int64Range(1e9, 100e9).Draw(t, "limit"))
		}
		l.flows = append(l.flows, f)
	}
	return l
}

// run starts the flows in the order given and returns their ends by number.
func (l load) run(t tester, order []int, also func(*rig)) (*rig, []sim.Time) {
	r := newRig(t, l.den, l.capacity...)
	r.ends = make([]sim.Time, len(l.flows))
	for _, i := range order {
		f := l.flows[i]
		f.o.Target, f.o.Kind, f.o.Arg = r.self, kindEnd, int64(i)
		r.at(f.start, func() { r.p.Start(f.hops, f.bytes, f.o) })
	}
	if also != nil {
		also(r)
	}
	r.run()
	return r, r.ends
}

func identity(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// The books balance at any time, and in the end each link has carried all
// bytes of its flows; no flow ends before its share could have been sent.
func TestPoolConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLoad(t)
		r, ends := l.run(t, identity(len(l.flows)), func(r *rig) {
			for i := range 8 {
				r.at(sim.Time(i)*33*sim.Microsecond, func() {
					require.NoError(t, r.p.Check())
					for l := range r.p.accounts {
						require.LessOrEqual(t, r.p.solver.Used(LinkID(l)), r.p.solver.Capacity(LinkID(l)))
					}
				})
			}
		})
		want := make([]float64, len(l.capacity))
		for i, f := range l.flows {
			least := f.start
			for _, h := range f.hops {
				want[h.Link] += float64(f.bytes) * float64(h.Weight) / float64(l.den)
				alone := sim.TransferTime(f.bytes*sim.Bytes(h.Weight), l.capacity[h.Link]*sim.Rate(l.den))
				least = max(least, f.start+alone)
			}
			require.GreaterOrEqual(t, ends[i], least+f.o.Latency, "flow %d %+v", i, f)
		}
		for i, w := range want {
			require.InEpsilon(t, 1+w, 1+r.p.Carried(LinkID(i)), 1e-12, "link %d", i)
		}
	})
}

// The order in which flows start within an instant changes nothing, nor does
// the solver's mode.
func TestPoolOrderIsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLoad(t)
		_, want := l.run(t, identity(len(l.flows)), nil)
		order := rapid.Permutation(identity(len(l.flows))).Draw(t, "order")
		mode := rapid.SampledFrom([]Mode{Suffix, Part, Full}).Draw(t, "mode")
		_, got := l.run(t, order, func(r *rig) { r.p.SetMode(mode) })
		require.Equal(t, want, got)
	})
}

// Twice the capacity and half the start times halve every end, up to the
// rounding of each instant to whole picoseconds.
func TestPoolDoubling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLoad(t)
		for i := range l.flows {
			l.flows[i].o.Latency = 0
		}
		_, slow := l.run(t, identity(len(l.flows)), nil)
		for i := range l.capacity {
			l.capacity[i] *= 2
		}
		for i := range l.flows {
			l.flows[i].start /= 2
			l.flows[i].o.Limit *= 2
		}
		_, fast := l.run(t, identity(len(l.flows)), nil)
		for i := range slow {
			require.InDelta(t, int64(slow[i]), int64(2*fast[i]), float64(8*len(l.flows)), "flow %d", i)
		}
	})
}

// One flow and link of each kind, with hop weights for how many of a kind meet,
// give the ends of n of each, to the picosecond. Copy i of a flow with weight w
// on a link kind uses the w copies i, i+1, ... of that link, so that each copy of
// the link carries w copies of the flow.
func TestPoolCollapsedIsExpanded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLoad(t)
		n := rapid.IntRange(18, 24).Draw(t, "copies")
		merged := make([][]Hop, len(l.flows))
		for i, f := range l.flows {
			// Distinct links, so that weights stay below n.
			seen := map[LinkID]bool{}
			for _, h := range f.hops {
				if !seen[h.Link] {
					merged[i] = append(merged[i], h)
				}
				seen[h.Link] = true
			}
			l.flows[i].hops = merged[i]
		}
		_, want := l.run(t, identity(len(l.flows)), nil)

		big := load{den: l.den}
		for _, c := range l.capacity {
			for range n {
				big.capacity = append(big.capacity, c)
			}
		}
		for _, f := range l.flows {
			for i := range n {
				g := f
				g.hops = nil
				for _, h := range f.hops {
					for d := range int(h.Weight) {
						g.hops = append(g.hops, Hop{LinkID(int(h.Link)*n + (i+d)%n), 1})
					}
				}
				big.flows = append(big.flows, g)
			}
		}
		_, got := big.run(t, identity(len(big.flows)), nil)
		for i := range got {
			require.Equal(t, want[i/n], got[i], "copy %d of flow %d", i%n, i/n)
		}
	})
}

func TestPoolRefuses(t *testing.T) {
	e := sim.NewEngine()
	for _, tc := range []struct {
		capacity []sim.Rate
		den      int32
		want     string
	}{
		{[]sim.Rate{1e9, 0}, 1, "make fluid pool: link 1: capacity 0 B/s, want a finite rate above 0"},
		{[]sim.Rate{-1}, 1, "make fluid pool: link 0: capacity -1 B/s, want a finite rate above 0"},
		{[]sim.Rate{1e9}, 0, "make fluid pool: hop weight denominator 0, want 1 or more"},
		{[]sim.Rate{1e11, 1e-9}, 1, "make fluid pool: link 1: rate 1e-09 B/s is less than the unit of 5.960464477539063e-08 B/s, which follows from the largest capacity"},
		{[]sim.Rate{1e20}, 1, "make fluid pool: link 0: rate 1e+20 B/s, want at most 4.611686018427388e+18"},
	} {
		_, err := NewPool(e, tc.capacity, tc.den)
		require.EqualError(t, err, tc.want)
	}

	for _, tc := range []struct {
		name  string
		start func(*Pool)
		want  string
	}{
		{"bytes", func(p *Pool) { p.Start(hops(0), -1, Options{}) }, "start flow: -1 bytes, want 0 to what a link carries before the end of time"},
		{"too many bytes", func(p *Pool) { p.Start(hops(0), 1<<62, Options{}) }, "share capacity: flow 0 at 1e+11 B/s would end after the end of simulated time; its tightest link is 0"},
		{"link", func(p *Pool) { p.Start(hops(2), 1, Options{}) }, "start flow: link 2, want 0 to 1"},
		{"hop weight", func(p *Pool) { p.Start([]Hop{{0, 0}}, 1, Options{}) }, "start flow: link 0: hop weight 0, want 1 or more"},
		{"weight", func(p *Pool) { p.Start(hops(0), 1, Options{Weight: -1}) }, "start flow: weight -1, want 1 to 1000000"},
		{"latency", func(p *Pool) { p.Start(hops(0), 1, Options{Latency: -1}) }, "start flow: latency -1ps, want 0 or more"},
		{"limit", func(p *Pool) { p.Start(hops(0), 1, Options{Limit: -1}) }, "start flow: limit -1 B/s, want 0 (none) or more"},
		{"starved", func(p *Pool) {
			require.NoError(t, p.SetCapacity(1, sim.Rate(p.Unit())))
			p.Start(hops(0, 1), 1, Options{})
			p.Start(hops(0, 1), 1, Options{})
		}, "share capacity: flow 0 gets no rate: link 1 has a capacity of 1 units for a weight of 2"},
		{"starved by its limit", func(p *Pool) { p.Start(nil, 1, Options{Weight: 2, Limit: 1e-30}) }, "share capacity: flow 0: its limit is less than the unit of 5.960464477539063e-08 B/s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, 1, 100e9, 100e9)
			tc.start(r.p)
			_, err := r.e.Run(context.Background(), sim.Limits{})
			require.EqualError(t, err, tc.want)
		})
	}

	r := newRig(t, 1, 100e9)
	require.EqualError(t, r.p.SetCapacity(0, 0), "set capacity: link 0: rate 0 B/s is less than the unit of 5.960464477539063e-08 B/s, which follows from the largest capacity")
	require.EqualError(t, r.p.SetCapacity(1, 1e9), "set capacity: link 1, want 0 to 0")
	require.Error(t, r.p.SetCapacity(0, 1e12))
}

// Books that do not balance are noticed.
func TestPoolCheckFinds(t *testing.T) {
	r := newRig(t, 1, 100e9, 100e9)
	r.start(hops(0, 1), 1e6, Options{})
	r.run()
	r.p.accounts[1].carried = r.p.accounts[1].carried.plus(wide{lo: 1})
	require.ErrorContains(t, r.p.Check(), "check conservation: link 1 carried 1")
}

// More flows than are told at once, with three notices, end with one event
// each, and the pool is as before.
func TestPoolBulk(t *testing.T) {
	const n = 3 * bulk
	r := newRig(t, 1, 1e12)
	for i := range n {
		r.start(hops(0), 1000, Options{Latency: sim.Time(i%3) * 5})
	}
	for range 2 {
		r.run()
		for i, at := range r.ends {
			require.Equal(t, n*1000+sim.Time(i%3)*5, at, "flow %d", i)
		}
		r.ends = r.ends[:0]
	}
	require.Len(t, r.p.notices.at, 3)
	require.Len(t, r.p.notices.free, 3)
	require.Len(t, r.p.freeBatches, 3)
}

// Nothing is allocated once slices have grown: ring steps, an all-to-all of
// unequal sizes, a long flow.
func TestPoolAllocatesNothing(t *testing.T) {
	l := newLoop(t, equalLinks(400, 900e9))
	long := make([]Hop, 400)
	for i := range long {
		long[i] = Hop{LinkID(i), 1 + int32(i%3)}
	}
	sizes := make([]sim.Bytes, 256)
	rng := rand.New(rand.NewPCG(7, 9))
	for i := range sizes {
		sizes[i] = sim.Bytes(64e6 * (0.5 + rng.Float64()))
	}
	var h [2]Hop
	work := func() {
		l.allToAll(16, func(i, j int) sim.Bytes { return sizes[16*i+j] })
		l.p.Start(long, 1e6, Options{Target: l.self, Limit: 1e9})
		for i := range 100 {
			h = [2]Hop{{LinkID(200 + i), 1}, {LinkID(300 + i), 1}}
			l.p.Start(h[:], 1e6, Options{Target: l.self, Latency: sim.Microsecond})
		}
		l.run(t)
	}
	for range 20 {
		work()
	}
	require.Zero(t, testing.AllocsPerRun(20, work))
	require.NoError(t, l.p.Check())
}

// A handler's failure stops the run and is what Run returns.
func TestPoolHandlerFails(t *testing.T) {
	l := newLoop(t, equalLinks(1, 1e9))
	failed := errors.New("enough")
	l.next = func() { l.e.Fail(failed) }
	l.p.Start(hops(0), 1, Options{Target: l.self})
	_, err := l.e.Run(context.Background(), sim.Limits{})
	require.ErrorIs(t, err, failed)
}
