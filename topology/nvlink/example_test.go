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
