package fluid

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

// Ends that can be worked out on paper, to the picosecond.
func TestPoolClosedForms(t *testing.T) {
	const ms, us = sim.Millisecond, sim.Microsecond
	type flow struct {
		hops  []Hop
		bytes sim.Bytes
		o     Options
	}
	one := func(b sim.Bytes, links ...LinkID) flow { return flow{hops(links...), b, Options{}} }
	cases := []struct {
		name  string
		den   int32
		cap   []sim.Rate
		flows []flow
		want  []sim.Time
	}{
		{"one flow: b/c", 1, []sim.Rate{10e9}, []flow{one(1e7, 0)}, []sim.Time{ms}},
		{"one byte at 900 GB/s: 1.11 ps, rounded up", 1, []sim.Rate{900e9}, []flow{one(1, 0)}, []sim.Time{2}},
		{"four equal flows on a link: 4b/c", 1, []sim.Rate{10e9}, []flow{one(1e7, 0), one(1e7, 0), one(1e7, 0), one(1e7, 0)}, []sim.Time{4 * ms, 4 * ms, 4 * ms, 4 * ms}},
		{"seven equal flows on a link, 1/7 of 900 GB/s is no whole number", 1, []sim.Rate{900e9},
			[]flow{one(9e8, 0), one(9e8, 0), one(9e8, 0), one(9e8, 0), one(9e8, 0), one(9e8, 0), one(9e8, 0)},
			[]sim.Time{7 * ms, 7 * ms, 7 * ms, 7 * ms, 7 * ms, 7 * ms, 7 * ms}},
		{"sizes 1 and 2: 2/c and 3/c", 1, []sim.Rate{10e9}, []flow{one(1e7, 0), one(2e7, 0)}, []sim.Time{2 * ms, 3 * ms}},
		// Rates 0.5, 0.5, 9.5 GB/s as long as all run: 190 MB last 20 ms.
		{"three flows on links of 1 and 10", 1, []sim.Rate{1e9, 10e9}, []flow{one(1e7, 0), one(1e7, 0, 1), one(19e7, 1)}, []sim.Time{20 * ms, 20 * ms, 20 * ms}},
		// Seven senders of 50 GB/s into one receiver of 50 GB/s: a seventh each.
		{"incast of 7 to 1", 1, []sim.Rate{50e9, 50e9, 50e9, 50e9, 50e9, 50e9, 50e9, 50e9}, []flow{
			one(5e7, 0, 7), one(5e7, 1, 7), one(5e7, 2, 7), one(5e7, 3, 7), one(5e7, 4, 7), one(5e7, 5, 7), one(5e7, 6, 7),
		}, []sim.Time{7 * ms, 7 * ms, 7 * ms, 7 * ms, 7 * ms, 7 * ms, 7 * ms}},
		// Two rings of three as coupled flows share link 2: both at half. The
		// first ends at 2b/c; the other has half of 2b left, at full rate.
		{"two rings share a link", 1, []sim.Rate{10e9, 10e9, 10e9, 10e9, 10e9}, []flow{one(1e7, 0, 1, 2), one(2e7, 2, 3, 4)}, []sim.Time{2 * ms, 3 * ms}},
		{"weights 1 and 3: 2.5 and 7.5, then 10 GB/s for the 10 MB left", 1, []sim.Rate{10e9},
			[]flow{{hops(0), 15e6, Options{Weight: 1}}, {hops(0), 15e6, Options{Weight: 3}}}, []sim.Time{3 * ms, 2 * ms}},
		{"a limit of 2 of 10 GB/s leaves 8", 1, []sim.Rate{10e9},
			[]flow{{hops(0), 2e6, Options{Limit: 2e9}}, one(8e6, 0)}, []sim.Time{ms, ms}},
		{"only a limit", 1, []sim.Rate{10e9}, []flow{{nil, 2e6, Options{Limit: 2e9}}}, []sim.Time{ms}},
		{"a limit above the link", 1, []sim.Rate{10e9}, []flow{{hops(0), 1e7, Options{Limit: 1e30}}}, []sim.Time{ms}},
		{"latency after the last byte", 1, []sim.Rate{10e9}, []flow{{hops(0), 1e7, Options{Latency: 3 * us}}}, []sim.Time{ms + 3*us}},
		{"no bytes: latency only", 1, []sim.Rate{10e9}, []flow{{hops(0), 0, Options{Latency: 3 * us}}, {hops(0), 0, Options{}}}, []sim.Time{3 * us, 0}},
		{"nowhere to go: latency only", 1, []sim.Rate{10e9}, []flow{{nil, 1e7, Options{Latency: 3 * us}}}, []sim.Time{3 * us}},
		// A third of the bytes on each of three planes of 10 GB/s: 30 GB/s.
		{"sprayed over three planes", 3, []sim.Rate{10e9, 10e9, 10e9}, []flow{one(3e7, 0, 1, 2)}, []sim.Time{ms}},
		// Every byte three times over link 0 (hop weight 9/3) and once over 1.
		{"three copies over one link", 3, []sim.Rate{30e9, 30e9}, []flow{{[]Hop{{0, 9}, {1, 3}}, 1e7, Options{}}}, []sim.Time{ms}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, tc.den, tc.cap...)
			for _, f := range tc.flows {
				r.start(f.hops, f.bytes, f.o)
			}
			r.run()
			require.Equal(t, tc.want, r.ends)
		})
	}
}

// All-to-all of 72 ranks, 64 MB a pair, 900 GB/s: 71 x 64e6/900e9 s, which is
// 5,048,888,888.9 ps; all flows end in one instant, after one solve.
func TestPoolAllToAllEqual(t *testing.T) {
	r := newRig(t, 1, equalLinks(144, 900e9)...)
	r.allToAll(72, func(int, int) sim.Bytes { return 64e6 })
	r.run()
	require.Equal(t, sim.Time(5_048_888_889), r.e.Now())
	require.EqualValues(t, 2, r.p.Solves(), "one for the beginning and one for the end")
	for l := range LinkID(144) {
		require.Equal(t, 71*64e6, r.p.Carried(l), "link %d", l)
	}
}

// All-to-all of 1,024 ranks, 2^28 bytes a rank at 429.5e9 B/s: a share of 1/1023
// is still exact enough for the picosecond.
func TestPoolAllToAll1024(t *testing.T) {
	if testing.Short() {
		t.Skip("a million flows")
	}
	const n = 1024
	l := newLoop(t, equalLinks(2*n, 429.5e9))
	l.p.Reserve(n*(n-1), 2*n*(n-1))
	var last sim.Time
	ended := 0
	l.next = func() { ended++; last = l.e.Now() }
	l.allToAll(n, func(int, int) sim.Bytes { return 1 << 18 })
	l.run(t)
	require.Equal(t, n*(n-1), ended)
	require.Equal(t, sim.TransferTime((n-1)<<18, 429.5e9), last)
	require.NoError(t, l.p.Check())
}

// A flow that shares with nobody takes what sim.TransferTime says.
func TestPoolLoneFlowIsTransferTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		c := sim.Rate(1e9 + rng.Int64N(1e12))
		b := sim.Bytes(rng.Int64N(1 << rng.IntN(33)))
		r := newRig(t, 1, c, 2e12)
		r.start(hops(0, 1), b, Options{})
		r.run()
		require.Equal(t, sim.TransferTime(b, c), r.ends[0], "%d bytes at %v B/s", b, c)
	}
}

// A link that changes its capacity halfway: 1 ms at 10 GB/s, then 20 MB more at
// 5 GB/s, then 10 MB at 20 GB/s.
func TestPoolSetCapacity(t *testing.T) {
	r := newRig(t, 1, 10e9)
	r.start(hops(0), 4e7, Options{})
	set := func(c sim.Rate) func() {
		return func() { require.NoError(t, r.p.SetCapacity(0, c)) }
	}
	r.at(sim.Millisecond, set(5e9))
	r.at(5*sim.Millisecond, set(20e9))
	r.run()
	require.Equal(t, 5*sim.Millisecond+500*sim.Microsecond, r.ends[0])
	require.Equal(t, 4e7, r.p.Carried(0))

	// A change that is taken back within the instant is none.
	require.NoError(t, r.p.SetCapacity(0, 5e9))
	require.NoError(t, r.p.SetCapacity(0, 20e9))
	r.start(hops(0), 2e7, Options{})
	began := r.e.Now()
	r.run()
	require.Equal(t, began+sim.Millisecond, r.ends[1])
}

// Two flows end 1 ps apart on their own links: they end together, with the
// later one. Three flows 1 ps after each other are not a chain.
func TestPoolQuantum(t *testing.T) {
	run := func(quantum sim.Time, bytes ...sim.Bytes) ([]sim.Time, int64) {
		r := newRig(t, 1, equalLinks(len(bytes), 1e12)...)
		r.p.Quantum = quantum
		for l, b := range bytes {
			r.start(hops(LinkID(l)), b, Options{})
		}
		r.run()
		return r.ends, r.p.Solves()
	}
	ends, solves := run(1, 1000, 1001, 1002)
	require.Equal(t, []sim.Time{1001, 1001, 1002}, ends)
	require.EqualValues(t, 3, solves)
	ends, solves = run(0, 1000, 1001, 1001)
	require.Equal(t, []sim.Time{1000, 1001, 1001}, ends)
	require.EqualValues(t, 3, solves)
	ends, solves = run(10, 1000, 1005, 1010, 1011)
	require.Equal(t, []sim.Time{1010, 1010, 1010, 1011}, ends)
	require.EqualValues(t, 3, solves)
}

// A flow starts while two others wait for each other's end: it neither delays
// them nor is lost.
func TestPoolStartWithinQuantum(t *testing.T) {
	r := newRig(t, 1, 1e12, 1e12)
	r.p.Quantum = 100
	r.start(hops(0), 1000, Options{})
	r.start(hops(1), 1080, Options{})
	// At 1040 the flow on link 1 has 40 bytes left, then half the rate: 1120.
	// Both end when that was due before, at 1080, or when it is due now.
	r.at(1040, func() { r.start(hops(1), 500, Options{}) })
	r.run()
	require.Equal(t, []sim.Time{1080, 1120, 1580}, r.ends)
}
