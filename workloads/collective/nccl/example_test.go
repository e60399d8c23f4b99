package nccl_test

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// What NCCL 2.27 runs on one node of eight H100.
func Example() {
	v, err := nccl.ParseVersion("2.27")
	if err != nil {
		fmt.Println(err)
		return
	}
	board, err := machine.Build(machine.Spec{
		Name: "hgx-h100",
		Host: machine.Host{GPUs: 8, NVLink: &nvlink.Spec{
			Planes: []int{5, 4, 4, 5},
			Link:   topology.Wire{Rate: 25 * sim.GBps, Latency: 500 * sim.Nanosecond, Class: topology.Class{Name: "nvlink4"}},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	env, _ := nccl.ParseEnv(v, nil)
	channels, err := nccl.Search(v, board, []int32{0, 1, 2, 3, 4, 5, 6, 7}, nccl.Platform{SM: 90}, env)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := nccl.New(v, nccl.Summary{Ranks: 8, Nodes: 1, SM: 90, Graphs: channels.Graphs}, env)
	if err != nil {
		fmt.Println(err)
		return
	}
	crossovers, err := m.Crossovers(workloads.AllReduce, 8, 8*sim.GiB)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range crossovers {
		fmt.Printf("from %d bytes: %v with %v, predicted %.2f us\n", c.From, c.Algorithm, c.Protocol, c.Time)
	}
	// Output:
	// from 8 bytes: Ring with LL, predicted 15.00 us
	// from 2097152 bytes: NVLS with Simple, predicted 32.86 us
}
