package machine

import (
	"fmt"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/nvlink"
)

// Star is GPUs on one switch, a port each: the machine on which formulas and
// other simulators are compared. Every path is two links; the switch takes no
// time of its own.
func Star(gpus int, port topology.Wire) Spec {
	return Spec{
		Name: fmt.Sprintf("star-%d", gpus),
		Host: Host{GPUs: gpus, NVLink: &nvlink.Spec{Planes: []int{1}, Link: port}},
	}
}

// Grid is hosts of GPUs on a switch, where GPU i of every host is also on a
// switch with its peers (switch x switch in ASTRA-sim's words). A path
// between different positions on different hosts changes position first.
func Grid(hosts, gpus int, inner, outer topology.Wire) Spec {
	s := Star(gpus, inner)
	s.Name = fmt.Sprintf("grid-%dx%d", hosts, gpus)
	s.Hosts = hosts
	s.Fabric = &fabric.Spec{Kind: fabric.RailOptimized, Tiers: 1, Port: outer}
	return s
}
