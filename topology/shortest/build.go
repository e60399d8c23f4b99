package shortest

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Build makes a machine of a graph and its GPUs in rank order. The graph must
// not change afterwards. It returns an error for a graph that is not valid,
// ranks that are not GPUs of it (a NIC or a host memory may stand in for
// GPUs that are not known), or two ranks that nothing joins; where ranks are
// more than 1,024 an even sample of them is tried.
//
// The router is safe for use by several goroutines at once, and finds new paths
// for machines with faults (see package fault).
func Build(g *topology.Graph, ranks []topology.NodeID, o Options) (*topology.Machine, error) {
	fail := func(err error) (*topology.Machine, error) {
		return nil, fmt.Errorf("route %s: %w", o.name(), err)
	}
	if err := g.Validate(); err != nil {
		return fail(err)
	}
	if err := o.check(g, ranks); err != nil {
		return fail(err)
	}
	if o.Ways == 0 {
		o.Ways = defaultWays
	}
	r := &router{graph: g, ranks: ranks, o: o, trees: make([]atomic.Pointer[tree], len(ranks))}
	r.wire()
	if err := r.checkReach(); err != nil {
		return fail(err)
	}
	return &topology.Machine{Name: o.name(), Graph: g, Ranks: ranks, Hosts: hosts(g, ranks), Router: r, Notes: o.Notes}, nil
}

func (o *Options) name() string {
	if o.Name == "" {
		return "machine"
	}
	return o.Name
}

// hosts counts the servers of the ranks.
func hosts(g *topology.Graph, ranks []topology.NodeID) int32 {
	seen := make(map[int32]struct{})
	for _, n := range ranks {
		seen[g.Nodes[n].Host] = struct{}{}
	}
	return int32(len(seen))
}

// router finds paths in a graph of its own: the nodes of the machine, and
// behind them a second copy of each NIC that a switch enters, so that no path
// runs from a switch through a NIC to a switch.
type router struct {
	graph *topology.Graph
	ranks []topology.NodeID
	o     Options

	nodes    int32
	original []topology.NodeID // of the copies
	forwards []bool            // by node: may a path lead through it
	out, in  adjacency
	from, to []int32 // ends of a link
	level    []uint8 // place of a link's class in a cost
	unit     []sim.Rate

	trees []atomic.Pointer[tree] // by rank, once it has sent

	mu   sync.Mutex // of idle
	idle []*scratch
}

// take returns working memory that nobody uses; give it back. (A sync.Pool
// would forget it now and then, and a warm route must not allocate.)
func (r *router) take() *scratch {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.idle); n > 0 {
		w := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return w
	}
	return newScratch(r)
}

func (r *router) give(w *scratch) {
	r.mu.Lock()
	r.idle = append(r.idle, w)
	r.mu.Unlock()
}

// adjacency lists the links at each node: of node n, links[start[n]:start[n+1]].
type adjacency struct {
	start []int32
	links []topology.LinkID
}

func (a *adjacency) at(n int32) []topology.LinkID { return a.links[a.start[n]:a.start[n+1]] }

// wire lays out the router's graph.
func (r *router) wire() {
	g := r.graph
	n := len(g.Nodes)
	isRank := make([]bool, n)
	for _, id := range r.ranks {
		isRank[id] = true
	}
	entry := make([]int32, n) // where a link from a switch enters
	for i, node := range g.Nodes {
		entry[i] = int32(i)
		forwards := true
		switch node.Kind {
		case topology.GPU:
			forwards = r.o.Relay
		case topology.HostMemory:
			forwards = false
		case topology.NIC:
			forwards = !isRank[i]
		}
		r.forwards = append(r.forwards, forwards)
	}
	for i, node := range g.Nodes {
		if node.Kind == topology.NIC && !isRank[i] {
			entry[i] = int32(n + len(r.original))
			r.original = append(r.original, topology.NodeID(i))
			r.forwards = append(r.forwards, true)
		}
	}
	r.nodes = int32(n + len(r.original))
	r.from, r.to = make([]int32, len(g.Links)), make([]int32, len(g.Links))
	r.level, r.unit = make([]uint8, len(g.Links)), make([]sim.Rate, len(g.Links))
	levels := r.levels()
	for i, l := range g.Links {
		r.from[i], r.to[i] = int32(l.From), int32(l.To)
		switch {
		case l.Down || g.Nodes[l.From].Down || g.Nodes[l.To].Down:
			r.from[i], r.to[i] = none, none
		case g.Nodes[l.From].Kind == topology.Switch:
			r.to[i] = entry[l.To]
		case g.Nodes[l.From].Kind == topology.NIC && g.Nodes[l.To].Kind != topology.Switch:
			r.from[i] = entry[l.From]
		}
		r.level[i] = levels[l.Class]
		r.unit[i] = l.Rate / sim.Rate(l.Width)
	}
	r.out, r.in = index(r.nodes, r.from), index(r.nodes, r.to)
}

// levels gives each class its place in a cost: 0 is the least preferred.
func (r *router) levels() []uint8 {
	levels := make([]uint8, len(r.graph.Classes))
	for i, c := range r.graph.Classes {
		for j, name := range r.o.Prefer {
			if c.Name == name {
				levels[i] = uint8(len(r.o.Prefer) - j)
			}
		}
	}
	return levels
}

// none stands for the ends of a link that is out of service.
const none = -1

// index lists the links in service by the node at one of their ends, in their
// order.
func index(nodes int32, end []int32) adjacency {
	a := adjacency{start: make([]int32, nodes+1), links: make([]topology.LinkID, len(end))}
	for _, n := range end {
		if n != none {
			a.start[n+1]++
		}
	}
	for n := range nodes {
		a.start[n+1] += a.start[n]
	}
	at := append([]int32(nil), a.start[:nodes]...)
	for l, n := range end {
		if n != none {
			a.links[at[n]] = topology.LinkID(l)
			at[n]++
		}
	}
	return a
}

// checkReach returns an error if two ranks cannot reach each other.
func (r *router) checkReach() error {
	const most = 1024
	step := max(1, (len(r.ranks)+most-1)/most)
	if r.oneCore() {
		return nil
	}
	seen := make([]int32, r.nodes)
	var queue []int32
	for i := 0; i < len(r.ranks); i += step {
		mark := int32(i + 1)
		queue = append(queue[:0], int32(r.ranks[i]))
		seen[r.ranks[i]] = mark
		for len(queue) > 0 {
			n := queue[0]
			queue = queue[1:]
			if n != int32(r.ranks[i]) && !r.forwards[n] {
				continue
			}
			for _, l := range r.out.at(n) {
				if to := r.to[l]; seen[to] != mark {
					seen[to] = mark
					queue = append(queue, to)
				}
			}
		}
		for j, n := range r.ranks {
			if seen[n] != mark {
				return r.noRoute(int32(i), int32(j))
			}
		}
	}
	return nil
}

// oneCore reports whether every rank has a link to and from one and the same
// connected set of nodes that forward, which spares the search.
func (r *router) oneCore() bool {
	first := r.ranks[0]
	for _, l := range r.out.at(int32(first)) {
		if !r.forwards[r.to[l]] {
			continue
		}
		ahead, behind := r.core(r.to[l], &r.out, r.to), r.core(r.to[l], &r.in, r.from)
		all := true
		for _, n := range r.ranks {
			all = all && touches(&r.out, r.to, n, behind) && touches(&r.in, r.from, n, ahead)
		}
		if all {
			return true
		}
	}
	return false
}

// core marks the nodes that forward and are reached from n by forwarding.
func (r *router) core(n int32, a *adjacency, far []int32) []bool {
	seen := make([]bool, r.nodes)
	seen[n] = true
	queue := []int32{n}
	for len(queue) > 0 {
		n, queue = queue[0], queue[1:]
		for _, l := range a.at(n) {
			if to := far[l]; r.forwards[to] && !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}

func touches(a *adjacency, far []int32, n topology.NodeID, set []bool) bool {
	for _, l := range a.at(int32(n)) {
		if set[far[l]] {
			return true
		}
	}
	return false
}

func (r *router) noRoute(a, b int32) error {
	name := func(rank int32) string { return r.graph.Nodes[r.ranks[rank]].Name }
	hint := "no node between them forwards"
	if !r.o.Relay {
		hint = "no path leads there unless GPUs forward (a ring or mesh of GPUs needs relays)"
	}
	return fmt.Errorf("no route from rank %d (%s) to rank %d (%s): %s", a, name(a), b, name(b), hint)
}
