package netfile

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// tier is the switches of one level of an htsim fat tree, and the links below
// them.
type tier struct {
	line                               int // of its heading, 0 if it has none
	speed, down, up                    int // Gbit/s, ports
	latency, traversal, bundle, excess int // ns, ns, links to one switch below, oversubscription
	set                                map[string]bool
}

var tierKeys = []string{"downlink_speed_gbps", "radix_up", "radix_down", "downlink_latency_ns", "switch_latency_ns", "oversubscribed", "bundle"}

// readHTSim reads a fat tree of htsim: Nodes, Tiers (2 or 3) and Podsize, then
// a block `Tier k` for each. Names may be in any case. The wiring is that of
// Broadcom/csg-htsim, FatTreeTopology: switch t of a pod to every switch above
// it in the pod, and the switch at place p of every pod to the cores p, p + A,
// p + 2A ..., with A switches of tier 1 in a pod.
func readHTSim(s *source, content []byte) (*Net, error) {
	f := &fatTree{s: s, current: -1}
	for k := range f.tiers {
		f.tiers[k].set = make(map[string]bool)
		f.tiers[k].bundle, f.tiers[k].excess = 1, 1
	}
	eachLine(content, f.read)
	if len(s.errs) > 0 {
		return nil, s.err()
	}
	if f.check(); len(s.errs) > 0 {
		return nil, s.err()
	}
	return f.net()
}

type fatTree struct {
	s                       *source
	nodes, levels, podSize  int
	current                 int
	tiers                   [3]tier
	tors, aggs, pods, cores int // tors and aggs of a pod
}

func (f *fatTree) read(number int, w []word) bool {
	s := f.s
	key := strings.ToLower(w[0].text)
	if len(w) != 2 {
		return s.add(ErrSyntax, number, w[0].col, fmt.Sprintf("%d words", len(w)), "a name and a number, as Radix_Down 8", "")
	}
	n, ok := s.count(w[1], w[0].text, maxNodes)
	if !ok {
		return len(s.errs) < maxErrors
	}
	if f.current < 0 {
		switch key {
		case "nodes":
			f.nodes = n
			return true
		case "tiers":
			f.levels = n
			return true
		case "podsize":
			f.podSize = n
			return true
		}
	}
	if key == "tier" {
		if n > 2 || f.tiers[min(n, 2)].line > 0 {
			return s.add(ErrContradiction, number, w[1].col, fmt.Sprintf("Tier %d", n), "0, 1 and 2, each once", "") && false
		}
		f.current = n
		f.tiers[n].line = number
		return true
	}
	if f.current < 0 {
		return s.add(ErrSyntax, number, w[0].col, "the name "+clip(w[0].text), "Nodes, Tiers, Podsize or Tier", didYouMean(w[0].text, []string{"Nodes", "Tiers", "Podsize", "Tier"}))
	}
	t := &f.tiers[f.current]
	to := map[string]*int{
		"downlink_speed_gbps": &t.speed, "radix_up": &t.up, "radix_down": &t.down, "downlink_latency_ns": &t.latency,
		"switch_latency_ns": &t.traversal, "oversubscribed": &t.excess, "bundle": &t.bundle,
	}[key]
	switch {
	case to == nil: // htsim passes over names that it does not know
		return s.add(ErrSyntax, number, w[0].col, "the name "+clip(w[0].text), strings.Join(tierKeys, ", "), didYouMean(w[0].text, tierKeys))
	case t.set[key]:
		return s.add(ErrContradiction, number, w[0].col, w[0].text+" for the second time in a tier", "each name once", "")
	case n == 0 && key != "switch_latency_ns" && key != "downlink_latency_ns":
		return s.add(ErrSyntax, number, w[1].col, w[0].text+" 0", "1 or more", "")
	}
	t.set[key] = true
	*to = n
	return true
}

// check works out how many switches there are, and that the ports agree.
func (f *fatTree) check() {
	s := f.s
	bad := func(line int, read, want string) { s.add(ErrContradiction, line, 0, read, want, "") }
	switch {
	case f.nodes < 1:
		s.add(ErrSyntax, 1, 0, "no Nodes", "Nodes N, the number of hosts", "")
		return
	case f.levels < 2 || f.levels > 3:
		s.add(ErrSyntax, 1, 0, fmt.Sprintf("Tiers %d", f.levels), "2 or 3", "")
		return
	case f.podSize < 1 && f.levels == 2:
		f.podSize = f.nodes
	case f.podSize < 1 || f.nodes%f.podSize != 0:
		bad(1, fmt.Sprintf("Nodes %d in pods of %d", f.nodes, f.podSize), "as many in each pod")
		return
	}
	for k := range f.levels {
		t := &f.tiers[k]
		if t.line == 0 {
			s.add(ErrSyntax, 1, 0, fmt.Sprintf("no Tier %d", k), fmt.Sprintf("a block for each of the %d tiers", f.levels), "is the file cut short?")
			return
		}
		for _, key := range []string{"downlink_speed_gbps", "radix_down", "downlink_latency_ns"} {
			if !t.set[key] {
				s.add(ErrSyntax, t.line, 0, fmt.Sprintf("no %s in Tier %d", key, k), "it in each tier", "")
			}
		}
		if k < f.levels-1 && !t.set["radix_up"] {
			s.add(ErrSyntax, t.line, 0, fmt.Sprintf("no radix_up in Tier %d", k), "it in each tier but the highest", "")
		}
	}
	if len(s.errs) > 0 {
		return
	}
	low, mid, top := &f.tiers[0], &f.tiers[1], &f.tiers[2]
	f.pods = f.nodes / f.podSize
	f.tors = f.podSize / low.down
	f.aggs = low.up / mid.bundle
	switch {
	case low.bundle != 1:
		bad(low.line, fmt.Sprintf("Bundle %d in Tier 0", low.bundle), "1: htsim has hosts with one port")
	case f.podSize%low.down != 0:
		bad(low.line, fmt.Sprintf("Podsize %d on switches of %d hosts", f.podSize, low.down), "a multiple")
	case low.up%mid.bundle != 0:
		bad(low.line, fmt.Sprintf("Radix_Up %d in bundles of %d", low.up, mid.bundle), "a multiple")
	case f.levels == 2 && f.pods != 1:
		bad(1, fmt.Sprintf("%d pods of two tiers", f.pods), "Podsize as large as Nodes: nothing would join the pods")
	case mid.down != f.tors*mid.bundle:
		bad(mid.line, fmt.Sprintf("Radix_Down %d in Tier 1", mid.down), fmt.Sprintf("%d: the %d switches of a pod in bundles of %d", f.tors*mid.bundle, f.tors, mid.bundle))
	case low.down*low.speed != low.excess*low.up*mid.speed:
		bad(low.line, fmt.Sprintf("Oversubscribed %d in Tier 0", low.excess), fmt.Sprintf("what %d x %d Gbit/s down and %d x %d Gbit/s up are", low.down, low.speed, low.up, mid.speed))
	}
	if len(s.errs) > 0 || f.levels == 2 {
		return
	}
	perAgg := mid.up / top.bundle
	f.cores = perAgg * f.aggs
	switch {
	case mid.up%top.bundle != 0:
		bad(mid.line, fmt.Sprintf("Radix_Up %d in bundles of %d", mid.up, top.bundle), "a multiple")
	case top.down != f.pods*top.bundle:
		bad(top.line, fmt.Sprintf("Radix_Down %d in Tier 2", top.down), fmt.Sprintf("%d: %d pods in bundles of %d", f.pods*top.bundle, f.pods, top.bundle))
	case mid.down*mid.speed != mid.excess*mid.up*top.speed:
		bad(mid.line, fmt.Sprintf("Oversubscribed %d in Tier 1", mid.excess), fmt.Sprintf("what %d x %d Gbit/s down and %d x %d Gbit/s up are", mid.down, mid.speed, mid.up, top.speed))
	}
}

// net lays out the tree.
func (f *fatTree) net() (*Net, error) {
	s := f.s
	perAgg := 0
	if f.aggs > 0 {
		perAgg = f.cores / f.aggs
	}
	switches := float64(f.pods)*float64(f.tors+f.aggs) + float64(f.cores)
	links := 2 * (float64(f.nodes) + float64(f.pods)*float64(f.tors)*float64(f.aggs) + float64(f.pods)*float64(f.aggs)*float64(perAgg))
	if float64(f.nodes)+switches > maxNodes || links > maxLinks {
		return nil, s.fail(ErrTooLarge, 1, 0, fmt.Sprintf("a tree of %d hosts, %.0f switches and %.0f links", f.nodes, switches, links), fmt.Sprintf("at most %d nodes and %d links", maxNodes, maxLinks), "")
	}
	n := &Net{Format: s.format, Name: s.name, Hosts: f.nodes, Graph: &topology.Graph{}}
	g := n.Graph
	for i := range f.nodes {
		n.GPUs = append(n.GPUs, g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("n%d.gpu0", i), Host: int32(i)}))
	}
	level := func(name string, count int) topology.NodeID {
		first := topology.NodeID(len(g.Nodes))
		for i := range count {
			g.AddNode(topology.Node{Kind: topology.Switch, Name: fmt.Sprintf("%s%d", name, i), Host: -1, Unit: int32(i)})
		}
		return first
	}
	tor, agg, core := level("tor", f.pods*f.tors), level("agg", f.pods*f.aggs), level("core", f.cores)
	for i := range f.nodes {
		f.join(g, topology.NodeID(i), tor+topology.NodeID(i/f.tiers[0].down), 0)
	}
	for t := range f.pods * f.tors {
		for a := range f.aggs {
			f.join(g, tor+topology.NodeID(t), agg+topology.NodeID(t/f.tors*f.aggs+a), 1)
		}
	}
	for a := range f.pods * f.aggs {
		for c := range perAgg {
			f.join(g, agg+topology.NodeID(a), core+topology.NodeID(a%f.aggs+c*f.aggs), 2)
		}
	}
	if err := g.Validate(); err != nil {
		return nil, s.fail(ErrContradiction, 0, 0, err.Error(), "a sound network", "")
	}
	n.fact("nodes", f.nodes)
	n.fact("tier 0 switches", f.pods*f.tors)
	n.fact("tier 1 switches", f.pods*f.aggs)
	n.fact("tier 2 switches", f.cores)
	n.note("a node of %s is taken as a server of one GPU with one port", s.name)
	n.note("rates of %s are taken as what payload reaches: no packet overhead is taken off", s.name)
	return n, nil
}

// join lays the links between a node and a switch of a tier above it. A
// link's latency holds the traversal of the switch that it leads to.
func (f *fatTree) join(g *topology.Graph, lower, upper topology.NodeID, k int) {
	t := &f.tiers[k]
	raw := sim.Rate(t.speed) * 1e9 / 8
	below := 0
	if k > 0 {
		below = f.tiers[k-1].traversal
	}
	l := topology.Link{
		From: lower, To: upper, Width: int32(t.bundle), Rate: raw * sim.Rate(t.bundle), Latency: sim.Time(t.latency+t.traversal) * sim.Nanosecond,
		Class: g.AddClass(topology.Class{Name: fmt.Sprintf("tier%d-%dgbps", k, t.speed), Raw: raw, Note: "given: " + string(f.s.format)}),
	}
	g.AddLink(l)
	l.From, l.To, l.Latency = upper, lower, sim.Time(t.latency+below)*sim.Nanosecond
	g.AddLink(l)
}
