package nccl_test

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
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
	board := nccl.Fabric{Nodes: 1, GPUs: 8, SM: 90, Links: 18, Switched: true}
	graphs, err := board.Graphs(v)
	if err != nil {
		fmt.Println(err)
		return
	}
	env, _ := nccl.ParseEnv(v, nil)
	m, err := nccl.New(v, nccl.Summary{Ranks: 8, Nodes: 1, SM: 90, Graphs: graphs}, env)
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
