package topology_test

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Two GPUs on one wire, and what is wrong with a third that hangs in the air.
func ExampleGraph_Validate() {
	g := &topology.Graph{}
	a := g.AddNode(topology.Node{Kind: topology.GPU, Name: "n0.gpu0"})
	b := g.AddNode(topology.Node{Kind: topology.GPU, Name: "n0.gpu1"})
	nvlink := g.AddClass(topology.Class{Name: "nvlink4"})
	g.AddDuplex(topology.Link{From: a, To: b, Rate: 150 * sim.GBps, Latency: 500 * sim.Nanosecond, Class: nvlink, Width: 6})
	fmt.Println(g.Validate())

	g.AddNode(topology.Node{Kind: topology.GPU, Name: "n0.gpu2"})
	fmt.Println(g.Validate())
	// Output:
	// <nil>
	// validate graph: the graph is in 2 pieces that no link joins: {n0.gpu0, n0.gpu1}; {n0.gpu2}
}
