package topology

import "github.com/weft-sim/weft/sim"

// Wire describes one physical link as a catalogue knows it. Builders make
// [Link] values of it, multiplied where links run in parallel. A Wire is the
// same in both directions.
type Wire struct {
	Rate    sim.Rate // what payload can reach on one link, per direction
	Latency sim.Time // from end to end, without the nodes at its ends
	Class   Class
	Width   int32 // lanes of the one link (x16 is 16); 0 is 1
}

// IsZero reports whether w was left out.
func (w Wire) IsZero() bool { return w == Wire{} }
