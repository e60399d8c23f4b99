package fabric

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Kind names the shape of a network.
type Kind string

// The kinds of networks.
const (
	SingleSwitch  Kind = "single-switch"
	RailOptimized Kind = "rail-optimized" // NIC i of each host to a leaf of rail i
	FatTree       Kind = "fat-tree"       // all NICs of a host to one leaf
)

// Spec is the network between hosts.
type Spec struct {
	Kind Kind

	// Tiers of switches: 2 (leaf, spine) or 3 (leaf, spine, core); 0 is 2. A
	// rail-optimised network may have 1: rails that nothing joins, where
	// traffic changes rails over NVLink. A single switch ignores it.
	Tiers int

	// Rails is the number of rails; NIC i is on rail i mod Rails. 0 is the
	// number of NICs of a host.
	Rails int

	// Radix is the number of ports of a switch, of the speed of Cable. 0 sets
	// no limit.
	Radix int

	// HostsPerLeaf is how many hosts share a leaf (or, with rails, a set of
	// leaves). 0 is as many as the radix allows at the oversubscription, or
	// all hosts if the radix is 0.
	HostsPerLeaf int

	// LeavesPerPod is how many leaves share a set of spines in three tiers. 0
	// is one set of rails, or half the radix.
	LeavesPerPod int

	// Oversubscription is the rate of a leaf's ports to hosts over the rate of
	// its ports to spines; CoreOversubscription is the same of a spine. 0 is
	// 1: none.
	Oversubscription, CoreOversubscription float64

	// Spines and Cores are the number of spines (of a pod, in three tiers) and
	// of cores on each spine's plane. 0 is as few as the radix allows, or one.
	Spines, Cores int

	// Port is the link from a NIC to its leaf, Cable one link between
	// switches; zero is equal to Port.
	Port, Cable topology.Wire

	// SwitchLatency is the traversal of a switch, NICLatency that of a NIC.
	SwitchLatency, NICLatency sim.Time
}
