package nvlink

import (
	"fmt"
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Wiring is a domain in a graph, and its routes.
type Wiring struct {
	g       *topology.Graph
	gpus    int
	hop     sim.Time // GPU to GPU: one link in a mesh, two and a switch otherwise
	width   [][]int32
	balance bool

	// Switched: the link of each GPU to and from each plane of its group, and,
	// if all GPUs see the same planes, the resource that stands for all of them.
	toPlane, fromPlane [][]topology.LinkID
	even               bool
	up, down           []topology.ResourceID
	tier               *tier // nil for a single tier

	// Mesh: the link from GPU a to b at [a][b].
	direct [][]topology.LinkID

	// late says that links differ in latency, so that a path must add up its
	// own.
	late bool

	// coarse rounds sprayed paths to parts of topology.CoarseParts.
	coarse bool
}

const none topology.LinkID = -1

// Build adds the domain's switches and links to g. The GPUs exist already;
// host is their host, and prefix goes before the names of switches ("n0.").
// Links of one GPU to one plane, or between one pair, are one [topology.Link]
// whose Width counts them. Call [Wiring.AddTrunks] when g has all its links.
func Build(g *topology.Graph, s *Spec, gpus []topology.NodeID, host int32, prefix string) (*Wiring, error) {
	if err := s.Validate(len(gpus)); err != nil {
		return nil, err
	}
	w := &Wiring{g: g, gpus: len(gpus), balance: s.BalanceRelays}
	b := builder{g: g, s: s, w: w, class: g.AddClass(s.Link.Class), gpus: gpus, host: host, prefix: prefix}
	if len(s.Planes) > 0 {
		b.planes()
	} else {
		b.mesh()
	}
	return w, nil
}

type builder struct {
	g      *topology.Graph
	s      *Spec
	w      *Wiring
	class  topology.ClassID
	gpus   []topology.NodeID
	host   int32
	prefix string
}

// planes adds the NVSwitches of every group, and the tier above them.
func (b *builder) planes() {
	w, s := b.w, b.s
	w.hop = 2*s.Link.Latency + s.SwitchLatency
	w.width = matrix[int32](len(b.gpus), len(s.Planes), 0)
	for i := range b.gpus {
		for p, n := range s.Planes {
			w.width[i][p] = int32(n)
		}
	}
	for _, d := range s.Down {
		w.width[d.GPU][d.Plane] = max(0, w.width[d.GPU][d.Plane]-int32(d.Links))
	}
	w.toPlane = matrix(len(b.gpus), len(s.Planes), none)
	w.fromPlane = matrix(len(b.gpus), len(s.Planes), none)
	groups := 1
	if s.Tier != nil {
		groups = s.Tier.Groups
	}
	per := len(b.gpus) / groups
	planes := make([][]topology.NodeID, groups)
	for group := range groups {
		for p := range s.Planes {
			planes[group] = append(planes[group], b.plane(group, p, per))
		}
	}
	if s.Tier != nil {
		w.tier = &tier{g: b.g, per: per}
		b.tier(planes)
	}
	w.even = w.isEven()
}

// plane adds switch p of a group and its links, unless nothing reaches it: it
// is no part of the machine then, and the node is -1.
func (b *builder) plane(group, p, per int) topology.NodeID {
	w, s := b.w, b.s
	live := int32(0)
	for i := group * per; i < (group+1)*per; i++ {
		live += w.width[i][p]
	}
	if live == 0 {
		return -1
	}
	plane := b.node("nvswitch", group*len(s.Planes)+p)
	for i := group * per; i < (group+1)*per; i++ {
		n := w.width[i][p]
		if n == 0 {
			continue
		}
		l := topology.Link{
			From: b.gpus[i], To: plane, Rate: s.Link.Rate * sim.Rate(n),
			Latency: s.Link.Latency + s.SwitchLatency, Class: b.class, Width: n,
		}
		w.toPlane[i][p] = b.g.AddLink(l)
		l.From, l.To, l.Latency = plane, b.gpus[i], s.Link.Latency
		w.fromPlane[i][p] = b.g.AddLink(l)
	}
	return plane
}

func (b *builder) node(name string, unit int) topology.NodeID {
	return b.g.AddNode(topology.Node{
		Kind: topology.NVSwitch, Name: fmt.Sprintf("%s%s%d", b.prefix, name, unit), Host: b.host, Unit: int32(unit),
	})
}

func (b *builder) mesh() {
	w, s := b.w, b.s
	w.hop = s.Link.Latency
	w.width = matrix[int32](len(b.gpus), len(b.gpus), 0)
	w.direct = matrix(len(b.gpus), len(b.gpus), none)
	for _, e := range s.Edges {
		x, y, n := e[0], e[1], int32(e[2])
		w.width[x][y], w.width[y][x] = n, n
		w.direct[x][y], w.direct[y][x] = b.g.AddDuplex(topology.Link{
			From: b.gpus[x], To: b.gpus[y], Rate: s.Link.Rate * sim.Rate(n),
			Latency: s.Link.Latency, Class: b.class, Width: n,
		})
	}
}

// isEven reports whether every GPU that has links at all has the same ones to
// its planes, and the tier above is whole, so that trunks describe all paths.
func (w *Wiring) isEven() bool {
	first := -1
	for i := range w.width {
		switch {
		case w.Wired(i) == 0:
		case first < 0:
			first = i
		case !slices.Equal(w.width[i], w.width[first]):
			return false
		}
	}
	return first >= 0 && (w.tier == nil || w.tier.whole(w.width[first]))
}

// AddTrunks adds a trunk from each GPU to its planes and one back, with as
// many shares on each plane as links, those from each group to the other
// groups, and so completes the routes. It adds none where a link does alone
// (one plane, a mesh), nor where the GPUs see unequal planes, since then no
// fixed proportion holds for all destinations.
func (w *Wiring) AddTrunks(g *topology.Graph) {
	if !w.even {
		return
	}
	var width []int32
	for i := range w.gpus {
		if w.Wired(i) == 0 {
			w.up, w.down = append(w.up, -1), append(w.down, -1)
			continue
		}
		width = w.width[i]
		w.up = append(w.up, trunk(g, w.toPlane[i], width))
		w.down = append(w.down, trunk(g, w.fromPlane[i], width))
	}
	if w.tier != nil {
		w.tier.addTrunks(g, width)
	}
}

// trunk adds a trunk of the links that exist and have a share, or returns the
// only one.
func trunk(g *topology.Graph, links []topology.LinkID, shares []int32) topology.ResourceID {
	var t topology.Trunk
	for p, l := range links {
		if l != none && shares[p] > 0 {
			t.Links = append(t.Links, l)
			t.Shares = append(t.Shares, shares[p])
		}
	}
	if len(t.Links) == 1 {
		return topology.ResourceID(t.Links[0])
	}
	return g.AddTrunk(t)
}

func matrix[T any](rows, cols int, fill T) [][]T {
	flat := make([]T, rows*cols)
	for i := range flat {
		flat[i] = fill
	}
	m := make([][]T, rows)
	for i := range m {
		m[i] = flat[i*cols : (i+1)*cols]
	}
	return m
}
