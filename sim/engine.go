package sim

import (
	"context"
	"fmt"
)

// Event tells a target that something is due. What is due is the target's own
// business: Kind and Arg mean what it wants them to, and larger matters stand
// in its slices with Arg as the index. An event cannot be taken back: a target
// that changes its mind keeps the valid time, or a generation number, and
// ignores what is stale.
type Event struct {
	At     Time
	Target int32 // from [Engine.Register]
	Kind   int32
	Arg    int64
}

// Handler receives the events of a target. One that also has a method
// Name() string appears under that name in errors.
type Handler interface {
	Handle(e *Engine, ev Event)
}

// Engine moves time forward and delivers events.
//
// Events are delivered in order of time, and those of one instant in the order
// in which they were scheduled. An instant has phases: its events, those
// scheduled for the same instant at the end of the line; then, when none is
// left, the settle hooks, each once. If a hook schedules for the same instant,
// the instant goes round again. Only then does time move.
//
// An Engine is used by one goroutine, and the same calls give the same events
// in the same order.
type Engine struct {
	q        queue
	handlers []Handler
	settle   []func(*Engine)
	drain    []func() []Wait

	events  int64
	rounds  int // begun in the current instant
	err     error
	running bool

	digest bool
	sum    uint64
}

// NewEngine returns an engine at time 0 with nothing to do.
func NewEngine() *Engine { return &Engine{} }

// Now returns the current instant. Between runs it is the instant of the last
// event delivered, also after a stop at a horizon.
func (e *Engine) Now() Time { return e.q.last }

// Events returns the number of events delivered since the engine was made.
func (e *Engine) Events() int64 { return e.events }

// Register adds a handler and returns its target number: 0, 1, 2, ...
func (e *Engine) Register(h Handler) int32 {
	e.handlers = append(e.handlers, h)
	return int32(len(e.handlers) - 1)
}

// OnSettle adds a hook that is called whenever all events of the current
// instant have been delivered, and once when a run begins. It may schedule,
// for the same instant too. Hooks are called in the order in which they were
// added.
func (e *Engine) OnSettle(f func(*Engine)) { e.settle = append(e.settle, f) }

// OnDrain adds a hook that is asked, when nothing is left to happen, who still
// waits. Any answer makes the end of the run a [DeadlockError].
func (e *Engine) OnDrain(f func() []Wait) { e.drain = append(e.drain, f) }

// Schedule adds an event for a target. A time before [Engine.Now] or a target
// that was never registered is a fault of the program, and panics.
func (e *Engine) Schedule(at Time, target, kind int32, arg int64) {
	if at < e.q.last || uint(target) >= uint(len(e.handlers)) {
		e.refuse(at, target, kind, arg)
	}
	e.q.push(Event{At: at, Target: target, Kind: kind, Arg: arg})
}

func (e *Engine) refuse(at Time, target, kind int32, arg int64) {
	panic(fmt.Sprintf("sim: schedule kind %d, arg %d for target %d of %d at %d ps, now is %d ps",
		kind, arg, target, len(e.handlers), int64(at), int64(e.q.last)))
}

// Fail stops the run with an error after the handler or hook that is running.
// The first error stands; every later run returns it at once.
func (e *Engine) Fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// Limits say when a run stops though there is more to do. Zero values are no
// limit, save for Rounds.
type Limits struct {
	// Horizon is the last instant that is delivered.
	Horizon Time
	// Events is the most events that this run delivers.
	Events int64
	// Rounds is how often one instant may go round again before the run fails
	// with a [LivelockError]. 0 is 1,000,000.
	Rounds int
}

// Stop says why a run ended.
type Stop uint8

// The reasons to stop.
const (
	Drained     Stop = iota // nothing is left to happen
	AtHorizon               // the next event is later than Limits.Horizon
	OutOfEvents             // another event is pending, and Limits.Events are delivered
	Cancelled               // the context was cancelled
	Failed                  // Fail was called, or a deadlock or livelock found
)

func (s Stop) String() string {
	return [...]string{"drained", "at horizon", "out of events", "cancelled", "failed"}[s]
}

const (
	defaultRounds = 1_000_000
	pollEvery     = 4096 // events between two looks at the context
)

// Run delivers events until a reason to stop. The error is nil for Drained,
// AtHorizon and OutOfEvents, wraps the context's cause for Cancelled, and is
// what went wrong for Failed.
//
// After every stop but Failed, Run may be called again and goes on where it
// was, even within an instant.
func (e *Engine) Run(ctx context.Context, lim Limits) (Stop, error) {
	if e.running {
		panic("sim: Run called by a handler or hook of the same engine")
	}
	e.running = true
	defer func() { e.running = false }()

	if e.err != nil {
		return Failed, e.err
	}
	if lim.Horizon > 0 && e.q.last > lim.Horizon {
		return AtHorizon, nil
	}
	if lim.Rounds <= 0 {
		lim.Rounds = defaultRounds
	}
	var active activity
	budget := lim.Events
	poll := int64(0)
	for {
		// The events of this instant, round by round.
		for {
			for e.q.head < len(e.q.round) {
				if poll <= 0 {
					if ctx.Err() != nil {
						return e.cancelled(ctx)
					}
					poll = pollEvery
				}
				n := min(int64(len(e.q.round)-e.q.head), poll)
				if lim.Events > 0 {
					if budget == 0 {
						return OutOfEvents, nil
					}
					n = min(n, budget)
					budget -= n
				}
				poll -= n
				e.deliver(int(n))
				if e.err != nil {
					return Failed, e.err
				}
			}
			if !e.q.turn() {
				break
			}
			again := e.rounds
			e.rounds++
			if again > max(0, lim.Rounds-watchedRounds) {
				active.note(e.q.round)
				if again > lim.Rounds {
					return Failed, e.livelock(lim.Rounds, active)
				}
			}
		}
		for _, f := range e.settle {
			f(e)
		}
		if e.err != nil {
			return Failed, e.err
		}
		if len(e.q.buckets[0]) > 0 {
			continue
		}
		next, ok := e.q.peek()
		if !ok {
			waits := e.waits()
			if e.err != nil {
				return Failed, e.err
			}
			if len(waits) > 0 {
				return Failed, &DeadlockError{At: e.q.last, Waits: waits}
			}
			if e.q.full == 0 {
				return Drained, nil
			}
			continue
		}
		if lim.Horizon > 0 && next > lim.Horizon {
			return AtHorizon, nil
		}
		if len(e.settle) > 0 {
			// A settle can be a solve, so instants count for more than events.
			if poll -= pollEvery / 64; poll <= 0 {
				if ctx.Err() != nil {
					return e.cancelled(ctx)
				}
				poll = pollEvery
			}
		}
		e.q.advance(next)
		e.rounds = 0
		active.targets = active.targets[:0]
	}
}

// deliver hands the next n events of the round to their targets.
func (e *Engine) deliver(n int) {
	// The round does not change while it is delivered: what is scheduled for
	// this instant joins the next one.
	for range n {
		ev := e.q.round[e.q.head]
		e.q.head++
		e.events++
		if e.digest {
			e.sum = mix(e.sum, ev)
		}
		e.handlers[ev.Target].Handle(e, ev)
		if e.err != nil {
			return
		}
	}
}

func (e *Engine) waits() []Wait {
	var all []Wait
	for _, f := range e.drain {
		all = append(all, f()...)
	}
	return all
}

func (e *Engine) cancelled(ctx context.Context) (Stop, error) {
	return Cancelled, fmt.Errorf("simulate: stopped at %v after %d events: %w", e.q.last, e.events, context.Cause(ctx))
}

// name returns what to call a target in an error.
func (e *Engine) name(target int32) string {
	if n, ok := e.handlers[target].(interface{ Name() string }); ok {
		return n.Name()
	}
	return fmt.Sprintf("target %d (%T)", target, e.handlers[target])
}
