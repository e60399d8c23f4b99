// Package sim models time and nothing else: integer picoseconds, the event
// engine that moves them forward, and the units in which people write
// quantities. It knows no GPU and no network.
//
// The types to know are [Time], [Bytes], [Rate], [Engine] and [Event].
// Sharing of capacity among flows is in sim/fluid, and what happened during a
// run is kept by sim/record.
//
// # Time
//
// A [Time] is an int64 of picoseconds, so sums and comparisons are exact, and
// the same on every machine. It ends after 106 days, at [MaxTime], where
// [Time.Add] and conversions stay. To move b bytes at r bytes per second takes
//
//	max(1 ps, ceil(b/r * 1e12) ps)    for b > 0, and 0 for b = 0
//
// ([TransferTime]): a transfer is never finished early, and never at once.
//
// # Engine
//
// A model registers a [Handler] for a target number, and schedules events for
// it. [Engine.Run] then repeats, for the earliest instant t that holds events:
//
//  1. Deliver the events of t in the order in which they were scheduled. What
//     they schedule for t joins the end of the line.
//  2. When none is left, call the settle hooks. One that schedules for t sends
//     the instant back to 1.
//
// So whoever computes from a whole instant (the solver that shares links, say)
// does it once an instant, however many flows began or ended. An instant that
// goes round without end is a [LivelockError]. When nothing is left at all, the
// drain hooks say who still waits, and if somebody does, the run ends in a
// [DeadlockError] that prints the circle of waits. A horizon, a budget of
// events and a context stop a run early, and it can be resumed.
//
// A run is one goroutine, and depends on the order of calls only; equal runs
// have equal event logs ([Engine.Sum64]). The queue is a radix heap that
// allocates nothing in the steady state.
//
// # Quantities
//
// A quantity enters as text with its unit ([ParseTime], [ParseBytes],
// [ParseRate], [ParseFlopRate]; they also decode from JSON and YAML), never as
// a bare number. GB is 1e9 bytes, GiB 2^30 bytes, Gb 1e9 bits. What is printed
// reads back as the same value.
//
// # Left out
//
// Events cannot be cancelled (owners ignore what is stale), run in parallel,
// or be ordered by priority within an instant.
package sim
