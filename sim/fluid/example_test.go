package fluid_test

import (
	"context"
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/sim/fluid"
)

// Three flows on links of capacity 1,000 and 10,000. The first link is shared by
// two flows, so the third gets what the second leaves of the other link.
func ExampleSolver() {
	s := fluid.NewSolver([]int64{1_000, 10_000})
	one := s.Add([]fluid.Hop{{Link: 0, Weight: 1}}, 1, 0)
	both := s.Add([]fluid.Hop{{Link: 0, Weight: 1}, {Link: 1, Weight: 1}}, 1, 0)
	other := s.Add([]fluid.Hop{{Link: 1, Weight: 1}}, 1, 0)
	s.Solve()
	fmt.Println(s.Rate(one), s.Rate(both), s.Rate(other))
	// Output: 500 500 9500
}

// printer prints the events that it gets.
type printer struct{}

func (printer) Handle(_ *sim.Engine, ev sim.Event) {
	fmt.Println("transfer", ev.Arg, "ended at", ev.At)
}

// Two transfers of 10 and 20 MB over a link of 10 GB/s: each gets half of it until
// the first is done.
func ExamplePool() {
	e := sim.NewEngine()
	target := e.Register(printer{})
	p, err := fluid.NewPool(e, []sim.Rate{10 * sim.GBps}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	path := []fluid.Hop{{Link: 0, Weight: 1}}
	p.Start(path, 10*sim.MB, fluid.Options{Target: target, Arg: 1})
	p.Start(path, 20*sim.MB, fluid.Options{Target: target, Arg: 2, Latency: 500 * sim.Nanosecond})
	if _, err := e.Run(context.Background(), sim.Limits{}); err != nil {
		fmt.Println(err)
	}
	fmt.Println("link 0 carried", p.Carried(0), "bytes; books:", p.Check())
	// Output:
	// transfer 1 ended at 2ms
	// transfer 2 ended at 3.0005ms
	// link 0 carried 3e+07 bytes; books: <nil>
}
