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

// Two groups of a dragonfly: from group to group over the one global cable.
func ExampleSpec_dragonfly() {
	g := &topology.Graph{}
	var nics []topology.NodeID
	for h := range 8 {
		nics = append(nics, g.AddNode(topology.Node{Kind: topology.NIC, Name: fmt.Sprintf("n%d.nic0", h), Host: int32(h)}))
	}
	f, err := fabric.Build(g, &fabric.Spec{
		Kind: fabric.Dragonfly, HostsPerLeaf: 1, LeavesPerPod: 4, GlobalLinks: 1,
		Port:         topology.Wire{Rate: 25 * sim.GBps, Class: topology.Class{Name: "slingshot"}},
		GlobalLength: 30,
	}, nics, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	hops, _, latency, _ := f.Route(1, 7, nil)
	for _, h := range hops {
		fmt.Println(g.ResourceName(h.Resource))
	}
	fmt.Println(latency)
	// Output:
	// n1.nic0 > leaf1 (1 slingshot link)
	// leaf1 > leaf0 (1 slingshot link)
	// leaf0 > leaf4 (1 slingshot link)
	// leaf4 > leaf7 (1 slingshot link)
	// leaf7 > n7.nic0 (1 slingshot link)
	// 150ns
}
