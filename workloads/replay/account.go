package replay

import "github.com/weft-sim/weft/sim"

// account keeps where a rank's time goes. At each moment the rank computes,
// or has communication under way without computing, or waits.
type account struct {
	computing, moving int32
	since             sim.Time

	computed, exposed, hidden sim.Time
}

// upTo books the time since the last change.
func (a *account) upTo(now sim.Time) {
	d := now - a.since
	a.since = now
	switch {
	case a.computing > 0:
		a.computed += d
		if a.moving > 0 {
			a.hidden += d
		}
	case a.moving > 0:
		a.exposed += d
	}
}

// compute notes that a kernel begins (1) or ends (-1).
func (a *account) compute(now sim.Time, d int32) {
	a.upTo(now)
	a.computing += d
}

// comm notes that bytes begin to move for the rank (1) or have moved (-1).
func (a *account) comm(now sim.Time, d int32) {
	a.upTo(now)
	a.moving += d
}
