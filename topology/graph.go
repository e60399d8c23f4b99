package topology

import (
	"github.com/weft-sim/weft/sim"
)

// NodeID is the index of a node in [Graph.Nodes].
type NodeID int32

// LinkID is the index of a directed link in [Graph.Links].
type LinkID int32

// NodeKind says what a node is.
type NodeKind uint8

// The kinds of nodes. Only GPU, HostMemory and NIC begin or end a transfer.
const (
	GPU NodeKind = iota
	NVSwitch
	PCIeSwitch
	RootComplex // a PCIe host bridge
	Socket      // the CPU with its on-die fabric
	HostMemory
	NIC
	Switch // of the network between nodes: leaf, spine, core
)

// Node is a point where links meet.
type Node struct {
	Kind NodeKind
	Name string // unique in the graph, e.g. "n0.gpu3", "n0.nvswitch1", "leaf2"
	Host int32  // index of the server, or -1 for what belongs to none
	Unit int32  // index among the nodes of its kind on its host (GPU 3, plane 1)
	Down bool   // out of service: nothing begins, ends or passes here
}

// Link is one direction of a wire.
type Link struct {
	From, To NodeID
	Rate     sim.Rate // what payload can reach, after packet and protocol overhead
	Latency  sim.Time // from the first bit in to the first bit out, the far node's traversal included
	Class    ClassID
	Width    int32 // parallel physical links (or lanes) that this link stands for

	// Down is a link out of service. It keeps its place, so that numbers stay
	// what they were, and its Rate and Width, which say what is missing; but no
	// route takes it, and sums and cuts leave it out.
	Down bool
}

// ClassID is the index of a link class in [Graph.Classes].
type ClassID int32

// Class is a kind of link: all NVLink 4, all PCIe 5 x16, all NDR cables.
// Reports add up by class.
type Class struct {
	Name string   // catalogue name, e.g. "nvlink4"
	Raw  sim.Rate // nominal rate of one physical link, per direction, for the report
	Note string   // where the usable rate comes from: source and status
}

// Trunk is a set of parallel links with a common fate: the hardware spreads
// every transfer over all of them in fixed proportion (a GPU's NVLinks to the
// planes of an NVSwitch fabric). To a flow a trunk is one resource with the
// capacity at which its first member saturates.
type Trunk struct {
	Links  []LinkID
	Shares []int32 // parts of a transfer that each member carries, of their sum
}

// ResourceID names what a flow can occupy: a link (its LinkID), or, from
// len(Links) up, a trunk.
type ResourceID int32

// Graph is the wiring of a machine. Build it with AddNode, AddLink, AddDuplex
// and AddTrunk, then call Validate once; after that it does not change.
type Graph struct {
	Nodes   []Node
	Links   []Link
	Classes []Class
	Trunks  []Trunk
}

// AddNode appends a node and returns its ID.
func (g *Graph) AddNode(n Node) NodeID {
	g.Nodes = append(g.Nodes, n)
	return NodeID(len(g.Nodes) - 1)
}

// AddClass returns the ID of the class, adding it if no equal one exists.
func (g *Graph) AddClass(c Class) ClassID {
	for i, have := range g.Classes {
		if have == c {
			return ClassID(i)
		}
	}
	g.Classes = append(g.Classes, c)
	return ClassID(len(g.Classes) - 1)
}

// AddLink appends one direction of a wire.
func (g *Graph) AddLink(l Link) LinkID {
	g.Links = append(g.Links, l)
	return LinkID(len(g.Links) - 1)
}

// AddDuplex appends both directions of a wire and returns a to b, then b to a.
func (g *Graph) AddDuplex(l Link) (ab, ba LinkID) {
	ab = g.AddLink(l)
	l.From, l.To = l.To, l.From
	return ab, g.AddLink(l)
}

// AddTrunk appends a trunk. All links must exist before the first trunk is
// added, since a trunk's ResourceID follows them.
func (g *Graph) AddTrunk(t Trunk) ResourceID {
	g.Trunks = append(g.Trunks, t)
	return ResourceID(len(g.Links) + len(g.Trunks) - 1)
}

// Resources returns the number of resources: links, then trunks.
func (g *Graph) Resources() int { return len(g.Links) + len(g.Trunks) }

// Members returns the links behind a resource and the share that each
// carries, of the sum of shares. A single link has share 1 of 1.
func (g *Graph) Members(r ResourceID) (links []LinkID, shares []int32) {
	if int(r) < len(g.Links) {
		return []LinkID{LinkID(r)}, []int32{1}
	}
	t := g.Trunks[int(r)-len(g.Links)]
	return t.Links, t.Shares
}

// Capacity returns the rate at which the resource's first member saturates.
func (g *Graph) Capacity(r ResourceID) sim.Rate {
	if int(r) < len(g.Links) {
		return g.Links[r].Rate
	}
	t := g.Trunks[int(r)-len(g.Links)]
	var sum int32
	for _, s := range t.Shares {
		sum += s
	}
	best := sim.Rate(-1)
	for i, l := range t.Links {
		c := g.Links[l].Rate * sim.Rate(sum) / sim.Rate(t.Shares[i])
		if best < 0 || c < best {
			best = c
		}
	}
	return best
}
