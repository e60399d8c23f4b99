package configs

import (
	"fmt"

	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/machine"
)

// Bounds of a machine, far above what is built and low enough for its memory.
const (
	mostGPUs   = 1 << 20 // of all nodes
	mostDirect = 1024    // GPUs of a node without NVSwitches: each pair has a way of its own
	mostFaulty = 4096    // GPUs of a node with a fault that can change ways: likewise
	mostLinks  = 1024    // NVLinks of a GPU, and of a pair
	mostWires  = 1 << 25 // between GPUs and NVSwitches
	mostTrunks = 1 << 22 // between switches of the fabric
)

// tooLarge returns the error of a machine that is larger than these.
func (s *Scenario) tooLarge(spec *machine.Spec) error {
	host := &spec.Host
	nodes, gpus := max(1, int64(spec.Hosts)), int64(host.GPUs)
	key := "system"
	switch {
	case s.GPUs != 0:
		key = "gpus"
	case s.System.GPUs != 0:
		key = "system.gpus"
	}
	if nodes > mostGPUs/max(1, gpus) {
		if nodes > 1 {
			key = "nodes"
		}
		return s.tree.ErrorAt(key, fmt.Sprintf("%d nodes of %d GPUs, expected at most %d GPUs in all", nodes, gpus, mostGPUs), "")
	}
	if err := s.tooWide(spec); err != nil {
		return err
	}
	n := host.NVLink
	if n == nil || len(n.Planes) == 0 {
		if gpus > mostDirect {
			return s.tree.ErrorAt(key, fmt.Sprintf("%d GPUs in a node without NVSwitches, expected at most %d", gpus, mostDirect), "")
		}
	}
	if n == nil {
		return nil
	}
	links := int64(0)
	for _, p := range n.Planes {
		if links += min(int64(p), mostLinks+1); links > mostLinks {
			return s.tree.ErrorAt("system", fmt.Sprintf("a GPU has more than %d NVLinks to its switches", mostLinks), "")
		}
	}
	for _, e := range n.Edges {
		if e[2] > mostLinks {
			return s.tree.ErrorAt("system", fmt.Sprintf("GPU %d and GPU %d share %d NVLinks, expected at most %d", e[0], e[1], e[2], mostLinks), "")
		}
	}
	if wires := nodes * gpus * int64(len(n.Planes)); wires > mostWires {
		return s.tree.ErrorAt(key, fmt.Sprintf("%d GPUs on %d NVSwitches each are %d wires, expected at most %d", nodes*gpus, len(n.Planes), wires, mostWires), "")
	}
	for i, f := range s.Faults {
		if gpus > mostFaulty && (f.Down || f.Width > 0 || f.Latency > 0) {
			return s.tree.ErrorAt(at("faults", i), fmt.Sprintf("%d GPUs in a node, expected at most %d with a fault that can change ways", gpus, mostFaulty),
				"a factor or a rate changes none")
		}
	}
	return nil
}

// tooWide returns the error of an inline fabric with too many pairs of switches
// that are joined. They are counted as if the fabric had at least what the
// scenario says; what it chooses by the radix is as little as can be.
func (s *Scenario) tooWide(spec *machine.Spec) error {
	f := spec.Fabric
	if f == nil || s.Network.Fabric.Kind == "" {
		return nil
	}
	hosts := max(1, int64(spec.Hosts)) * max(1, int64(spec.Host.Trays))
	ports := max(1, int64(spec.Host.GPUs)/max(1, int64(spec.Host.Trays)))
	if spec.Host.PCIe != nil {
		ports = max(1, int64(len(spec.Host.PCIe.NICs)))
	}
	per := hosts // of a leaf
	switch {
	case f.HostsPerLeaf > 0:
		per = int64(f.HostsPerLeaf)
	case f.Radix > 0:
		per = max(1, int64(f.Radix)/(2*ports))
	}
	leaves := (hosts + per - 1) / per
	or := func(given int, chosen int64) int64 {
		if given > 0 {
			return int64(given)
		}
		return max(1, chosen)
	}
	var pairs int64
	if f.Kind == fabric.Dragonfly {
		leaves *= or(f.Rails, 1)
		group := min(leaves, or(f.LeavesPerPod, 2*ports*per))
		groups := (leaves + group - 1) / group
		global := or(f.GlobalLinks, group*ports*per/max(1, groups-1))
		pairs = leaves*group/2 + groups*groups/2*min(global, group*group)
	} else {
		if f.Kind == fabric.RailOptimized {
			leaves *= or(f.Rails, ports)
		}
		spines := or(f.Spines, 1)
		pairs = leaves * spines
		if f.Tiers == 3 {
			pairs += leaves / or(f.LeavesPerPod, leaves) * spines * or(f.Cores, 1)
		}
	}
	if pairs > mostTrunks {
		return s.tree.ErrorAt("network.fabric", fmt.Sprintf("about %d pairs of switches to join, expected at most %d", pairs, mostTrunks),
			"more hosts_per_leaf, or fewer of the switches above, make less")
	}
	return nil
}
