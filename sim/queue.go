package sim

import (
	"math/bits"
	"slices"
)

// queue is the set of pending events: a radix heap in base 2, after Ahuja,
// Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path
// problem", JACM 37(2), 1990. It relies on time that never goes back.
//
// An event at time t is in bucket bitlen(t XOR last), where last is the
// instant being delivered; so bucket 0 holds the events of that very instant,
// and bucket b > 0 those that agree with last above bit b-1 and have that bit
// set where last has it clear. Hence every time in a bucket is below every
// time in a higher one. To advance, the lowest non-empty bucket b is taken,
// last becomes its minimum, and its events are dealt out again: all of them
// agree with the new last down to bit b-1, so each falls to a lower bucket. An
// event falls at most 63 times.
//
// Equal times leave in the order in which they came (FIFO), without a sequence
// number:
//
//  1. At any moment the bucket depends on the time and last only, and
//     advancing leaves the buckets above b valid: their times and the old last
//     differ in a bit above b-1, in which old and new last agree. So events of
//     equal time are always in the same bucket.
//  2. A push appends. Dealing out walks a bucket from front to back, and
//     appends to lower buckets, which are all empty at that moment, as b was
//     the lowest non-empty one. So within a bucket events of equal time stand
//     in the order of their pushes, and bucket 0 is read from front to back.
//
// Bucket slices keep their memory, so that the steady state allocates nothing.
// A binary heap took twice as long with exponential gaps and eight times as
// long with many ties; a generic one up to twice as long again.
type queue struct {
	last    Time
	full    uint64 // bit b is set when bucket b, b > 0, holds events
	buckets [64][]Event

	// Bucket 0 is in two parts: the round being delivered, and in buckets[0]
	// the events that were scheduled for this instant meanwhile.
	round []Event
	head  int // events of round that have been delivered

	spare []Event // memory of a bucket that was dealt out, for the next to grow
}

// push adds an event; its time is not before last.
func (q *queue) push(ev Event) {
	b := bits.Len64(uint64(ev.At^q.last)) & 63
	bucket := &q.buckets[b]
	n := len(*bucket)
	if n == cap(*bucket) {
		q.grow(bucket)
	}
	*bucket = (*bucket)[:n+1]
	(*bucket)[n] = ev
	q.full |= 1 << b
}

// handOver is the capacity, in events, from which memory goes from bucket to
// bucket.
const handOver = 2048

// grow makes room in a full bucket. Each time that last carries into its bit
// b, nearly all pending events have gathered in bucket b+1, so without handing
// memory over, a score of buckets would end with room for all.
//
//go:noinline
func (q *queue) grow(bucket *[]Event) {
	full := *bucket
	if len(full) < handOver || len(full) >= cap(q.spare) {
		*bucket = slices.Grow(full, 1)
		return
	}
	*bucket = append(q.spare[:0], full...)
	q.spare = full[:0]
}

// turn begins a new round of the current instant, when the old one is
// delivered. It reports whether there is anything in it.
func (q *queue) turn() bool {
	q.round, q.buckets[0] = q.buckets[0], q.round[:0]
	q.full &^= 1
	q.head = 0
	return len(q.round) > 0
}

// peek returns the time of the first event after the current instant. It
// changes nothing: last must not pass a time at which something may still be
// scheduled.
func (q *queue) peek() (Time, bool) {
	later := q.full &^ 1
	if later == 0 {
		return 0, false
	}
	bucket := q.buckets[bits.TrailingZeros64(later)&63]
	first := bucket[0].At
	for i := 1; i < len(bucket); i++ {
		first = min(first, bucket[i].At)
	}
	return first, true
}

// advance moves last to t, the time that peek has returned, when the current
// instant holds nothing more.
func (q *queue) advance(t Time) {
	b := bits.TrailingZeros64(q.full) & 63
	bucket := q.buckets[b]
	q.last = t
	full := q.full &^ (1 << b)
	for i := range bucket { // push, by hand: the compiler does not inline it
		ev := &bucket[i]
		to := bits.Len64(uint64(ev.At^t)) & 63
		lower := &q.buckets[to]
		n := len(*lower)
		if n == cap(*lower) {
			q.grow(lower)
		}
		*lower = (*lower)[:n+1]
		(*lower)[n] = *ev
		full |= 1 << to
	}
	q.full = full
	if cap(bucket) > cap(q.spare) {
		q.spare, bucket = bucket, q.spare
	}
	q.buckets[b] = bucket[:0]
}
