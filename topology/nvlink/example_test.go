package nvlink_test

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/nvlink"
)

// Two of four GPUs, wired directly with six links to each peer.
func ExampleBuild() {
	g := &topology.Graph{}
	var gpus []topology.NodeID
	for i := range 4 {
		gpus = append(gpus, g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("n0.gpu%d", i)}))
	}
	w, err := nvlink.Build(g, &nvlink.Spec{
		Edges: [][3]int{{0, 1, 6}, {0, 2, 6}, {0, 3, 6}, {1, 2, 6}, {1, 3, 6}, {2, 3, 6}},
		Link:  topology.Wire{Rate: 25 * sim.GBps, Class: topology.Class{Name: "nvlink4"}},
	}, gpus, 0, "n0.")
	if err != nil {
		fmt.Println(err)
		return
	}
	w.AddTrunks(g)
	p, _ := w.Route(0, 1, nil)
	r, rate := g.Bottleneck(p)
	fmt.Println(p.Kind, g.ResourceName(r), float64(rate)/1e9, "GB/s each way")
	// Output: NVL n0.gpu0 > n0.gpu1 (6 nvlink4 links) 150 GB/s each way
}

// A DGX-2: two boards of eight GPUs and six NVSwitches, each switch joined to
// its twin by eight links.
func ExampleTier() {
	g := &topology.Graph{}
	var gpus []topology.NodeID
	for i := range 16 {
		gpus = append(gpus, g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("n0.gpu%d", i)}))
	}
	w, err := nvlink.Build(g, &nvlink.Spec{
		Planes:        []int{1, 1, 1, 1, 1, 1},
		Link:          topology.Wire{Rate: 25 * sim.GBps, Latency: 80 * sim.Nanosecond, Class: topology.Class{Name: "nvlink2"}},
		SwitchLatency: 100 * sim.Nanosecond,
		Tier:          &nvlink.Tier{Groups: 2, Uplinks: []int{8, 8, 8, 8, 8, 8}},
	}, gpus, 0, "n0.")
	if err != nil {
		fmt.Println(err)
		return
	}
	w.AddTrunks(g)
	for _, to := range []int{7, 8} {
		p, _ := w.Route(0, to, nil)
		fmt.Println("to GPU", to, "in", p.Latency)
		for _, h := range p.Hops {
			fmt.Println(" ", g.ResourceName(h.Resource), float64(g.Capacity(h.Resource))/1e9, "GB/s")
		}
	}
	// Output:
	// to GPU 7 in 260ns
	//   n0.gpu0 > n0.nvswitch (6 nvlink2 links) 150 GB/s
	//   n0.nvswitch > n0.gpu7 (6 nvlink2 links) 150 GB/s
	// to GPU 8 in 440ns
	//   n0.gpu0 > n0.nvswitch (6 nvlink2 links) 150 GB/s
	//   n0.nvswitch > n0.nvswitch (48 nvlink2 links) 1200 GB/s
	//   n0.nvswitch > n0.gpu8 (6 nvlink2 links) 150 GB/s
}
