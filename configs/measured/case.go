package measured

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
)

// Kinds are the kinds of systems, in the order of reports.
func Kinds() []string { return []string{"nvlink-node", "pcie", "multi-node", "cloud-plugin"} }

// Case says what tables were measured on, and how.
//
// The first case of a list that a run matches is the run's own; the fields of
// the first block are what it must match, with * for any letters in names.
type Case struct {
	Tables    []string `yaml:"tables" weft:"required,min=1,doc=names of tables, or their beginnings and ends with * between"`
	Op        string   `yaml:"op" weft:"doc=only this operation; of files without a column for it, their operation"`
	Ranks     []int    `yaml:"ranks" weft:"min=1,each=1,doc=only these numbers of GPUs; of files without a column for it, their number"`
	Nodes     []int    `yaml:"nodes" weft:"min=1,each=1,doc=only these numbers of nodes, as the source counts; 1 of files without a column for it"`
	Variant   string   `yaml:"variant" weft:"doc=only runs of this version or setting"`
	Type      string   `yaml:"type" weft:"doc=only runs of this type of elements"`
	Placement string   `yaml:"placement" weft:"doc=only these points; others of the run are left out"`

	Skip     string `yaml:"skip" weft:"doc=why these runs are not simulated at all"`
	NeverFit string `yaml:"never_fit" weft:"doc=why these runs are simulated but not counted"`
	Care     string `yaml:"care" weft:"doc=what is doubtful about these runs, which count all the same"`
	LeaveOut []Gap  `yaml:"leave_out" weft:"doc=sizes that are not counted"`

	Kind     string   `yaml:"kind" weft:"enum=nvlink-node|pcie|multi-node|cloud-plugin"`
	System   string   `yaml:"system" weft:"doc=of the catalogue"`
	StandIn  string   `yaml:"stand_in" weft:"doc=how the machine differed from that system"`
	Machines int      `yaml:"machines" weft:"min=1,max=1048576,doc=how many of the system; as many as the source has nodes when absent"`
	GPUs     []int    `yaml:"gpus" weft:"min=1,doc=which GPUs of each machine take part; the first so many when absent"`
	OneWay   bool     `yaml:"one_way" weft:"doc=of sendrecv, that one rank sends and the other receives; each does both when absent"`
	Settings Settings `yaml:",inline"`

	pos strict.Pos
}

// Settings are the keys of a scenario that a case hands on.
type Settings struct {
	Network     *strict.Node `yaml:"network" weft:"doc=as in a scenario"`
	PCIe        *strict.Node `yaml:"pcie" weft:"doc=as in a scenario"`
	Faults      *strict.Node `yaml:"faults" weft:"doc=as in a scenario"`
	Figures     *strict.Node `yaml:"figures" weft:"doc=as in a scenario"`
	Collectives *strict.Node `yaml:"collectives" weft:"doc=as in a scenario"`
}

// Gap is a range of sizes, both ends included.
type Gap struct {
	From      sim.Bytes `yaml:"from" weft:"doc=smallest size; any when absent"`
	To        sim.Bytes `yaml:"to" weft:"doc=largest size; any when absent"`
	Placement string    `yaml:"placement" weft:"doc=only of this placement"`
	Because   string    `yaml:"because" weft:"required"`
}

// has reports whether a point lies in the gap.
func (g *Gap) has(p *Point) bool {
	return p.Size >= g.From && (g.To == 0 || p.Size <= g.To) && (g.Placement == "" || like(g.Placement, p.Placement))
}

// Check refuses a case that says neither what was measured nor why not, and
// patterns that cannot be read.
func (c *Case) Check(report func(key, message string)) {
	for _, p := range append(slices.Clone(c.Tables), c.Variant, c.Type, c.Placement) {
		if _, err := path.Match(p, ""); err != nil {
			report("", fmt.Sprintf("read pattern %q, expected a name, with * for any letters", p))
		}
	}
	if c.Skip != "" {
		return
	}
	if c.Kind == "" {
		report("", "expected kind: one of "+strings.Join(Kinds(), ", "))
	}
	if strings.TrimSpace(c.System) == "" {
		report("", "expected system: a name of the catalogue, such as dgx-h100")
	}
	if c.Op != "" && !simulated(c.Op) {
		report("op", fmt.Sprintf("read %q, expected one of %s%s", c.Op, strings.Join(opNames(), ", "), strict.DidYouMean(c.Op, opNames())))
	}
}

// cases is a file of cases.
type cases struct {
	Cases []Case `yaml:"cases" weft:"required,min=1"`
}

// readCases reads a file of cases.
func readCases(name string, text []byte) ([]*Case, error) {
	var f cases
	root, err := strict.Unmarshal(name, text, &f)
	if err != nil {
		return nil, err
	}
	list := root.Find("cases")
	var out []*Case
	for i := range f.Cases {
		f.Cases[i].pos = list.Items[i].Pos
		out = append(out, &f.Cases[i])
	}
	return out, nil
}

// matches reports whether a run is of the case.
func (c *Case) matches(r *Run) bool {
	return slices.ContainsFunc(c.Tables, func(p string) bool { return like(p, r.Table.ID) }) &&
		(c.Op == "" || c.Op == r.Op) &&
		(c.Ranks == nil || slices.Contains(c.Ranks, r.Ranks)) &&
		(c.Nodes == nil || slices.Contains(c.Nodes, r.Nodes)) &&
		(c.Variant == "" || like(c.Variant, r.Variant)) &&
		(c.Type == "" || like(c.Type, r.Type))
}

// like reports whether a name is of a pattern in which * stands for any letters,
// slashes among them.
func like(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, p)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// machines returns how many of the system a run takes, and how many GPUs of
// each.
func (c *Case) machines(r *Run) (machines, each int, err error) {
	machines = r.Nodes
	if c.Machines > 0 {
		machines = c.Machines
	}
	if r.Ranks%machines != 0 {
		return 0, 0, fmt.Errorf("case of %s: %d GPUs on %d machines, expected as many on each", r.Table.ID, r.Ranks, machines)
	}
	each = r.Ranks / machines
	if c.GPUs != nil && len(c.GPUs) != each {
		return 0, 0, fmt.Errorf("case of %s: gpus names %d of each machine, but the table has %d", r.Table.ID, len(c.GPUs), each)
	}
	return machines, each, nil
}

// scenario returns the text of the machine of a run, without a workload's own:
// what a user would write to ask about it; of an exchange with its shape.
func (c *Case) scenario(machines int, r *Run) (string, error) {
	workload := "kind: collective, op: all_reduce, bytes: 1MiB"
	if x := exchangeOf(r.Op); x != nil {
		s, err := r.shape()
		if err != nil {
			return "", fmt.Errorf("case of %s: %w", r.Table.ID, err)
		}
		workload = s.workload(x, r.Ranks)
	}

	var b strings.Builder
	fmt.Fprintf(&b, "name: measured\nsystem: %s\nnodes: %d\n", quote(c.System), machines)
	for _, s := range []struct {
		key  string
		node *strict.Node
	}{
		{"network", c.Settings.Network}, {"pcie", c.Settings.PCIe}, {"faults", c.Settings.Faults},
		{"figures", c.Settings.Figures}, {"collectives", c.Settings.Collectives},
	} {
		if s.node != nil {
			fmt.Fprintf(&b, "%s: %s\n", s.key, flow(s.node))
		}
	}
	fmt.Fprintf(&b, "workload: {%s}\n", workload)
	return b.String(), nil
}

// flow writes a node in one line of YAML.
func flow(n *strict.Node) string {
	switch n.Kind {
	case strict.Null:
		return "null"
	case strict.Sequence, strict.Mapping:
		parts := make([]string, len(n.Items))
		for i, c := range n.Items {
			parts[i] = flow(c)
			if n.Kind == strict.Mapping {
				parts[i] = n.Keys[i].Name + ": " + parts[i]
			}
		}
		if n.Kind == strict.Mapping {
			return "{" + strings.Join(parts, ", ") + "}"
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case strict.String:
		return quote(n.Text)
	}
	return n.Text
}

// quote writes a text as YAML does between double quotes.
func quote(s string) string { return fmt.Sprintf("%q", s) }
