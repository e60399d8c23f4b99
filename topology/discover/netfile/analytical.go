package netfile

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// dimension is one level of an ASTRA-sim network, the innermost first.
type dimension struct {
	shape   string // Ring, FullyConnected, Switch
	size    int
	rate    sim.Rate // of one link, per direction
	latency sim.Time // of one link
	width   int32    // links that one stands for
}

var shapes = []string{"Ring", "FullyConnected", "Switch"}

// readAnalytical reads a network of ASTRA-sim's analytical backend, in the
// YAML form of 2.x and the JSON form of 1.0.
//
// In 2.x `bandwidth` is 2^30 bytes/s of each link and direction and `latency`
// ns of each link; a Switch costs two (astra-sim/astra-network-analytical,
// NetworkFunction). In 1.0 the unit is 10^9 bytes/s, and `links-count` says
// how many links each unit has in a dimension (HierarchicalTopology).
func readAnalytical(s *source, content []byte) (*Net, error) {
	v, err := s.tree(content)
	if err != nil {
		return nil, err
	}
	n := &Net{Format: s.format, Name: s.name}
	var dims []dimension
	if s.format == ASTRANetwork1 {
		dims = s.dimensions1(v, n)
	} else {
		dims = s.dimensions2(v)
	}
	if len(s.errs) > 0 {
		return nil, s.err()
	}
	if err := s.bounded(v, dims); err != nil {
		return nil, err
	}
	layDimensions(n, dims)
	if err := n.Graph.Validate(); err != nil {
		return nil, s.fail(ErrContradiction, 0, 0, err.Error(), "a sound network", "")
	}
	return n, nil
}

func (s *source) dimensions2(v *value) []dimension {
	names := s.listAt(v, "topology", 0)
	if names == nil {
		return nil
	}
	dims := make([]dimension, len(names))
	s.shapes(names, dims)
	s.sizes(s.listAt(v, "npus_count", len(dims)), dims)
	for i, w := range s.listAt(v, "bandwidth", len(dims)) {
		dims[i].rate = sim.Rate(s.number(w, "a bandwidth in GB/s (of 2^30 bytes) above 0", 1e-6, 1e6) * (1 << 30))
		dims[i].width = 1
	}
	for i, w := range s.listAt(v, "latency", len(dims)) {
		dims[i].latency = nanoseconds(s.number(w, "a latency in ns of 0 or more", 0, 1e10))
	}
	return dims
}

func (s *source) dimensions1(v *value, n *Net) []dimension {
	names := s.listAt(v, "topologies-per-dim", 0)
	if names == nil {
		return nil
	}
	dims := make([]dimension, len(names))
	if c := v.get("dimensions-count"); c != nil {
		if k, ok := s.count(c.word(), "dimensions-count", 64); ok && k != len(dims) {
			s.add(ErrContradiction, c.line, c.col, fmt.Sprintf("dimensions-count %d", k), fmt.Sprintf("%d, as topologies-per-dim has", len(dims)), "")
		}
	}
	s.shapes(names, dims)
	s.sizes(s.listAt(v, "units-count", len(dims)), dims)
	for i, w := range s.listAt(v, "link-bandwidth", len(dims)) {
		dims[i].rate = sim.Rate(s.number(w, "a bandwidth in GB/s above 0", 1e-6, 1e6)) * sim.GBps
	}
	for i, w := range s.listAt(v, "link-latency", len(dims)) {
		dims[i].latency = nanoseconds(s.number(w, "a latency in ns of 0 or more", 0, 1e10))
	}
	for i := range dims {
		dims[i].width = 1
	}
	if v.get("links-count") != nil && len(s.errs) == 0 {
		for i, w := range s.listAt(v, "links-count", len(dims)) {
			links, ok := s.count(w.word(), "links-count", maxWidth)
			per := dims[i].neighbours()
			if ok && (links < per || links%per != 0) {
				s.add(ErrContradiction, w.line, w.col, fmt.Sprintf("links-count %d", links), fmt.Sprintf("a multiple of %d, the neighbours of a unit in a %s of %d", per, dims[i].shape, dims[i].size), "")
				continue
			}
			dims[i].width = int32(links / max(per, 1))
			dims[i].rate *= sim.Rate(dims[i].width)
		}
	}
	for _, key := range []string{"router-latency", "nic-latency", "hbm-scale"} {
		if x := v.get(key); x != nil {
			for _, item := range x.items {
				if f, err := strconv.ParseFloat(item.text, 64); err == nil && f != 0 {
					n.note("%s of %s is left out: weft's wires have no such part", key, s.name)
					break
				}
			}
		}
	}
	n.note("ASTRA-sim 1.0 lets a message use all links of its dimension at once; weft gives it those of its direction")
	return dims
}

// neighbours is how many others a unit has links to.
func (d dimension) neighbours() int {
	switch {
	case d.shape == "Switch" || d.size == 2:
		return 1
	case d.shape == "Ring":
		return 2
	}
	return max(1, d.size-1)
}

func nanoseconds(x float64) sim.Time { return sim.Time(math.Round(x * float64(sim.Nanosecond))) }

// listAt returns the list at a key, of so many items (0: any number), or nil.
func (s *source) listAt(v *value, key string, n int) []*value {
	l := v.get(key)
	if l == nil {
		hint := ""
		for _, k := range v.keys {
			if h := didYouMean(key, []string{k.text}); h != "" {
				hint = fmt.Sprintf("line %d has %q", k.line, k.text)
			}
		}
		s.add(ErrSyntax, v.line, v.col, "no key "+strconv.Quote(key), "a list of one value for each dimension", hint)
		return nil
	}
	if l.kind == scalar && l.text != "null" {
		l = &value{kind: list, items: []*value{l}, line: l.line, col: l.col}
	}
	if l.kind != list || len(l.items) == 0 {
		s.add(ErrSyntax, l.line, l.col, key+" without items", "a list of one value for each dimension", "")
		return nil
	}
	if n > 0 && len(l.items) != n {
		s.add(ErrContradiction, l.line, l.col, fmt.Sprintf("%d items of %s", len(l.items), key), fmt.Sprintf("%d, one for each dimension", n), "")
		return nil
	}
	if len(l.items) > 16 {
		s.add(ErrTooLarge, l.line, l.col, fmt.Sprintf("%d dimensions", len(l.items)), "at most 16", "")
		return nil
	}
	return l.items
}

func (s *source) shapes(names []*value, dims []dimension) {
	for i, w := range names {
		name := w.text
		if name == "AllToAll" { // as older files of 1.0 have it
			name = "FullyConnected"
		}
		for _, known := range shapes {
			if name == known {
				dims[i].shape = name
			}
		}
		if dims[i].shape == "" {
			s.add(ErrSyntax, w.line, w.col, "the topology "+clip(w.text), "Ring, FullyConnected or Switch", didYouMean(w.text, shapes))
		}
	}
}

func (s *source) sizes(items []*value, dims []dimension) {
	for i, w := range items {
		n, ok := s.count(w.word(), "the number of NPUs", maxNodes)
		if ok && n < 2 {
			s.add(ErrSyntax, w.line, w.col, fmt.Sprintf("%d NPUs in a dimension", n), "at least 2", "leave the dimension out")
		}
		dims[i].size = n
	}
}

func (s *source) number(v *value, want string, least, most float64) float64 {
	x, err := strconv.ParseFloat(v.text, 64)
	if v.kind != scalar || err != nil || !(x >= least) || x > most {
		read := clip(v.text)
		if v.kind != scalar {
			read = v.kind.String()
		}
		hint := ""
		if strings.EqualFold(v.text, "tbd") {
			hint = "the file leaves this open: fill it in"
		}
		if x > most {
			hint = fmt.Sprintf("at most %g", most)
		}
		s.add(ErrSyntax, v.line, v.col, read, want, hint)
		return least
	}
	return x
}

// bounded refuses a network that is larger than what is read, before it is
// laid out.
func (s *source) bounded(v *value, dims []dimension) error {
	npus, links, switches := 1.0, 0.0, 0.0
	for _, d := range dims {
		npus *= float64(d.size)
	}
	for _, d := range dims {
		switch d.shape {
		case "Switch":
			links, switches = links+2*npus, switches+npus/float64(d.size)
		case "Ring":
			links += 2 * npus
		default:
			links += npus * float64(d.size-1)
		}
	}
	if npus+switches > maxNodes || links > maxLinks {
		return s.fail(ErrTooLarge, v.line, v.col, fmt.Sprintf("a network of %.0f NPUs, %.0f switches and %.0f links", npus, switches, links),
			fmt.Sprintf("at most %d nodes and %d links", maxNodes, maxLinks), "")
	}
	return nil
}

// layDimensions builds the graph. NPU i has coordinate i mod size 0 in
// dimension 0, and so on, as ASTRA-sim counts; the innermost dimension is the
// server where there are several.
func layDimensions(n *Net, dims []dimension) {
	npus := 1
	for _, d := range dims {
		npus *= d.size
	}
	perHost := dims[0].size
	n.Hosts = npus / perHost
	n.Graph = &topology.Graph{}
	g := n.Graph
	for i := range npus {
		n.GPUs = append(n.GPUs, g.AddNode(topology.Node{
			Kind: topology.GPU, Name: fmt.Sprintf("n%d.gpu%d", i/perHost, i%perHost), Host: int32(i / perHost), Unit: int32(i % perHost),
		}))
	}
	r := &grid{name: n.Name, size: int32(npus)}
	stride := 1
	for k, d := range dims {
		r.add(g, k, d, stride, npus)
		stride *= d.size
		if d.shape == "Ring" || k > 0 {
			n.Relay = true
		}
		n.fact(fmt.Sprintf("dimension %d: %s", k, d.shape), d.size)
	}
	n.fact("NPUs", npus)
	n.Route = r
	n.note("rates of %s are per link and direction and taken as what payload reaches", n.Name)
	if len(dims) > 1 {
		n.note("%s has no servers: weft takes the %d NPUs of dimension 0 as one", n.Name, perHost)
	}
}
