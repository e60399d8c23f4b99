package fabric

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Fabric is a network in a graph, and its routes.
type Fabric struct {
	g     *topology.Graph
	plan  plan
	ecmp  bool
	flows int32
	seed  uint64

	up, down []topology.LinkID // of each port, to its leaf and back
	leaf     []int32           // of each port
	switches []topology.NodeID // the leaves

	// Clos: the links of each leaf to each spine of its pod, and of each pod to
	// each core of each spine. With ECMP parallel cables are links of their own,
	// one after the other.
	toSpines, toLeaf [][]topology.LinkID
	toCores, toPod   [][]topology.LinkID
	spineCables      int // links between a leaf and a spine
	coreCables       int // links between a spine and a core

	// Dragonfly: the link of each leaf to each of its group, and the bundles
	// from each group to each other.
	local  [][]topology.LinkID
	global [][][]bundle

	// Trunks, where all ways are in service and spreading is ideal.
	trunks             bool
	leafUp, leafDown   []topology.ResourceID
	podUp, podDown     []topology.ResourceID
	leafSpine, podCore sim.Time // what the two tiers add to a path

	coarse  bool // rounds shares to topology.CoarseParts
	missing bool // links between switches are out of service or narrower
	late    bool // or take longer than as built
	// With such links, or late ones, ways are listed one by one; the links of one
	// spine to its cores remain trunks where all are there: [pod][spine].
	spineUp, spineDown [][]topology.ResourceID
}

const none topology.LinkID = -1

// Build adds the network's switches and links to g. ports holds the nodes
// that plug into it, NICs or bare GPUs, host by host, perHost each. Call
// [Fabric.AddTrunks] when g has all its links.
func Build(g *topology.Graph, s *Spec, ports []topology.NodeID, perHost int) (*Fabric, error) {
	if perHost < 1 || len(ports)%perHost != 0 {
		return nil, fmt.Errorf("fabric: %d ports of hosts with %d each, must be a multiple", len(ports), perHost)
	}
	p, err := s.plan(len(ports)/perHost, perHost)
	if err != nil {
		return nil, err
	}
	f := &Fabric{g: g, plan: p, ecmp: s.Spread == ECMP, flows: int32(max(1, s.Flows)), seed: s.Seed}
	b := builder{g: g, s: s, f: f, cable: s.cable()}
	port := s.port()
	portClass := g.AddClass(port.Class)
	b.cableClass = g.AddClass(b.cable.Class)
	leaves := b.switches("leaf", p.leaves)
	f.switches = leaves
	for i, node := range ports {
		host, nic := i/perHost, i%perHost
		leaf := host/p.hostsPerLeaf*p.rails + nic%p.rails
		f.leaf = append(f.leaf, int32(leaf))
		l := topology.Link{
			From: node, To: leaves[leaf], Rate: port.Rate, Class: portClass, Width: 1,
			Latency: s.NICLatency + port.Latency + s.SwitchLatency,
		}
		f.up = append(f.up, g.AddLink(l))
		l.From, l.To, l.Latency = l.To, l.From, port.Latency+s.NICLatency
		f.down = append(f.down, g.AddLink(l))
	}
	if s.Kind == Dragonfly {
		b.groups(leaves)
		return f, nil
	}
	b.upperTiers(leaves)
	hop := b.cable.Latency + s.SwitchLatency
	f.leafSpine, f.podCore = 2*hop, 2*hop
	f.trunks = !f.ecmp && p.spines > 0
	return f, nil
}

type builder struct {
	g          *topology.Graph
	s          *Spec
	f          *Fabric
	cable      topology.Wire
	cableClass topology.ClassID
}

func (b *builder) switches(name string, n int) []topology.NodeID {
	ids := make([]topology.NodeID, n)
	for i := range ids {
		ids[i] = b.g.AddNode(topology.Node{Kind: topology.Switch, Name: fmt.Sprintf("%s%d", name, i), Host: -1, Unit: int32(i)})
	}
	return ids
}

// upperTiers adds spines and cores. Spine s of every pod is joined to the
// cores of plane s.
func (b *builder) upperTiers(leaves []topology.NodeID) {
	p, f := &b.f.plan, b.f
	if p.spines == 0 {
		return
	}
	f.spineCables, f.coreCables = 1, 1
	if f.ecmp {
		f.spineCables, f.coreCables = p.leafSpine, p.spineCores
	}
	spines := b.switches("spine", p.pods*p.spines)
	f.toSpines = make([][]topology.LinkID, p.leaves)
	f.toLeaf = make([][]topology.LinkID, p.leaves)
	for i, leaf := range leaves {
		pod := i / p.leavesPerPod
		for s := range p.spines {
			for range f.spineCables {
				up, down := b.join(leaf, spines[pod*p.spines+s], p.leafSpine/f.spineCables)
				f.toSpines[i], f.toLeaf[i] = append(f.toSpines[i], up), append(f.toLeaf[i], down)
			}
		}
	}
	if p.cores == 0 {
		return
	}
	cores := b.switches("core", p.spines*p.cores)
	f.toCores = make([][]topology.LinkID, p.pods)
	f.toPod = make([][]topology.LinkID, p.pods)
	for pod := range p.pods {
		for s := range p.spines {
			for c := range p.cores {
				for range f.coreCables {
					up, down := b.join(spines[pod*p.spines+s], cores[s*p.cores+c], p.spineCores/f.coreCables)
					f.toCores[pod], f.toPod[pod] = append(f.toCores[pod], up), append(f.toPod[pod], down)
				}
			}
		}
	}
}

func (b *builder) join(lower, upper topology.NodeID, cables int) (up, down topology.LinkID) {
	return b.g.AddDuplex(topology.Link{
		From: lower, To: upper, Rate: b.cable.Rate * sim.Rate(cables), Class: b.cableClass, Width: int32(cables),
		Latency: b.cable.Latency + b.s.SwitchLatency,
	})
}

// AddTrunks adds a trunk from each leaf to its spines and back, and from each
// pod to the cores and back, and so completes the routes. All members carry
// equal parts. It adds none for hashed flows, nor in a dragonfly, where each
// pair has ways of its own.
func (f *Fabric) AddTrunks(g *topology.Graph) {
	if !f.trunks {
		return
	}
	each := func(sets [][]topology.LinkID) []topology.ResourceID {
		var ids []topology.ResourceID
		for _, links := range sets {
			ids = append(ids, f.trunk(g, links))
		}
		return ids
	}
	f.leafUp, f.leafDown = each(f.toSpines), each(f.toLeaf)
	f.podUp, f.podDown = each(f.toCores), each(f.toPod)
}

// trunk adds a trunk of the links in service, with shares by their width.
func (f *Fabric) trunk(g *topology.Graph, links []topology.LinkID) topology.ResourceID {
	var t topology.Trunk
	for _, l := range links {
		if !g.Links[l].Down {
			t.Links = append(t.Links, l)
			t.Shares = append(t.Shares, g.Links[l].Width)
		}
	}
	switch len(t.Links) {
	case 0:
		return -1
	case 1:
		return topology.ResourceID(t.Links[0])
	}
	equal := true
	for _, s := range t.Shares {
		equal = equal && s == t.Shares[0]
	}
	if equal {
		for i := range t.Shares {
			t.Shares[i] = 1
		}
	}
	return g.AddTrunk(t)
}

// Rails returns the number of rails, 1 if the network has none.
func (f *Fabric) Rails() int { return f.plan.rails }

// RailsJoined reports whether traffic can change rails in the network.
func (f *Fabric) RailsJoined() bool {
	return f.plan.rails == 1 || f.plan.spines > 0 || f.global != nil
}
