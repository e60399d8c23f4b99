package chakra

import (
	"math"
	"slices"
	"strconv"

	"github.com/weft-sim/weft/sim"
)

// Summary counts what a trace holds, as stored.
type Summary struct {
	Schema     Schema
	HasMeta    bool
	Version    string
	SchemaAttr string

	Nodes int
	Types []Count // by type

	CtrlDeps, CtrlDangling int // dangling: on an id that is not in the file
	DataDeps, DataDangling int
	Blocked                int // nodes on or after a cycle of control and data dependencies
	DataBlocked            int // nodes on or after a cycle of data dependencies
	Roots                  int // nodes without a dependency on a node of the file
	Forward                int // dependencies on a later node of the file

	Collectives []CollCount
	PGNames     []Count // collectives by pg_name
	P2P         []P2PCount

	Duration       sim.Time // recorded, of all nodes
	DurationMicros int64    // the same in microseconds, rounded
	NumOps         int64
}

// CollCount adds up collectives of one type; "no comm_type" is a type too.
type CollCount struct {
	Type  string
	Count int
	Bytes int64 // sum of comm_size, as the producer counts
}

// P2PCount adds up equal sends or receives.
type P2PCount struct {
	Type  NodeType
	Peer  int64 // the other rank, -1 when not recorded
	Bytes int64
	Count int
}

// Summary counts the trace. It takes time linear in nodes and dependencies,
// but for sorting ids.
func (t *Trace) Summary() Summary {
	s := Summary{Schema: t.Schema, HasMeta: t.HasMeta, Version: t.Version, SchemaAttr: t.SchemaAttr, Nodes: len(t.Nodes)}
	g := t.graph()
	s.CtrlDangling, s.DataDangling = g.ctrl.dangling, g.data.dangling
	s.CtrlDeps, s.DataDeps = len(g.ctrl.to)+g.ctrl.dangling, len(g.data.to)+g.data.dangling
	_, s.Blocked = blocked(g.ctrl, g.data)
	_, s.DataBlocked = blocked(g.data)
	types := map[NodeType]int{}
	groups := map[string]int{}
	colls := map[string]*CollCount{}
	p2p := map[P2PCount]int{}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		types[n.Type]++
		s.Duration = s.Duration.Add(n.Duration)
		s.NumOps += n.NumOps
		if len(g.ctrl.of(i))+len(g.data.of(i)) == 0 {
			s.Roots++
		}
		for _, e := range []*edges{g.ctrl, g.data} {
			for _, d := range e.of(i) {
				if int(d) > i {
					s.Forward++
				}
			}
		}
		switch n.Type {
		case CommColl:
			name := "no comm_type"
			if n.has(HasCommType) {
				name = n.CommType.String()
			}
			c := colls[name]
			if c == nil {
				c = &CollCount{Type: name}
				colls[name] = c
			}
			c.Count++
			c.Bytes += n.CommSize
			if n.has(HasPGName) {
				groups[n.PGName]++
			}
		case CommSend, CommRecv:
			p2p[P2PCount{n.Type, n.peer(), n.CommSize, 0}]++
		}
	}
	s.DurationMicros = int64(math.Round(s.Duration.Microseconds()))
	for ty, n := range types {
		s.Types = append(s.Types, Count{ty.String(), n})
	}
	for name, n := range groups {
		s.PGNames = append(s.PGNames, Count{name, n})
	}
	for _, c := range colls {
		s.Collectives = append(s.Collectives, *c)
	}
	for k, n := range p2p {
		k.Count = n
		s.P2P = append(s.P2P, k)
	}
	slices.SortFunc(s.Types, func(a, b Count) int { return compareNames(a.Name, b.Name) })
	slices.SortFunc(s.PGNames, func(a, b Count) int { return compareNames(a.Name, b.Name) })
	slices.SortFunc(s.Collectives, func(a, b CollCount) int { return compareNames(a.Type, b.Type) })
	slices.SortFunc(s.P2P, func(a, b P2PCount) int {
		if a.Type != b.Type {
			return int(a.Type) - int(b.Type)
		}
		if a.Peer != b.Peer {
			return int(min(max(a.Peer-b.Peer, -1), 1))
		}
		return int(min(max(a.Bytes-b.Bytes, -1), 1))
	})
	return s
}

// peer returns the other rank of a send or receive, -1 when not recorded.
func (n *Node) peer() int64 {
	switch {
	case n.Type == CommSend && n.has(HasCommDst):
		return n.CommDst
	case n.Type == CommRecv && n.has(HasCommSrc):
		return n.CommSrc
	}
	return -1
}

// compareNames orders names, those that are numbers by value and first.
func compareNames(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil && x != y:
		if x < y {
			return -1
		}
		return 1
	case errX == nil && errY != nil:
		return -1
	case errX != nil && errY == nil:
		return 1
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
