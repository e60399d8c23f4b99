package netfile

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// readLinkTable reads the link tables of SimAI and of ASTRA-sim's ns-3
// backend. Line 1 tells them apart: SimAI has `nodes gpus_per_server nvswitches
// switches links gpu_type`, ns-3 `nodes switches links`. Then the ids of all
// switches (NVSwitches first), then a line `src dst rate latency error` per
// link, which runs both ways.
func readLinkTable(s *source, content []byte) (*Net, error) {
	t := &linkTable{s: s}
	eachLine(content, t.line)
	if len(s.errs) > 0 {
		return nil, s.err()
	}
	return t.net()
}

type linkTable struct {
	s      *source
	simai  bool
	header int // its line

	nodes, perServer, nvswitches, switches, links int
	gpuType                                       string

	ids  []word // of switches
	seen []tableLink
	last int
}

type tableLink struct {
	a, b    int
	rate    sim.Rate
	latency sim.Time
	text    string // of the rate
	at      word
}

func (t *linkTable) line(number int, w []word) bool {
	t.last = number
	switch {
	case t.header == 0:
		t.header = number
		return t.readHeader(w)
	case len(t.ids) < t.nvswitches+t.switches:
		if len(t.ids)+len(w) > t.nvswitches+t.switches {
			extra := w[t.nvswitches+t.switches-len(t.ids)]
			return t.s.add(ErrContradiction, extra.line, extra.col, fmt.Sprintf("one more switch id than the %d that line %d promises", t.nvswitches+t.switches, t.header), "", "") && false
		}
		t.ids = append(t.ids, w...)
		return true
	}
	return t.readLink(w)
}

func (t *linkTable) readHeader(w []word) bool {
	fields := []struct {
		what string
		to   *int
	}{{"the number of nodes", &t.nodes}, {"the number of switches", &t.switches}, {"the number of links", &t.links}}
	t.simai = len(w) == 6
	if t.simai {
		fields = []struct {
			what string
			to   *int
		}{
			{"the number of nodes", &t.nodes}, {"the GPUs per server", &t.perServer}, {"the number of NVSwitches", &t.nvswitches},
			{"the number of switches", &t.switches}, {"the number of links", &t.links},
		}
		t.gpuType = w[5].text
	} else if len(w) != 3 {
		return t.s.add(ErrSyntax, w[0].line, 0, fmt.Sprintf("%d words", len(w)), "`nodes switches links` (ASTRA-sim ns-3) or `nodes gpus_per_server nvswitches switches links gpu_type` (SimAI)", "") && false
	}
	ok := true
	for i, f := range fields {
		n, good := t.s.count(w[i], f.what, maxNodes)
		*f.to, ok = n, ok && good
	}
	if !ok {
		return false
	}
	gpus := t.nodes - t.nvswitches - t.switches
	switch {
	case gpus < 1:
		t.s.add(ErrContradiction, w[0].line, w[0].col, fmt.Sprintf("%d nodes of which %d are switches", t.nodes, t.nvswitches+t.switches), "at least one GPU", "")
	case t.simai && (t.perServer < 1 || gpus%t.perServer != 0):
		t.s.add(ErrContradiction, w[1].line, w[1].col, fmt.Sprintf("%d GPUs in servers of %d", gpus, t.perServer), "as many in each", "")
	default:
		return true
	}
	return false
}

func (t *linkTable) readLink(w []word) bool {
	s := t.s
	if len(w) < 4 || len(w) > 5 {
		return s.add(ErrSyntax, w[0].line, w[0].col, fmt.Sprintf("%d words", len(w)), "`src dst rate latency error`, as 0 64 2400Gbps 0.000025ms 0", "")
	}
	if len(t.seen) == t.links {
		s.add(ErrContradiction, w[0].line, w[0].col, fmt.Sprintf("one more link than the %d that line %d promises", t.links, t.header), "", "")
		return false
	}
	a, okA := s.count(w[0], "the node", maxNodes)
	b, okB := s.count(w[1], "the node", maxNodes)
	rate, okRate := s.rate(w[2])
	latency, okTime := s.time(w[3])
	t.seen = append(t.seen, tableLink{a: a, b: b, rate: rate, latency: latency, text: w[2].text, at: w[0]})
	if !okA || !okB || !okRate || !okTime {
		return len(s.errs) < maxErrors
	}
	for i, id := range []int{a, b} {
		if id >= t.nodes {
			s.add(ErrContradiction, w[i].line, w[i].col, fmt.Sprintf("a link to node %d", id), fmt.Sprintf("a node from 0 to %d (line %d has %d nodes)", t.nodes-1, t.header, t.nodes), "")
		}
	}
	if a == b {
		s.add(ErrContradiction, w[0].line, w[0].col, fmt.Sprintf("a link from node %d to itself", a), "two different nodes", "")
	}
	return len(s.errs) < maxErrors
}

// net builds the graph of a table that holds together so far.
func (t *linkTable) net() (*Net, error) {
	s := t.s
	switch {
	case t.header == 0:
		return nil, s.fail(ErrSyntax, 1, 0, "no line with words", "a link table", "")
	case len(t.ids) < t.nvswitches+t.switches:
		return nil, s.fail(ErrSyntax, t.last, 0, fmt.Sprintf("the end after %d switch ids", len(t.ids)), fmt.Sprintf("%d, as line %d promises", t.nvswitches+t.switches, t.header), "is the file cut short?")
	case len(t.seen) < t.links:
		return nil, s.fail(ErrSyntax, t.last, 0, fmt.Sprintf("the end after %d links", len(t.seen)), fmt.Sprintf("%d, as line %d promises", t.links, t.header), "is the file cut short?")
	case t.nodes > t.links+1:
		return nil, s.fail(ErrContradiction, t.header, 0, fmt.Sprintf("%d nodes and %d links", t.nodes, t.links), "at least as many links as it takes to join all nodes", "")
	}
	kinds := make([]topology.NodeKind, t.nodes)
	for i, w := range t.ids {
		id, ok := s.count(w, "the switch id", t.nodes-1)
		switch {
		case !ok:
		case kinds[id] != topology.GPU:
			s.add(ErrContradiction, w.line, w.col, fmt.Sprintf("switch id %d for the second time", id), "each id once", "")
		case i < t.nvswitches:
			kinds[id] = topology.NVSwitch
		default:
			kinds[id] = topology.Switch
		}
	}
	if len(s.errs) > 0 {
		return nil, s.err()
	}
	n := &Net{Format: s.format, Name: s.name, Graph: &topology.Graph{}}
	t.addNodes(n, kinds)
	t.addLinks(n)
	if err := n.Graph.Validate(); err != nil {
		return nil, s.fail(ErrContradiction, 0, 0, err.Error(), "a sound network", "")
	}
	n.fact("nodes", t.nodes)
	n.fact("switch ids", len(t.ids))
	n.fact("link lines", len(t.seen))
	if t.simai {
		n.note("%s says its GPUs are %s: links keep the rates of the file", s.name, t.gpuType)
	}
	if !t.simai && !n.Relay {
		n.note("%s has no servers: weft takes each GPU as one of its own", s.name)
	}
	n.note("rates of %s are taken as what payload reaches: no packet overhead is taken off", s.name)
	return n, nil
}

// addNodes names GPUs and NVSwitches by their servers, and other switches by
// their tier and their id in the file: leaf72, spine79.
func (t *linkTable) addNodes(n *Net, kinds []topology.NodeKind) {
	server := t.servers(kinds)
	tier := t.tiers(kinds)
	planes := make(map[int32]int32)
	seen := make(map[int32]bool)
	gpu := 0
	for id, kind := range kinds {
		node := topology.Node{Kind: kind, Host: -1, Unit: int32(id)}
		switch kind {
		case topology.GPU:
			node.Host, node.Unit = server[id], int32(gpu)
			if t.simai {
				node.Unit = int32(gpu % t.perServer)
			}
			node.Name = fmt.Sprintf("n%d.gpu%d", node.Host, node.Unit)
			if !seen[node.Host] {
				seen[node.Host] = true
				n.Hosts++
			}
			gpu++
			n.GPUs = append(n.GPUs, topology.NodeID(id))
		case topology.NVSwitch:
			node.Host = server[id]
			node.Unit = planes[node.Host]
			planes[node.Host]++
			node.Name = fmt.Sprintf("n%d.nvswitch%d", node.Host, node.Unit)
			if node.Host < 0 {
				node.Name = fmt.Sprintf("nvswitch%d", id)
			}
		default:
			node.Name = fmt.Sprintf("%s%d", [...]string{"leaf", "spine", "core"}[min(tier[id], 2)], id)
		}
		n.Graph.AddNode(node)
	}
}

// servers tells the server of each GPU, and of each NVSwitch by the first GPU
// that hangs from it. Without a size of servers all GPUs joined by links of
// their own are one server; each GPU that only knows switches is its own.
func (t *linkTable) servers(kinds []topology.NodeKind) []int32 {
	server := make([]int32, len(kinds))
	gpu := int32(0)
	direct := t.relays(kinds)
	for id, kind := range kinds {
		server[id] = -1
		if kind != topology.GPU {
			continue
		}
		switch {
		case t.simai:
			server[id] = gpu / int32(t.perServer)
		case direct:
			server[id] = 0
		default:
			server[id] = gpu
		}
		gpu++
	}
	for _, l := range t.seen {
		for _, end := range [][2]int{{l.a, l.b}, {l.b, l.a}} {
			if kinds[end[0]] == topology.NVSwitch && kinds[end[1]] == topology.GPU && server[end[0]] < 0 {
				server[end[0]] = server[end[1]]
			}
		}
	}
	return server
}

// relays reports whether GPUs have links to GPUs.
func (t *linkTable) relays(kinds []topology.NodeKind) bool {
	for _, l := range t.seen {
		if kinds[l.a] == topology.GPU && kinds[l.b] == topology.GPU {
			return true
		}
	}
	return false
}

// tiers tells how far above the GPUs a switch is: 0 if a GPU hangs from it.
func (t *linkTable) tiers(kinds []topology.NodeKind) []int {
	const unknown = 1 << 30
	tier := make([]int, len(kinds))
	for id, kind := range kinds {
		tier[id] = unknown
		if kind == topology.GPU {
			tier[id] = -1
		}
	}
	for changed, round := true, 0; changed && round < 8; round++ {
		changed = false
		for _, l := range t.seen {
			for _, end := range [][2]int{{l.a, l.b}, {l.b, l.a}} {
				if kinds[end[1]] == topology.NVSwitch || tier[end[1]] == unknown {
					continue
				}
				if up := tier[end[1]] + 1; up < tier[end[0]] {
					tier[end[0]], changed = up, true
				}
			}
		}
	}
	return tier
}

func (t *linkTable) addLinks(n *Net) {
	g := n.Graph
	classes := newClasses(g)
	for _, l := range t.seen {
		kind := "net"
		if a, b := g.Nodes[l.a].Kind, g.Nodes[l.b].Kind; a != topology.Switch && b != topology.Switch {
			kind = "nvlink"
			if !t.simai {
				kind = "link"
				n.Relay = true
			}
		}
		g.AddDuplex(topology.Link{
			From: topology.NodeID(l.a), To: topology.NodeID(l.b), Rate: l.rate, Latency: l.latency, Width: 1,
			Class: classes.id(kind+"-"+strings.ToLower(l.text), l.rate, "given: "+string(n.Format)),
		})
	}
	if n.Relay {
		n.note("GPUs of %s are joined directly, so weft lets them forward; ns-3 itself lets only switches forward and cannot send between GPUs that are not neighbours", n.Name)
	}
}
