package kernels_test

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/kernels"
)

func ExampleNew() {
	h100 := kernels.Machine{SM: 90, NVLink: true, Multicast: true}
	l, err := kernels.New("vllm", h100, kernels.Setting{}, collective.Default)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, size := range []sim.Bytes{16 * sim.KiB, 1 * sim.MiB, 256 * sim.MiB} {
		c, err := l.Choose(workloads.AllReduce, size, []int32{0, 1, 2, 3, 4, 5, 6, 7})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: %s\n", size, c.Label())
	}
	// Output:
	// 16KiB: one-shot
	// 1MiB: multimem
	// 256MiB: ring
}

func ExampleExchange_Program() {
	// A token of DeepSeek-V3 in FP8 crosses to another node once.
	p, err := kernels.Exchange{Tokens: 4096}.Program(16, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range p.Classes[0].Ops {
		fmt.Printf("%s: %d members, %v to each\n", op.Name, len(op.Splits), op.Splits[0])
	}
	// Output:
	// dispatch between nodes: 2 members, 30171965B to each
	// dispatch within nodes: 8 members, 24688683B to each
}
