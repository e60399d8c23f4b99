package sim

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sorted is the queue as one would write it without a thought for speed: a
// slice in the order of delivery.
type sorted struct{ events []Event }

func (s *sorted) push(ev Event) {
	after := func(e Event, at Time) int {
		if e.At <= at {
			return -1
		}
		return 1
	}
	i, _ := slices.BinarySearchFunc(s.events, ev.At, after)
	s.events = slices.Insert(s.events, i, ev)
}

func (s *sorted) pop() (Event, bool) {
	if len(s.events) == 0 {
		return Event{}, false
	}
	ev := s.events[0]
	s.events = slices.Delete(s.events, 0, 1)
	return ev, true
}

// pop delivers one event, as the engine does with many.
func (q *queue) pop() (Event, bool) {
	for q.head == len(q.round) {
		if q.turn() {
			break
		}
		t, ok := q.peek()
		if !ok {
			return Event{}, false
		}
		q.advance(t)
	}
	q.head++
	return q.round[q.head-1], true
}

// genGap draws gaps that hit every bucket, with ties and zero delays.
func genGap(t *rapid.T) Time {
	switch rapid.IntRange(0, 3).Draw(t, "shape") {
	case 0:
		return 0
	case 1:
		return Time(rapid.IntRange(0, 3).Draw(t, "tie")) * 500
	case 2:
		return Time(rapid.Int64Range(0, 1<<20).Draw(t, "near"))
	default:
		return Time(1) << rapid.IntRange(0, 62).Draw(t, "far")
	}
}

func TestQueueEqualsSortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var want sorted
		for i := range rapid.IntRange(1, 400).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "push") {
				ev := Event{At: q.last.Add(genGap(t)), Arg: int64(i)}
				q.push(ev)
				want.push(ev)
				continue
			}
			w, wok := want.pop()
			got, ok := q.pop()
			require.Equal(t, wok, ok)
			require.Equal(t, w, got, "at step %d", i)
		}
		for {
			w, wok := want.pop()
			got, ok := q.pop()
			require.Equal(t, wok, ok)
			require.Equal(t, w, got)
			if !ok {
				return
			}
		}
	})
}

// The same in long runs with many pending, so that buckets hand over memory.
func TestQueueEqualsSortedSliceLarge(t *testing.T) {
	const pending, steps = 3 * handOver, 60_000
	for _, gaps := range []Time{4, 1000, 1 << 30} {
		var q queue
		var want sorted
		x := uint64(88172645463325252)
		gap := func() Time {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			return Time(x>>1) % gaps
		}
		for i := range pending + steps {
			ev := Event{At: q.last.Add(gap()), Arg: int64(i)}
			q.push(ev)
			want.push(ev)
			if i >= pending {
				w, _ := want.pop()
				got, _ := q.pop()
				if got != w {
					require.Equal(t, w, got, "gaps below %d, step %d", gaps, i)
				}
			}
		}
	}
}

// Peek must not change what may be pushed: a time between now and the next
// event is still in order.
func TestPeekDoesNotAdvance(t *testing.T) {
	var q queue
	q.push(Event{At: 1000, Arg: 2})
	at, ok := q.peek()
	require.True(t, ok)
	require.Equal(t, Time(1000), at)
	q.push(Event{At: 10, Arg: 1})
	for _, want := range []int64{1, 2} {
		ev, ok := q.pop()
		require.True(t, ok)
		require.Equal(t, want, ev.Arg)
	}
}
