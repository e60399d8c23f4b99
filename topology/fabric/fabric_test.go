package fabric_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
)

const ns = sim.Nanosecond

var (
	ndr = topology.Wire{Rate: 50e9, Latency: 10 * ns, Class: topology.Class{Name: "ndr"}}
	// The cables between switches are longer.
	long = topology.Wire{Rate: 50e9, Latency: 100 * ns, Class: topology.Class{Name: "ndr"}}
)

type network struct {
	*fabric.Fabric
	g     *topology.Graph
	ports []topology.NodeID
}

func build(t testing.TB, s fabric.Spec, hosts, nics int) network {
	t.Helper()
	g := &topology.Graph{}
	var ports []topology.NodeID
	for h := range hosts {
		for i := range nics {
			ports = append(ports, g.AddNode(topology.Node{Kind: topology.NIC, Name: fmt.Sprintf("n%d.nic%d", h, i), Host: int32(h), Unit: int32(i)}))
		}
	}
	f, err := fabric.Build(g, &s, ports, nics)
	require.NoError(t, err)
	f.AddTrunks(g)
	if f.RailsJoined() {
		require.NoError(t, g.Validate())
	}
	return network{f, g, ports}
}

func (n network) route(t testing.TB, a, b int32) (topology.Path, []string) {
	t.Helper()
	hops, den, latency, ok := n.Route(a, b, nil)
	require.True(t, ok)
	p := topology.Path{Hops: hops, Den: den, Latency: latency, Kind: topology.NET}
	require.NoError(t, n.g.CheckPath(p, n.ports[a], n.ports[b]))
	var names []string
	for _, h := range hops {
		names = append(names, n.g.ResourceName(h.Resource))
	}
	return p, names
}

func switches(g *topology.Graph) map[string]int {
	count := map[string]int{}
	for _, n := range g.Nodes {
		if n.Kind == topology.Switch {
			count[n.Name[:4]]++
		}
	}
	return count
}

func TestRailsOfASuperPOD(t *testing.T) {
	// One scalable unit of the DGX SuperPOD: 32 hosts, 8 rails. A leaf of 64
	// ports has 32 down and 32 up; 8 x 32 uplinks / 64 = 4 spines, each leaf with
	// 8 cables to each. NVIDIA's table for 2, 3 and 4 units: 16, 24, 32 leaves and
	// 8, 16, 16 spines.
	for _, c := range []struct{ units, leaves, spines int }{{1, 8, 4}, {2, 16, 8}, {3, 24, 16}, {4, 32, 16}} {
		n := build(t, fabric.Spec{Kind: fabric.RailOptimized, Radix: 64, Port: ndr, HostsPerLeaf: 32}, 32*c.units, 8)
		assert.Equal(t, map[string]int{"leaf": c.leaves, "spin": c.spines}, switches(n.g), "%d units", c.units)
	}

	n := build(t, fabric.Spec{Kind: fabric.RailOptimized, Radix: 64, Port: ndr, Cable: long, SwitchLatency: 130 * ns, NICLatency: 500 * ns}, 32, 8)
	// Same rail: NIC 3 of hosts 0 and 5. Two ports, a switch, two NICs:
	// 20 + 130 + 1,000.
	p, hops := n.route(t, 3, 5*8+3)
	assert.Equal(t, []string{"n0.nic3 > leaf3 (1 ndr link)", "leaf3 > n5.nic3 (1 ndr link)"}, hops)
	assert.Equal(t, 1150*ns, p.Latency)
	// Across rails by the spines: two long cables and two switches more, 460.
	p, hops = n.route(t, 3, 5*8+4)
	assert.Equal(t, []string{
		"n0.nic3 > leaf3 (1 ndr link)", "leaf3 > spine (32 ndr links)", "spine > leaf4 (32 ndr links)", "leaf4 > n5.nic4 (1 ndr link)",
	}, hops)
	assert.Equal(t, 1610*ns, p.Latency)
	assert.InEpsilon(t, 32*50e9, float64(n.g.Capacity(p.Hops[1].Resource)), 1e-12)
}

func TestRailsAlone(t *testing.T) {
	n := build(t, fabric.Spec{Kind: fabric.RailOptimized, Tiers: 1, Port: ndr}, 4, 2)
	assert.False(t, n.RailsJoined())
	assert.Equal(t, 2, n.Rails())
	n.route(t, 0, 2)
	_, _, _, ok := n.Route(0, 3, nil)
	assert.False(t, ok)
}

func TestSeveralNICsOnARail(t *testing.T) {
	// Four NICs, two rails: NICs 0 and 2 on leaf 0, 1 and 3 on leaf 1.
	n := build(t, fabric.Spec{Kind: fabric.RailOptimized, Rails: 2, Port: ndr}, 2, 4)
	_, hops := n.route(t, 2, 4)
	assert.Equal(t, []string{"n0.nic2 > leaf0 (1 ndr link)", "leaf0 > n1.nic0 (1 ndr link)"}, hops)
	// 2 hosts x 2 NICs down: 4 cables up.
	_, hops = n.route(t, 2, 5)
	assert.Contains(t, hops, "leaf0 > spine0 (4 ndr links)")
}

func TestSingleSwitch(t *testing.T) {
	n := build(t, fabric.Spec{Kind: fabric.SingleSwitch, Port: ndr, Radix: 64}, 8, 8)
	assert.Equal(t, map[string]int{"leaf": 1}, switches(n.g))
	_, hops := n.route(t, 0, 63)
	assert.Len(t, hops, 2)
}

func TestOversubscribedFatTree(t *testing.T) {
	// 4 hosts of 8 NICs on a leaf, 4:1: 32 down, 8 up. What leaves a leaf shares
	// 8 x 50 = 400 GB/s, a quarter of its hosts' 1,600.
	n := build(t, fabric.Spec{Kind: fabric.FatTree, HostsPerLeaf: 4, Oversubscription: 4, Radix: 64, Port: ndr}, 16, 8)
	assert.Equal(t, map[string]int{"leaf": 4, "spin": 1}, switches(n.g))
	p, hops := n.route(t, 0, 8*4)
	assert.Equal(t, "leaf0 > spine0 (8 ndr links)", hops[1])
	assert.InEpsilon(t, 400e9, float64(n.g.Capacity(p.Hops[1].Resource)), 1e-12)
	// Inside a leaf there is no taper.
	_, hops = n.route(t, 0, 8)
	assert.Len(t, hops, 2)
	m := topology.Machine{Graph: n.g, Ranks: n.ports}
	// Two leaves on either side: 2 x 400 GB/s.
	assert.InEpsilon(t, 800e9, float64(m.Bisection()), 1e-9)
}

func TestFatTreeChoosesHostsPerLeaf(t *testing.T) {
	// Radix 64 at 3:1 with one NIC a host: 48 down, 16 up; 96 hosts on 2 leaves.
	n := build(t, fabric.Spec{Kind: fabric.FatTree, Oversubscription: 3, Radix: 64, Port: ndr}, 96, 1)
	assert.Equal(t, map[string]int{"leaf": 2, "spin": 1}, switches(n.g))
}

func TestThreeTiers(t *testing.T) {
	// The classic fat tree of radix 4: pods of 2 leaves and 2 spines, 2 hosts a
	// leaf, 4 pods = 16 hosts; a plane of 2 cores over each spine number.
	n := build(t, fabric.Spec{Kind: fabric.FatTree, Tiers: 3, Radix: 4, Port: ndr, SwitchLatency: 130 * ns}, 16, 1)
	assert.Equal(t, map[string]int{"leaf": 8, "spin": 8, "core": 4}, switches(n.g))
	_, hops := n.route(t, 0, 1)
	assert.Len(t, hops, 2)
	p, hops := n.route(t, 0, 2)
	assert.Len(t, hops, 4, "%v", hops)
	assert.Equal(t, (4*10+3*130)*ns, p.Latency)
	p, hops = n.route(t, 0, 15)
	assert.Equal(t, []string{
		"n0.nic0 > leaf0 (1 ndr link)", "leaf0 > spine (2 ndr links)", "spine > core (4 ndr links)",
		"core > spine (4 ndr links)", "spine > leaf7 (2 ndr links)", "leaf7 > n15.nic0 (1 ndr link)",
	}, hops)
	assert.Equal(t, (6*10+5*130)*ns, p.Latency)
	// Full bisection: 8 hosts on either side.
	m := topology.Machine{Graph: n.g, Ranks: n.ports}
	assert.InEpsilon(t, 8*50e9, float64(m.Bisection()), 1e-9)
	for _, node := range n.g.Nodes {
		if node.Kind == topology.Switch {
			id, _ := n.g.Node(node.Name)
			_, ports := n.g.Egress(id, topology.Switch, topology.NIC)
			assert.Equal(t, 4, ports, node.Name)
		}
	}
}

func TestThreeTiersHoldACubeOfTheRadix(t *testing.T) {
	// radix^3/4 ports: 64 pods of 32 leaves of 32 hosts' NICs, whatever the rails.
	for _, c := range []struct{ hosts, nics, radix int }{
		{8192, 8, 64}, {16384, 4, 64}, {65536, 1, 64}, {2049, 8, 64}, {114 * 18, 4, 64}, {54, 4, 6 * 2},
	} {
		s := fabric.Spec{Kind: fabric.RailOptimized, Tiers: 3, Radix: c.radix, Port: ndr}
		assert.NoError(t, s.Validate(c.hosts, c.nics), "%+v", c)
	}
	s := fabric.Spec{Kind: fabric.RailOptimized, Tiers: 3, Radix: 64, Port: ndr}
	assert.ErrorContains(t, s.Validate(8193, 8), "65 pods of 32 leaves, whose spines have 32 uplinks each, do not fit on 32 cores of radix 64")
	// Spines that pass on a third of what they take in have more leaves below.
	s.CoreOversubscription = 3
	assert.NoError(t, s.Validate(64*6*32, 8))

	// A small one, cable by cable: radix 8 and 2 rails, 4 hosts a leaf, pods of 4
	// leaves (two sets), 8 pods for 64 hosts: no switch has more than 8 ports.
	n := build(t, fabric.Spec{Kind: fabric.RailOptimized, Tiers: 3, Radix: 8, Port: ndr}, 64, 2)
	assert.Equal(t, map[string]int{"leaf": 32, "spin": 32, "core": 16}, switches(n.g))
	for _, node := range n.g.Nodes {
		if node.Kind == topology.Switch {
			id, _ := n.g.Node(node.Name)
			_, ports := n.g.Egress(id, topology.Switch, topology.NIC)
			assert.Equal(t, 8, ports, node.Name)
		}
	}
	m := topology.Machine{Graph: n.g, Ranks: n.ports}
	assert.InEpsilon(t, 64*50e9, float64(m.Bisection()), 1e-9, "as much as 64 NICs send")
}

func TestFasterCables(t *testing.T) {
	// 8 ports of 50 GB/s need 4 cables of 100.
	xdr := topology.Wire{Rate: 100e9, Class: topology.Class{Name: "xdr"}}
	n := build(t, fabric.Spec{Kind: fabric.FatTree, HostsPerLeaf: 8, Port: ndr, Cable: xdr}, 16, 1)
	_, hops := n.route(t, 0, 8)
	assert.Contains(t, hops, "leaf0 > spine0 (4 xdr links)")
}

func TestSpecErrors(t *testing.T) {
	for _, c := range []struct {
		name        string
		spec        fabric.Spec
		hosts, nics int
		want        string
	}{
		{"kind", fabric.Spec{Kind: "torus", Port: ndr}, 2, 1, `kind "torus" is unknown; the kinds are "single-switch", "rail-optimized", "rail-only", "fat-tree", "dragonfly"`},
		{"rate", fabric.Spec{Kind: fabric.SingleSwitch}, 2, 1, "port: rate is 0 B/s"},
		{"tiers", fabric.Spec{Kind: fabric.FatTree, Tiers: 1, Port: ndr, Radix: 4}, 2, 1, "1 tiers, a fat tree has 2 or 3"},
		{"rail tiers", fabric.Spec{Kind: fabric.RailOptimized, Tiers: 4, Port: ndr}, 2, 1, "4 tiers, a rail-optimised network has 1, 2 or 3"},
		{"rails", fabric.Spec{Kind: fabric.RailOptimized, Rails: 9, Port: ndr}, 2, 8, "9 rails for hosts with 8 NICs"},
		{"size of a leaf", fabric.Spec{Kind: fabric.FatTree, Port: ndr}, 2, 1, "neither hosts per leaf nor the radix"},
		{"full switch", fabric.Spec{Kind: fabric.SingleSwitch, Port: ndr, Radix: 4}, 5, 1, "needs 5 ports down and 0 up, its radix is 4"},
		{"full leaf", fabric.Spec{Kind: fabric.FatTree, Port: ndr, Radix: 8, HostsPerLeaf: 5}, 5, 1, "needs 5 ports down and 5 up, its radix is 8"},
		{"full rails", fabric.Spec{Kind: fabric.RailOptimized, Tiers: 1, Port: ndr, Radix: 4}, 5, 2, "no tier of switches to join the leaves"},
		{"too many leaves", fabric.Spec{Kind: fabric.FatTree, Port: ndr, Radix: 4}, 16, 1, "8 leaves with 2 uplinks each do not fit on 2 spines of radix 4"},
		{"too many pods", fabric.Spec{Kind: fabric.FatTree, Tiers: 3, Port: ndr, Radix: 4}, 32, 1, "8 pods of 2 leaves, whose spines have 2 uplinks each, do not fit on 2 cores of radix 4"},
		{"pods without size", fabric.Spec{Kind: fabric.FatTree, Tiers: 3, Port: ndr, HostsPerLeaf: 2}, 4, 1, "need leaves per pod or the radix"},
		{"uneven spines", fabric.Spec{Kind: fabric.FatTree, Port: ndr, HostsPerLeaf: 4, Spines: 3}, 8, 1, "do not fit on 3 spines"},
		{"oversubscription", fabric.Spec{Kind: fabric.SingleSwitch, Port: ndr, Oversubscription: -1}, 8, 1, "oversubscription is -1"},
		{"negative", fabric.Spec{Kind: fabric.SingleSwitch, Port: ndr, Radix: -1, NICLatency: -1}, 8, 1, "radix is -1"},
		{"no ports", fabric.Spec{Kind: fabric.SingleSwitch, Port: ndr}, 0, 1, "0 hosts with 1 ports each"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.ErrorContains(t, c.spec.Validate(c.hosts, c.nics), c.want)
		})
	}
	_, err := fabric.Build(&topology.Graph{}, &fabric.Spec{}, make([]topology.NodeID, 3), 2)
	assert.ErrorContains(t, err, "3 ports of hosts with 2 each")
}
