package netfile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Write writes a network as weft's own graph, which Read reads back to the
// same nodes, links, classes, trunks and ranks, with the same numbers. The
// text is JSON (and so also YAML), a record on each line:
//
//	{"weft_graph": 1, "name": "lab", "relay": false, "notes": [],
//	 "classes": [{"name": "nvlink4", "raw": "25GB/s", "note": "datasheet"}],
//	 "nodes": [{"name": "n0.gpu0", "kind": "gpu", "host": 0, "unit": 0}, ...],
//	 "links": [{"from": "n0.gpu0", "to": "n0.nvswitch0", "rate": "450GB/s",
//	            "latency": "500ns", "class": "nvlink4", "width": 18}, ...],
//	 "trunks": [{"links": [0, 2], "shares": [1, 1]}],
//	 "ranks": ["n0.gpu0", ...]}
//
// rate is that of all width physical links together, per direction. A link
// runs both ways; back holds what differs on the way back, one_way says that
// there is none. Trunks name directions of links by number: link i of the list
// is 2i and, back, 2i+1, as long as none is one_way. All but links may be left
// out: nodes if their names tell their kinds as in an edge list, ranks if GPUs
// are to be ranked by server and number.
//
// The routes of a file's own simulator (Net.Route) are not written: what is
// read back follows shortest paths.
func Write(w io.Writer, n *Net) error {
	b := &graphWriter{w: bufio.NewWriter(w)}
	b.write(n)
	if b.err == nil {
		b.err = b.w.Flush()
	}
	if b.err != nil {
		return fmt.Errorf("write graph %s: %w", n.Name, b.err)
	}
	return nil
}

type graphWriter struct {
	w   *bufio.Writer
	err error
}

func (b *graphWriter) printf(format string, args ...any) {
	if b.err == nil {
		_, b.err = fmt.Fprintf(b.w, format, args...)
	}
}

// quote returns a JSON string.
func quote(s string) string {
	text, _ := json.Marshal(s) // a string always has one
	return string(text)
}

// list writes a key with items, one on each line.
func (b *graphWriter) list(key string, n int, item func(i int) string) {
	b.printf(",\n\"%s\": [", key)
	for i := range n {
		if i > 0 {
			b.printf(",")
		}
		b.printf("\n  %s", item(i))
	}
	b.printf("\n]")
}

func (b *graphWriter) write(n *Net) {
	g := n.Graph
	b.printf("{\"weft_graph\": 1,\n\"name\": %s,\n\"relay\": %v", quote(n.Name), n.Relay)
	b.list("notes", len(n.Notes), func(i int) string { return quote(n.Notes[i]) })
	names := classNames(g)
	b.list("classes", len(g.Classes), func(i int) string {
		c := g.Classes[i]
		s := `{"name": ` + quote(names[i])
		if c.Raw > 0 {
			s += `, "raw": ` + quote(b.rate(c.Raw))
		}
		if c.Note != "" {
			s += `, "note": ` + quote(c.Note)
		}
		return s + "}"
	})
	b.list("nodes", len(g.Nodes), func(i int) string {
		node := g.Nodes[i]
		return fmt.Sprintf(`{"name": %s, "kind": %q, "host": %d, "unit": %d}`, quote(node.Name), kindWords[node.Kind], node.Host, node.Unit)
	})
	b.links(g, names)
	b.list("trunks", len(g.Trunks), func(i int) string {
		links, _ := json.Marshal(g.Trunks[i].Links)
		shares, _ := json.Marshal(g.Trunks[i].Shares)
		return fmt.Sprintf(`{"links": %s, "shares": %s}`, links, shares)
	})
	b.list("ranks", len(n.GPUs), func(i int) string { return quote(g.Nodes[n.GPUs[i]].Name) })
	b.printf("}\n")
}

// classNames returns the names of the classes, with a number where two are of
// one name: a file tells classes apart by their names.
func classNames(g *topology.Graph) []string {
	taken := make(map[string]bool)
	var names []string
	for _, c := range g.Classes {
		name := c.Name
		if name == "" {
			name = "link"
		}
		names = append(names, unique(taken, name))
	}
	return names
}

func (b *graphWriter) links(g *topology.Graph, names []string) {
	b.printf(",\n\"links\": [")
	for i := 0; i < len(g.Links); i++ {
		l := g.Links[i]
		if i > 0 {
			b.printf(",")
		}
		b.printf("\n  {\"from\": %s, \"to\": %s, %s", quote(g.Nodes[l.From].Name), quote(g.Nodes[l.To].Name), b.half(l, names))
		if i+1 == len(g.Links) || g.Links[i+1].From != l.To || g.Links[i+1].To != l.From {
			b.printf(", \"one_way\": true}")
			continue
		}
		i++
		back := g.Links[i]
		if back.Rate != l.Rate || back.Latency != l.Latency || back.Class != l.Class || back.Width != l.Width {
			b.printf(", \"back\": {%s}", b.half(back, names))
		}
		b.printf("}")
	}
	b.printf("\n]")
}

func (b *graphWriter) half(l topology.Link, names []string) string {
	return fmt.Sprintf(`"rate": %q, "latency": %q, "class": %s, "width": %d`, b.rate(l.Rate), l.Latency.String(), quote(names[l.Class]), l.Width)
}

// rate prints a rate, which must be one that can be read back.
func (b *graphWriter) rate(r sim.Rate) string {
	if b.err == nil && (!(r > 0) || math.IsInf(float64(r), 0) || r > maxRate) {
		b.err = fmt.Errorf("a rate of %v, must be above 0 and at most %v", float64(r), maxRate)
	}
	return r.String()
}
