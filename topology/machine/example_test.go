package machine_test

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
)

// A board of eight GPUs on four NVSwitches.
func ExampleBuild() {
	m, err := machine.Build(machine.Spec{
		Name: "hgx-h100",
		Host: machine.Host{
			GPUs: 8,
			NVLink: &nvlink.Spec{
				Planes: []int{5, 4, 4, 5},
				Link:   topology.Wire{Rate: 25 * sim.GBps, Latency: 500 * sim.Nanosecond, Class: topology.Class{Name: "nvlink4"}},
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := m.Route(3, 5, nil)
	r, rate := m.Graph.Bottleneck(p)
	fmt.Println(p.Kind, p.Latency, m.ResourceName(r), float64(rate)/1e9, "GB/s each way")
	// Output: NVL 1us n0.gpu3 > n0.nvswitch (18 nvlink4 links) 450 GB/s each way
}
