package topology

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Validate returns all that is wrong with the graph, joined into one error,
// or nil. It finds:
//
//   - two nodes of one name, a node without a name;
//   - a link to a node or of a class that does not exist, from a node to
//     itself, of a rate that is not a positive number, of negative latency, or
//     without a link back;
//   - a trunk without members, whose members and shares differ in number,
//     with a share below one, or whose members do not belong together: they
//     must share the node at one end, or else all run between switches of the
//     network, or between NVSwitches (a layer that is sprayed as one);
//   - a graph in pieces, with a few names from each; what is out of service
//     does not count.
func (g *Graph) Validate() error {
	var errs []error
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("validate graph: "+format, args...))
	}
	g.checkNames(add)
	sound := g.checkLinks(add)
	g.checkTrunks(add)
	if sound {
		g.checkBothWays(add)
		g.checkPieces(add)
	}
	return errors.Join(errs...)
}

type report func(format string, args ...any)

func (g *Graph) checkNames(add report) {
	seen := make(map[string]int, len(g.Nodes))
	for i, n := range g.Nodes {
		if n.Name == "" {
			add("node %d (%v) has no name", i, n.Kind)
			continue
		}
		if j, dup := seen[n.Name]; dup {
			add("node %d is named %q like node %d; names must be unique", i, n.Name, j)
			continue
		}
		seen[n.Name] = i
	}
}

// checkLinks reports links that are wrong in themselves, and returns whether
// all of them join two different nodes that exist.
func (g *Graph) checkLinks(add report) (sound bool) {
	sound = true
	for i, l := range g.Links {
		switch {
		case !g.has(l.From) || !g.has(l.To):
			add("link %d runs from node %d to node %d, but the nodes are 0 to %d", i, l.From, l.To, len(g.Nodes)-1)
			sound = false
			continue
		case l.From == l.To:
			add("link %d joins %s to itself", i, g.Nodes[l.From].Name)
			sound = false
		}
		if r := float64(l.Rate); !(r > 0) || math.IsInf(r, 0) {
			add("link %d (%s): rate is %v B/s, must be a positive number", i, g.linkEnds(l), r)
		}
		if l.Latency < 0 {
			add("link %d (%s): latency is %v, must not be negative", i, g.linkEnds(l), l.Latency)
		}
		if l.Width < 1 {
			add("link %d (%s): width is %d, must be at least 1", i, g.linkEnds(l), l.Width)
		}
		if l.Class < 0 || int(l.Class) >= len(g.Classes) {
			add("link %d (%s): class %d does not exist, there are %d", i, g.linkEnds(l), l.Class, len(g.Classes))
		}
	}
	return sound
}

func (g *Graph) checkTrunks(add report) {
	for i, t := range g.Trunks {
		if len(t.Links) == 0 {
			add("trunk %d has no links", i)
			continue
		}
		if len(t.Links) != len(t.Shares) {
			add("trunk %d has %d links and %d shares, must be as many", i, len(t.Links), len(t.Shares))
			continue
		}
		sameFrom, sameTo, layer, sound := true, true, true, true
		for j, id := range t.Links {
			if t.Shares[j] < 1 {
				add("trunk %d: share %d of member %d, must be at least 1", i, t.Shares[j], j)
			}
			if id < 0 || int(id) >= len(g.Links) {
				add("trunk %d: member %d is link %d, but the links are 0 to %d", i, j, id, len(g.Links)-1)
				sound = false
				break
			}
			l, first := g.Links[id], g.Links[t.Links[0]]
			sameFrom = sameFrom && l.From == first.From
			sameTo = sameTo && l.To == first.To
			layer = layer && g.isLayer(l)
		}
		if sound && !sameFrom && !sameTo && !layer {
			add("trunk %d: its links share neither the node they leave nor the node they reach (first: %s, last: %s)",
				i, g.linkEnds(g.Links[t.Links[0]]), g.linkEnds(g.Links[t.Links[len(t.Links)-1]]))
		}
	}
}

// checkBothWays reports links without a link back. AddDuplex lays the two
// next to each other, so a search is rarely needed.
func (g *Graph) checkBothWays(add report) {
	back := func(l Link, i int) bool {
		return i >= 0 && i < len(g.Links) && g.Links[i].From == l.To && g.Links[i].To == l.From
	}
	var all map[[2]NodeID]struct{}
	for i, l := range g.Links {
		if l.From == l.To || back(l, i+1) || back(l, i-1) {
			continue
		}
		if all == nil {
			all = make(map[[2]NodeID]struct{}, len(g.Links))
			for _, m := range g.Links {
				all[[2]NodeID{m.From, m.To}] = struct{}{}
			}
		}
		if _, ok := all[[2]NodeID{l.To, l.From}]; !ok {
			add("link %d (%s) has no link back; add both directions", i, g.linkEnds(l))
		}
	}
}

// checkPieces reports a graph that is not in one piece.
func (g *Graph) checkPieces(add report) {
	root := make([]NodeID, len(g.Nodes))
	for i := range root {
		root[i] = NodeID(i)
	}
	find := func(n NodeID) NodeID {
		for root[n] != n {
			root[n] = root[root[n]]
			n = root[n]
		}
		return n
	}
	for _, l := range g.Links {
		if l.Down {
			continue
		}
		a, b := find(l.From), find(l.To)
		root[max(a, b)] = min(a, b)
	}
	var pieces [][]NodeID
	index := make(map[NodeID]int)
	for i, n := range g.Nodes {
		if n.Down {
			continue
		}
		r := find(NodeID(i))
		k, ok := index[r]
		if !ok {
			k = len(pieces)
			index[r] = k
			pieces = append(pieces, nil)
		}
		pieces[k] = append(pieces[k], NodeID(i))
	}
	if len(pieces) <= 1 {
		return
	}
	const most = 4
	var names []string
	for i, p := range pieces {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(pieces)-most))
			break
		}
		names = append(names, g.someNames(p))
	}
	add("the graph is in %d pieces that no link joins: %s", len(pieces), strings.Join(names, "; "))
}

// someNames names the first nodes of a set: "{a, b, c and 5 more}".
func (g *Graph) someNames(ids []NodeID) string { return "{" + g.few(ids) + "}" }

func (g *Graph) has(n NodeID) bool { return n >= 0 && int(n) < len(g.Nodes) }

// isLayer reports whether a link runs between two switches of one kind.
func (g *Graph) isLayer(l Link) bool {
	if !g.has(l.From) || !g.has(l.To) {
		return false
	}
	k := g.Nodes[l.From].Kind
	return (k == Switch || k == NVSwitch) && g.Nodes[l.To].Kind == k
}

func (g *Graph) linkEnds(l Link) string {
	name := func(n NodeID) string {
		if !g.has(n) {
			return fmt.Sprintf("node %d", n)
		}
		return g.Nodes[n].Name
	}
	return name(l.From) + " > " + name(l.To)
}
