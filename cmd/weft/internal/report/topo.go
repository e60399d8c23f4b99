package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Topo describes a machine: what it is made of, how fast its wires are, and
// which ways lead from a GPU to another.
type Topo struct {
	Machine *topology.Machine
	Paths   []PathClass // commonest first within a kind
	// Pairs is the number of ordered pairs of GPUs that Paths covers: all of
	// them, or those from the first GPU where all would be too many.
	Pairs   int
	All     bool
	Kinds   [][]string // the matrix of nvidia-smi, on small machines
	Version string
}

// PathClass is a set of pairs of GPUs whose paths are alike.
type PathClass struct {
	Kind     topology.PathKind
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
)

// NewTopo looks at a machine. It fails where a pair of GPUs has no path.
func NewTopo(m *topology.Machine, version string) (*Topo, error) {
	n := int32(len(m.Ranks))
	t := &Topo{Machine: m, All: n*n <= mostPairs, Version: version}
	from := n
	if !t.All {
		from = 1
	}
	if n <= mostMatrix {
		t.Kinds = make([][]string, n)
	}
	var buf []topology.Hop
	for a := range from {
		for b := range n {
			if a == b {
				t.mark(a, "X")
				continue
			}
			p, err := m.Route(a, b, buf)
			if err != nil {
				return nil, fmt.Errorf("describe %s: %w", m.Name, err)
			}
			buf = p.Hops
			t.add(p, a, b)
			t.mark(a, kindName(m.Graph, p))
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

func (t *Topo) mark(row int32, kind string) {
	if t.Kinds != nil {
		t.Kinds[row] = append(t.Kinds[row], kind)
	}
}

func (t *Topo) add(p topology.Path, a, b int32) {
	t.Pairs++
	rate := pathRate(t.Machine.Graph, p)
	for i := range t.Paths {
		c := &t.Paths[i]
		if c.Kind == p.Kind && c.Rate == rate && c.Latency == p.Latency {
			c.Pairs++
			return
		}
	}
	c := PathClass{Kind: p.Kind, Rate: rate, Latency: p.Latency, Pairs: 1, From: a, To: b}
	for _, h := range p.Hops {
		c.Through = append(c.Through, t.Machine.ResourceName(h.Resource))
	}
	t.Paths = append(t.Paths, c)
}

// pathRate is what one transfer reaches alone: the hop that is full first.
func pathRate(g *topology.Graph, p topology.Path) sim.Rate {
	rate := p.Rate
	for _, h := range p.Hops {
		r := g.Capacity(h.Resource) * sim.Rate(p.Den) / sim.Rate(h.Share)
		if rate == 0 || r < rate {
			rate = r
		}
	}
	return rate
}

// kindName is the kind of a path as nvidia-smi writes it: NV with the number
// of links, or the name of the worst crossing.
func kindName(g *topology.Graph, p topology.Path) string {
	if p.Kind != topology.NVL || len(p.Hops) == 0 {
		return p.Kind.String()
	}
	var links int32
	first, _ := g.Members(p.Hops[0].Resource)
	from := g.Links[first[0]].From
	for _, h := range p.Hops {
		members, _ := g.Members(h.Resource)
		for _, l := range members {
			if g.Links[l].From == from {
				links += g.Links[l].Width
			}
		}
	}
	return "NV" + strconv.Itoa(int(links))
}

// Text writes the machine as sentences and tables that can be read aloud.
func (t *Topo) Text(w io.Writer, tm *term.Terminal) error {
	var b strings.Builder
	m := t.Machine
	fmt.Fprintf(&b, "%s is %s with %s.", tm.Bold(m.Name), Plural(int(m.Hosts), "node"), Plural(len(m.Ranks), "GPU"))
	fmt.Fprintf(&b, " %s\n", t.made())
	if rate, links := m.GPUEgress(0); links > 0 {
		fmt.Fprintf(&b, "Each GPU has %s and can send %s over them, and receive as much.\n", Plural(links, "NVLink"), Rate(rate))
	} else {
		b.WriteString("The GPUs have no NVLink.\n")
	}
	if len(m.Ranks) > 1 {
		fmt.Fprintf(&b, "Over all wires together, one half of the GPUs can send at most %s to the other half.\n", Rate(m.Bisection()))
	}

	section(&b, tm, "Links, by class (all rates are of one direction)")
	b.WriteString(t.classes().String())

	if len(t.Paths) > 0 {
		what := "Ways from a GPU to another"
		if !t.All {
			what = "Ways from the first GPU to the others"
		}
		section(&b, tm, what)
		tb := NewTable(Left("kind"), Left("what it crosses"), Right("pairs"), Right("one transfer"), Right("latency"))
		for _, c := range t.Paths {
			tb.Add(c.Kind.String(), crossing(c.Kind), Count(int64(c.Pairs)), Rate(c.Rate), Duration(c.Latency))
		}
		b.WriteString(tb.String())
		b.WriteString("\n")
		seen := topology.Self
		for _, c := range t.Paths {
			if c.Kind == seen {
				continue
			}
			seen = c.Kind
			fmt.Fprintf(&b, "  %s, for example from GPU %d to GPU %d:\n", c.Kind, c.From, c.To)
			for _, hop := range c.Through {
				fmt.Fprintf(&b, "    %s\n", hop)
			}
		}
	}
	if len(t.Kinds) > 1 {
		section(&b, tm, "The same as nvidia-smi topo -m shows it")
		b.WriteString(t.matrix())
	}
	cautions(&b, tm, m.Notes)
	_, err := io.WriteString(w, b.String())
	return err
}

// made counts the nodes of the graph other than GPUs.
func (t *Topo) made() string {
	var parts []string
	for kind, n := range t.Machine.Graph.Count() {
		if n > 0 && topology.NodeKind(kind) != topology.GPU && topology.NodeKind(kind) != topology.HostMemory {
			parts = append(parts, Plural(n, topology.NodeKind(kind).String()))
		}
	}
	switch len(parts) {
	case 0:
		return "There is nothing but wires between them."
	case 1:
		return "It also has " + parts[0] + "."
	}
	return "It also has " + strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1] + "."
}

func (t *Topo) classes() *Table {
	g := t.Machine.Graph
	tb := NewTable(Left("class"), Right("links"), Right("of one, nominal"), Right("usable"), Right("all together"), Left("where the usable rate comes from"))
	for _, c := range g.ByClass() {
		class := g.Classes[c.Class]
		usable := c.Rate / sim.Rate(max(c.Links, 1))
		tb.Add(class.Name, Count(int64(c.Links)), Rate(class.Raw), Rate(usable), Rate(c.Rate), class.Note)
	}
	return tb
}

// matrix draws the kinds of all pairs.
func (t *Topo) matrix() string {
	columns := []Column{Left("")}
	for i := range t.Kinds {
		columns = append(columns, Right("GPU"+strconv.Itoa(i)))
	}
	tb := NewTable(columns...)
	for i, row := range t.Kinds {
		tb.Add(append([]string{"GPU" + strconv.Itoa(i)}, row...)...)
	}
	return tb.String()
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

type topoDocument struct {
	System    string              `json:"system"`
	Nodes     int                 `json:"nodes"`
	GPUs      int                 `json:"gpus"`
	Parts     []partDocument      `json:"parts"`
	Classes   []classDocument     `json:"link_classes"`
	Paths     []pathClassDocument `json:"paths"`
	Bisection float64             `json:"bisection_bytes_per_s"`
	Notes     []string            `json:"notes"`
	Version   string              `json:"weft_version"`
}

type partDocument struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

type classDocument struct {
	Class   string  `json:"class"`
	Links   int     `json:"links"`
	Nominal float64 `json:"nominal_bytes_per_s"`
	Usable  float64 `json:"usable_bytes_per_s"`
	Note    string  `json:"note,omitempty"`
}

type pathClassDocument struct {
	Kind    string   `json:"kind"`
	Pairs   int      `json:"pairs"`
	Rate    float64  `json:"rate_bytes_per_s"`
	Latency float64  `json:"latency_s"`
	From    int32    `json:"example_from"`
	To      int32    `json:"example_to"`
	Through []string `json:"through"`
}

// JSON writes the description as one document.
func (t *Topo) JSON(w io.Writer) error {
	m := t.Machine
	doc := topoDocument{
		System: m.Name, Nodes: int(m.Hosts), GPUs: len(m.Ranks), Bisection: float64(m.Bisection()),
		Paths: []pathClassDocument{}, Notes: append([]string{}, m.Notes...), Version: t.Version,
	}
	for kind, n := range m.Graph.Count() {
		if n > 0 {
			doc.Parts = append(doc.Parts, partDocument{topology.NodeKind(kind).String(), n})
		}
	}
	for _, c := range m.Graph.ByClass() {
		class := m.Graph.Classes[c.Class]
		doc.Classes = append(doc.Classes, classDocument{class.Name, c.Links, float64(class.Raw), float64(c.Rate) / float64(max(c.Links, 1)), class.Note})
	}
	for _, c := range t.Paths {
		doc.Paths = append(doc.Paths, pathClassDocument{c.Kind.String(), c.Pairs, float64(c.Rate), c.Latency.Seconds(), c.From, c.To, c.Through})
	}
	return WriteJSON(w, doc)
}
