package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/sim"
)

// Diagnosis is what weft says of measurements: tests of a log, or a matrix of
// nvidia-smi.
type Diagnosis struct {
	Name    string
	Tests   []Test
	Matrix  *MatrixCheck
	Version string
}

// Verdict is what a number is, held against what is expected.
type Verdict string

// The verdicts. Mixed is slow at some sizes and fast at others.
const (
	Normal Verdict = "normal"
	Slow   Verdict = "slow"
	Fast   Verdict = "fast"
	Mixed  Verdict = "mixed"
)

// Test is one table of a log.
type Test struct {
	Line        int
	Op          string
	System      string
	GPUs, Nodes int
	Launch      string
	NCCL        string // "" is the last that weft knows
	Kind        string // of machine, as `weft accuracy` has them
	Rows        []TestRow
	Classes     []TestClass
	Verdict     Verdict
	Summary     string
	// Off is how far measured and expected times are apart, as a part: the root
	// mean square of the logarithms; 0 where all is normal.
	Off      float64
	Causes   []Cause // the likeliest first
	Nearest  *Cause  // where no cause comes near enough: the nearest, if one comes nearer at all
	Untested []Untested
	Findings []Finding
	Notes    []string
	Warnings []string
}

// TestRow is one size.
type TestRow struct {
	Size                 sim.Bytes
	Measured, Expected   sim.Time
	BusBW, ExpectedBusBW sim.Rate
	Ratio                float64 // of times
	Within               float64 // by how much it may differ, as a part
	Verdict              Verdict
	Algo, Proto          string // that are expected
	Bottleneck           string
}

// TestClass is a class of sizes.
type TestClass struct {
	Name    string // small, medium, large
	Rows    int
	Ratio   float64 // in the middle
	Within  float64
	Verdict Verdict
}

// Cause is a fault or setting that comes nearer to what was measured.
type Cause struct {
	Name, What, Why  string
	Settings, Faults []string // as --set and --fault take them
	Off              float64  // how far off it leaves the times
	Explains         float64  // part of the variance
	AsLikely         bool     // the log does not tell it from the first
	Times            []CauseTime
}

// CauseTime is what a size takes with a cause.
type CauseTime struct {
	Size sim.Bytes
	Time sim.Time
}

// Untested is a cause that could not be simulated.
type Untested struct{ Name, What, Why string }

// Finding is something odd about the measurement itself.
type Finding struct{ Kind, Text string }

// Normal reports whether nothing is wrong.
func (d *Diagnosis) Normal() bool {
	for _, t := range d.Tests {
		if t.Verdict != Normal || t.damaged() {
			return false
		}
	}
	return d.Matrix == nil || d.Matrix.Verdict == Normal
}

// damaged reports whether values were wrong, which no speed makes good.
func (t *Test) damaged() bool {
	for _, f := range t.Findings {
		if f.Kind == "wrong-values" {
			return true
		}
	}
	return false
}

// Text writes the answer for people.
func (d *Diagnosis) Text(w io.Writer, t *term.Terminal) error {
	out := bufio.NewWriter(w)
	var b strings.Builder
	if d.Matrix != nil {
		d.Matrix.text(&b, t)
	}
	for i := range d.Tests {
		if i > 0 {
			b.WriteByte('\n')
		}
		d.Tests[i].text(&b, t)
	}
	out.WriteString(b.String())
	return out.Flush()
}

// text writes one test: the verdict, the likeliest cause, and the figures.
func (c *Test) text(b *strings.Builder, t *term.Terminal) {
	say := func(head, format string, args ...any) {
		paragraph(b, t.Width, head, fmt.Sprintf(format, args...))
		b.WriteByte('\n')
	}
	library := "NCCL"
	if c.NCCL != "" {
		library += " " + c.NCCL
	}
	say("", "%s on %s, %s on %s, %s, launch %s.", c.Op, c.System, Plural(c.GPUs, "GPU"), Plural(c.Nodes, "node"), library, c.Launch)
	if c.damaged() {
		say("", "BROKEN: values were wrong. That is a fault of hardware, driver or library, whatever the times are.")
	}
	say("", "%s: %s.", strings.ToUpper(string(c.Verdict)), c.Summary)
	c.causes(b, t, say)
	b.WriteByte('\n')
	table := NewTable(Right("size"), Right("measured"), Right("expected"), Right("ratio"), Right("normal within").Or(3), Right("busbw").Or(2), Right("expected busbw").Or(2), Left("verdict"), Left("expected as").Or(1)).Within(t.Width)
	for _, r := range c.Rows {
		word := string(r.Verdict)
		if r.Verdict != Normal {
			word = t.Accent(word)
		}
		table.Add(Size(r.Size), Duration(r.Measured), Duration(r.Expected), Figure(r.Ratio), "+-"+Percent(r.Within), Rate(r.BusBW), Rate(r.ExpectedBusBW), word, strings.TrimSpace(r.Algo+" "+r.Proto))
	}
	b.WriteString(table.String())
	c.remarks(b, say)
}

// causes writes what would explain the times.
func (c *Test) causes(b *strings.Builder, t *term.Terminal, say func(head, format string, args ...any)) {
	switch {
	case c.Verdict == Normal && len(c.Causes) == 0:
		return
	case len(c.Causes) == 0:
		nearest := ""
		if n := c.Nearest; n != nil {
			nearest = fmt.Sprintf("; the nearest (%s) leaves %s", n.What, Percent(n.Off))
		}
		say("", "No fault or setting that weft knows comes near: the times are %s off without one%s.", Percent(c.Off), nearest)
		return
	}
	first := c.Causes[0]
	word := "Likeliest"
	if c.Verdict == Normal {
		word = "Yet one thing would fit better"
	}
	say("", word+": %s. With it the times are %s off, without %s.", first.What, Percent(first.Off), Percent(c.Off))
	switch n := c.alike(); {
	case n == 1:
		say("", "The log does not tell it from the cause below it.")
	case n > 1:
		say("", "The log does not tell it from the %d causes below it.", n)
	}
	b.WriteString("\nWhat would explain it, simulated\n")
	table := NewTable(Left("cause"), Right("times off"), Right("explains").Or(1), Words("how to look").Or(2)).Within(t.Width)
	for _, k := range c.Causes {
		table.Add(k.What, Percent(k.Off), Percent(k.Explains), k.Why)
	}
	b.WriteString(table.String())
	b.WriteByte('\n')
	say("  ", "To see the machine with the first: weft bench %s%s", c.Op, c.again(first))
	say("  ", "How to look for it: %s.", first.Why)
}

// alike counts the causes that fit as well as the first.
func (c *Test) alike() int {
	n := 0
	for _, k := range c.Causes[1:] {
		if k.AsLikely {
			n++
		}
	}
	return n
}

// again writes the flags that make the machine of a cause.
func (c *Test) again(k Cause) string {
	s := " --system " + c.System
	if c.Nodes > 1 {
		s += fmt.Sprintf(" --nodes %d", c.Nodes)
	}
	for _, set := range k.Settings {
		s += " --set " + quoted(set)
	}
	for _, f := range k.Faults {
		s += " --fault " + quoted(f)
	}
	return s
}

// quoted puts what a shell would take apart between quotes.
func quoted(s string) string {
	if strings.ContainsAny(s, " *<>?[]'\"$") {
		return "'" + s + "'"
	}
	return s
}

// remarks writes what is odd, noted and to be careful with.
func (c *Test) remarks(b *strings.Builder, say func(head, format string, args ...any)) {
	if len(c.Findings) > 0 {
		b.WriteString("\nOdd in the log\n")
		for _, f := range c.Findings {
			say("  ! ", "%s", f.Text)
		}
	}
	if len(c.Untested) > 0 {
		b.WriteString("\nNot simulated\n")
		for _, u := range c.Untested {
			say("  ", "%s: %s", u.What, u.Why)
		}
	}
	if len(c.Notes)+len(c.Warnings) > 0 {
		b.WriteString("\nBe careful\n")
		for _, n := range c.Notes {
			say("  ! ", "%s", n)
		}
		for _, n := range c.Warnings {
			say("  ! ", "%s", n)
		}
	}
}
