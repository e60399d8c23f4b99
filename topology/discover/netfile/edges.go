package netfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// readEdges reads weft's plain edge list, the smallest way to say what is
// joined to what. A line is a link, both ways alike:
//
//	# two servers of two GPUs
//	name  lab
//	n0.gpu0  n0.nvswitch0  25GB/s   500ns  x18  nvlink4
//	n0.gpu0  leaf0         400Gbps  1us
//	leaf0    spine0        400Gbps  330ns  x4
//
// that is `a b rate latency [xN] [class]`. rate is that of one physical link
// and direction, N how many run in parallel (1), latency from end to end. The
// kind of a node is how its name begins behind the last dot: gpu, nvswitch,
// pcie-sw, rc (host bridge), cpu, mem, nic or mlx5_, leaf, spine, core, tor,
// agg, switch, sw. What stands before the dot is its server. Without a class,
// links of an NVSwitch or between GPUs are nvlink, those of a network switch
// net, all others pcie. GPUs are ranked by server and number, as people count.
//
// Lines of one or two words are settings: `name NAME`, and `relay` for GPUs
// that forward what is for others, as in a ring or a torus.
func readEdges(s *source, content []byte) (*Net, error) {
	e := &edgeList{s: s, ids: make(map[string]topology.NodeID)}
	e.n = &Net{Format: s.format, Name: s.name, Graph: &topology.Graph{}}
	e.classes = newClasses(e.n.Graph)
	eachLine(content, e.line)
	if len(s.errs) > 0 {
		return nil, s.err()
	}
	n := e.n
	if len(n.Graph.Links) == 0 {
		return nil, s.fail(ErrNoTopology, 1, 0, "no link", "lines `a b rate latency`, as n0.gpu0 leaf0 400Gbps 1us", "")
	}
	numberHosts(n.Graph)
	if err := n.Graph.Validate(); err != nil {
		return nil, s.fail(ErrContradiction, 0, 0, err.Error(), "a sound network", "")
	}
	n.endpoints()
	n.Hosts = n.countHosts()
	n.fact("nodes", len(n.Graph.Nodes))
	n.fact("links", len(n.Graph.Links)/2)
	return n, nil
}

// countHosts counts the servers of GPUs and NICs.
func (n *Net) countHosts() int {
	set := make(map[int32]bool)
	for _, ids := range [][]topology.NodeID{n.GPUs, n.NICs} {
		for _, id := range ids {
			set[n.Graph.Nodes[id].Host] = true
		}
	}
	return len(set)
}

// endpoints lists GPUs and NICs by server and number.
func (n *Net) endpoints() {
	g := n.Graph
	for i, node := range g.Nodes {
		switch node.Kind {
		case topology.GPU:
			n.GPUs = append(n.GPUs, topology.NodeID(i))
		case topology.NIC:
			n.NICs = append(n.NICs, topology.NodeID(i))
		}
	}
	for _, ids := range [][]topology.NodeID{n.GPUs, n.NICs} {
		slices.SortStableFunc(ids, func(a, b topology.NodeID) int {
			return natural(g.Nodes[a].Name, g.Nodes[b].Name)
		})
	}
}

type edgeList struct {
	s       *source
	n       *Net
	ids     map[string]topology.NodeID
	classes *classes
}

func (e *edgeList) line(number int, w []word) bool {
	s := e.s
	switch {
	case len(w) == 1 && w[0].text == "relay":
		e.n.Relay = true
		return true
	case len(w) == 2 && w[0].text == "name":
		e.n.Name = w[1].text
		return true
	case len(w) < 4 || len(w) > 6:
		hint := ""
		if len(w) < 3 {
			hint = didYouMean(w[0].text, []string{"relay", "name"})
		}
		return s.add(ErrSyntax, number, w[0].col, fmt.Sprintf("%d words", len(w)), "`a b rate latency [xN] [class]`, as n0.gpu0 leaf0 400Gbps 1us", hint)
	case w[0].text == w[1].text:
		return s.add(ErrContradiction, number, w[1].col, "a link from "+clip(w[0].text)+" to itself", "two different nodes", "")
	case len(e.n.Graph.Links) >= maxLinks:
		s.add(ErrTooLarge, number, 0, "one more link", fmt.Sprintf("at most %d", maxLinks/2), "")
		return false
	}
	a, okA := e.node(w[0])
	b, okB := e.node(w[1])
	rate, okRate := s.rate(w[2])
	latency, okTime := s.time(w[3])
	width, class, ok := 1, "", true
	for i, extra := range w[4:] {
		if n, found := strings.CutPrefix(extra.text, "x"); found && isDigits(n) && i == 0 {
			width, ok = s.count(word{n, extra.line, extra.col + 1}, "the number of links", maxWidth)
			if ok && width == 0 {
				ok = s.add(ErrSyntax, number, extra.col, "x0", "x1 or more", "leave the line out") && false
			}
			continue
		}
		if class != "" || len(w) == 6 && i == 0 {
			s.add(ErrSyntax, number, extra.col, clip(extra.text), "a number of links as x2, then a class", "")
			ok = false
			continue
		}
		class = extra.text
	}
	if !okA || !okB || !okRate || !okTime || !ok {
		return len(s.errs) < maxErrors
	}
	if class == "" {
		class = classOf(e.n.Graph.Nodes[a].Kind, e.n.Graph.Nodes[b].Kind)
	}
	e.n.Graph.AddDuplex(topology.Link{
		From: a, To: b, Rate: rate * sim.Rate(width), Latency: latency, Width: int32(width),
		Class: e.classes.id(class, rate, "given: "+string(s.format)),
	})
	return true
}

// classOf names the class of a link by what it joins.
func classOf(a, b topology.NodeKind) string {
	switch {
	case a == topology.Switch || b == topology.Switch:
		return "net"
	case a == topology.NVSwitch || b == topology.NVSwitch || a == topology.GPU && b == topology.GPU:
		return "nvlink"
	}
	return "pcie"
}

// node returns the node of a name, new or known.
func (e *edgeList) node(w word) (topology.NodeID, bool) {
	if id, ok := e.ids[w.text]; ok {
		return id, true
	}
	kind, unit, ok := kindOf(w.text)
	if !ok {
		own := strings.TrimRight(w.text[strings.LastIndexByte(w.text, '.')+1:], "0123456789")
		return 0, e.s.add(ErrSyntax, w.line, w.col, "the node "+clip(w.text), "a name whose part behind the last dot begins with its kind: "+prefixList(), didYouMean(own, prefixWords())) && false
	}
	if len(e.ids) >= maxNodes {
		return 0, e.s.add(ErrTooLarge, w.line, w.col, "one more node", fmt.Sprintf("at most %d", maxNodes), "") && false
	}
	id := e.n.Graph.AddNode(topology.Node{Kind: kind, Name: w.text, Host: byName, Unit: unit})
	e.ids[w.text] = id
	return id, true
}
