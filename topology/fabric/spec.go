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
	RailOnly      Kind = "rail-only"      // rails that nothing joins: rail-optimised in one tier
	FatTree       Kind = "fat-tree"       // all NICs of a host to one leaf
	Dragonfly     Kind = "dragonfly"      // groups of leaves, all joined; groups, all joined
)

// Spread says how traffic between two ports is laid over equal ways.
type Spread string

// The spreads.
const (
	// Ideal spreads every transfer over all ways, as packet spraying and
	// adaptive routing do at their best.
	Ideal Spread = ""
	// ECMP gives each flow between two ports one way by a hash, so that flows
	// may collide while cables are idle. Parallel cables are ways of their own,
	// except within a dragonfly's group.
	ECMP Spread = "ecmp"
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
	// is as many as the radix allows, half of it without oversubscription, in
	// whole sets of rails, but at least one. In a dragonfly it is the number of
	// switches of a group; 0 is twice the ports that a switch has to hosts.
	LeavesPerPod int

	// Oversubscription is the rate of a leaf's ports to hosts over the rate of
	// its ports to spines; CoreOversubscription is the same of a spine. 0 is
	// 1: none.
	Oversubscription, CoreOversubscription float64

	// Spines and Cores are the number of spines (of a pod, in three tiers) and
	// of cores on each spine's plane. 0 is as few as the radix allows, or one.
	Spines, Cores int

	// LocalLinks and GlobalLinks are the cables between two switches of a
	// dragonfly's group, and between two of its groups. 0 is one, and as many as
	// give a group one global cable for each port to hosts, over
	// Oversubscription, but at least one.
	LocalLinks, GlobalLinks int

	// Spread lays flows over equal ways. With ECMP a pair of ports has Flows
	// flows of equal size (0 is 1; NCCL's queue pairs per connection), hashed
	// with Seed; the way back takes the same cables.
	Spread Spread
	Flows  int
	Seed   uint64

	// Lengths of the cables in metres, which add [PerMetre] each to the
	// latencies of Port and Cable: from NIC to leaf, between switches, and
	// between groups of a dragonfly (0 is CableLength).
	PortLength, CableLength, GlobalLength float64

	// Staged is a network whose NICs reach host memory alone: bytes bounce
	// there at both ends, whatever the PCIe tree allows.
	Staged bool

	// TransferRate is a ceiling of what one transfer moves over one pair of
	// ports, whatever the wires allow: a plugin over TCP. 0 is none.
	TransferRate sim.Rate

	// Port is the link from a NIC to its leaf, Cable one link between
	// switches; zero is equal to Port.
	Port, Cable topology.Wire

	// SwitchLatency is the traversal of a switch, NICLatency that of a NIC.
	SwitchLatency, NICLatency sim.Time
}

// PerMetre is what a metre of copper or fibre takes: 4.9 ns by the refractive
// index of fibre (1.468), rounded to 5 as vendors do (derived).
const PerMetre = 5 * sim.Nanosecond

func over(metres float64) sim.Time { return sim.Time(metres * float64(PerMetre)) }

// port and cable return the links with the length of their cables.
func (s *Spec) port() topology.Wire {
	w := s.Port
	w.Latency += over(s.PortLength)
	return w
}

func (s *Spec) cable() topology.Wire {
	w := s.Cable
	if w.IsZero() {
		w = s.Port
	}
	w.Latency += over(s.CableLength)
	return w
}

func (s *Spec) global() topology.Wire {
	w := s.cable()
	if s.GlobalLength > 0 {
		w.Latency += over(s.GlobalLength) - over(s.CableLength)
	}
	return w
}
