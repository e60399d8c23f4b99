package report

import (
	"io"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover/netfile"
)

// WriteGraph writes a machine as weft's own graph, which weft reads again as
// a network file. What is out of service is left out. The rules of its routes
// are not in a graph: what is read back follows shortest paths.
func WriteGraph(w io.Writer, m *topology.Machine) error {
	n := &netfile.Net{Format: netfile.Graph, Name: m.Name, Hosts: int(m.Hosts), Relay: relays(m), Notes: m.Notes}
	n.Graph, n.GPUs = inService(m)
	for i, node := range n.Graph.Nodes {
		if node.Kind == topology.NIC {
			n.NICs = append(n.NICs, topology.NodeID(i))
		}
	}
	return netfile.Write(w, n)
}

// relays reports whether GPUs forward what is for others, on the first node.
func relays(m *topology.Machine) bool {
	g := m.Graph
	var buf []topology.Hop
	for b := range m.Ranks {
		if b == 0 || g.Nodes[m.Ranks[b]].Host != g.Nodes[m.Ranks[0]].Host {
			continue
		}
		if p, err := m.Route(0, int32(b), buf); err == nil {
			buf = p.Hops
			if p.Kind == topology.NVB {
				return true
			}
		}
	}
	return false
}

// inService copies a graph without what is down. Trunks that lose a member go:
// what they spread in fixed parts has no such parts any more.
func inService(m *topology.Machine) (*topology.Graph, []topology.NodeID) {
	g := m.Graph
	out := &topology.Graph{Classes: g.Classes}
	node := make([]topology.NodeID, len(g.Nodes))
	for i, n := range g.Nodes {
		node[i] = -1
		if !n.Down {
			node[i] = out.AddNode(n)
		}
	}
	link := make([]topology.LinkID, len(g.Links))
	for i, l := range g.Links {
		link[i] = -1
		if l.From, l.To = node[l.From], node[l.To]; !l.Down && l.From >= 0 && l.To >= 0 {
			link[i] = out.AddLink(l)
		}
	}
	for _, t := range g.Trunks {
		kept := topology.Trunk{Shares: t.Shares}
		for _, l := range t.Links {
			if link[l] >= 0 {
				kept.Links = append(kept.Links, link[l])
			}
		}
		if len(kept.Links) == len(t.Links) {
			out.AddTrunk(kept)
		}
	}
	var ranks []topology.NodeID
	for _, r := range m.Ranks {
		ranks = append(ranks, node[r])
	}
	return out, ranks
}
