package shortest_test

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/shortest"
)

// Four GPUs in a ring. The GPU on the far side is reached both ways round,
// half of the bytes on each.
func ExampleBuild() {
	g := &topology.Graph{}
	wire := g.AddClass(topology.Class{Name: "wire", Raw: 50 * sim.GBps})
	var gpus []topology.NodeID
	for i := range 4 {
		gpus = append(gpus, g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("n0.gpu%d", i), Unit: int32(i)}))
	}
	for i := range gpus {
		g.AddDuplex(topology.Link{
			From: gpus[i], To: gpus[(i+1)%4], Rate: 50 * sim.GBps, Latency: 500 * sim.Nanosecond, Class: wire, Width: 1,
		})
	}
	m, err := shortest.Build(g, gpus, shortest.Options{Name: "ring-4", Relay: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := m.Route(0, 2, nil)
	fmt.Println(p.Kind, p.Latency)
	for _, h := range p.Hops {
		fmt.Printf("%d/%d of %s\n", h.Share, p.Den, m.ResourceName(h.Resource))
	}
	// Output:
	// NVB 1us
	// 1/2 of n0.gpu0 > n0.gpu1 (1 wire link)
	// 1/2 of n0.gpu0 > n0.gpu3 (1 wire link)
	// 1/2 of n0.gpu3 > n0.gpu2 (1 wire link)
	// 1/2 of n0.gpu1 > n0.gpu2 (1 wire link)
}
