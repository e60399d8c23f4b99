package netfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// kindWords are the kinds of nodes in weft's own files.
var kindWords = []string{"gpu", "nvswitch", "pcie-switch", "host-bridge", "cpu", "host-memory", "nic", "switch"}

// graphFile reads weft's own graph.
type graphFile struct {
	s       *source
	n       *Net
	ids     map[string]topology.NodeID
	classes map[string]topology.ClassID
	listed  bool // the file lists its nodes
}

// readGraph reads weft's own graph, in JSON or YAML; see [Write].
func readGraph(s *source, content []byte) (*Net, error) {
	v, err := s.tree(content)
	if err != nil {
		return nil, err
	}
	f := &graphFile{
		s: s, n: &Net{Format: s.format, Name: s.name, Graph: &topology.Graph{}},
		ids: make(map[string]topology.NodeID), classes: make(map[string]topology.ClassID),
	}
	f.read(v)
	if len(s.errs) > 0 {
		return nil, s.err()
	}
	if err := f.n.Graph.Validate(); err != nil {
		return nil, s.fail(ErrContradiction, 0, 0, err.Error(), "a sound network", "")
	}
	f.n.fact("nodes", len(f.n.Graph.Nodes))
	f.n.fact("links", len(f.n.Graph.Links))
	return f.n, nil
}

func (f *graphFile) read(v *value) {
	keys := []string{"weft_graph", "name", "relay", "notes", "classes", "nodes", "links", "trunks", "ranks"}
	if !f.known(v, keys) {
		return
	}
	if w := v.get("weft_graph"); w != nil && w.text != "1" {
		f.s.add(ErrSyntax, w.line, w.col, "version "+clip(w.text), "weft_graph: 1", "")
		return
	}
	if w := v.get("name"); w != nil {
		f.n.Name = w.text
	}
	if w := v.get("relay"); w != nil {
		if w.text != "true" && w.text != "false" {
			f.s.add(ErrSyntax, w.line, w.col, "relay "+clip(w.text), "true or false", "")
		}
		f.n.Relay = w.text == "true"
	}
	for _, item := range f.items(v, "notes", false) {
		f.n.Notes = append(f.n.Notes, item.text)
	}
	f.each(v, "classes", false, []string{"name", "raw", "note"}, f.class)
	f.each(v, "nodes", false, []string{"name", "kind", "host", "unit"}, f.node)
	f.listed = v.get("nodes") != nil
	f.each(v, "links", true, []string{"from", "to", "rate", "latency", "class", "width", "back", "one_way"}, f.link)
	f.each(v, "trunks", false, []string{"links", "shares"}, f.trunk)
	numberHosts(f.n.Graph)
	f.ranks(v)
	f.n.Hosts = f.n.countHosts()
}

// known refuses keys that are not among those listed.
func (f *graphFile) known(v *value, keys []string) bool {
	ok := true
	for _, k := range v.keys {
		found := false
		for _, key := range keys {
			found = found || key == k.text
		}
		if !found {
			f.s.add(ErrSyntax, k.line, k.col, "the key "+clip(k.text), strings.Join(keys, ", "), didYouMean(k.text, keys))
			ok = false
		}
	}
	return ok
}

// items returns the list at a key.
func (f *graphFile) items(v *value, key string, must bool) []*value {
	l := v.get(key)
	if l == nil {
		if must {
			f.s.add(ErrSyntax, v.line, v.col, "no "+key, "a list of them", "")
		}
		return nil
	}
	if l.kind != list {
		f.s.add(ErrSyntax, l.line, l.col, key+" as "+l.kind.String(), "a list", "")
		return nil
	}
	return l.items
}

// each calls read for each mapping of the list at a key.
func (f *graphFile) each(v *value, key string, must bool, keys []string, read func(*value)) {
	for _, item := range f.items(v, key, must) {
		if len(f.s.errs) >= maxErrors {
			return
		}
		if item.kind != mapping {
			f.s.add(ErrSyntax, item.line, item.col, "an item of "+key+" as "+item.kind.String(), "a mapping of "+strings.Join(keys, ", "), "")
			continue
		}
		if f.known(item, keys) {
			read(item)
		}
	}
}

// text returns the value at a key that must be there.
func (f *graphFile) text(v *value, key string) (word, bool) {
	w := v.get(key)
	if w == nil || w.kind != scalar || w.text == "" {
		f.s.add(ErrSyntax, v.line, v.col, "no "+key, "it in each item", "")
		return word{}, false
	}
	return w.word(), true
}

// number returns the whole number at a key, or what it is without the key.
func (f *graphFile) number(v *value, key string, without, least, most int) int {
	w := v.get(key)
	if w == nil {
		return without
	}
	n, err := strconv.Atoi(w.text)
	if err != nil || n < least || n > most {
		f.s.add(ErrSyntax, w.line, w.col, key+" "+clip(w.text), fmt.Sprintf("a whole number from %d to %d", least, most), "")
		return without
	}
	return n
}

func (f *graphFile) class(v *value) {
	name, ok := f.text(v, "name")
	if !ok {
		return
	}
	if _, dup := f.classes[name.text]; dup {
		f.s.add(ErrContradiction, name.line, name.col, "the class "+clip(name.text)+" for the second time", "each class once", "")
		return
	}
	c := topology.Class{Name: name.text}
	if w := v.get("raw"); w != nil {
		c.Raw, _ = f.s.rate(w.word())
	}
	if w := v.get("note"); w != nil {
		c.Note = w.text
	}
	f.classes[name.text] = topology.ClassID(len(f.n.Graph.Classes))
	f.n.Graph.Classes = append(f.n.Graph.Classes, c)
}

func (f *graphFile) node(v *value) {
	name, ok := f.text(v, "name")
	if !ok {
		return
	}
	if _, dup := f.ids[name.text]; dup {
		f.s.add(ErrContradiction, name.line, name.col, "the node "+clip(name.text)+" for the second time", "each node once", "")
		return
	}
	kind, unit, known := kindOf(name.text)
	if w := v.get("kind"); w != nil {
		known = false
		for i, word := range kindWords {
			if word == w.text {
				kind, known = topology.NodeKind(i), true
			}
		}
		if !known {
			f.s.add(ErrSyntax, w.line, w.col, "the kind "+clip(w.text), strings.Join(kindWords, ", "), didYouMean(w.text, kindWords))
			return
		}
	}
	if !known {
		f.s.add(ErrSyntax, name.line, name.col, "the node "+clip(name.text)+" without a kind", "kind: "+strings.Join(kindWords, ", "), "")
		return
	}
	f.addNode(name.text, kind, int32(f.number(v, "unit", int(unit), 0, 1<<30)), v)
}

func (f *graphFile) addNode(name string, kind topology.NodeKind, unit int32, v *value) {
	host := int32(byName)
	if v.get("host") != nil {
		host = int32(f.number(v, "host", -1, -1, 1<<30))
	}
	f.ids[name] = f.n.Graph.AddNode(topology.Node{Kind: kind, Name: name, Unit: unit, Host: host})
}

// end returns the node at a key. Links may name nodes that are not listed if
// their names tell the kind.
func (f *graphFile) end(v *value, key string) (topology.NodeID, bool) {
	w, ok := f.text(v, key)
	if !ok {
		return 0, false
	}
	if id, ok := f.ids[w.text]; ok {
		return id, true
	}
	kind, unit, ok := kindOf(w.text)
	if !ok || f.listed {
		var names []string
		for i := 0; i < len(f.n.Graph.Nodes) && i < 4096; i++ {
			names = append(names, f.n.Graph.Nodes[i].Name)
		}
		f.s.add(ErrContradiction, w.line, w.col, "a link to "+clip(w.text), "a node that is listed", didYouMean(w.text, names))
		return 0, false
	}
	f.addNode(w.text, kind, unit, &value{})
	return f.ids[w.text], true
}

func (f *graphFile) link(v *value) {
	g := f.n.Graph
	from, okFrom := f.end(v, "from")
	to, okTo := f.end(v, "to")
	if !okFrom || !okTo {
		return
	}
	if from == to {
		f.s.add(ErrContradiction, v.line, v.col, "a link from "+clip(g.Nodes[from].Name)+" to itself", "two different nodes", "")
		return
	}
	l := topology.Link{From: from, To: to}
	if !f.half(v, &l, topology.Link{Width: 1, Class: -1}) {
		return
	}
	if one := v.get("one_way"); one != nil && one.text == "true" {
		g.AddLink(l)
		return
	}
	back := l
	back.From, back.To = to, from
	if b := v.get("back"); b != nil {
		if b.kind != mapping || !f.known(b, []string{"rate", "latency", "class", "width"}) {
			f.s.add(ErrSyntax, b.line, b.col, "back as "+b.kind.String(), "a mapping of rate, latency, class, width", "")
			return
		}
		if !f.half(b, &back, l) {
			return
		}
	}
	g.AddLink(l)
	g.AddLink(back)
}

// half reads what is said of one direction of a link; what is left out is
// taken from another.
func (f *graphFile) half(v *value, l *topology.Link, without topology.Link) bool {
	before := len(f.s.errs)
	l.Rate, l.Latency, l.Class = without.Rate, without.Latency, without.Class
	if w := v.get("rate"); w != nil {
		l.Rate, _ = f.s.rate(w.word())
	} else if without.Rate == 0 {
		f.s.add(ErrSyntax, v.line, v.col, "a link without a rate", "rate: 450GB/s", "")
	}
	if w := v.get("latency"); w != nil {
		l.Latency, _ = f.s.time(w.word())
	} else if without.Rate == 0 {
		f.s.add(ErrSyntax, v.line, v.col, "a link without a latency", "latency: 500ns", "")
	}
	l.Width = int32(f.number(v, "width", int(without.Width), 1, maxWidth))
	name := classOf(f.n.Graph.Nodes[l.From].Kind, f.n.Graph.Nodes[l.To].Kind)
	w := v.get("class")
	if w != nil {
		name = w.text
	}
	if w != nil || l.Class < 0 {
		id, ok := f.classes[name]
		if !ok {
			id = topology.ClassID(len(f.n.Graph.Classes))
			f.classes[name] = id
			f.n.Graph.Classes = append(f.n.Graph.Classes, topology.Class{Name: name, Raw: l.Rate / sim.Rate(l.Width), Note: "given: " + string(f.s.format)})
		}
		l.Class = id
	}
	return len(f.s.errs) == before
}

func (f *graphFile) trunk(v *value) {
	var t topology.Trunk
	for _, item := range f.items(v, "links", true) {
		n, ok := f.s.count(item.word(), "the link", len(f.n.Graph.Links)-1)
		if !ok {
			return
		}
		t.Links = append(t.Links, topology.LinkID(n))
	}
	for _, item := range f.items(v, "shares", true) {
		n, ok := f.s.count(item.word(), "the share", maxWidth)
		if !ok {
			return
		}
		t.Shares = append(t.Shares, int32(n))
	}
	f.n.Graph.AddTrunk(t)
}

func (f *graphFile) ranks(v *value) {
	if v.get("ranks") == nil {
		f.n.endpoints()
		return
	}
	seen := make(map[topology.NodeID]bool)
	f.n.endpoints()
	f.n.GPUs = nil
	for _, item := range f.items(v, "ranks", false) {
		id, ok := f.ids[item.text]
		switch {
		case !ok:
			f.s.add(ErrContradiction, item.line, item.col, "the rank "+clip(item.text), "a node that is listed", "")
			continue
		case f.n.Graph.Nodes[id].Kind != topology.GPU:
			f.s.add(ErrContradiction, item.line, item.col, "the rank "+clip(item.text)+", a "+f.n.Graph.Nodes[id].Kind.String(), "a GPU", "")
		case seen[id]:
			f.s.add(ErrContradiction, item.line, item.col, "the rank "+clip(item.text)+" for the second time", "each GPU once", "")
		}
		seen[id] = true
		f.n.GPUs = append(f.n.GPUs, id)
	}
}
