package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/sim"
)

// Calibration is a fit of figures to measurements.
type Calibration struct {
	Name    string
	System  string
	Tests   []CalibrationTest
	Figures []CalibratedFigure
	Pairs   []CalibrationPair
	// Before and After are how far off the times are, as a part: the root mean
	// square of logarithms.
	Before, After float64
	Evaluations   int
	Written       string // file of the preset, "" if none
	Version       string
	Warnings      []string
}

// CalibrationTest is one table of the log.
type CalibrationTest struct {
	Op          string
	GPUs, Nodes int
	Launch      string
	NCCL        string
	Rows        []CalibrationRow
}

// CalibrationRow is one size. Residuals are ln(simulated / measured).
type CalibrationRow struct {
	Size          sim.Bytes
	Measured      sim.Time
	Before, After float64
}

// CalibratedFigure is one that was fitted.
type CalibratedFigure struct {
	Path       string // in a scenario
	What       string
	Unit       string // "x" for a factor
	Value, Was string // as a scenario takes them
	Number     float64
	// Error is relative; Least and Most end the 95 % interval. NaN is not known.
	Error, Least, Most float64
	From, To           string // Least and Most as a scenario takes them
	State              string // fitted, at-bound, silent
}

// CalibrationPair is two figures that the log hardly tells apart.
type CalibrationPair struct {
	A, B        string
	Correlation float64
}

// fitted reports whether the log says something of a figure.
func (f *CalibratedFigure) fitted() bool { return f.State != "silent" }

// interval writes the 95 % interval.
func (f *CalibratedFigure) interval() string {
	switch {
	case !f.fitted():
		return "the log does not tell"
	case f.State == "at-bound":
		return "at the end of its range"
	case math.IsNaN(f.Error) || f.Most > 10*f.Number:
		return "any"
	}
	return f.From + " to " + f.To
}

// Preset writes what scenarios take: the figures that the log tells.
func (c *Calibration) Preset() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Written by weft calibrate (%s). Lies below a scenario's own keys: preset: FILE, or --preset FILE.\n", c.Version)
	fmt.Fprintf(&b, "# Of %s. Times of these tests are off by %s with it, by %s without:\n", c.System, Percent(c.After), Percent(c.Before))
	for _, t := range c.Tests {
		fmt.Fprintf(&b, "#   %s, %s on %s, launch %s, %s\n", t.Op, Plural(t.GPUs, "GPU"), Plural(t.Nodes, "node"), t.Launch, Plural(len(t.Rows), "size"))
	}
	sections := []struct{ prefix, open, indent string }{{"figures.", "figures:\n", "  "}, {"collectives.pace.", "collectives:\n  pace:\n", "    "}}
	empty := true
	for _, s := range sections {
		open := s.open
		for _, f := range c.Figures {
			if key, ok := strings.CutPrefix(f.Path, s.prefix); ok && f.fitted() {
				b.WriteString(open)
				open, empty = "", false
				fmt.Fprintf(&b, "%s%s: %s # %s; was %s; 95 %%: %s\n", s.indent, key, f.Value, f.What, f.Was, f.interval())
			}
		}
	}
	if empty {
		b.WriteString("{}\n")
	}
	return b.String()
}

// Text writes the answer for people.
func (c *Calibration) Text(w io.Writer, t *term.Terminal) error {
	var b strings.Builder
	say := func(head, format string, args ...any) {
		paragraph(&b, t.Width, head, fmt.Sprintf(format, args...))
		b.WriteByte('\n')
	}
	rows := 0
	for _, k := range c.Tests {
		rows += len(k.Rows)
	}
	say("", "%s of %s on %s: simulated times were %s off, and are %s off with the figures below.", Plural(rows, "size"), c.tests(), c.System, Percent(c.Before), Percent(c.After))
	b.WriteByte('\n')
	table := NewTable(Left("figure"), Right("was"), Right("is"), Left("95 %"), Left("key").Or(1)).Within(t.Width)
	for _, f := range c.Figures {
		table.Add(f.What, f.Was+f.Unit, f.Value+f.Unit, f.interval(), f.Path)
	}
	b.WriteString(table.String())
	for _, p := range c.Pairs {
		say("  ! ", "%s and %s cannot be told apart by this log (correlation %.2f): only both together are known. Another operation, number of GPUs or protocol would part them.", p.A, p.B, p.Correlation)
	}
	for i, k := range c.Tests {
		fmt.Fprintf(&b, "\n%s, %s on %s: simulated against measured\n", k.Op, Plural(k.GPUs, "GPU"), Plural(k.Nodes, "node"))
		residuals := NewTable(Right("size"), Right("measured"), Right("before"), Right("after")).Within(t.Width)
		for _, r := range c.Tests[i].Rows {
			residuals.Add(Size(r.Size), Duration(r.Measured), signed(r.Before), signed(r.After))
		}
		b.WriteString(residuals.String())
	}
	if len(c.Warnings) > 0 {
		b.WriteString("\nBe careful\n")
		for _, n := range c.Warnings {
			say("  ! ", "%s", n)
		}
	}
	b.WriteByte('\n')
	if c.Written != "" {
		say("", "The preset is in %s: weft bench ... --preset %s, or preset: %s in a scenario.", c.Written, quoted(c.Written), c.Written)
	} else {
		b.WriteString("The preset (-o FILE writes it)\n\n" + c.Preset())
	}
	out := bufio.NewWriter(w)
	out.WriteString(b.String())
	return out.Flush()
}

// tests names the operations.
func (c *Calibration) tests() string {
	var names []string
	for _, t := range c.Tests {
		names = append(names, t.Op)
	}
	return strings.Join(names, ", ")
}

// signed writes a residual in per cent with its sign.
func signed(log float64) string { return fmt.Sprintf("%+.1f %%", (math.Exp(log)-1)*100) }
