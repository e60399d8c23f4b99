package replay_test

import (
	"context"
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/replay"
)

// Four GPUs on a switch, a port of 100 GB/s each, run a kernel of 100 us and an
// all-reduce of 40 MB: 6 steps of 10 MB and two links of 500 ns.
func ExampleRun() {
	m, err := machine.Build(machine.Star(4, topology.Wire{Rate: 100 * sim.GBps, Latency: 500 * sim.Nanosecond, Class: topology.Class{Name: "port"}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	ranks := []int32{0, 1, 2, 3}
	p := &workloads.Program{
		Name:  "step",
		World: 4,
		Comms: []workloads.Comm{{Name: "tp", Dim: workloads.TP, Groups: [][]int32{ranks}}},
		Classes: []workloads.Class{{
			Name: "rank", Ranks: ranks, Streams: []workloads.Stream{{Name: "gpu"}},
			Ops: []workloads.Op{
				{Name: "gemm", Kind: workloads.Compute, Duration: 100 * sim.Microsecond},
				{Name: "sum", Kind: workloads.Collective, Coll: workloads.AllReduce, Bytes: 40 * sim.MB, Deps: []int32{0}},
			},
		}},
	}
	r, err := replay.Run(context.Background(), p, m, replay.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.StepTime, r.Breakdown.Compute, r.Breakdown.Exposed[0].Time)
	// Output: 706us 100us 606us
}
