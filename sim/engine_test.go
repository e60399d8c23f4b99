package sim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

// script is a handler made of a function.
type script func(e *sim.Engine, ev sim.Event)

func (f script) Handle(e *sim.Engine, ev sim.Event) { f(e, ev) }

// named is a script with a name.
type named struct {
	script
	name string
}

func (n named) Name() string { return n.name }

func run(t *testing.T, e *sim.Engine, lim sim.Limits) sim.Stop {
	t.Helper()
	stop, err := e.Run(t.Context(), lim)
	require.NoError(t, err)
	return stop
}

func TestEventIs24Bytes(t *testing.T) {
	assert.EqualValues(t, 24, unsafe.Sizeof(sim.Event{}))
}

// Events come by time, and at one time in the order of scheduling; what is
// scheduled for the same instant joins the end of the line.
func TestOrder(t *testing.T) {
	var log []string
	e := sim.NewEngine()
	id := e.Register(script(func(e *sim.Engine, ev sim.Event) {
		require.Equal(t, ev.At, e.Now())
		log = append(log, fmt.Sprintf("%v/%d", ev.At, ev.Arg))
		if ev.Arg == 2 {
			e.Schedule(ev.At, ev.Target, 0, 9)
		}
	}))
	e.Schedule(20, id, 0, 4)
	e.Schedule(10, id, 0, 2)
	e.Schedule(0, id, 0, 1)
	e.Schedule(10, id, 0, 3)
	e.Schedule(20, id, 0, 5)
	assert.Equal(t, sim.Drained, run(t, e, sim.Limits{}))
	assert.Equal(t, []string{"0s/1", "10ps/2", "10ps/3", "10ps/9", "20ps/4", "20ps/5"}, log)
	assert.EqualValues(t, 6, e.Events())
	assert.Equal(t, sim.Time(20), e.Now())
}

// Hooks run when an instant has no more events, in order, also before the
// first event; one that schedules for the same instant makes it go round.
func TestSettle(t *testing.T) {
	var log []string
	e := sim.NewEngine()
	id := e.Register(script(func(e *sim.Engine, ev sim.Event) {
		log = append(log, fmt.Sprintf("event %d", ev.Arg))
		if ev.Arg == 1 {
			e.Schedule(ev.At, ev.Target, 0, 2)
		}
	}))
	extra := true
	e.OnSettle(func(e *sim.Engine) {
		log = append(log, fmt.Sprintf("settle at %v", e.Now()))
		if e.Now() == 5 && extra {
			extra = false
			e.Schedule(5, id, 0, 3)
		}
	})
	e.OnSettle(func(*sim.Engine) { log = append(log, "second") })
	e.Schedule(5, id, 0, 1)
	run(t, e, sim.Limits{})
	assert.Equal(t, []string{
		"settle at 0s", "second",
		"event 1", "event 2", "settle at 5ps", "second",
		"event 3", "settle at 5ps", "second",
	}, log)
}

func TestHorizon(t *testing.T) {
	var got []sim.Time
	e := sim.NewEngine()
	id := e.Register(script(func(_ *sim.Engine, ev sim.Event) { got = append(got, ev.At) }))
	for _, at := range []sim.Time{5, 10, 1000} {
		e.Schedule(at, id, 0, 0)
	}
	assert.Equal(t, sim.AtHorizon, run(t, e, sim.Limits{Horizon: 10}))
	assert.Equal(t, []sim.Time{5, 10}, got, "the horizon itself is delivered")
	assert.Equal(t, sim.Time(10), e.Now())

	e.Schedule(11, id, 0, 0) // between the horizon and what was pending
	assert.Equal(t, sim.AtHorizon, run(t, e, sim.Limits{Horizon: 5}), "a horizon that has passed")
	assert.Equal(t, sim.Drained, run(t, e, sim.Limits{}))
	assert.Equal(t, []sim.Time{5, 10, 11, 1000}, got)
}

// A budget stops within an instant, and the next run goes on there.
func TestBudget(t *testing.T) {
	var got []int64
	settled := 0
	e := sim.NewEngine()
	id := e.Register(script(func(_ *sim.Engine, ev sim.Event) { got = append(got, ev.Arg) }))
	e.OnSettle(func(e *sim.Engine) {
		if e.Now() == 7 {
			settled++
		}
	})
	for i := range int64(5) {
		e.Schedule(7, id, 0, i)
	}
	assert.Equal(t, sim.OutOfEvents, run(t, e, sim.Limits{Events: 3}))
	assert.Equal(t, []int64{0, 1, 2}, got)
	assert.Zero(t, settled, "the instant is not over")
	e.Schedule(7, id, 0, 5)
	assert.Equal(t, sim.Drained, run(t, e, sim.Limits{Events: 3}), "the budget is spent and nothing is pending")
	assert.Equal(t, []int64{0, 1, 2, 3, 4, 5}, got)
	assert.Equal(t, 1, settled)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	e := sim.NewEngine()
	id := e.Register(script(func(e *sim.Engine, ev sim.Event) {
		if ev.At == 10_000 {
			cancel(errors.New("the user left"))
		}
		e.Schedule(ev.At+1, ev.Target, 0, 0)
	}))
	e.Schedule(0, id, 0, 0)
	stop, err := e.Run(ctx, sim.Limits{})
	assert.Equal(t, sim.Cancelled, stop)
	require.ErrorContains(t, err, "the user left")
	assert.Greater(t, e.Events(), int64(10_000))
	assert.LessOrEqual(t, e.Events(), int64(10_001+4096), "the context is looked at every 4096 events")

	before := e.Events()
	stop, err = e.Run(ctx, sim.Limits{})
	assert.Equal(t, sim.Cancelled, stop)
	require.Error(t, err)
	assert.Equal(t, before, e.Events(), "a cancelled context delivers nothing")
	assert.Equal(t, sim.OutOfEvents, run(t, e, sim.Limits{Events: 5}), "another context goes on")
}

// A run that only goes round in settles looks at the context too.
func TestCancelWhileSettling(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := sim.NewEngine()
	id := e.Register(script(func(*sim.Engine, sim.Event) {}))
	settles := 0
	e.OnSettle(func(e *sim.Engine) {
		if settles++; settles == 100 {
			cancel()
		}
		e.Schedule(e.Now()+1, id, 0, 0)
	})
	stop, err := e.Run(ctx, sim.Limits{})
	assert.Equal(t, sim.Cancelled, stop)
	require.ErrorIs(t, err, context.Canceled)
	assert.Less(t, settles, 200)
}

func TestFail(t *testing.T) {
	boom := errors.New("link n0.gpu3: rate 0")
	e := sim.NewEngine()
	id := e.Register(script(func(e *sim.Engine, ev sim.Event) {
		if ev.Arg == 2 {
			e.Fail(boom)
			e.Fail(errors.New("a later one"))
		}
	}))
	for i := range int64(5) {
		e.Schedule(0, id, 0, i)
	}
	for range 2 {
		stop, err := e.Run(t.Context(), sim.Limits{})
		assert.Equal(t, sim.Failed, stop)
		require.ErrorIs(t, err, boom)
		assert.EqualValues(t, 3, e.Events())
	}
}

func TestScheduleRefusesThePast(t *testing.T) {
	e := sim.NewEngine()
	id := e.Register(script(func(e *sim.Engine, _ sim.Event) { e.Schedule(99, 0, 1, 2) }))
	e.Schedule(100, id, 0, 0)
	assert.PanicsWithValue(t, "sim: schedule kind 1, arg 2 for target 0 of 1 at 99 ps, now is 100 ps", func() {
		_, _ = e.Run(t.Context(), sim.Limits{})
	})
	assert.Panics(t, func() { e.Schedule(100, 1, 0, 0) }, "a target that was never registered")
	assert.Panics(t, func() { e.Schedule(100, -1, 0, 0) })
}

func TestLivelock(t *testing.T) {
	e := sim.NewEngine()
	echo := script(func(e *sim.Engine, ev sim.Event) { e.Schedule(ev.At, 1-ev.Target, 0, 0) })
	e.Register(named{echo, "ping"})
	e.Register(named{echo, "pong"})
	e.Register(named{script(func(*sim.Engine, sim.Event) {}), "bystander"})
	e.Schedule(3000, 0, 0, 0)
	e.Schedule(3000, 2, 0, 0)
	stop, err := e.Run(t.Context(), sim.Limits{Rounds: 500})
	assert.Equal(t, sim.Failed, stop)
	var live *sim.LivelockError
	require.ErrorAs(t, err, &live)
	assert.Equal(t, []string{"ping", "pong"}, live.Active)
	assert.EqualError(t, err, "simulate: livelock at 3ns: the instant went round more than 500 times without time moving on; still active: ping, pong")
}

func TestLivelockInSettle(t *testing.T) {
	e := sim.NewEngine()
	id := e.Register(named{script(func(*sim.Engine, sim.Event) {}), "solver"})
	e.OnSettle(func(e *sim.Engine) { e.Schedule(e.Now(), id, 0, 0) })
	_, err := e.Run(t.Context(), sim.Limits{Rounds: 3})
	require.ErrorContains(t, err, "livelock at 0s")
	require.ErrorContains(t, err, "solver")
	assert.EqualValues(t, 4, e.Events(), "the first turn and three more")
}

// Rounds that are allowed are no livelock, and each instant has its own.
func TestRoundsStartAnewWithTime(t *testing.T) {
	e := sim.NewEngine()
	id := e.Register(script(func(e *sim.Engine, ev sim.Event) {
		if ev.Arg%3 != 0 {
			e.Schedule(ev.At, ev.Target, 0, ev.Arg-1)
		} else if ev.Arg > 0 {
			e.Schedule(ev.At+1, ev.Target, 0, ev.Arg-1)
		}
	}))
	e.Schedule(1, id, 0, 300)
	assert.Equal(t, sim.Drained, run(t, e, sim.Limits{Rounds: 2}))
	assert.EqualValues(t, 301, e.Events())
}

// tangle runs a small random simulation and returns the digest of its events.
func tangle(t *testing.T) uint64 {
	e := newHold(500, exponential)
	e.Digest(true)
	e.OnSettle(func(*sim.Engine) { runtime.Gosched() })
	run(t, e, sim.Limits{Events: 20_000})
	return e.Sum64()
}

func TestDeterminism(t *testing.T) {
	want := tangle(t)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, procs := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(procs)
		for range 2 {
			assert.Equal(t, want, tangle(t), "GOMAXPROCS %d", procs)
		}
	}
}

// The digest sees each field, and the order.
func TestDigest(t *testing.T) {
	sum := func(events ...sim.Event) uint64 {
		e := sim.NewEngine()
		e.Digest(true)
		for range 2 {
			e.Register(script(func(*sim.Engine, sim.Event) {}))
		}
		for _, ev := range events {
			e.Schedule(ev.At, ev.Target, ev.Kind, ev.Arg)
		}
		run(t, e, sim.Limits{})
		return e.Sum64()
	}
	seen := map[uint64]int{}
	for i, events := range [][]sim.Event{
		{},
		{{}},
		{{}, {}},
		{{At: 1}},
		{{Target: 1}},
		{{Kind: 1}},
		{{Kind: -1}},
		{{Arg: 1}},
		{{Arg: -1}},
		{{Arg: 1}, {Arg: 2}},
		{{Arg: 2}, {Arg: 1}},
	} {
		got := sum(events...)
		other, clash := seen[got]
		assert.False(t, clash, "logs %d and %d have equal sums", i, other)
		seen[got] = i
		assert.Equal(t, got, sum(events...))
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for name, gap := range map[string]func(*xorshift) sim.Time{"exponential": exponential, "ties": tied, "bimodal": bimodal} {
		t.Run(name, func(t *testing.T) {
			e := newHold(1000, gap)
			ctx := context.Background()
			e.OnSettle(func(*sim.Engine) {})
			run(t, e, sim.Limits{Events: 300_000}) // the buckets grow to their steady size
			assert.Zero(t, testing.AllocsPerRun(50, func() {
				_, _ = e.Run(ctx, sim.Limits{Events: 2000})
			}))
		})
	}
}
