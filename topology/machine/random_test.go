package machine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

func drawWire(t *rapid.T, name string) topology.Wire {
	return topology.Wire{
		Rate:    sim.Rate(rapid.IntRange(1, 100).Draw(t, name+" rate")) * sim.GBps,
		Latency: sim.Time(rapid.IntRange(0, 500).Draw(t, name+" latency")) * ns,
		Class:   topology.Class{Name: name},
	}
}

func drawNVLink(t *rapid.T, gpus int) *nvlink.Spec {
	s := &nvlink.Spec{Link: drawWire(t, "nvlink"), SwitchLatency: 100 * ns}
	switch rapid.SampledFrom([]string{"none", "planes", "down", "mesh", "tier"}).Draw(t, "nvlink") {
	case "none":
		return nil
	case "planes":
		s.Planes = rapid.SliceOfN(rapid.IntRange(1, 5), 1, 6).Draw(t, "planes")
	case "down":
		s.Planes = rapid.SliceOfN(rapid.IntRange(1, 5), 2, 6).Draw(t, "planes")
		p := rapid.IntRange(0, len(s.Planes)-1).Draw(t, "plane")
		s.Down = []nvlink.Down{{
			GPU: rapid.IntRange(0, gpus-1).Draw(t, "gpu"), Plane: p, Links: rapid.IntRange(1, s.Planes[p]).Draw(t, "down"),
		}}
	case "tier":
		if gpus%2 != 0 {
			return nil
		}
		s.Planes = rapid.SliceOfN(rapid.IntRange(1, 3), 1, 4).Draw(t, "planes")
		s.Tier = &nvlink.Tier{Groups: 2, Link: drawWire(t, "tier"), SwitchLatency: 90 * ns}
		twins := rapid.Bool().Draw(t, "twins")
		for range s.Planes {
			k := rapid.IntRange(1, 3).Draw(t, "upper switches")
			s.Tier.Uplinks = append(s.Tier.Uplinks, k*rapid.IntRange(1, 2).Draw(t, "uplinks"))
			if !twins {
				s.Tier.Switches = append(s.Tier.Switches, k)
			}
		}
	case "mesh":
		for a := range gpus {
			for b := a + 1; b < gpus; b++ {
				if n := rapid.IntRange(0, 2).Draw(t, "links"); n > 0 {
					s.Edges = append(s.Edges, [3]int{a, b, n})
				}
			}
		}
		if s.Edges == nil {
			return nil
		}
	}
	return s
}

func drawPCIe(t *rapid.T, gpus, nics int) *pcie.Spec {
	s := &pcie.Spec{
		Sockets: rapid.IntRange(1, 2).Draw(t, "sockets"), SocketLink: drawWire(t, "upi"), Memory: drawWire(t, "memory"),
		SwitchLatency: 115 * ns, BridgeLatency: 150 * ns, SocketLatency: 40 * ns,
		P2P: pcie.Reach(rapid.IntRange(0, int(pcie.Nowhere)).Draw(t, "p2p")),
		GDR: pcie.Reach(rapid.IntRange(0, int(pcie.Nowhere)).Draw(t, "gdr")),
		ACS: rapid.Bool().Draw(t, "acs"),
	}
	for i := range rapid.IntRange(s.Sockets, 4).Draw(t, "bridges") {
		s.Bridges = append(s.Bridges, pcie.Bridge{Socket: i % s.Sockets, Link: onDie})
	}
	slot := func(name string) pcie.Slot {
		if n := len(s.Switches); n > 0 && rapid.Bool().Draw(t, name+" on switch") {
			return under(pcie.OnSwitch, rapid.IntRange(0, n-1).Draw(t, name), gen5)
		}
		return under(pcie.OnBridge, rapid.IntRange(0, len(s.Bridges)-1).Draw(t, name), gen5)
	}
	for range rapid.IntRange(0, 4).Draw(t, "switches") {
		s.Switches = append(s.Switches, slot("switch"))
	}
	for range gpus {
		s.GPUs = append(s.GPUs, slot("gpu"))
	}
	for range nics {
		s.NICs = append(s.NICs, slot("nic"))
	}
	return s
}

func drawFabric(t *rapid.T) *fabric.Spec {
	s := &fabric.Spec{
		Kind: rapid.SampledFrom([]fabric.Kind{fabric.SingleSwitch, fabric.RailOptimized, fabric.FatTree}).Draw(t, "kind"),
		Port: drawWire(t, "port"), SwitchLatency: 130 * ns, NICLatency: 500 * ns,
		Oversubscription: float64(rapid.IntRange(0, 3).Draw(t, "oversubscription")),
	}
	s.Cable = s.Port
	s.HostsPerLeaf = rapid.IntRange(1, 3).Draw(t, "hosts per leaf")
	s.Tiers = rapid.IntRange(2, 3).Draw(t, "tiers")
	s.LeavesPerPod = rapid.IntRange(1, 3).Draw(t, "leaves per pod")
	return s
}

func drawMachine(t *rapid.T) machine.Spec {
	gpus := rapid.IntRange(1, 6).Draw(t, "gpus")
	s := machine.Spec{Name: "random", Hosts: rapid.IntRange(1, 4).Draw(t, "hosts"), Host: machine.Host{GPUs: gpus}}
	s.Host.NVLink = drawNVLink(t, gpus)
	s.Host.PCIe = drawPCIe(t, gpus, rapid.IntRange(1, 5).Draw(t, "nics"))
	if s.Hosts > 1 {
		s.Relay = rapid.SampledFrom([]machine.Relay{machine.RelayIfNeeded, machine.RelayAlways, machine.RelayNever}).Draw(t, "relay")
		s.Fabric = drawFabric(t)
	}
	return s
}

// TestRandomMachines: in every machine all pairs route; each path leads from
// the one GPU to the other; and the way back is as long, and unless it is
// staged (where the buffer changes sockets), runs over the same wires.
func TestRandomMachines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawMachine(t)
		m, err := machine.Build(s)
		require.NoError(t, err)
		n := int32(len(m.Ranks))
		for a := range n {
			for b := range n {
				there, err := m.Route(a, b, nil)
				require.NoError(t, err)
				require.NoError(t, m.Graph.CheckPath(there, m.Ranks[a], m.Ranks[b]))
				if there.Den == 1 {
					require.Equal(t, linkLatency(m.Graph, there), there.Latency)
				}
				back, err := m.Route(b, a, nil)
				require.NoError(t, err)
				require.Equal(t, there.Kind, back.Kind)
				if there.Kind == topology.NET && s.Relay == machine.RelayAlways {
					continue // only senders hand over
				}
				require.Equal(t, there.Latency, back.Latency)
				require.Equal(t, there.Staged, back.Staged)
				if !there.Staged {
					require.Equal(t, wires(m.Graph, there, false), wires(m.Graph, back, true))
				}
			}
		}
	})
}

// linkLatency adds up the links of a path that is not sprayed.
func linkLatency(g *topology.Graph, p topology.Path) sim.Time {
	var sum sim.Time
	for _, h := range p.Hops {
		links, _ := g.Members(h.Resource)
		sum += sim.Time(h.Share) * g.Links[links[0]].Latency
	}
	return sum
}

// wires lists what a path crosses as "share/den from>to", sorted, and with
// the ends swapped if reverse is set.
func wires(g *topology.Graph, p topology.Path, reverse bool) []string {
	var s []string
	for _, h := range p.Hops {
		links, shares := g.Members(h.Resource)
		for i, id := range links {
			from, to := g.Links[id].From, g.Links[id].To
			if reverse {
				from, to = to, from
			}
			s = append(s, fmt.Sprintf("%d/%d %d: %s>%s", h.Share, p.Den, shares[i], g.Nodes[from].Name, g.Nodes[to].Name))
		}
	}
	slices.Sort(s)
	return s
}

// TestFasterWiresFasterPaths: twice the rate of every wire is twice the rate
// of every path, and changes no route.
func TestFasterWiresFasterPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawMachine(t)
		m, err := machine.Build(s)
		require.NoError(t, err)
		n := int32(len(m.Ranks))
		if n < 2 {
			return
		}
		a, b := rapid.Int32Range(0, n-1).Draw(t, "a"), rapid.Int32Range(0, n-1).Draw(t, "b")
		p, err := m.Route(a, b, nil)
		require.NoError(t, err)
		_, before := m.Graph.Bottleneck(p)
		for i := range m.Graph.Links {
			m.Graph.Links[i].Rate *= 2
		}
		_, after := m.Graph.Bottleneck(p)
		require.Equal(t, 2*before, after)
	})
}
