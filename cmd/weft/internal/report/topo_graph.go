package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover/netfile"
)

// WriteGraph writes a machine as weft's own graph, which weft reads again as
// a network file. What is out of service is left out. The rules of its routes
// are not in a graph: what is read back follows shortest paths, and where that
// makes a difference a note of the file says how large it is.
func WriteGraph(w io.Writer, m *topology.Machine) error {
	n := &netfile.Net{Format: netfile.Graph, Name: m.Name, Hosts: int(m.Hosts), Relay: relays(m), Notes: slices.Clone(m.Notes)}
	n.Graph, n.GPUs = inService(m)
	for i, node := range n.Graph.Nodes {
		if node.Kind == topology.NIC {
			n.NICs = append(n.NICs, topology.NodeID(i))
		}
	}
	if len(m.Ranks) > mostCompared {
		n.Notes = append(n.Notes, "a graph has no rules of routing: read again, traffic takes shortest paths, and ways may differ from those of "+m.Name)
		return netfile.Write(w, n)
	}
	var b bytes.Buffer
	if err := netfile.Write(&b, n); err != nil {
		return err
	}
	lost, err := lostRules(m, b.Bytes())
	if err != nil {
		lost = "weft cannot read this graph again: " + strings.SplitN(err.Error(), "\n", 2)[0]
	}
	if lost == "" {
		_, err = w.Write(b.Bytes())
		return err
	}
	n.Notes = append(n.Notes, lost)
	return netfile.Write(w, n)
}

// mostCompared is the most GPUs of a machine whose graph is read again to see
// what it lost.
const mostCompared = 4096

// lostRules says how the ways of a machine differ from those of its graph read
// again: "" if they do not. Of a large machine the ways from the first GPU are
// compared.
func lostRules(m *topology.Machine, graph []byte) (string, error) {
	s, err := configs.Overlay{}.OfSystem(m.Name, graph)
	if err != nil {
		return "", err
	}
	hw, err := s.Hardware(nil)
	if err != nil {
		return "", err
	}
	n := int32(len(m.Ranks))
	from := n
	if int64(n)*int64(n) > mostPairs {
		from = 1
	}
	pairs, others := 0, 0
	var staged, ceiling, held, elsewhere int
	for a := range from {
		for b := range n {
			if a == b {
				continue
			}
			was, err := m.Route(a, b, nil)
			if err != nil {
				return "", err
			}
			is, err := hw.Machine.Route(a, b, nil)
			if err != nil {
				return "", err
			}
			pairs++
			same := true
			count := func(differ bool, n *int) {
				if differ {
					*n, same = *n+1, false
				}
			}
			count(was.Staged != is.Staged, &staged)
			count(was.Rate != is.Rate, &ceiling)
			count(was.Staged == is.Staged && len(was.Held) != len(is.Held), &held)
			count(was.Staged == is.Staged && !sameWay(m.Graph, was, hw.Machine.Graph, is), &elsewhere)
			if !same {
				others++
			}
		}
	}
	if others == 0 {
		return "", nil
	}
	var kinds []string
	for _, k := range []struct {
		n    int
		what string
	}{
		{staged, "staged in host memory there"}, {ceiling, "with a ceiling of one transfer there"},
		{held, "that hold more than they carry there"}, {elsewhere, "over other links or NICs"},
	} {
		if k.n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", k.n, k.what))
		}
	}
	of := ""
	if from == 1 && n > 2 {
		of = "from the first GPU "
	}
	return fmt.Sprintf("a graph has no rules of routing: read again, traffic takes shortest paths, and %d of %d ways %sdiffer from those of %s (%s)",
		others, pairs, of, m.Name, strings.Join(kinds, ", ")), nil
}

// sameWay reports whether two paths of two graphs put the same parts of a
// transfer on the same links, by the names of their ends.
func sameWay(g *topology.Graph, p topology.Path, h *topology.Graph, q topology.Path) bool {
	x, y := partsOf(g, p), partsOf(h, q)
	if len(x) != len(y) {
		return false
	}
	for ends, part := range x {
		if math.Abs(part-y[ends]) > 1e-3 {
			return false
		}
	}
	return true
}

// partsOf returns the part of a transfer on each link of a path.
func partsOf(g *topology.Graph, p topology.Path) map[[2]string]float64 {
	of := map[[2]string]float64{}
	for _, h := range p.Hops {
		links, shares := g.Members(h.Resource)
		sum := int32(0)
		for _, s := range shares {
			sum += s
		}
		for i, l := range links {
			ends := [2]string{g.Nodes[g.Links[l].From].Name, g.Nodes[g.Links[l].To].Name}
			of[ends] += float64(h.Share) / float64(p.Den) * float64(shares[i]) / float64(sum)
		}
	}
	return of
}

// relays reports whether a GPU forwards what the first one sends to the others
// of its node and of the next.
func relays(m *topology.Machine) bool {
	g := m.Graph
	var buf []topology.Hop
	for b := range m.Ranks {
		if b == 0 || g.Nodes[m.Ranks[b]].Host > g.Nodes[m.Ranks[0]].Host+1 {
			continue
		}
		p, err := m.Route(0, int32(b), buf)
		if err != nil {
			continue
		}
		buf = p.Hops
		for _, h := range p.Hops {
			links, _ := g.Members(h.Resource)
			for _, l := range links {
				if to := g.Links[l].To; g.Nodes[to].Kind == topology.GPU && to != m.Ranks[b] {
					return true
				}
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
