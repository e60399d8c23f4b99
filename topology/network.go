package topology

import (
	"github.com/weft-sim/weft/sim"
)

// Load is a resource of a [Network] and the weight with which a transfer
// occupies it: a transfer of b bytes carries b*Weight/Den bytes there, with
// the network's Den. Weights are integers so that sums of them do not depend
// on their order.
type Load struct {
	Resource int32
	Weight   int32
}

// Transfer is one flow of data over a set of resources that move in step.
type Transfer struct {
	Loads   []Load
	Bytes   sim.Bytes
	Latency sim.Time // from the last byte sent to the last byte there
	Cap     sim.Rate // ceiling of this transfer; 0 is none

	// When the last byte has arrived, the engine delivers an event with these.
	Target, Kind int32
	Arg          int64
}

// Network is the clock of transfers.
//
// Start begins a transfer now. Its arrival is announced by an event on the
// engine; nothing else is called back. Carried returns the bytes that each
// resource has carried, and Check returns an error if a law was broken: bytes
// sent and not arrived, a resource above its capacity.
type Network interface {
	Start(t Transfer)
	Pending() int
	Carried() []float64
	Check() error
}
