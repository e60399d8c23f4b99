package sim_test

import (
	"context"
	"fmt"

	"github.com/weft-sim/weft/sim"
)

// A pinger sends a ball to the other side, which takes a while to get there.
type pinger struct {
	flight sim.Time
	left   int
}

func (p *pinger) Handle(e *sim.Engine, ev sim.Event) {
	fmt.Printf("%v: side %d has the ball\n", e.Now(), ev.Arg)
	if p.left--; p.left > 0 {
		e.Schedule(e.Now().Add(p.flight), ev.Target, 0, 1-ev.Arg)
	}
}

func Example() {
	e := sim.NewEngine()
	target := e.Register(&pinger{flight: sim.TransferTime(sim.MiB, 450*sim.GBps), left: 3})
	e.Schedule(0, target, 0, 0)
	stop, err := e.Run(context.Background(), sim.Limits{})
	fmt.Println(stop, err)
	// Output:
	// 0s: side 0 has the ball
	// 2.330169us: side 1 has the ball
	// 4.660338us: side 0 has the ball
	// drained <nil>
}

// Hooks that settle see an instant when all of it has happened.
func ExampleEngine_OnSettle() {
	e := sim.NewEngine()
	arrived := 0
	target := e.Register(script(func(*sim.Engine, sim.Event) { arrived++ }))
	e.OnSettle(func(e *sim.Engine) {
		if arrived > 0 {
			fmt.Printf("%v: %d arrived together\n", e.Now(), arrived)
			arrived = 0
		}
	})
	for _, at := range []sim.Time{1000, 2000, 2000, 2000} {
		e.Schedule(at, target, 0, 0)
	}
	_, _ = e.Run(context.Background(), sim.Limits{})
	// Output:
	// 1ns: 1 arrived together
	// 2ns: 3 arrived together
}

func ExampleDeadlockError() {
	e := sim.NewEngine()
	e.OnDrain(func() []sim.Wait {
		return []sim.Wait{
			{Who: "rank 0", WhoID: 0, On: "rank 1", OnID: 1, Why: "recv of 4MiB"},
			{Who: "rank 1", WhoID: 1, On: "rank 0", OnID: 0, Why: "recv of 4MiB"},
		}
	})
	_, err := e.Run(context.Background(), sim.Limits{})
	fmt.Println(err)
	// Output:
	// simulate: deadlock at 0s: nothing is left to happen, and 2 waits are unmet, in a circle:
	//   rank 0 waits for rank 1: recv of 4MiB
	//   rank 1 waits for rank 0: recv of 4MiB
}

func ExampleParseRate() {
	r, _ := sim.ParseRate("400Gb/s")
	fmt.Println(r)
	_, err := sim.ParseRate("450")
	fmt.Println(err)
	// Output:
	// 50GB/s
	// "450" has no unit: write "450GB/s" (bytes per second, per direction)
}

func ExampleTransferTime() {
	fmt.Println(sim.TransferTime(sim.GB, 300*sim.GBps))
	// Output: 3.333333334ms
}
