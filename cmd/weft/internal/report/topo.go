package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Topo describes a machine: what it is made of, how fast its wires are, and
// which ways lead from a GPU to another.
type Topo struct {
	Hardware *configs.Hardware
	Machine  *topology.Machine
	Survey   *topology.Survey
	Paths    []PathClass // commonest first within a kind
	// Pairs is the number of ordered pairs of GPUs that Paths covers: all of
	// them, or those from the first GPU where all would be too many.
	Pairs   int
	All     bool
	Version string
}

// PathClass is a set of pairs of GPUs whose paths are alike.
type PathClass struct {
	Kind     topology.PathKind
	Staged   bool     // through host memory
	Rate     sim.Rate // of one transfer with the wires to itself
	Latency  sim.Time
	Pairs    int
	From, To int32    // an example
	Through  []string // the resources on its way
}

// Machines up to these sizes have all their pairs looked at, and drawn.
const (
	mostPairs  = 144 * 144
	mostMatrix = 16
	mostHops   = 12
)

// NewTopo looks at a machine. It fails where a pair of GPUs has no path.
func NewTopo(hw *configs.Hardware, version string) (*Topo, error) {
	m := hw.Machine
	n := int32(len(m.Ranks))
	t := &Topo{Hardware: hw, Machine: m, Survey: m.Survey(), All: int64(n)*int64(n) <= mostPairs, Version: version}
	from := n
	if !t.All {
		from = 1
	}
	var buf []topology.Hop
	for a := range from {
		for b := range n {
			if a == b {
				continue
			}
			p, err := m.Route(a, b, buf)
			if err != nil {
				return nil, fmt.Errorf("describe %s: %w", m.Name, err)
			}
			buf = p.Hops
			t.add(p, a, b)
		}
	}
	slices.SortStableFunc(t.Paths, func(x, y PathClass) int {
		if x.Kind != y.Kind {
			return int(x.Kind) - int(y.Kind)
		}
		return y.Pairs - x.Pairs
	})
	return t, nil
}

func (t *Topo) add(p topology.Path, a, b int32) {
	t.Pairs++
	_, rate := t.Machine.Graph.Bottleneck(p)
	for i := range t.Paths {
		c := &t.Paths[i]
		if c.Kind == p.Kind && c.Staged == p.Staged && near(c.Rate, rate) && c.Latency == p.Latency {
			c.Pairs++
			return
		}
	}
	c := PathClass{Kind: p.Kind, Staged: p.Staged, Rate: rate, Latency: p.Latency, Pairs: 1, From: a, To: b}
	for _, h := range p.Hops {
		c.Through = append(c.Through, t.Machine.ResourceName(h.Resource))
	}
	t.Paths = append(t.Paths, c)
}

// near reports whether two rates are one on a page, which shows three figures.
func near(a, b sim.Rate) bool { return math.Abs(float64(a-b)) <= 1e-3*float64(max(a, b)) }

// Text writes the machine as sentences and tables that can be read aloud.
func (t *Topo) Text(w io.Writer, tm *term.Terminal) error {
	var b strings.Builder
	for _, s := range t.sentences(tm) {
		paragraph(&b, tm.Width, "", s+"\n")
	}
	if len(t.Machine.Graph.Links) == 0 {
		b.WriteString("No link of it is known.\n")
	} else {
		section(&b, tm, "Links, by class (all rates are of one direction)")
		b.WriteString(t.classes().Within(tm.Width).String())
		b.WriteString("\n")
	}
	for _, c := range t.Machine.Graph.ByClass() {
		if class := t.Machine.Graph.Classes[c.Class]; class.Note != "" {
			paragraph(&b, tm.Width, "  "+class.Name+": ", class.Note+"\n")
		}
	}
	if len(t.Paths) > 0 {
		what := "Ways from a GPU to another"
		if !t.All {
			what = "Ways from the first GPU to the others"
		}
		section(&b, tm, what)
		t.ways(&b, tm)
	}
	if n := matrixGPUs(t.Hardware); n > 1 && n <= mostMatrix {
		if m := Matrix(t.Hardware); m.Known() {
			section(&b, tm, "The same as nvidia-smi topo -m shows it"+t.ofOne())
			b.WriteString(m.table())
		}
	}
	t.list(&b, tm, "Completed from the catalogue", t.Hardware.Completed)
	t.list(&b, tm, "What the file leaves open, or was mended in it", t.Hardware.FileNotes)
	cautions(&b, tm, append(t.cautions(), t.notes()...))
	if s := t.figures(); s != "" {
		paragraph(&b, tm.Width, "\n", s+"\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ofOne says of which part of the machine a matrix is.
func (t *Topo) ofOne() string {
	if part := MatrixOf(t.Hardware); part != "" {
		return ", on " + part
	}
	return ""
}

// MatrixOf says of which part of a machine [Matrix] is: "one tray", "one node",
// "" where it is of all.
func MatrixOf(hw *configs.Hardware) string {
	switch s := hw.Spec; {
	case s != nil && s.Host.Trays > 1:
		return "one tray"
	case hw.Machine.Hosts > 1:
		return "one node"
	}
	return ""
}

// ways lists the kinds of paths, with an example of each.
func (t *Topo) ways(b *strings.Builder, tm *term.Terminal) {
	tb := NewTable(Left("kind"), Left("what it crosses"), Right("pairs"), Right("one transfer"), Right("latency"))
	for _, c := range t.Paths {
		crosses := crossing(c.Kind)
		if c.Staged {
			crosses += ", by host memory"
		}
		tb.Add(c.Kind.String(), crosses, Count(int64(c.Pairs)), Rate(c.Rate), Duration(c.Latency))
	}
	b.WriteString(tb.Within(tm.Width).String())
	b.WriteString("\n")
	seen := topology.Self
	for _, c := range t.Paths {
		if c.Kind == seen {
			continue
		}
		seen = c.Kind
		fmt.Fprintf(b, "  %s, for example from GPU %d to GPU %d:\n", c.Kind, c.From, c.To)
		for i, hop := range c.Through {
			if i == mostHops {
				fmt.Fprintf(b, "    and %s\n", Plural(len(c.Through)-i, "more link"))
				break
			}
			fmt.Fprintf(b, "    %s\n", hop)
		}
	}
}

// list writes a section of sentences, if there are any.
func (t *Topo) list(b *strings.Builder, tm *term.Terminal, title string, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	section(b, tm, title)
	for _, s := range sentences {
		paragraph(b, tm.Width, "  - ", s+"\n")
	}
}

func (t *Topo) classes() *Table {
	g := t.Machine.Graph
	tb := NewTable(Left("class"), Right("links"), Right("of one, nominal"), Right("usable"), Right("all together"))
	for _, c := range g.ByClass() {
		class := g.Classes[c.Class]
		usable := c.Rate / sim.Rate(max(c.Links, 1))
		nominal := ""
		if class.Raw > 0 {
			nominal = Rate(class.Raw)
		}
		tb.Add(class.Name, Count(int64(c.Links)), nominal, Rate(usable), Rate(c.Rate))
	}
	return tb
}

// crossing says in words what a kind of path crosses.
func crossing(k topology.PathKind) string {
	switch k {
	case topology.Self:
		return "nothing"
	case topology.NVL:
		return "NVLink, direct or through NVSwitches"
	case topology.NVB:
		return "NVLink, through another GPU"
	case topology.C2C:
		return "the chip-to-chip link of a CPU"
	case topology.PIX:
		return "one PCIe switch"
	case topology.PXB:
		return "several PCIe switches, no host bridge"
	case topology.PHB:
		return "a PCIe host bridge"
	case topology.NODE:
		return "two host bridges of one CPU"
	case topology.SYS:
		return "the link between CPUs"
	}
	return "the network between nodes"
}
