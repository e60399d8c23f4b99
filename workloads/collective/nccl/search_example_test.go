package nccl_test

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// The rings of four V100 in a square with its diagonals, on which each side
// has two NVLinks and each diagonal one.
func ExampleSearch() {
	m, err := machine.Build(machine.Spec{
		Name: "square",
		Host: machine.Host{
			GPUs: 4,
			NVLink: &nvlink.Spec{
				Edges: [][3]int{{0, 1, 2}, {1, 2, 2}, {2, 3, 2}, {0, 3, 2}, {0, 2, 1}, {1, 3, 1}},
				Link:  topology.Wire{Rate: 25 * sim.GBps, Latency: 500 * sim.Nanosecond, Class: topology.Class{Name: "nvlink2"}},
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	env, _ := nccl.ParseEnv(nccl.Latest, nil)
	c, err := nccl.Search(nccl.Latest, m, []int32{0, 1, 2, 3}, nccl.Platform{SM: 70}, env)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Ring.Channels, "rings of", c.Ring.Intra, "GB/s, in", c.Run, "thread blocks")
	for _, ring := range c.Rings {
		fmt.Println(ring)
	}
	// Output:
	// 4 rings of 20 GB/s, in 8 thread blocks
	// [0 1 2 3]
	// [0 3 2 1]
	// [0 1 2 3]
	// [0 3 2 1]
}
