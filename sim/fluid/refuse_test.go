package fluid

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

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
		{"too many bytes", func(p *Pool) { p.Start(hops(0), 1<<62, Options{}) }, "share capacity: link 0: flow 0 at 1e+11 B/s would end after the end of simulated time"},
		{"link", func(p *Pool) { p.Start(hops(2), 1, Options{}) }, "start flow: link 2, want 0 to 1"},
		{"hop weight", func(p *Pool) { p.Start([]Hop{{0, 0}}, 1, Options{}) }, "start flow: link 0: hop weight 0, want 1 or more"},
		{"weight", func(p *Pool) { p.Start(hops(0), 1, Options{Weight: -1}) }, "start flow: weight -1, want 1 to 1000000"},
		{"latency", func(p *Pool) { p.Start(hops(0), 1, Options{Latency: -1}) }, "start flow: latency -1ps, want 0 or more"},
		{"limit", func(p *Pool) { p.Start(hops(0), 1, Options{Limit: -1}) }, "start flow: limit -1 B/s, want 0 (none) or more"},
		{"starved", func(p *Pool) {
			require.NoError(t, p.SetCapacity(1, sim.Rate(p.Unit())))
			p.Start(hops(0, 1), 1, Options{})
			p.Start(hops(0, 1), 1, Options{})
		}, "share capacity: link 1: flow 0 gets no rate: a capacity of 1 units for a weight of 2"},
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
	var le *LinkError
	require.ErrorAs(t, r.p.SetCapacity(0, 1e12), &le)
	require.Equal(t, LinkID(0), le.Link)
}

// Books that do not balance are noticed.
func TestPoolCheckFinds(t *testing.T) {
	r := newRig(t, 1, 100e9, 100e9)
	r.start(hops(0, 1), 1e6, Options{})
	r.run()
	r.p.accounts[1].carried = r.p.accounts[1].carried.plus(wide{lo: 1})
	require.ErrorContains(t, r.p.Check(), "check conservation: link 1: it carried 1")
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

// Thousands of short flows beside a long one: the long one's end is armed once,
// not after each of them.
func TestPoolWakesSeldom(t *testing.T) {
	l := newLoop(t, equalLinks(2, 1e9))
	l.p.Start(hops(0), 1e9, Options{Target: l.self})
	n := 0
	l.next = func() {
		if n++; n < 5000 {
			l.p.Start(hops(1), 1000, Options{Target: l.self, Latency: sim.Microsecond})
		}
		require.LessOrEqual(t, len(l.p.wakes), 2)
	}
	l.next()
	l.run(t)
	require.Equal(t, sim.Second, l.e.Now())
	require.EqualValues(t, 2*5000, l.e.Events(), "two a flow")
}
