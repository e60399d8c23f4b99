package fabric_test

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
)

// Sixteen hosts on leaves of four, with half as many cables up as down.
func ExampleBuild() {
	g := &topology.Graph{}
	var nics []topology.NodeID
	for h := range 16 {
		nics = append(nics, g.AddNode(topology.Node{Kind: topology.NIC, Name: fmt.Sprintf("n%d.nic0", h), Host: int32(h)}))
	}
	f, err := fabric.Build(g, &fabric.Spec{
		Kind: fabric.FatTree, HostsPerLeaf: 4, Oversubscription: 2,
		Port: topology.Wire{Rate: 25 * sim.GBps, Class: topology.Class{Name: "hdr"}},
	}, nics, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	f.AddTrunks(g)
	hops, _, _, _ := f.Route(0, 15, nil)
	for _, h := range hops {
		fmt.Println(g.ResourceName(h.Resource))
	}
	// Output:
	// n0.nic0 > leaf0 (1 hdr link)
	// leaf0 > spine0 (2 hdr links)
	// spine0 > leaf3 (2 hdr links)
	// leaf3 > n15.nic0 (1 hdr link)
}
