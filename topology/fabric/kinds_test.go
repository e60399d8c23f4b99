package fabric_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
)

func TestDragonfly(t *testing.T) {
	// Groups of 4 switches with 2 hosts each; 6 groups. A group has 8 ports to
	// hosts, so 8 global cables over 5 other groups: one to each, on switches 0,
	// 1, 2, 3, 0 in turn.
	s := fabric.Spec{
		Kind: fabric.Dragonfly, HostsPerLeaf: 2, Port: ndr, Cable: long, SwitchLatency: 130 * ns, NICLatency: 500 * ns,
		GlobalLength: 50,
	}
	n := build(t, s, 48, 1)
	assert.Equal(t, map[string]int{"leaf": 24}, switches(n.g))
	// One switch: two ports, a switch, two NICs. Within the group a cable and a
	// switch more.
	p, _ := n.route(t, 0, 1)
	assert.Equal(t, 1150*ns, p.Latency)
	p, hops := n.route(t, 0, 2)
	assert.Equal(t, []string{"n0.nic0 > leaf0 (1 ndr link)", "leaf0 > leaf1 (1 ndr link)", "leaf1 > n2.nic0 (1 ndr link)"}, hops)
	assert.Equal(t, 1380*ns, p.Latency)
	// Group 0 reaches group 2, its second, by switch 1; there group 0 is the
	// first, on switch 8. From switch 0 to switch 9: local, global (50 m more),
	// local: 3 x 230 + 250.
	p, hops = n.route(t, 0, 18)
	assert.Equal(t, []string{"leaf0 > leaf1 (1 ndr link)", "leaf1 > leaf8 (1 ndr link)", "leaf8 > leaf9 (1 ndr link)"}, hops[1:4])
	assert.Equal(t, (1150+3*230+250)*ns, p.Latency)
	// Switch 1 is on the spot, and so is switch 8.
	_, hops = n.route(t, 2, 16)
	assert.Len(t, hops, 3)
	// Three groups on either side, one cable between any two: 9 x 50 GB/s.
	m := topology.Machine{Graph: n.g, Ranks: n.ports}
	assert.InEpsilon(t, 9*50e9, float64(m.Bisection()), 1e-9)
}

func TestDragonflySharesByCables(t *testing.T) {
	// Two groups of two switches, 3 cables: switches 0 and 1 have two and one.
	n := build(t, fabric.Spec{Kind: fabric.Dragonfly, HostsPerLeaf: 1, LeavesPerPod: 2, GlobalLinks: 3, Port: ndr}, 4, 1)
	p, hops := n.route(t, 0, 2)
	assert.EqualValues(t, 3, p.Den)
	shares := map[string]int32{}
	for i, h := range p.Hops {
		shares[hops[i]] = h.Share
	}
	assert.Equal(t, map[string]int32{
		"n0.nic0 > leaf0 (1 ndr link)": 3, "leaf0 > leaf2 (2 ndr links)": 2, "leaf0 > leaf1 (1 ndr link)": 1,
		"leaf1 > leaf3 (1 ndr link)": 1, "leaf3 > leaf2 (1 ndr link)": 1, "leaf2 > n2.nic0 (1 ndr link)": 3,
	}, shares)
	err := (&fabric.Spec{Kind: fabric.Dragonfly, HostsPerLeaf: 4, LeavesPerPod: 8, Radix: 8, Port: ndr}).Validate(64, 1)
	assert.ErrorContains(t, err, "a switch needs 4 ports to hosts, 7 within its group")
	// A radix of 15 is 4 hosts, groups of 8, 4 global cables a switch.
	n = build(t, fabric.Spec{Kind: fabric.Dragonfly, Radix: 15, Port: ndr}, 64, 1)
	assert.Equal(t, map[string]int{"leaf": 16}, switches(n.g))
}

func TestDragonflyDetours(t *testing.T) {
	n := build(t, fabric.Spec{Kind: fabric.Dragonfly, HostsPerLeaf: 1, LeavesPerPod: 3, GlobalLinks: 1, Port: ndr}, 9, 1)
	down := func(from, to string) network {
		g := *n.g
		g.Links = append([]topology.Link(nil), g.Links...)
		for i, l := range g.Links {
			a, b := g.Nodes[l.From].Name, g.Nodes[l.To].Name
			g.Links[i].Down = a == from && b == to || a == to && b == from
		}
		return network{n.Reroute(&g, false), &g, n.ports}
	}
	_, hops := down("leaf0", "leaf1").route(t, 0, 1)
	assert.Len(t, hops, 4, "over switch 2: %v", hops)
	// The only cable between groups 0 and 1: over group 2.
	_, hops = down("leaf0", "leaf3").route(t, 0, 3)
	assert.Greater(t, len(hops), 4, "%v", hops)
}

func TestDenominatorOfLateLinks(t *testing.T) {
	// Four leaves on three spines. One late cable, and the ways are listed one by
	// one: thirds.
	n := build(t, fabric.Spec{Kind: fabric.FatTree, HostsPerLeaf: 3, Spines: 3, Port: ndr}, 12, 1)
	assert.EqualValues(t, 1, n.Reroute(n.g, false).Denominator(1<<13))
	g := *n.g
	g.Links = append([]topology.Link(nil), g.Links...)
	for i, l := range g.Links {
		if g.Nodes[l.From].Name == "leaf0" && g.Nodes[l.To].Name == "spine1" {
			g.Links[i].Latency += ns
		}
	}
	late := n.Reroute(&g, false)
	_, den, _, ok := late.Route(0, 3, nil)
	assert.True(t, ok)
	assert.EqualValues(t, 3, den)
	assert.EqualValues(t, 3, late.Denominator(1<<13))
}

func TestRailOnly(t *testing.T) {
	n := build(t, fabric.Spec{Kind: fabric.RailOnly, Port: ndr}, 4, 2)
	assert.False(t, n.RailsJoined())
	assert.Equal(t, map[string]int{"leaf": 2}, switches(n.g))
	n.route(t, 1, 7)
}

func TestAnyOversubscription(t *testing.T) {
	// 8 hosts a leaf; 3:2 is 5.33 cables up, so 6: cables come whole.
	n := build(t, fabric.Spec{Kind: fabric.FatTree, HostsPerLeaf: 8, Oversubscription: 1.5, Port: ndr}, 16, 1)
	_, hops := n.route(t, 0, 8)
	assert.Equal(t, "leaf0 > spine0 (6 ndr links)", hops[1])
}

func TestCableLengths(t *testing.T) {
	// 3 m to the leaf, 30 m up: 2 x 15 + 2 x 150 ns on top.
	s := fabric.Spec{Kind: fabric.FatTree, HostsPerLeaf: 1, Port: ndr}
	plain, _ := build(t, s, 2, 1).route(t, 0, 1)
	s.PortLength, s.CableLength = 3, 30
	p, _ := build(t, s, 2, 1).route(t, 0, 1)
	assert.Equal(t, plain.Latency+330*ns, p.Latency)
	s.CableLength = -1
	assert.ErrorContains(t, s.Validate(2, 1), "length of a cable is -1 m")
}

func TestECMP(t *testing.T) {
	// 8 hosts a leaf, 8 cables to 4 spines: two cables to each, links of their
	// own. One flow takes one cable up and one down; its pair takes them back.
	s := fabric.Spec{Kind: fabric.FatTree, HostsPerLeaf: 8, Spines: 4, Port: ndr, Cable: long, SwitchLatency: 130 * ns, Spread: fabric.ECMP, Seed: 7}
	n := build(t, s, 16, 1)
	assert.Empty(t, n.g.Trunks)
	used := map[string]int{}
	for a := range int32(8) {
		p, hops := n.route(t, a, 8+a)
		require.Len(t, p.Hops, 4)
		assert.Equal(t, (20+2*100+3*130)*ns, p.Latency)
		used[fmt.Sprint(p.Hops[1].Resource, hops[1])]++
		back, _ := n.route(t, 8+a, a)
		assert.Equal(t, p.Latency, back.Latency)
	}
	// Eight flows on eight cables would be even; by hash some collide. The chance
	// that none does is 8!/8^8 = 0.24 %.
	assert.Less(t, len(used), 8)
	// Sixteen flows of a pair lie on several cables.
	s.Flows = 16
	p, _ := build(t, s, 16, 1).route(t, 0, 15)
	assert.EqualValues(t, 16, p.Den)
	assert.Greater(t, len(p.Hops), 4)
	// Another seed is another throw; the same seed is the same.
	again, _ := build(t, s, 16, 1).route(t, 0, 15)
	assert.Equal(t, p, again)
	s.Seed = 8
	other, _ := build(t, s, 16, 1).route(t, 0, 15)
	assert.NotEqual(t, p.Hops, other.Hops)
}

// TestRandomNetworks: in networks of every kind and spread, with cables down,
// each pair that is joined loses no byte, and its way back is as long.
func TestRandomNetworks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := fabric.Spec{
			Kind: rapid.SampledFrom([]fabric.Kind{fabric.FatTree, fabric.RailOptimized, fabric.Dragonfly}).Draw(rt, "kind"),
			Port: ndr, SwitchLatency: 130 * ns, HostsPerLeaf: rapid.IntRange(1, 3).Draw(rt, "hosts per leaf"),
			Oversubscription: rapid.Float64Range(0.5, 3).Draw(rt, "oversubscription"),
			Tiers:            rapid.IntRange(2, 3).Draw(rt, "tiers"), LeavesPerPod: rapid.IntRange(1, 4).Draw(rt, "leaves per pod"),
			LocalLinks: rapid.IntRange(0, 2).Draw(rt, "local"), GlobalLinks: rapid.IntRange(0, 5).Draw(rt, "global"),
			Spread: rapid.SampledFrom([]fabric.Spread{fabric.Ideal, fabric.ECMP}).Draw(rt, "spread"),
			Flows:  rapid.IntRange(0, 3).Draw(rt, "flows"), Seed: rapid.Uint64().Draw(rt, "seed"),
		}
		n := build(t, s, rapid.IntRange(1, 12).Draw(rt, "hosts"), rapid.IntRange(1, 2).Draw(rt, "nics"))
		for i, l := range n.g.Links {
			if n.g.Nodes[l.From].Kind == topology.Switch && n.g.Nodes[l.To].Kind == topology.Switch && i%2 == 0 && rapid.IntRange(0, 5).Draw(rt, "down") == 0 {
				g := *n.g
				g.Links = append([]topology.Link(nil), g.Links...)
				for k, m := range g.Links {
					if m.From == l.From && m.To == l.To || m.From == l.To && m.To == l.From {
						g.Links[k].Down = true
					}
				}
				n = network{n.Reroute(&g, false), &g, n.ports}
				break // once: a network is found anew from how it was built
			}
		}
		for a := range int32(len(n.ports)) {
			for b := range int32(len(n.ports)) {
				if a == b {
					continue
				}
				hops, den, latency, ok := n.Route(a, b, nil)
				_, _, back, ok2 := n.Route(b, a, nil)
				require.Equal(rt, ok, ok2)
				if !ok {
					continue
				}
				require.Equal(rt, latency, back)
				p := topology.Path{Hops: hops, Den: den, Latency: latency}
				require.NoError(rt, n.g.CheckPath(p, n.ports[a], n.ports[b]))
				require.LessOrEqual(rt, latency, sim.Millisecond)
			}
		}
	})
}
