package fault

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Rerouter is a router that can find its routes anew.
type Rerouter interface {
	topology.Router
	// Reroute returns the router for g, which is the graph that the machine was
	// built with but for links that are slower, later, narrower or down, and
	// nodes that are down; routers of faulty machines too start from there. It
	// may add trunks to g. ranks are the GPUs in service. An error says who
	// cannot reach whom.
	Reroute(g *topology.Graph) (r Rerouter, ranks []topology.NodeID, err error)
	// Remarks says what takes another way than as built, a sentence each.
	Remarks() []string
}

// Apply returns the machine with the faults, one after the other. m stays as
// it is; it may have faults already, which remain.
//
// A GPU that is down is no rank: the ranks of those after it count one down. A
// note says so, and so do notes on what each fault befalls and what takes
// another way because of it.
func Apply(m *topology.Machine, faults ...Fault) (*topology.Machine, error) {
	if len(faults) == 0 {
		return m, nil
	}
	was := m.Graph
	g := &topology.Graph{
		Nodes: slices.Clone(was.Nodes), Links: slices.Clone(was.Links),
		Classes: slices.Clip(was.Classes), Trunks: slices.Clip(was.Trunks),
	}
	n := *m
	n.Graph, n.Notes = g, slices.Clone(m.Notes)
	a := applier{g: g}
	for i := range faults {
		if err := faults[i].Validate(); err != nil {
			return nil, fmt.Errorf("apply faults to %s: %w", m.Name, err)
		}
		note, err := a.apply(&faults[i])
		if err != nil {
			return nil, fmt.Errorf("apply fault %q to %s: %w", faults[i], m.Name, err)
		}
		n.Notes = append(n.Notes, note)
	}
	a.isolate()
	if !a.moves {
		return &n, nil // rates alone: routes and shares stay
	}
	r, ok := m.Router.(Rerouter)
	if !ok {
		return nil, fmt.Errorf("apply faults to %s: the routes of this machine are fixed, so that links can be slower, but not missing or late", m.Name)
	}
	router, ranks, err := r.Reroute(g)
	if err != nil {
		return nil, fmt.Errorf("apply faults to %s: %w", m.Name, err)
	}
	n.Router, n.Ranks = router, ranks
	// What was said of earlier faults is said anew.
	old := append(r.Remarks(), missing(m)...)
	n.Notes = slices.DeleteFunc(n.Notes, func(note string) bool { return slices.Contains(old, note) })
	n.Notes = append(append(n.Notes, router.Remarks()...), missing(&n)...)
	return &n, nil
}

// missing says how many GPUs are left, if not all are.
func missing(m *topology.Machine) []string {
	gpus := 0
	for _, n := range m.Graph.Nodes {
		if n.Kind == topology.GPU {
			gpus++
		}
	}
	if len(m.Ranks) == gpus {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d GPUs are in service; they are ranks 0 to %d, in order", len(m.Ranks), gpus, len(m.Ranks)-1)}
}

type applier struct {
	g     *topology.Graph
	moves bool // something is missing, narrower or late
}

// apply changes the graph, and returns a sentence on it.
func (a *applier) apply(f *Fault) (string, error) {
	links, nodes, err := a.targets(f)
	if err != nil {
		return "", err
	}
	if f.Down || f.Width != 0 {
		links = a.bothWays(links)
	}
	hit := 0
	for _, id := range links {
		l := &a.g.Links[id]
		if l.Down {
			continue
		}
		hit++
		if err := a.befall(f, l); err != nil {
			return "", err
		}
	}
	if f.Down {
		for _, n := range nodes {
			if !a.g.Nodes[n].Down {
				hit++
			}
			a.g.Nodes[n].Down = true
		}
	}
	if hit == 0 {
		return "", fmt.Errorf("all that it names is out of service already")
	}
	a.moves = a.moves || f.Down || f.Width != 0 || f.Latency != 0
	return fmt.Sprintf("fault: %s: %s", f, a.what(f, nodes, links)), nil
}

func (a *applier) befall(f *Fault, l *topology.Link) error {
	ends := a.g.Nodes[l.From].Name + " > " + a.g.Nodes[l.To].Name
	if f.Down {
		l.Down = true
	}
	if f.Width != 0 {
		if f.Width == l.Width {
			return fmt.Errorf("%s has a width of %d already; want less, or a factor with a point", ends, l.Width)
		}
		if f.Width > l.Width {
			return fmt.Errorf("%s has a width of %d, so x%d would leave more than there is; want less, or a factor with a point", ends, l.Width, f.Width)
		}
		l.Rate *= sim.Rate(f.Width) / sim.Rate(l.Width)
		l.Width = f.Width
	}
	if f.Factor != 0 {
		l.Rate *= sim.Rate(f.Factor)
	}
	if f.Rate != 0 {
		if f.Rate > l.Rate {
			return fmt.Errorf("%s carries %.4g GB/s, and a fault makes it no faster; want less than that", ends, float64(l.Rate)/1e9)
		}
		l.Rate = f.Rate
	}
	l.Latency += f.Latency
	return nil
}

// what names what a fault befalls.
func (a *applier) what(f *Fault, nodes []topology.NodeID, links []topology.LinkID) string {
	count := func(n int, one string) string {
		if n == 1 {
			return "1 " + one
		}
		if strings.HasSuffix(one, "ch") {
			one += "e"
		}
		return fmt.Sprintf("%d %ss", n, one)
	}
	seen := map[[2]topology.NodeID]bool{}
	for _, id := range links {
		l := a.g.Links[id]
		seen[[2]topology.NodeID{min(l.From, l.To), max(l.From, l.To)}] = true
	}
	s := count(len(seen), "connection")
	if len(nodes) > 0 {
		kinds := map[topology.NodeKind]int{}
		for _, n := range nodes {
			kinds[a.g.Nodes[n].Kind]++
		}
		var parts []string
		for k := range topology.NodeKinds {
			if n := kinds[topology.NodeKind(k)]; n > 0 {
				parts = append(parts, count(n, topology.NodeKind(k).String()))
			}
		}
		s = strings.Join(parts, ", ") + " with " + s
	}
	return s
}

// isolate takes what no link in service joins to anything out of service: a
// switch or NIC by itself is not part of the machine. A GPU by itself remains,
// for the routes to say whom it cannot reach.
func (a *applier) isolate() {
	joined, had := make([]bool, len(a.g.Nodes)), make([]bool, len(a.g.Nodes))
	for _, l := range a.g.Links {
		had[l.From], had[l.To] = true, true
		if !l.Down {
			joined[l.From], joined[l.To] = true, true
		}
	}
	for i := range a.g.Nodes {
		if n := &a.g.Nodes[i]; had[i] && !joined[i] && n.Kind != topology.GPU {
			n.Down = true
		}
	}
}

// targets finds the links that a fault names, and the nodes if it names them.
func (a *applier) targets(f *Fault) (links []topology.LinkID, nodes []topology.NodeID, err error) {
	if pattern, ok := strings.CutPrefix(f.Target, classPrefix); ok {
		links, err = a.ofClass(pattern)
		return links, nil, err
	}
	from, to, both, ends := f.ends()
	if !ends {
		set, err := a.matching(f.Target)
		if err != nil {
			return nil, nil, err
		}
		for i, in := range set {
			if in {
				nodes = append(nodes, topology.NodeID(i))
			}
		}
		for i, l := range a.g.Links {
			if set[l.From] || set[l.To] {
				links = append(links, topology.LinkID(i))
			}
		}
		return links, nodes, nil
	}
	sources, err := a.matching(from)
	if err != nil {
		return nil, nil, err
	}
	sinks, err := a.matching(to)
	if err != nil {
		return nil, nil, err
	}
	for i, l := range a.g.Links {
		if sources[l.From] && sinks[l.To] || both && sources[l.To] && sinks[l.From] {
			links = append(links, topology.LinkID(i))
		}
	}
	if len(links) == 0 {
		return nil, nil, fmt.Errorf("no link joins %s and %s; %s", from, to, a.neighbours(sources))
	}
	return links, nil, nil
}

func (a *applier) ofClass(pattern string) ([]topology.LinkID, error) {
	var names []string
	in := make([]bool, len(a.g.Classes))
	found := false
	for i, c := range a.g.Classes {
		names = append(names, c.Name)
		in[i], _ = path.Match(pattern, c.Name)
		found = found || in[i]
	}
	if !found {
		return nil, fmt.Errorf("no class of links is named %q; the classes are %s", pattern, strings.Join(names, ", "))
	}
	var links []topology.LinkID
	for i, l := range a.g.Links {
		if in[l.Class] {
			links = append(links, topology.LinkID(i))
		}
	}
	return links, nil
}

// matching returns which nodes a pattern names.
func (a *applier) matching(pattern string) ([]bool, error) {
	set := make([]bool, len(a.g.Nodes))
	found := false
	// Most of a pattern is plain text, which is cheaper to compare.
	plain := pattern
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		plain = pattern[:i]
	}
	for i, n := range a.g.Nodes {
		if !strings.HasPrefix(n.Name, plain) {
			continue
		}
		if ok, _ := path.Match(pattern, n.Name); ok {
			set[i], found = true, true
		}
	}
	if !found {
		return nil, fmt.Errorf("nothing is named %q; %s", pattern, a.nearest(pattern))
	}
	return set, nil
}

// bothWays adds the links in the opposite direction.
func (a *applier) bothWays(links []topology.LinkID) []topology.LinkID {
	in := make([]bool, len(a.g.Links))
	ends := map[[2]topology.NodeID]bool{}
	for _, id := range links {
		in[id] = true
		ends[[2]topology.NodeID{a.g.Links[id].To, a.g.Links[id].From}] = true
	}
	var out []topology.LinkID
	for i, l := range a.g.Links {
		if in[i] || ends[[2]topology.NodeID{l.From, l.To}] {
			out = append(out, topology.LinkID(i))
		}
	}
	return out
}
