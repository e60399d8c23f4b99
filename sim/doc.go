// Package sim models time and nothing else: integer picoseconds, the event
// engine that moves them forward, and the units in which people write
// quantities. It knows no GPU and no network.
//
// The types to know are [Time], [Bytes], [Rate], [Engine] and [Event].
// Sharing of capacity among flows is in sim/fluid, and what happened during a
// run is kept by sim/record.
package sim
