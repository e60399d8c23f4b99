package topology

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/sim/fluid"
)

// Load is a resource of a [Network] and the weight with which a transfer
// occupies it: a transfer of b bytes carries b*Weight/den bytes there, with
// the network's den. Weights are integers so that sums of them do not depend
// on their order.
type Load = fluid.Hop

// Transfer is one flow of data over a set of resources that move in step.
type Transfer struct {
	Loads   []Load // copied by Start
	Bytes   sim.Bytes
	Latency sim.Time // from the last byte sent to the last byte there
	Cap     sim.Rate // ceiling of this transfer; 0 is none
	// Alone is the rate with nobody else on the wires, which the ideal model
	// grants. Loads cannot tell: they may add up equal transfers.
	Alone sim.Rate

	// When the last byte has arrived, the engine delivers an event with these.
	Target, Kind int32
	Arg          int64
}

// Network is the clock of transfers over a set of resources with capacities.
// [NewFluid] and [NewIdeal] are the models.
type Network interface {
	// Start begins a transfer now. Its arrival is announced by an event on the
	// engine; nothing else is called back.
	Start(t Transfer)
	// Reserve makes room for so many transfers and loads at once. It may be
	// called before Start to save memory, or not at all.
	Reserve(transfers, loads int)
	// Carried returns the bytes that a resource has carried.
	Carried(resource int32) float64
	// Check returns an error if a law was broken: bytes sent and not arrived,
	// a resource above its capacity.
	Check() error
}

// NewFluid returns the model in which transfers share resources max-min
// fairly; see sim/fluid. full recomputes every rate at every change.
func NewFluid(e *sim.Engine, capacities []sim.Rate, den int32, full bool) (Network, error) {
	p, err := fluid.NewPool(e, capacities, den)
	if err != nil {
		return nil, err
	}
	if full {
		p.SetMode(fluid.Full)
	}
	return &fluidNetwork{p}, nil
}

type fluidNetwork struct{ pool *fluid.Pool }

func (n *fluidNetwork) Start(t Transfer) {
	n.pool.Start(t.Loads, t.Bytes, fluid.Options{
		Limit: t.Cap, Latency: t.Latency, Target: t.Target, Kind: t.Kind, Arg: t.Arg,
	})
}

func (n *fluidNetwork) Reserve(transfers, loads int) { n.pool.Reserve(transfers, loads) }

func (n *fluidNetwork) Carried(r int32) float64 { return n.pool.Carried(fluid.LinkID(r)) }

func (n *fluidNetwork) Check() error { return n.pool.Check() }

// NewIdeal returns the model in which each transfer has the wires to itself:
// it takes its latency and its bytes at the rate that it has alone. It
// is a lower bound on the fluid model, since a transfer alone is never faster.
func NewIdeal(e *sim.Engine, resources int, den int32) (Network, error) {
	if den < 1 {
		return nil, fmt.Errorf("make ideal network: denominator %d, want 1 or more", den)
	}
	return &ideal{e: e, den: den, carried: make([]float64, resources)}, nil
}

type ideal struct {
	e       *sim.Engine
	den     int32
	carried []float64
}

func (n *ideal) Start(t Transfer) {
	rate := t.Alone
	if t.Cap > 0 && (rate == 0 || t.Cap < rate) {
		rate = t.Cap
	}
	for _, l := range t.Loads {
		n.carried[l.Link] += float64(t.Bytes) * float64(l.Weight) / float64(n.den)
	}
	d := t.Latency
	if rate > 0 {
		d = d.Add(sim.TransferTime(t.Bytes, rate))
	}
	n.e.Schedule(n.e.Now().Add(d), t.Target, t.Kind, t.Arg)
}

func (n *ideal) Reserve(int, int) {}

func (n *ideal) Carried(r int32) float64 { return n.carried[r] }

// Check has nothing to check: a transfer is announced when it starts, and
// sharing is what this model leaves out.
func (n *ideal) Check() error { return nil }
