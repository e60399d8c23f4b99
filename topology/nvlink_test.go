package topology_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Two hosts of two GPUs in a ring of four: the wires between hosts are a
// network, whatever they are made of.
func TestWiresBetweenHostsAreNoNVLink(t *testing.T) {
	g := square()
	g.Nodes[2].Host, g.Nodes[3].Host = 1, 1
	m := &topology.Machine{Graph: g, Ranks: []topology.NodeID{0, 1, 2, 3}, Hosts: 2}
	assert.Equal(t, [][]int32{{0, 1}, {2, 3}}, m.Survey().Domains)
	rate, links := m.GPUEgress(0)
	assert.Equal(t, sim.Rate(10), rate, "to b, and not to d")
	assert.Equal(t, 1, links)

	for i := range g.Nodes {
		g.Nodes[i].Host = int32(i)
	}
	s := m.Survey()
	assert.Empty(t, s.Domains)
	assert.Equal(t, []int32{0, 1, 2, 3}, s.WithoutNVLink)
	_, links = m.GPUEgress(0)
	assert.Zero(t, links)

	// An NVSwitch joins hosts: a rack.
	g = &topology.Graph{}
	class := g.AddClass(topology.Class{Name: "nvlink"})
	a := g.AddNode(topology.Node{Kind: topology.GPU, Name: "a"})
	b := g.AddNode(topology.Node{Kind: topology.GPU, Name: "b", Host: 1})
	sw := g.AddNode(topology.Node{Kind: topology.NVSwitch, Name: "s", Host: -1})
	for _, gpu := range []topology.NodeID{a, b} {
		g.AddDuplex(topology.Link{From: gpu, To: sw, Rate: 10, Class: class, Width: 2})
	}
	m = &topology.Machine{Graph: g, Ranks: []topology.NodeID{a, b}, Hosts: 2}
	assert.Equal(t, [][]int32{{0, 1}}, m.Survey().Domains)
	_, links = m.GPUEgress(1)
	assert.Equal(t, 2, links)
}

func TestBottleneckOfWhatIsHeld(t *testing.T) {
	// a to c by b: 10 and 20 B/s.
	g := square()
	p := topology.Path{Hops: []topology.Hop{{Resource: 0, Share: 1}, {Resource: 2, Share: 1}}, Den: 1}
	r, rate := g.Bottleneck(p)
	assert.Equal(t, topology.ResourceID(0), r)
	assert.Equal(t, sim.Rate(10), rate)
	// Held beside the bytes, three times on the second link.
	p.Held = []topology.Hop{{Resource: 2, Share: 3}}
	r, rate = g.Bottleneck(p)
	assert.Equal(t, topology.ResourceID(2), r)
	assert.Equal(t, sim.Rate(5), rate)
	// And on the way back, which carries nothing: eight times, in two entries.
	p.Held = append(p.Held, topology.Hop{Resource: 3, Share: 3}, topology.Hop{Resource: 3, Share: 5})
	r, rate = g.Bottleneck(p)
	assert.Equal(t, topology.ResourceID(3), r)
	assert.Equal(t, sim.Rate(2.5), rate)
	p.Rate = 2
	r, rate = g.Bottleneck(p)
	assert.Equal(t, topology.ResourceID(-1), r)
	assert.Equal(t, sim.Rate(2), rate)
}
