package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// algorithm is the algorithm and the protocol of a row: "Ring/LL128".
func (r *BenchRow) algorithm() string {
	if r.Proto == "" {
		return r.Algo
	}
	return r.Algo + "/" + r.Proto
}

// span is a run of rows with one algorithm, protocol and bottleneck.
type span struct {
	from, to  sim.Bytes
	algorithm string
	links     string
	few, most int // channels
}

func (s *span) channels() string {
	switch {
	case s.few > 0 && s.few < s.most:
		return fmt.Sprintf("%d-%d", s.few, s.most)
	case s.most > 0:
		return fmt.Sprint(s.most)
	}
	return ""
}

// group is the tests, each of one type, reduction and root, whose spans are
// alike.
type group struct {
	spans []span
	tests []string
}

func (g *group) name() string {
	if n := len(g.tests); n > 1 {
		return fmt.Sprintf("%s and %d more", g.tests[0], n-1)
	}
	return g.tests[0]
}

// choices gathers which algorithm ran at which sizes.
type choices struct {
	groups  []group // complete ones
	current group
}

// add books a row.
func (c *choices) add(r BenchRow) {
	test := r.Type
	if r.RedOp != "none" {
		test += " " + r.RedOp
	}
	if r.Root >= 0 {
		test += fmt.Sprintf(" root %d", r.Root)
	}
	if c.current.tests != nil && c.current.tests[0] != test {
		c.close()
	}
	g := &c.current
	if g.tests == nil {
		g.tests = []string{test}
	}
	if n := len(g.spans); n > 0 {
		if last := &g.spans[n-1]; last.algorithm == r.algorithm() && last.links == r.Bottleneck {
			last.to = r.Size
			last.few, last.most = min(last.few, r.Channels), max(last.most, r.Channels)
			return
		}
	}
	g.spans = append(g.spans, span{r.Size, r.Size, r.algorithm(), r.Bottleneck, r.Channels, r.Channels})
}

// close puts the current test with those that are like it.
func (c *choices) close() {
	for i := range c.groups {
		if slices.Equal(c.groups[i].spans, c.current.spans) {
			c.groups[i].tests = append(c.groups[i].tests, c.current.tests...)
			c.current = group{}
			return
		}
	}
	c.groups = append(c.groups, c.current)
	c.current = group{}
}

// write prints the spans as comments, or nothing where there are no rows.
func (c *choices) write(w io.Writer) {
	if c.current.tests == nil {
		return
	}
	c.close()
	t := NewTable(Right("from"), Right("to"), Left("algorithm"), Right("channels"), Left("busiest links"), Left("of"))
	for _, g := range c.groups {
		of := ""
		if len(c.groups) > 1 {
			of = g.name()
		}
		for _, s := range g.spans {
			t.Add(Size(s.from), Size(s.to), s.algorithm, s.channels(), s.links, of)
			of = ""
		}
	}
	for line := range strings.Lines(t.String()) {
		fmt.Fprintf(w, "#%s", line)
	}
	fmt.Fprintf(w, "#\n")
}
