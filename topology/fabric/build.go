package fabric

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Fabric is a network in a graph, and its routes.
type Fabric struct {
	plan plan

	up, down         []topology.LinkID // of each port, to its leaf and back
	leaf             []int32           // of each port
	toSpines, toLeaf [][]topology.LinkID
	toCores, toPod   [][]topology.LinkID // by pod

	leafUp, leafDown []topology.ResourceID
	podUp, podDown   []topology.ResourceID

	sameLeaf, samePod, acrossPods sim.Time
}

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
	f := &Fabric{plan: p}
	b := builder{g: g, s: s, f: f, cable: s.cable()}
	b.portClass = g.AddClass(s.Port.Class)
	b.cableClass = g.AddClass(b.cable.Class)
	leaves := b.switches("leaf", p.leaves)
	f.toSpines = make([][]topology.LinkID, p.leaves)
	f.toLeaf = make([][]topology.LinkID, p.leaves)
	for i, port := range ports {
		host, nic := i/perHost, i%perHost
		leaf := host/p.hostsPerLeaf*p.rails + nic%p.rails
		f.leaf = append(f.leaf, int32(leaf))
		l := topology.Link{
			From: port, To: leaves[leaf], Rate: s.Port.Rate, Class: b.portClass, Width: 1,
			Latency: s.NICLatency + s.Port.Latency + s.SwitchLatency,
		}
		f.up = append(f.up, g.AddLink(l))
		l.From, l.To, l.Latency = l.To, l.From, s.Port.Latency+s.NICLatency
		f.down = append(f.down, g.AddLink(l))
	}
	b.upperTiers(leaves)
	hop := b.cable.Latency + s.SwitchLatency
	f.sameLeaf = 2*(s.NICLatency+s.Port.Latency) + s.SwitchLatency
	f.samePod = f.sameLeaf + 2*hop
	f.acrossPods = f.samePod + 2*hop
	return f, nil
}

type builder struct {
	g                     *topology.Graph
	s                     *Spec
	f                     *Fabric
	cable                 topology.Wire
	portClass, cableClass topology.ClassID
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
	p := &b.f.plan
	if p.spines == 0 {
		return
	}
	spines := b.switches("spine", p.pods*p.spines)
	for i, leaf := range leaves {
		pod := i / p.leavesPerPod
		for s := range p.spines {
			up, down := b.join(leaf, spines[pod*p.spines+s], p.leafSpine)
			b.f.toSpines[i] = append(b.f.toSpines[i], up)
			b.f.toLeaf[i] = append(b.f.toLeaf[i], down)
		}
	}
	if p.cores == 0 {
		return
	}
	cores := b.switches("core", p.spines*p.cores)
	b.f.toCores = make([][]topology.LinkID, p.pods)
	b.f.toPod = make([][]topology.LinkID, p.pods)
	for pod := range p.pods {
		for s := range p.spines {
			for c := range p.cores {
				up, down := b.join(spines[pod*p.spines+s], cores[s*p.cores+c], p.spineCores)
				b.f.toCores[pod] = append(b.f.toCores[pod], up)
				b.f.toPod[pod] = append(b.f.toPod[pod], down)
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
// equal parts.
func (f *Fabric) AddTrunks(g *topology.Graph) {
	each := func(sets [][]topology.LinkID) []topology.ResourceID {
		var ids []topology.ResourceID
		for _, links := range sets {
			switch len(links) {
			case 0:
				ids = append(ids, -1)
			case 1:
				ids = append(ids, topology.ResourceID(links[0]))
			default:
				t := topology.Trunk{Links: links, Shares: make([]int32, len(links))}
				for i := range t.Shares {
					t.Shares[i] = 1
				}
				ids = append(ids, g.AddTrunk(t))
			}
		}
		return ids
	}
	f.leafUp, f.leafDown = each(f.toSpines), each(f.toLeaf)
	f.podUp, f.podDown = each(f.toCores), each(f.toPod)
}

// Rails returns the number of rails, 1 if the network has none.
func (f *Fabric) Rails() int { return f.plan.rails }

// RailsJoined reports whether traffic can change rails in the network.
func (f *Fabric) RailsJoined() bool { return f.plan.rails == 1 || f.plan.spines > 0 }

// Route appends the hops from port a to port b (indices into the ports that
// Build was given), one share each, and returns the latency. ok is false if
// nothing joins them: different rails of a network of one tier.
func (f *Fabric) Route(a, b int32, buf []topology.Hop) (hops []topology.Hop, latency sim.Time, ok bool) {
	la, lb := f.leaf[a], f.leaf[b]
	hops = append(buf, topology.Hop{Resource: topology.ResourceID(f.up[a]), Share: 1})
	latency = f.sameLeaf
	if la != lb {
		if f.plan.spines == 0 {
			return buf, 0, false
		}
		latency = f.samePod
		hops = append(hops, topology.Hop{Resource: f.leafUp[la], Share: 1})
		if f.podUp != nil {
			if pa, pb := la/int32(f.plan.leavesPerPod), lb/int32(f.plan.leavesPerPod); pa != pb {
				latency = f.acrossPods
				hops = append(hops, topology.Hop{Resource: f.podUp[pa], Share: 1}, topology.Hop{Resource: f.podDown[pb], Share: 1})
			}
		}
		hops = append(hops, topology.Hop{Resource: f.leafDown[lb], Share: 1})
	}
	return append(hops, topology.Hop{Resource: topology.ResourceID(f.down[b]), Share: 1}), latency, true
}
