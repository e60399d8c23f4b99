package sim_test

import (
	"math"
	"testing"

	"github.com/weft-sim/weft/sim"
)

// gaps is a table of random gaps; a benchmark walks it, so that the cost of a
// random number does not count as the engine's.
type gaps [1 << 12]sim.Time

// xorshift is a random source with a fixed seed; benchmarks need no better.
type xorshift uint64

func (x *xorshift) next() uint64 {
	*x ^= *x << 13
	*x ^= *x >> 7
	*x ^= *x << 17
	return uint64(*x)
}

func (x *xorshift) unit() float64 { return (float64(x.next()>>11) + 0.5) / (1 << 53) }

// hold is the trivial handler: each event schedules its successor at a random
// later time.
type hold struct {
	gaps *gaps
	next uint
}

func (h *hold) Handle(e *sim.Engine, ev sim.Event) {
	h.next = h.next*1664525 + 1013904223
	e.Schedule(ev.At+h.gaps[h.next>>12%uint(len(h.gaps))], ev.Target, ev.Kind, ev.Arg)
}

// exponential gaps have a mean of 1 us.
func exponential(x *xorshift) sim.Time {
	return sim.Time(-math.Log(x.unit())*float64(sim.Microsecond)) + 1
}

// tied gaps are one of four, so that large groups share an instant, as in a
// symmetric collective.
func tied(x *xorshift) sim.Time {
	return sim.Time(x.next()%4+1) * 500 * sim.Nanosecond
}

// bimodal gaps are 500 ns or so nine times of ten, and else 1 to 2 ms.
func bimodal(x *xorshift) sim.Time {
	if x.next()%10 == 0 {
		return sim.Millisecond + sim.Time(x.next()%uint64(sim.Millisecond))
	}
	return 250*sim.Nanosecond + sim.Time(x.next()%uint64(500*sim.Nanosecond))
}

func newHold(pending int, gap func(*xorshift) sim.Time) *sim.Engine {
	rng := xorshift(0x2545f4914f6cdd1d)
	h := &hold{gaps: new(gaps)}
	for i := range h.gaps {
		h.gaps[i] = gap(&rng)
	}
	e := sim.NewEngine()
	id := e.Register(h)
	for i := range pending {
		e.Schedule(gap(&rng), id, 0, int64(i))
	}
	return e
}

func benchmarkEngine(b *testing.B, gap func(*xorshift) sim.Time) {
	const pending, batch = 1 << 16, 1 << 16
	e := newHold(pending, gap)
	run := func() {
		if stop, err := e.Run(b.Context(), sim.Limits{Events: batch}); stop != sim.OutOfEvents {
			b.Fatal(stop, err)
		}
	}
	for range 32 { // the buckets grow to their steady size
		run()
	}
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(b.N)*batch/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(b.Elapsed().Seconds()*1e9/(float64(b.N)*batch), "ns/event")
}

func BenchmarkEngine64k(b *testing.B)        { benchmarkEngine(b, exponential) }
func BenchmarkEngine64kTies(b *testing.B)    { benchmarkEngine(b, tied) }
func BenchmarkEngine64kBimodal(b *testing.B) { benchmarkEngine(b, bimodal) }
