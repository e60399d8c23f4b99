package pcie_test

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/pcie"
)

// Two GPUs below one PCIe switch reach each other without its uplink.
func ExampleTree_Route() {
	x16 := topology.Wire{Rate: 24 * sim.GBps, Latency: 100 * sim.Nanosecond, Width: 16, Class: topology.Class{Name: "pcie4"}}
	inSwitch := pcie.Slot{Under: pcie.Parent{Kind: pcie.OnSwitch, Index: 0}, Link: x16}
	spec := pcie.Spec{
		Sockets:       1,
		Bridges:       []pcie.Bridge{{Socket: 0, Link: topology.Wire{Rate: 200 * sim.GBps}}},
		Switches:      []pcie.Slot{{Under: pcie.Parent{Kind: pcie.OnBridge, Index: 0}, Link: x16}},
		GPUs:          []pcie.Slot{inSwitch, inSwitch},
		SwitchLatency: 115 * sim.Nanosecond,
	}
	g := &topology.Graph{}
	gpus := []topology.NodeID{
		g.AddNode(topology.Node{Kind: topology.GPU, Name: "n0.gpu0"}),
		g.AddNode(topology.Node{Kind: topology.GPU, Name: "n0.gpu1"}),
	}
	tree, err := pcie.Build(g, &spec, gpus, 0, "n0.", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := tree.Route(tree.GPU(0), tree.GPU(1), nil)
	fmt.Println(p.Kind, p.Latency)
	for _, h := range p.Hops {
		fmt.Println(g.ResourceName(h.Resource))
	}
	// Output:
	// PIX 315ns
	// n0.gpu0 > n0.pcie-sw0 (pcie4 x16)
	// n0.pcie-sw0 > n0.gpu1 (pcie4 x16)
}
