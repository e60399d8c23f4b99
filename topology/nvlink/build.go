package nvlink

import (
	"errors"
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Validate returns all that is wrong with the spec for a domain of that many
// GPUs, or nil.
func (s *Spec) Validate(gpus int) error {
	var errs []error
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("nvlink: "+format, args...))
	}
	switch {
	case len(s.Planes) == 0 && len(s.Edges) == 0:
		add("neither planes nor edges; give the links of each GPU to each switch, e.g. 5, 4, 4, 5, or the links between GPUs, e.g. 0-1: 6")
	case len(s.Planes) > 0 && len(s.Edges) > 0:
		add("both planes and edges; a domain is switched or a mesh, not both")
	}
	if !(s.Link.Rate > 0) {
		add("rate of a link is %v B/s, must be positive", float64(s.Link.Rate))
	}
	if s.Link.Latency < 0 || s.SwitchLatency < 0 {
		add("latency is negative: link %v, switch %v", s.Link.Latency, s.SwitchLatency)
	}
	for i, n := range s.Planes {
		if n < 1 {
			add("plane %d: %d links from each GPU, must be at least 1", i, n)
		}
	}
	seen := make(map[[2]int]bool)
	for i, e := range s.Edges {
		a, b := min(e[0], e[1]), max(e[0], e[1])
		switch {
		case a < 0 || b >= gpus:
			add("edge %d: %d-%d names a GPU that does not exist; the GPUs are 0 to %d", i, e[0], e[1], gpus-1)
		case a == b:
			add("edge %d joins GPU %d to itself", i, a)
		case e[2] < 1:
			add("edge %d: %d-%d has %d links, must be at least 1", i, e[0], e[1], e[2])
		case seen[[2]int{a, b}]:
			add("edge %d: %d-%d is listed before; list each pair once, with all its links", i, e[0], e[1])
		}
		seen[[2]int{a, b}] = true
	}
	for _, d := range s.Down {
		switch {
		case len(s.Planes) == 0:
			add("down: GPU %d, plane %d: a mesh has no planes; lower the links of its edge", d.GPU, d.Plane)
		case d.GPU < 0 || d.GPU >= gpus || d.Plane < 0 || d.Plane >= len(s.Planes):
			add("down: GPU %d, plane %d does not exist; GPUs are 0 to %d, planes 0 to %d", d.GPU, d.Plane, gpus-1, len(s.Planes)-1)
		case d.Links < 1 || d.Links > s.Planes[d.Plane]:
			add("down: GPU %d, plane %d: %d links, must be 1 to %d", d.GPU, d.Plane, d.Links, s.Planes[d.Plane])
		}
	}
	return errors.Join(errs...)
}

// Wiring is a domain in a graph, and its routes.
type Wiring struct {
	gpus  int
	hop   sim.Time // GPU to GPU: one link in a mesh, two and a switch otherwise
	width [][]int32

	// Switched: the link of each GPU to and from each plane, and, if all GPUs
	// see the same planes, the resource that stands for all of them.
	toPlane, fromPlane [][]topology.LinkID
	even               bool
	up, down           []topology.ResourceID

	// Mesh: the link from GPU a to b at [a][b].
	direct [][]topology.LinkID
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
	w := &Wiring{gpus: len(gpus)}
	class := g.AddClass(s.Link.Class)
	if len(s.Planes) > 0 {
		w.buildPlanes(g, s, class, gpus, host, prefix)
	} else {
		w.buildMesh(g, s, class, gpus)
	}
	return w, nil
}

func (w *Wiring) buildPlanes(g *topology.Graph, s *Spec, class topology.ClassID, gpus []topology.NodeID, host int32, prefix string) {
	w.hop = 2*s.Link.Latency + s.SwitchLatency
	w.width = matrix[int32](len(gpus), len(s.Planes), 0)
	for i := range gpus {
		for p, n := range s.Planes {
			w.width[i][p] = int32(n)
		}
	}
	for _, d := range s.Down {
		w.width[d.GPU][d.Plane] = max(0, w.width[d.GPU][d.Plane]-int32(d.Links))
	}
	w.even = true
	for i := range gpus {
		for p := range s.Planes {
			w.even = w.even && w.width[i][p] == w.width[0][p]
		}
	}
	w.toPlane = matrix(len(gpus), len(s.Planes), none)
	w.fromPlane = matrix(len(gpus), len(s.Planes), none)
	for p := range s.Planes {
		live := int32(0)
		for i := range gpus {
			live += w.width[i][p]
		}
		if live == 0 {
			continue // a switch that nothing reaches is not part of the machine
		}
		plane := g.AddNode(topology.Node{
			Kind: topology.NVSwitch, Name: fmt.Sprintf("%snvswitch%d", prefix, p), Host: host, Unit: int32(p),
		})
		for i, gpu := range gpus {
			n := w.width[i][p]
			if n == 0 {
				continue
			}
			l := topology.Link{
				From: gpu, To: plane, Rate: s.Link.Rate * sim.Rate(n),
				Latency: s.Link.Latency + s.SwitchLatency, Class: class, Width: n,
			}
			w.toPlane[i][p] = g.AddLink(l)
			l.From, l.To, l.Latency = plane, gpu, s.Link.Latency
			w.fromPlane[i][p] = g.AddLink(l)
		}
	}
}

func (w *Wiring) buildMesh(g *topology.Graph, s *Spec, class topology.ClassID, gpus []topology.NodeID) {
	w.hop = s.Link.Latency
	w.width = matrix[int32](len(gpus), len(gpus), 0)
	w.direct = matrix(len(gpus), len(gpus), none)
	for _, e := range s.Edges {
		a, b, n := e[0], e[1], int32(e[2])
		w.width[a][b], w.width[b][a] = n, n
		w.direct[a][b], w.direct[b][a] = g.AddDuplex(topology.Link{
			From: gpus[a], To: gpus[b], Rate: s.Link.Rate * sim.Rate(n),
			Latency: s.Link.Latency, Class: class, Width: n,
		})
	}
}

// AddTrunks adds a trunk from each GPU to its planes and one back, with as
// many shares on each plane as links, and so completes the routes. It adds
// none where a link does alone (one plane, a mesh), nor where the GPUs see
// unequal planes, since then no fixed proportion holds for all destinations.
func (w *Wiring) AddTrunks(g *topology.Graph) {
	if !w.even {
		return
	}
	trunk := func(links []topology.LinkID, width []int32) topology.ResourceID {
		var t topology.Trunk
		for p, l := range links {
			if l != none {
				t.Links = append(t.Links, l)
				t.Shares = append(t.Shares, width[p])
			}
		}
		if len(t.Links) == 1 {
			return topology.ResourceID(t.Links[0])
		}
		return g.AddTrunk(t)
	}
	for i := range w.gpus {
		w.up = append(w.up, trunk(w.toPlane[i], w.width[i]))
		w.down = append(w.down, trunk(w.fromPlane[i], w.width[i]))
	}
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
