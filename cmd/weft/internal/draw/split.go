package draw

import (
	"github.com/weft-sim/weft/topology"
)

// part is a set of nodes that is drawn as one: a tray, a host, a group of
// hosts with their switches.
type part struct {
	nodes []topology.NodeID
	like  uint64 // equal for parts that are wired alike
}

// levels is a machine cut up. A unit is what PCIe, CPUs and direct NVLink hold
// together, with the NVSwitches that only it uses. A domain is what NVLink
// holds together: units, and the NVSwitches between them. The rest are the
// switches of the network.
type levels struct {
	*index
	m              *topology.Machine
	units, domains []part
	unit, domain   []int32 // of a node, or -1
	tier           []int32 // of a switch, from 1 next to the hosts; else 0
	tiers          int32
	orphans        []topology.NodeID // switches that no host reaches
}

func split(m *topology.Machine) *levels {
	g := m.Graph
	lv := &levels{index: newIndex(g), m: m}
	kind := func(n topology.NodeID) topology.NodeKind { return g.Nodes[n].Kind }

	sets := newSets(len(g.Nodes))
	for _, l := range g.Links {
		if kind(l.From) != topology.Switch && kind(l.To) != topology.Switch &&
			kind(l.From) != topology.NVSwitch && kind(l.To) != topology.NVSwitch && g.Nodes[l.From].Host == g.Nodes[l.To].Host {
			sets.join(int32(l.From), int32(l.To))
		}
	}
	// An NVSwitch belongs to the unit of all its GPUs, if they have one.
	for n := range g.Nodes {
		if g.Nodes[n].Kind != topology.NVSwitch {
			continue
		}
		home, several := int32(-1), false
		for _, l := range lv.out[n] {
			if to := g.Links[l].To; kind(to) == topology.GPU {
				r := sets.root(int32(to))
				several = several || home >= 0 && home != r
				home = r
			}
		}
		if home >= 0 && !several {
			sets.join(home, int32(n))
		}
	}
	lv.unit, lv.units = lv.parts(sets, func(n topology.NodeID) bool {
		return kind(n) != topology.Switch && (kind(n) != topology.NVSwitch || sets.size(int32(n)) > 1)
	})
	for _, l := range g.Links {
		if kind(l.From) != topology.Switch && kind(l.To) != topology.Switch && familyOf(kind(l.From), kind(l.To)) != network {
			sets.join(int32(l.From), int32(l.To))
		}
	}
	lv.domain, lv.domains = lv.parts(sets, func(n topology.NodeID) bool { return kind(n) != topology.Switch })
	lv.rank()
	return lv
}

// parts makes parts of sets of nodes, in the order of their first nodes.
func (x *index) parts(s *sets, in func(topology.NodeID) bool) (of []int32, parts []part) {
	of = make([]int32, len(x.g.Nodes))
	number := make([]int32, len(of))
	for n := range of {
		of[n] = -1
		if !in(topology.NodeID(n)) {
			continue
		}
		r := s.root(int32(n))
		if number[r] == 0 {
			parts = append(parts, part{})
			number[r] = int32(len(parts))
		}
		of[n] = number[r] - 1
		p := &parts[of[n]]
		p.nodes = append(p.nodes, topology.NodeID(n))
	}
	for i, h := range x.likeness(of, len(parts)) {
		parts[i].like = h
	}
	return of, parts
}

// rank gives each switch of the network its tier: its distance from the hosts.
func (lv *levels) rank() {
	lv.tier = make([]int32, len(lv.g.Nodes))
	var queue []topology.NodeID
	reach := func(n topology.NodeID, tier int32) {
		for _, l := range lv.out[n] {
			if to := lv.g.Links[l].To; lv.g.Nodes[to].Kind == topology.Switch && lv.tier[to] == 0 {
				lv.tier[to] = tier
				lv.tiers = max(lv.tiers, tier)
				queue = append(queue, to)
			}
		}
	}
	for n := range lv.g.Nodes {
		if lv.g.Nodes[n].Kind != topology.Switch {
			reach(topology.NodeID(n), 1)
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		reach(n, lv.tier[n]+1)
	}
	for n := range lv.g.Nodes {
		if lv.g.Nodes[n].Kind == topology.Switch && lv.tier[n] == 0 {
			lv.orphans = append(lv.orphans, topology.NodeID(n))
		}
	}
}

// sets is union-find; the root of a set is its least member.
type sets struct{ above, members []int32 }

func newSets(n int) *sets {
	s := &sets{make([]int32, n), make([]int32, n)}
	for i := range s.above {
		s.above[i], s.members[i] = int32(i), 1
	}
	return s
}

func (s *sets) root(n int32) int32 {
	for s.above[n] != n {
		s.above[n] = s.above[s.above[n]]
		n = s.above[n]
	}
	return n
}

func (s *sets) size(n int32) int32 { return s.members[s.root(n)] }

func (s *sets) join(a, b int32) {
	a, b = s.root(a), s.root(b)
	if a == b {
		return
	}
	if b < a {
		a, b = b, a
	}
	s.above[b] = a
	s.members[a] += s.members[b]
}

// alike is the parts that are equal, of those listed.
type alike struct {
	like    uint64
	members []int // in their order
}

// classes puts equal things together, in the order of their first members.
func classes(n int, like func(int) uint64) []alike {
	var out []alike
	at := map[uint64]int{}
	for i := range n {
		h := like(i)
		j, ok := at[h]
		if !ok {
			j = len(out)
			at[h] = j
			out = append(out, alike{like: h})
		}
		out[j].members = append(out[j].members, i)
	}
	return out
}
