package netfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// readTopograph reads a model of NVIDIA's topograph: `switches`, each with the
// switches below it, and `blocks` of nodes under a switch, with the NVLink
// domain that they form as an annotation.
//
// Such a file holds no speed, no number of cables and no GPU. Each line of the
// tree is taken as one cable of [Assume].Port, each node as a server with one
// NIC, and this is said.
func readTopograph(s *source, content []byte, a Assume) (*Net, error) {
	v, err := s.tree(content)
	if err != nil {
		return nil, err
	}
	f := &topographModel{s: s, ids: make(map[string]topology.NodeID), n: &Net{Format: s.format, Name: s.name, Graph: &topology.Graph{}}}
	f.switches(v.get("switches"))
	if len(s.errs) == 0 {
		f.blocks(v.get("blocks"))
	}
	if len(s.errs) > 0 {
		return nil, s.err()
	}
	return f.net(a)
}

type topographModel struct {
	s       *source
	n       *Net
	ids     map[string]topology.NodeID
	wires   [][2]topology.NodeID
	domains []string
	placed  map[topology.NodeID]bool // has a switch above it
}

// switches adds the tree of switches.
func (f *topographModel) switches(v *value) {
	s := f.s
	if v == nil || v.kind != mapping {
		s.add(ErrSyntax, 1, 0, "no mapping `switches`", "each switch with the switches below it", "")
		return
	}
	f.placed = make(map[topology.NodeID]bool)
	below := func(item *value) []*value {
		if item.kind == mapping {
			if l := item.get("switches"); l != nil && l.kind == list {
				return l.items
			}
		}
		return nil
	}
	for _, key := range v.keys {
		if _, dup := f.ids[key.text]; dup {
			s.add(ErrContradiction, key.line, key.col, "the switch "+clip(key.text)+" for the second time", "each switch once", "")
			continue
		}
		f.addSwitch(key)
	}
	for i, key := range v.keys {
		for _, item := range below(v.items[i]) {
			if item.kind != scalar {
				s.add(ErrSyntax, item.line, item.col, item.kind.String(), "the name of a switch", "")
				continue
			}
			if _, known := f.ids[item.text]; !known {
				f.addSwitch(item)
			}
			f.under(f.ids[key.text], f.ids[item.text], item)
		}
	}
}

func (f *topographModel) addSwitch(v *value) {
	if v.text == "" {
		f.s.add(ErrSyntax, v.line, v.col, "a switch without a name", "a name", "")
		return
	}
	f.ids[v.text] = f.n.Graph.AddNode(topology.Node{Kind: topology.Switch, Name: v.text, Host: -1, Unit: int32(len(f.ids))})
}

// under notes that a node hangs from a switch.
func (f *topographModel) under(parent, child topology.NodeID, at *value) {
	switch {
	case parent == child:
		f.s.add(ErrContradiction, at.line, at.col, clip(at.text)+" below itself", "a tree", "")
	case f.placed[child]:
		f.s.add(ErrContradiction, at.line, at.col, clip(at.text)+" below a second switch", "a tree", "")
	default:
		f.placed[child] = true
		f.wires = append(f.wires, [2]topology.NodeID{child, parent})
	}
}

// blocks adds the servers.
func (f *topographModel) blocks(v *value) {
	s := f.s
	if v == nil || v.kind != list {
		s.add(ErrSyntax, 1, 0, "no list `blocks`", "blocks of nodes, each under a switch", "")
		return
	}
	for _, b := range v.items {
		if b.kind != mapping || b.get("switch") == nil || b.get("nodes") == nil {
			s.add(ErrSyntax, b.line, b.col, "a block without `switch` or `nodes`", "both", "")
			continue
		}
		above, ok := f.ids[b.get("switch").text]
		if !ok {
			sw := b.get("switch")
			s.add(ErrContradiction, sw.line, sw.col, "the switch "+clip(sw.text), "one of those named above", didYouMean(sw.text, f.names()))
			continue
		}
		if notes := b.get("annotations"); notes != nil && notes.kind == mapping {
			for i, key := range notes.keys {
				if strings.HasSuffix(key.text, "/domain") || key.text == "domain" {
					f.domain(notes.items[i].text)
				}
			}
		}
		nodes := b.get("nodes")
		items := nodes.items
		if nodes.kind == scalar {
			items = []*value{nodes}
		}
		for _, item := range items {
			for _, name := range f.expand(item) {
				f.server(name, above, item)
			}
		}
	}
}

func (f *topographModel) names() []string {
	var names []string
	for _, n := range f.n.Graph.Nodes {
		names = append(names, n.Name)
	}
	return names
}

func (f *topographModel) domain(name string) {
	for _, d := range f.domains {
		if d == name {
			return
		}
	}
	f.domains = append(f.domains, name)
}

// expand lists the names in a range such as node[1101-1118,1201]: numbers keep
// their width.
func (f *topographModel) expand(v *value) []string {
	bad := func() []string {
		f.s.add(ErrSyntax, v.line, v.col, "the nodes "+clip(v.text), "a name or a range with the lower number first, as node[1101-1118]", "")
		return nil
	}
	head, rest, ranged := strings.Cut(v.text, "[")
	if v.kind != scalar || v.text == "" {
		return bad()
	}
	if !ranged {
		return []string{v.text}
	}
	inside, tail, ok := strings.Cut(rest, "]")
	if !ok {
		return bad()
	}
	var names []string
	for part := range strings.SplitSeq(inside, ",") {
		low, high, span := strings.Cut(part, "-")
		if !span {
			high = low
		}
		a, errA := strconv.Atoi(low)
		b, errB := strconv.Atoi(high)
		if errA != nil || errB != nil || a < 0 || b < a {
			return bad()
		}
		if b-a >= maxNodes-len(names)-len(f.n.Graph.Nodes) {
			f.s.add(ErrTooLarge, v.line, v.col, "the nodes "+clip(v.text), fmt.Sprintf("at most %d", maxNodes), "")
			return nil
		}
		for i := a; i <= b; i++ {
			names = append(names, fmt.Sprintf("%s%0*d%s", head, len(low), i, tail))
		}
	}
	return names
}

func (f *topographModel) server(name string, above topology.NodeID, at *value) {
	if _, dup := f.ids[name]; dup {
		f.s.add(ErrContradiction, at.line, at.col, "the node "+clip(name)+" for the second time", "each node once", "")
		return
	}
	id := f.n.Graph.AddNode(topology.Node{Kind: topology.NIC, Name: name + ".nic0", Host: int32(f.n.Hosts)})
	f.ids[name] = id
	f.n.Hosts++
	f.n.NICs = append(f.n.NICs, id)
	f.under(above, id, at)
}

func (f *topographModel) net(a Assume) (*Net, error) {
	n, g := f.n, f.n.Graph
	class := g.AddClass(topology.Class{Name: "assumed-cable", Raw: a.Port, Note: "assumed: a topograph model has no speeds"})
	for _, w := range f.wires {
		l := topology.Link{From: w[0], To: w[1], Rate: a.Port, Class: class, Width: 1, Latency: a.Cable + a.Switch}
		back := l
		back.From, back.To = l.To, l.From
		if g.Nodes[w[0]].Kind == topology.NIC {
			l.Latency += a.NIC
			back.Latency = a.Cable + a.NIC
		}
		g.AddLink(l)
		g.AddLink(back)
	}
	if err := g.Validate(); err != nil {
		return nil, f.s.fail(ErrContradiction, 0, 0, err.Error(), "one tree", "")
	}
	n.fact("switches", len(g.Nodes)-n.Hosts)
	n.fact("nodes", n.Hosts)
	n.fact("NVLink domains", len(f.domains))
	n.note("%s holds no speeds and no number of cables: each line of its tree is assumed to be one cable of %v each way, so bandwidth figures are not the network's", n.Name, sim.Rate(a.Port))
	n.note("latencies are not in %s; assumed: cable %v, switch %v, adapter %v", n.Name, a.Cable, a.Switch, a.NIC)
	n.note("%s names no GPUs and no NICs: one NIC a node is assumed", n.Name)
	if len(f.domains) > 0 {
		n.note("%s has %d NVLink domains (%s); they are counted and not wired", n.Name, len(f.domains), someOf(f.domains))
	}
	return n, nil
}

// someOf lists the first of many names.
func someOf(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
