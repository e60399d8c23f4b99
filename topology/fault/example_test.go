package fault_test

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fault"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
)

// One GPU of eight has lost one of its four NVSwitches.
func ExampleApply() {
	m, err := machine.Build(machine.Spec{Name: "hgx-h100", Host: machine.Host{GPUs: 8, NVLink: &nvlink.Spec{
		Planes: []int{5, 4, 4, 5}, Link: topology.Wire{Rate: 25 * sim.GBps, Class: topology.Class{Name: "nvlink4"}},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := fault.Parse("n0.gpu3 > n0.nvswitch0 down")
	if err != nil {
		fmt.Println(err)
		return
	}
	if m, err = fault.Apply(m, f); err != nil {
		fmt.Println(err)
		return
	}
	for _, to := range []int32{3, 4} {
		p, _ := m.Route(0, to, nil)
		_, rate := m.Graph.Bottleneck(p)
		fmt.Printf("gpu0 to gpu%d: %.0f GB/s\n", to, float64(rate)/1e9)
	}
	fmt.Println(m.Notes[0])
	// Output:
	// gpu0 to gpu3: 325 GB/s
	// gpu0 to gpu4: 450 GB/s
	// fault: n0.gpu3>n0.nvswitch0 down: 1 connection
}
