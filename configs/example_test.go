package configs_test

import (
	"context"
	"fmt"

	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/workloads/replay"
)

// A scenario, from its name to its step time.
func Example() {
	s, err := configs.Load("two-rings", []string{"network.model=ideal"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	j, err := s.Build(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := replay.Run(context.Background(), j.Program, j.Machine, j.Options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f ms with the wires to itself; model from %s\n", r.StepTime.Microseconds()/1000, s.Origin("network.model"))
	// Output: 160 ms with the wires to itself; model from --set network.model=ideal
}
