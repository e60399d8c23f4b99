package nccl

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-sim/weft/topology"
)

// Channels is what NCCL's search finds for a job on a machine: the channels of
// each algorithm, and the order of the job's members on them.
//
// Members are named by their position in the ranks that were asked for.
type Channels struct {
	Graphs

	// Nodes are the members of each node, node by node: a host, or a rack whose
	// trays share their NVLink. Members of a node are in the order of their GPUs.
	Nodes [][]int32

	// Rings is the order of all members on each search channel of the ring, the
	// nodes one after the other; the last sends to the first. Each runs twice.
	Rings [][]int32

	// Trees is, for each search channel of the tree and each node, the chain of
	// its members, the one nearest to the parent node first. Which node is whose
	// parent is the same on all channels: see [collective.Parent].
	Trees [][][]int32

	// Heads is, for each search channel of NVLS and each node, the member that
	// reduces; nil without NVLS.
	Heads [][]int32

	// Ports is, for each search channel of the ring and each node, the NICs that
	// it comes and goes by; nil on one node. A GPU stands for a port of its own.
	Ports [][][2]topology.NodeID

	// Cross is whether rings come by one NIC and go by another: 0 is no, 1 as it
	// fits, 2 in pairs, of which each goes by the NIC that the other comes by.
	Cross int

	// Run is how many channels (thread blocks) rings and trees have, P2P how many
	// sends and receives have together, and PerPeer those to one other member.
	Run, P2P, PerPeer int
	Peers             Peers

	// Doubts are sentences on where NCCL may see the machine otherwise.
	Doubts []string
}

// Search finds the channels of a job on the given ranks of a machine as NCCL
// does: it looks at the machine with NCCL's rates and paths and lays channels
// over it in NCCL's order. Nodes that are alike are searched once.
//
// The result does not depend on anything but the arguments. It is an error if
// there are fewer than two ranks, if one is named twice, or if several nodes
// have no NICs.
func Search(v Version, m *topology.Machine, ranks []int32, p Platform, env Env) (*Channels, error) {
	s := &searcher{v: v, m: m, p: p, env: env}
	if err := s.group(ranks); err != nil {
		return nil, fmt.Errorf("search channels as NCCL: %w", err)
	}
	s.look()
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("search channels as NCCL: %w", err)
	}
	s.all()
	return s.channels(), nil
}

type searcher struct {
	v      Version
	m      *topology.Machine
	p      Platform
	env    Env
	ranks  int
	parted bool      // GPUs of a host are on different nodes
	nodes  [][]int32 // positions
	gpus   [][]topology.NodeID
	views  []*view // of each node; equal nodes share one
	found  map[*view]*results
}

// results are the layouts of one view.
type results struct {
	ring, tree, nvls, chain, direct layout
}

// group divides the ranks into nodes, in the order of their first ranks.
func (s *searcher) group(ranks []int32) error {
	if len(ranks) < 2 {
		return fmt.Errorf("%d rank, expected at least two", len(ranks))
	}
	s.ranks = len(ranks)
	viewer := newViewer(s.v, s.m, s.p, s.env)
	seen := make([]bool, len(s.m.Ranks))
	type place struct{ host, tray int32 }
	at := map[place]int{}
	for i, r := range ranks {
		switch {
		case r < 0 || int(r) >= len(s.m.Ranks):
			return fmt.Errorf("rank %d, expected 0 to %d", r, len(s.m.Ranks)-1)
		case seen[r]:
			return fmt.Errorf("rank %d is named twice, expected each once", r)
		}
		seen[r] = true
		gpu := s.m.Ranks[r]
		where := place{host: s.m.Graph.Nodes[gpu].Host}
		if s.env.NoMNNVL {
			where.tray = viewer.tray[gpu]
		}
		node, ok := at[where]
		if !ok {
			node = len(s.nodes)
			at[where] = node
			s.nodes, s.gpus = append(s.nodes, nil), append(s.gpus, nil)
		}
		s.nodes[node] = append(s.nodes[node], int32(i))
		s.gpus[node] = append(s.gpus[node], gpu)
	}
	for n, list := range s.nodes {
		if len(list) > mostLocal {
			return fmt.Errorf("%d GPUs on a node, expected at most %d: NCCL's kernels hold no more; NCCL_MNNVL_ENABLE=0 makes each tray a node", len(list), mostLocal)
		}
		gpus := s.gpus[n]
		byUnit := make([]int, len(list))
		for i := range byUnit {
			byUnit[i] = i
		}
		slices.SortFunc(byUnit, func(a, b int) int {
			return cmp.Compare(s.m.Graph.Nodes[gpus[a]].Unit, s.m.Graph.Nodes[gpus[b]].Unit)
		})
		sorted, members := make([]int32, len(list)), make([]topology.NodeID, len(list))
		for i, k := range byUnit {
			sorted[i], members[i] = list[k], gpus[k]
		}
		s.nodes[n], s.gpus[n] = sorted, members
	}
	s.part(viewer)
	for _, gpus := range s.gpus {
		s.views = append(s.views, viewer.view(gpus, len(s.nodes) > 1))
	}
	return nil
}

// part makes nodes of their own of GPUs that meet over the network although
// they are on one host.
func (s *searcher) part(viewer *viewer) {
	known := map[string][][]int{}
	var nodes [][]int32
	var all [][]topology.NodeID
	for n, gpus := range s.gpus {
		w := viewer.view(gpus, true)
		if !w.mayPart() {
			nodes, all = append(nodes, s.nodes[n]), append(all, gpus)
			continue
		}
		key := w.key()
		groups, ok := known[key]
		if !ok {
			w.paths()
			groups = w.parts()
			known[key] = groups
		}
		for _, group := range groups {
			var members []int32
			var of []topology.NodeID
			for _, g := range group {
				members, of = append(members, s.nodes[n][g]), append(of, gpus[g])
			}
			nodes, all = append(nodes, members), append(all, of)
		}
	}
	if len(nodes) > len(s.nodes) {
		s.parted = true
		order := make([]int, len(nodes))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(slices.Min(nodes[a]), slices.Min(nodes[b])) })
		s.nodes, s.gpus = nil, nil
		for _, i := range order {
			s.nodes, s.gpus = append(s.nodes, nodes[i]), append(s.gpus, all[i])
		}
	}
}

// look finds which nodes are alike, and the paths of those that are not.
func (s *searcher) look() {
	byKey := map[string]*view{}
	s.found = map[*view]*results{}
	for i, w := range s.views {
		key := w.key()
		if same, ok := byKey[key]; ok {
			s.views[i] = s.twin(same, w)
			continue
		}
		byKey[key] = w
		w.paths()
		s.found[w] = &results{}
	}
}

// twin is a view with its own NICs and the paths of another.
func (s *searcher) twin(of, w *view) *view {
	t := *of
	t.nets, t.gpus = w.nets, w.gpus
	t.like = of
	return &t
}

func (s *searcher) check() error {
	for i, w := range s.views {
		if w.inter && len(w.nets) == 0 {
			return fmt.Errorf("%s and the other GPUs of its node have no NIC in the network, and there are %d nodes; expected at least one NIC",
				s.m.Graph.Nodes[s.gpus[i][0]].Name, len(s.views))
		}
	}
	return nil
}

// all searches every view that is like no other before it. Trees get as many
// channels as rings have.
func (s *searcher) all() {
	for _, w := range s.views {
		if w.like != nil {
			continue
		}
		r := s.found[w]
		r.ring = w.seek(RingPattern, 1, s.v.maxChannels()/2, false)
		r.tree = w.seek(BalancedTree, r.ring.channels, r.ring.channels, false)
		r.nvls = w.seek(NVLSPattern, 1, s.v.maxChannels(), false)
		if s.collNet() && len(w.gpus) <= mostDirect {
			r.chain = w.seek(PlainTree, r.ring.channels, r.ring.channels, true)
			if len(w.kinds[spotNVS]) > 0 {
				r.direct = w.seek(DirectPattern, 1, s.v.maxChannels(), true)
			}
		}
	}
}

// collNet reports whether in-network reduction is asked for and has the nodes
// for it.
func (s *searcher) collNet() bool {
	return s.env.CollNet && len(s.nodes) >= max(2, s.env.CollNetNodes)
}

// mostDirect is the most ranks of a node for the two algorithms of in-network
// reduction.
//
// Source: NVIDIA/nccl 2.30.7, src/include/device.h.
const mostDirect = 8

func (s *searcher) of(node int) *results {
	w := s.views[node]
	if w.like != nil {
		w = w.like
	}
	return s.found[w]
}

// channels merges what the nodes found: as many channels and as fast as the
// least of them, over ways as bad as the worst.
func (s *searcher) channels() *Channels {
	c := &Channels{Nodes: s.nodes}
	if s.parted {
		c.Doubts = append(c.Doubts, "GPUs of one host meet over the network, which NCCL takes for faster than the way between them, or as all that NCCL_P2P_DISABLE and NCCL_SHM_DISABLE leave: they count as nodes of their own")
	}
	pick := func(of func(*results) *layout) Graph {
		var g Graph
		for i := range s.views {
			l := of(s.of(i))
			n := Graph{
				Channels: l.channels, Intra: float64(l.intra) / 1000, Inter: float64(l.inter) / 1000,
				TypeIntra: l.kindIntra, TypeInter: l.kindInter, Pattern: l.pattern, Same: l.same,
			}
			if i == 0 {
				g = n
				continue
			}
			g.Channels, g.Intra, g.Inter = min(g.Channels, n.Channels), min(g.Intra, n.Intra), min(g.Inter, n.Inter)
			g.TypeIntra, g.TypeInter = max(g.TypeIntra, n.TypeIntra), max(g.TypeInter, n.TypeInter)
			g.Pattern, g.Same = max(g.Pattern, n.Pattern), g.Same && n.Same
		}
		if g.Channels == 0 {
			return Graph{}
		}
		return g
	}
	c.Ring = pick(func(r *results) *layout { return &r.ring })
	c.Tree = pick(func(r *results) *layout { return &r.tree })
	c.NVLS = pick(func(r *results) *layout { return &r.nvls })
	if s.collNet() {
		c.Chain = pick(func(r *results) *layout { return &r.chain })
		c.Direct = pick(func(r *results) *layout { return &r.direct })
	}
	for i := range s.views {
		c.Cross = max(c.Cross, s.of(i).ring.cross)
	}
	if c.Ring.Intra <= 0.1 {
		c.Doubts = append(c.Doubts, "no channel fits at any rate that NCCL tries: it falls back to one in the order of the GPUs, and takes it for 0.1 GB/s")
	}
	if s.p.CPU == Intel && s.p.Sockets == 0 && max(c.Ring.TypeIntra, c.Ring.TypeInter, c.Tree.TypeIntra, c.Tree.TypeInter) == SYS {
		c.Doubts = append(c.Doubts, "channels cross from one socket to another, for which NCCL plans by the model of the CPU, and that is not known: it is taken for Intel's before Sapphire Rapids")
	}
	s.orders(c)
	s.peerChannels(c)
	c.Peers = s.peersOf()
	return c
}
