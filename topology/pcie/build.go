package pcie

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Tree is a server's PCIe side in a graph, and its routes.
type Tree struct {
	g        *topology.Graph
	shift    topology.LinkID // of a rerouted tree: how far its links are from those below
	spec     *Spec
	engine   bool // routes are those of copy engines
	vertices []vertex
	first    [5]int32 // where the vertices of each kind begin, see below

	socketLinks [][]topology.LinkID // from socket a to b
}

// vertex is a node of the tree with its links to the vertex above. Sockets
// are the roots. Vertices are listed sockets, bridges, switches, GPUs, NICs,
// memories.
type vertex struct {
	node      topology.NodeID
	kind      topology.NodeKind
	above     int32 // vertex, or -1
	depth     int32
	up, down  topology.LinkID
	traversal sim.Time
}

const (
	bridges = iota
	switches
	gpuSlots
	nicSlots
	memories
)

// Device is an end of a path: a GPU, a NIC or a socket's memory.
type Device int32

// GPU returns the device of the spec's GPU i.
func (t *Tree) GPU(i int) Device { return Device(t.first[gpuSlots] + int32(i)) }

// NIC returns the device of the spec's NIC i.
func (t *Tree) NIC(i int) Device { return Device(t.first[nicSlots] + int32(i)) }

// Memory returns the host memory of socket i.
func (t *Tree) Memory(i int) Device { return Device(t.first[memories] + int32(i)) }

// Node returns the node of a device.
func (t *Tree) Node(d Device) topology.NodeID { return t.vertices[d].node }

// Socket returns the socket that a device belongs to.
func (t *Tree) Socket(d Device) int {
	v := int32(d)
	for t.vertices[v].above >= 0 {
		v = t.vertices[v].above
	}
	return int(v)
}

// Build adds sockets, memories, host bridges, switches and NICs to g, and
// links the GPUs, which exist already, into them. tray numbers the trees of
// one host: the units of tray 1 are counted on from those of tray 0. prefix
// goes before names ("n0.").
func Build(g *topology.Graph, s *Spec, gpus []topology.NodeID, host int32, prefix string, tray int) (*Tree, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if len(gpus) != len(s.GPUs) {
		return nil, fmt.Errorf("pcie: %d GPUs for %d slots, must be as many", len(gpus), len(s.GPUs))
	}
	t := &Tree{g: g, spec: s}
	b := builder{g: g, t: t, host: host, prefix: prefix, tray: tray}
	for i := range s.Sockets {
		b.vertex(vertex{node: b.node(topology.Socket, "cpu", i, s.Sockets), kind: topology.Socket, above: -1, traversal: s.SocketLatency})
	}
	t.first[bridges] = int32(len(t.vertices))
	for i, br := range s.Bridges {
		b.hang(vertex{node: b.node(topology.RootComplex, "rc", i, len(s.Bridges)), kind: topology.RootComplex, traversal: s.BridgeLatency},
			Slot{Under: Parent{Kind: OnSocket, Index: br.Socket}, Link: br.Link})
	}
	t.first[switches] = int32(len(t.vertices))
	for i, slot := range s.Switches {
		b.hang(vertex{node: b.node(topology.PCIeSwitch, "pcie-sw", i, len(s.Switches)), kind: topology.PCIeSwitch, traversal: s.SwitchLatency}, slot)
	}
	t.first[gpuSlots] = int32(len(t.vertices))
	for i, slot := range s.GPUs {
		b.hang(vertex{node: gpus[i], kind: topology.GPU}, slot)
	}
	t.first[nicSlots] = int32(len(t.vertices))
	for i, slot := range s.NICs {
		b.hang(vertex{node: b.node(topology.NIC, "nic", i, len(s.NICs)), kind: topology.NIC}, slot)
	}
	t.first[memories] = int32(len(t.vertices))
	if !s.Memory.IsZero() {
		for i := range s.Sockets {
			b.hang(vertex{node: b.node(topology.HostMemory, "mem", i, s.Sockets), kind: topology.HostMemory},
				Slot{Under: Parent{Kind: OnSocket, Index: i}, Link: s.Memory})
		}
	}
	b.joinSockets()
	return t, nil
}

type builder struct {
	g      *topology.Graph
	t      *Tree
	host   int32
	prefix string
	tray   int
}

// node adds a node that is the i-th of n of its kind in this tray.
func (b *builder) node(kind topology.NodeKind, name string, i, n int) topology.NodeID {
	unit := b.tray*n + i
	return b.g.AddNode(topology.Node{Kind: kind, Name: fmt.Sprintf("%s%s%d", b.prefix, name, unit), Host: b.host, Unit: int32(unit)})
}

func (b *builder) vertex(v vertex) {
	if v.above >= 0 {
		v.depth = b.t.vertices[v.above].depth + 1
	}
	b.t.vertices = append(b.t.vertices, v)
}

// hang adds a vertex below its parent, with the links between the two.
func (b *builder) hang(v vertex, s Slot) {
	switch s.Under.Kind {
	case OnBridge:
		v.above = b.t.first[bridges]
	case OnSwitch:
		v.above = b.t.first[switches]
	case OnSocket:
		v.above = 0
	}
	v.above += int32(s.Under.Index)
	parent := b.t.vertices[v.above]
	l := topology.Link{
		From: v.node, To: parent.node, Rate: s.Link.Rate, Latency: s.Link.Latency + parent.traversal,
		Class: b.g.AddClass(s.Link.Class), Width: max(1, s.Link.Width),
	}
	v.up = b.g.AddLink(l)
	l.From, l.To, l.Latency = l.To, l.From, s.Link.Latency+v.traversal
	v.down = b.g.AddLink(l)
	b.vertex(v)
}

// joinSockets links every two sockets.
func (b *builder) joinSockets() {
	s := b.t.spec
	b.t.socketLinks = make([][]topology.LinkID, s.Sockets)
	for i := range b.t.socketLinks {
		b.t.socketLinks[i] = make([]topology.LinkID, s.Sockets)
	}
	for i := range s.Sockets {
		for j := i + 1; j < s.Sockets; j++ {
			b.t.socketLinks[i][j], b.t.socketLinks[j][i] = b.g.AddDuplex(topology.Link{
				From: b.t.vertices[i].node, To: b.t.vertices[j].node, Rate: s.SocketLink.Rate,
				Latency: s.SocketLink.Latency + s.SocketLatency,
				Class:   b.g.AddClass(s.SocketLink.Class), Width: max(1, s.SocketLink.Width),
			})
		}
	}
}
