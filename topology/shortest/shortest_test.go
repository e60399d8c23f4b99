package shortest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/shortest"
)

const ns = sim.Nanosecond

// wiring builds graphs in few words.
type wiring struct{ g *topology.Graph }

func newWiring() wiring { return wiring{&topology.Graph{}} }

func (w wiring) node(kind topology.NodeKind, name string, host int32) topology.NodeID {
	return w.g.AddNode(topology.Node{Kind: kind, Name: name, Host: host})
}

func (w wiring) gpus(n int) []topology.NodeID {
	var ids []topology.NodeID
	for i := range n {
		ids = append(ids, w.node(topology.GPU, fmt.Sprintf("n0.gpu%d", i), 0))
	}
	return ids
}

func (w wiring) link(a, b topology.NodeID, class string, rate sim.Rate, latency sim.Time, width int32) topology.LinkID {
	l, _ := w.g.AddDuplex(topology.Link{
		From: a, To: b, Rate: rate, Latency: latency, Width: width, Class: w.g.AddClass(topology.Class{Name: class, Raw: rate}),
	})
	return l
}

func ring(n int) (*topology.Graph, []topology.NodeID) {
	w := newWiring()
	gpus := w.gpus(n)
	for i := range gpus {
		w.link(gpus[i], gpus[(i+1)%n], "wire", 50*sim.GBps, 500*ns, 1)
	}
	return w.g, gpus
}

// clos is GPUs on leaves, and spines above, with latencies of 100 and 200 ns.
func clos(leaves, perLeaf, spines int, width int32) (*topology.Graph, []topology.NodeID) {
	w := newWiring()
	gpus := w.gpus(leaves * perLeaf)
	var lower, upper []topology.NodeID
	for i := range leaves {
		lower = append(lower, w.node(topology.Switch, fmt.Sprintf("leaf%d", i), -1))
	}
	for i := range spines {
		upper = append(upper, w.node(topology.Switch, fmt.Sprintf("spine%d", i), -1))
	}
	for i, gpu := range gpus {
		w.link(gpu, lower[i/perLeaf], "port", 50*sim.GBps, 100*ns, 1)
	}
	for _, a := range lower {
		for _, b := range upper {
			w.link(a, b, "cable", sim.Rate(width)*50*sim.GBps, 200*ns, width)
		}
	}
	return w.g, gpus
}

func build(t testing.TB, g *topology.Graph, ranks []topology.NodeID, o shortest.Options) *topology.Machine {
	t.Helper()
	m, err := shortest.Build(g, ranks, o)
	require.NoError(t, err)
	require.NoError(t, m.CheckRoutes())
	return m
}

func route(t testing.TB, m *topology.Machine, a, b int32) (topology.Path, []string) {
	t.Helper()
	p, err := m.Route(a, b, nil)
	require.NoError(t, err)
	require.NoError(t, m.Graph.CheckPath(p, m.Ranks[a], m.Ranks[b]))
	var names []string
	for _, h := range p.Hops {
		l := m.Graph.Links[h.Resource]
		names = append(names, fmt.Sprintf("%s>%s %d/%d", m.Graph.Nodes[l.From].Name, m.Graph.Nodes[l.To].Name, h.Share, p.Den))
	}
	return p, names
}

func TestRing(t *testing.T) {
	g, gpus := ring(16)
	_, err := shortest.Build(g, gpus, shortest.Options{Name: "ring"})
	assert.EqualError(t, err, "route ring: no route from rank 0 (n0.gpu0) to rank 2 (n0.gpu2): no path leads there unless GPUs forward (a ring or mesh of GPUs needs relays)")

	m := build(t, g, gpus, shortest.Options{Relay: true})
	p, names := route(t, m, 1, 15)
	assert.Equal(t, []string{"n0.gpu1>n0.gpu0 1/1", "n0.gpu0>n0.gpu15 1/1"}, names)
	assert.Equal(t, 1000*ns, p.Latency)
	assert.Equal(t, topology.NVB, p.Kind)
	p, names = route(t, m, 3, 4)
	assert.Len(t, names, 1)
	assert.Equal(t, topology.NVL, p.Kind)
	// The far side: 8 links of 500 ns either way, half on each.
	p, names = route(t, m, 0, 8)
	assert.Len(t, names, 16)
	assert.Equal(t, int32(2), p.Den)
	assert.Equal(t, 4000*ns, p.Latency)
	_, rate := g.Bottleneck(p)
	assert.Equal(t, 100*sim.GBps, rate)
}

func TestSpread(t *testing.T) {
	g, gpus := clos(2, 2, 3, 2)
	m := build(t, g, gpus, shortest.Options{})
	p, names := route(t, m, 0, 1)
	assert.Equal(t, []string{"n0.gpu0>leaf0 1/1", "leaf0>n0.gpu1 1/1"}, names)
	assert.Equal(t, 200*ns, p.Latency)
	p, names = route(t, m, 0, 3)
	assert.ElementsMatch(t, []string{
		"n0.gpu0>leaf0 3/3", "leaf0>spine0 1/3", "leaf0>spine1 1/3", "leaf0>spine2 1/3",
		"spine0>leaf1 1/3", "spine1>leaf1 1/3", "spine2>leaf1 1/3", "leaf1>n0.gpu3 3/3",
	}, names)
	assert.Equal(t, 600*ns, p.Latency)
	assert.Equal(t, topology.NET, p.Kind)

	// Widths 2, 2 and 1 of equal cables: 2/5, 2/5, 1/5.
	for i, l := range g.Links {
		if g.Nodes[l.From].Name == "spine2" || g.Nodes[l.To].Name == "spine2" {
			g.Links[i].Width, g.Links[i].Rate = 1, 50*sim.GBps
		}
	}
	m = build(t, g, gpus, shortest.Options{})
	_, names = route(t, m, 0, 3)
	assert.Contains(t, names, "leaf0>spine0 2/5")
	assert.Contains(t, names, "leaf0>spine2 1/5")

	// Of equal length the faster cable: spine 1 has been replaced.
	for i, l := range g.Links {
		if g.Nodes[l.From].Name == "spine1" || g.Nodes[l.To].Name == "spine1" {
			g.Links[i].Rate *= 2
		}
	}
	// The port is the narrowest either way, so both are as good.
	m = build(t, g, gpus, shortest.Options{})
	_, names = route(t, m, 0, 3)
	assert.Len(t, names, 8)
	for i, l := range g.Links {
		if g.Nodes[l.From].Kind == topology.GPU || g.Nodes[l.To].Kind == topology.GPU {
			g.Links[i].Rate = 200 * sim.GBps
		}
	}
	m = build(t, g, gpus, shortest.Options{})
	_, names = route(t, m, 0, 3)
	assert.ElementsMatch(t, []string{"n0.gpu0>leaf0 1/1", "leaf0>spine1 1/1", "spine1>leaf1 1/1", "leaf1>n0.gpu3 1/1"}, names)
}

func TestUnevenSpreadKeepsTheDenominator(t *testing.T) {
	g, gpus := clos(2, 8, 7, 1)
	m := build(t, g, gpus, shortest.Options{})
	var total [7]int
	for a := int32(0); a < 8; a++ {
		for b := int32(8); b < 16; b++ {
			p, _ := route(t, m, a, b)
			assert.Equal(t, int32(46080), p.Den)
			for _, h := range p.Hops {
				if l := g.Links[h.Resource]; g.Nodes[l.To].Name[0] == 's' {
					total[g.Nodes[l.To].Name[5]-'0'] += int(h.Share)
				}
			}
		}
	}
	for s, n := range total {
		assert.InEpsilon(t, 64*46080/7.0, n, 1e-4, "spine %d", s)
	}
}

func TestOnePath(t *testing.T) {
	g, gpus := clos(4, 16, 4, 1)
	m := build(t, g, gpus, shortest.Options{OnePath: true, Seed: 7})
	var used [4]int
	for a := int32(0); a < 16; a++ {
		for b := int32(16); b < 64; b++ {
			p, names := route(t, m, a, b)
			require.Len(t, names, 4)
			require.Equal(t, int32(1), p.Den)
			used[g.Nodes[g.Links[p.Hops[1].Resource].To].Name[5]-'0']++
			again, _ := route(t, m, a, b)
			require.Equal(t, p, again)
		}
	}
	for s, n := range used { // 768 flows on 4 spines: 192 each, deviation 12
		assert.InDelta(t, 192, n, 48, "spine %d", s)
	}
	other := build(t, g, gpus, shortest.Options{OnePath: true, Seed: 8})
	same := 0
	for b := int32(16); b < 64; b++ {
		p, _ := route(t, m, 0, b)
		q, _ := route(t, other, 0, b)
		if p.Hops[1] == q.Hops[1] {
			same++
		}
	}
	assert.Less(t, same, 40, "another seed, other paths")
}

func TestWaysBoundsHops(t *testing.T) {
	g, gpus := clos(2, 1, 40, 1)
	for ways, want := range map[int]int{0: 40, 8: 8, 1: 1} {
		m := build(t, g, gpus, shortest.Options{Ways: ways})
		_, names := route(t, m, 0, 1)
		assert.Len(t, names, 2+2*want, "%d ways", ways)
	}
}

// Two servers of two GPUs on an NVSwitch, GPU i on leaf i, a spine above.
func TestPreferRelaysOverNVLink(t *testing.T) {
	w := newWiring()
	var gpus []topology.NodeID
	leaves := []topology.NodeID{w.node(topology.Switch, "leaf0", -1), w.node(topology.Switch, "leaf1", -1)}
	spine := w.node(topology.Switch, "spine0", -1)
	for h := range int32(2) {
		nvs := w.node(topology.NVSwitch, fmt.Sprintf("n%d.nvswitch0", h), h)
		for i := range 2 {
			gpu := w.node(topology.GPU, fmt.Sprintf("n%d.gpu%d", h, i), h)
			gpus = append(gpus, gpu)
			w.link(gpu, nvs, "nvlink", 450*sim.GBps, 500*ns, 18)
			w.link(gpu, leaves[i], "net", 50*sim.GBps, 700*ns, 1)
		}
	}
	w.link(leaves[0], spine, "net", 50*sim.GBps, 700*ns, 1)
	w.link(leaves[1], spine, "net", 50*sim.GBps, 700*ns, 1)

	m := build(t, w.g, gpus, shortest.Options{})
	_, names := route(t, m, 0, 3)
	assert.Equal(t, []string{"n0.gpu0>leaf0 1/1", "leaf0>spine0 1/1", "spine0>leaf1 1/1", "leaf1>n1.gpu1 1/1"}, names)
	p, _ := route(t, m, 0, 1)
	assert.Equal(t, topology.NVL, p.Kind)

	m = build(t, w.g, gpus, shortest.Options{Relay: true, Prefer: []string{"nvlink"}, OnePath: true})
	p, names = route(t, m, 0, 3)
	assert.Len(t, names, 4)
	assert.NotContains(t, fmt.Sprint(names), "spine0")
	assert.Equal(t, topology.NET, p.Kind)
	assert.Equal(t, 2400*ns, p.Latency)

	_, err := shortest.Build(w.g, gpus, shortest.Options{Prefer: []string{"nvlnk"}})
	assert.EqualError(t, err, `route machine: no link is of the preferred class "nvlnk"; the classes are nvlink, net`)
}

// A NIC with a port on each of two leaves must not join them.
func TestNoPathThroughANIC(t *testing.T) {
	w := newWiring()
	leaf := []topology.NodeID{w.node(topology.Switch, "leaf0", -1), w.node(topology.Switch, "leaf1", -1)}
	spine := w.node(topology.Switch, "spine0", -1)
	var gpus []topology.NodeID
	for i, ports := range [][]int{{0, 1}, {0}, {1}} {
		gpu := w.node(topology.GPU, fmt.Sprintf("n%d.gpu0", i), int32(i))
		nic := w.node(topology.NIC, fmt.Sprintf("n%d.nic0", i), int32(i))
		gpus = append(gpus, gpu)
		w.link(gpu, nic, "pcie", 48*sim.GBps, 300*ns, 16)
		for _, p := range ports {
			w.link(nic, leaf[p], "net", 25*sim.GBps, 700*ns, 1)
		}
	}
	// The dual-port NIC would be the shorter way between the leaves.
	w.link(leaf[0], spine, "net", 25*sim.GBps, 900*ns, 1)
	w.link(leaf[1], spine, "net", 25*sim.GBps, 900*ns, 1)
	m := build(t, w.g, gpus, shortest.Options{})
	_, names := route(t, m, 1, 2)
	assert.Equal(t, []string{
		"n1.gpu0>n1.nic0 1/1", "n1.nic0>leaf0 1/1", "leaf0>spine0 1/1", "spine0>leaf1 1/1", "leaf1>n2.nic0 1/1", "n2.nic0>n2.gpu0 1/1",
	}, names)
	_, names = route(t, m, 0, 2)
	assert.Equal(t, []string{"n0.gpu0>n0.nic0 1/1", "n0.nic0>leaf1 1/1", "leaf1>n2.nic0 1/1", "n2.nic0>n2.gpu0 1/1"}, names)

	// The NICs themselves may be the ranks of a network without GPUs.
	nics := []topology.NodeID{gpus[0] + 1, gpus[1] + 1, gpus[2] + 1}
	m = build(t, w.g, nics, shortest.Options{})
	_, names = route(t, m, 1, 2)
	assert.Len(t, names, 4)
}

func TestRanksRefused(t *testing.T) {
	g, gpus := clos(2, 2, 1, 1)
	for name, c := range map[string]struct {
		ranks []topology.NodeID
		want  string
	}{
		"none":     {nil, "no ranks"},
		"switch":   {[]topology.NodeID{gpus[0], 4}, "rank 1 is leaf0, a switch; must be a GPU"},
		"twice":    {[]topology.NodeID{gpus[1], gpus[0], gpus[1]}, "ranks 0 and 2 are both n0.gpu1"},
		"too high": {[]topology.NodeID{99}, "rank 0 is node 99, but the nodes are 0 to 6"},
	} {
		_, err := shortest.Build(g, c.ranks, shortest.Options{})
		assert.ErrorContains(t, err, c.want, name)
	}
	m := build(t, g, gpus, shortest.Options{Name: "four"})
	_, err := m.Route(0, 4, nil)
	assert.EqualError(t, err, "route from rank 0 to rank 4 of four: the ranks are 0 to 3")
	p, err := m.Route(2, 2, nil)
	assert.NoError(t, err)
	assert.Equal(t, topology.Path{Den: 1}, p)
}

func TestWarmRouteAllocatesNothing(t *testing.T) {
	g, gpus := clos(4, 4, 4, 1)
	m := build(t, g, gpus, shortest.Options{})
	var buf [64]topology.Hop
	n := testing.AllocsPerRun(100, func() {
		for b := range int32(16) {
			_, _ = m.Route(0, b, buf[:0])
		}
	})
	assert.Zero(t, n)
}
