package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads/replay"
	"github.com/weft-sim/weft/workloads/trace/chakra"
)

// Run is the answer of `weft run`: what was asked, on what, and the result.
type Run struct {
	Name    string // of the scenario or trace
	System  string
	Nodes   int
	GPUs    int
	Ranks   int    // of the job, which may leave GPUs idle
	Network string // the model: "fluid", "ideal"
	Grain   string
	// Check is the command that shows where each figure comes from, and Trace
	// the one that shows all of the import; empty where there is none.
	Check, Trace string
	Result       *replay.Result
	Import       *chakra.Report // of a trace; nil for other work
	Provenance   []catalog.Provenance
	Warnings     []string // of loading; those of the result follow
	Thresholds   []Threshold
	Version      string
}

// Threshold is a bound that the scenario sets, and whether the answer keeps it.
type Threshold struct {
	Metric string // "step_time"
	Want   string // "< 20ms"
	Got    string
	Met    bool
}

const (
	barWidth = 24
	// A first screen has about fifty lines; longer tables are cut, the rest
	// is in the JSON.
	mostGroups, mostLinks, mostCollectives, mostWarnings = 8, 3, 12, 10
)

// Text writes the answer as a page for people: the step time, where it went,
// the busiest links, the collectives, and what to be careful about.
func (r *Run) Text(w io.Writer, t *term.Terminal) error {
	var b strings.Builder
	res := r.Result
	paragraph(&b, t.Width, "", fmt.Sprintf("%s: %s on %s (%s, %s), %s network\n\n", r.Name, Plural(r.Ranks, "rank"), r.System,
		Plural(r.GPUs, "GPU"), Plural(r.Nodes, "node"), r.Network))
	fmt.Fprintf(&b, "%s  %s\n", t.Bold("Step time"), t.Bold(Duration(res.StepTime)))

	section(&b, t, "Where the step goes, along its critical path")
	b.WriteString(breakdown(res, t))
	ranks(&b, t.Width, res.Ranks, res.StepTime)

	if len(res.Busiest) > 0 {
		section(&b, t, "Busiest links")
		b.WriteString(links(res, t.Width))
	}
	if len(res.Colls) > 0 {
		section(&b, t, "Collectives")
		b.WriteString(collectives(res.Colls, t.Width))
	}
	for _, th := range r.Thresholds {
		word := "kept"
		if !th.Met {
			word = t.Alert("MISSED")
		}
		fmt.Fprintf(&b, "\nThreshold %s %s: %s, it is %s\n", th.Metric, th.Want, word, th.Got)
	}
	if r.Import != nil {
		paragraph(&b, t.Width, "\n", imported(r.Import)+r.more(r.Trace, " says more")+".\n")
	}
	r.caution(&b, t)
	_, err := io.WriteString(w, b.String())
	return err
}

func section(b *strings.Builder, t *term.Terminal, title string) {
	fmt.Fprintf(b, "\n%s\n", t.Bold(title))
}

// part is a line of the breakdown.
type part struct {
	what string
	time sim.Time
}

// breakdown prints the partition of the step. All rows have one unit and one
// number of decimals, so that they add up to the eye as well, but for the
// rounding of the last digit.
func breakdown(res *replay.Result, t *term.Terminal) string {
	br := res.Breakdown
	parts := []part{{"compute", br.Compute}}
	var rest part
	for i, e := range br.Exposed {
		if i >= mostGroups {
			rest.time += e.Time
			continue
		}
		what := e.Dim + " communication"
		if e.Comm != "" && e.Comm != e.Dim {
			what += " (" + e.Comm + ")"
		}
		parts = append(parts, part{what, e.Time})
	}
	if n := len(br.Exposed) - mostGroups; n > 0 {
		rest.what = "communication of " + Plural(n, "more group")
		parts = append(parts, rest)
	}
	parts = append(parts, part{"launch", br.Launch}, part{"pipeline bubble", br.Bubble}, part{"waiting", br.Wait})

	in := inUnitOf(res.StepTime)
	tb := NewTable(Left(""), Right(in.head), Right("share"), Left("").Or(1)).Within(t.Width)
	for _, p := range parts {
		if p.time == 0 && p.what != "compute" {
			continue
		}
		share := ratio(p.time, res.StepTime)
		tb.Add(p.what, in.print(p.time), Percent(share), bar(t, share, barWidth))
	}
	tb.Add("the step", in.print(res.StepTime), Percent(ratio(res.StepTime, res.StepTime)), "")
	return tb.String()
}

// ranks says in a sentence how the ranks fared on average, which differs from
// the critical path where ranks differ.
func ranks(b *strings.Builder, width int, r replay.RankTimes, step sim.Time) {
	if r == (replay.RankTimes{}) {
		return
	}
	hidden := ""
	if r.HiddenComm > 0 {
		hidden = fmt.Sprintf("; another %s of communication is hidden under compute", Duration(r.HiddenComm))
	}
	paragraph(b, width, "\n  ", fmt.Sprintf("A rank, on average: computes %s, communicates without computing %s, waits %s%s.\n",
		Percent(ratio(r.Compute, step)), Percent(ratio(r.ExposedComm, step)), Percent(ratio(r.Wait, step)), hidden))
}

// links prints the busiest links; those that carry the same are one row.
func links(res *replay.Result, width int) string {
	tb := NewTable(Left("link"), Left("class"), Right("each way"), Right("carried"), Right("busy")).Within(width)
	for i := 0; i < len(res.Busiest) && tb.Len() < mostLinks; {
		l, like := res.Busiest[i], 1
		for i+like < len(res.Busiest) && equally(l, res.Busiest[i+like]) {
			like++
		}
		i += like
		name := l.Name
		if like > 1 { // the result has only the first of many
			name += " and others like it"
		}
		tb.Add(name, l.Class, Rate(l.Rate), Volume(l.Bytes), Percent(l.Utilisation))
	}
	return tb.String()
}

func equally(a, b replay.LinkUse) bool {
	return a.Class == b.Class && a.Rate == b.Rate && a.Bytes == b.Bytes
}

func collectives(colls []replay.CollectiveUse, width int) string {
	tb := NewTable(Left("operation"), Left("group"), Right("ranks").Or(1), Right("groups").Or(2), Right("size"), Right("count"),
		Left("algorithm").Or(3), Left("protocol").Or(4), Right("time (us)"), Right("at least (us)"), Right("busbw (GB/s)")).Within(width)
	for i, c := range colls {
		if i == mostCollectives {
			break
		}
		tb.Add(c.Op, c.Comm, strconv.Itoa(c.Ranks), strconv.Itoa(c.Groups), Size(c.Bytes), Count(int64(c.Count)),
			c.Algo, c.Proto, Figure(c.Time.Microseconds()), bound(c.Bound), Figure(float64(c.BusBW)/1e9))
	}
	s := tb.String()
	if n := len(colls) - mostCollectives; n > 0 {
		s += fmt.Sprintf("  and %s; --format json has all\n", Plural(n, "more kind"))
	}
	return s
}

func bound(t sim.Time) string {
	if t <= 0 {
		return ""
	}
	return Figure(t.Microseconds())
}

// caution prints the warnings and how many figures are assumptions.
func (r *Run) caution(b *strings.Builder, t *term.Terminal) {
	cautions(b, t, r.warnings())
	assumed := 0
	for _, p := range r.Provenance {
		if p.Status == catalog.Assumed {
			assumed++
		}
	}
	if len(r.Provenance) == 0 {
		return
	}
	paragraph(b, t.Width, "\n", fmt.Sprintf("%s from the catalogue, %d of them assumed", Plural(len(r.Provenance), "figure"), assumed)+
		r.more(r.Check, " says where each comes from")+".\n")
}

// more ends a sentence with the command that tells the rest, if there is one.
func (r *Run) more(command, what string) string {
	if command == "" {
		return ""
	}
	return "; `" + command + "`" + what
}

// cautions prints the grave of the warnings for people.
func cautions(b *strings.Builder, t *term.Terminal, warnings []string) {
	warnings = Grave(warnings)
	if len(warnings) == 0 {
		return
	}
	section(b, t, "Be careful")
	for i, w := range warnings {
		if i == mostWarnings {
			fmt.Fprintf(b, "  and %s; --format json has all\n", Plural(len(warnings)-i, "more warning"))
			break
		}
		paragraph(b, t.Width, "  "+t.Alert("!")+" ", w+"\n")
	}
}

// Grave returns the warnings without those that only say that a figure is
// assumed ("assumed: PATH = VALUE"): there are many, they are counted, and the
// provenance has them. What is assumed about a machine's file stays.
func Grave(warnings []string) []string {
	return slices.DeleteFunc(slices.Clone(warnings), func(w string) bool { return strings.HasPrefix(w, "assumed: ") && strings.Contains(w, " = ") })
}

// warnings returns the grave ones of loading, then those of the result that
// are not among them.
func (r *Run) warnings() []string {
	all := slices.Clone(r.Warnings)
	for _, w := range r.Result.Warnings {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return Grave(all)
}

func ratio(a, b sim.Time) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// fixed prints times in one unit with one number of decimals.
type fixed struct {
	unit
	head     string
	decimals int
}

// inUnitOf returns the unit of t, with decimals for four digits of it.
func inUnitOf(t sim.Time) fixed {
	u := pick(timeUnits, float64(t))
	f := fixed{unit: u, head: "time (" + u.name + ")"}
	if t > 0 {
		f.decimals = max(3-int(math.Floor(math.Log10(float64(t)/u.size))), 0)
	}
	if u.size == 1 {
		f.decimals = 0
	}
	return f
}

func (f fixed) print(t sim.Time) string {
	s := strconv.FormatFloat(float64(t)/f.size, 'f', f.decimals, 64)
	if t > 0 && !strings.ContainsAny(s, "123456789") {
		return "< " + s[:len(s)-1] + "1"
	}
	return s
}
