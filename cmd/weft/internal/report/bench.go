package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// Bench is what stands above a table of nccl-tests: one operation on one
// machine. Its rows come one by one, see [Bench.Table].
type Bench struct {
	Op      string // as nccl-tests calls it: "all_reduce"
	System  string
	GPUs    int
	Nodes   int
	Library string // who chose the algorithms, with its release: "nccl 2.30.7"
	NCCL    int    // its release as NCCL codes it, 23007; 0 for other libraries
	Launch  string // how the host starts kernels: "process-per-gpu"; "" where nobody asks
	Sweep   Sweep
	Version string
	// Warnings are comments of the text table, which people read with it.
	Warnings []string
}

// Sweep is what was asked for, as nccl-tests repeats it.
type Sweep struct {
	Begin, End sim.Bytes
	Factor     float64   // from a size to the next, or
	Step       sim.Bytes // between sizes; 0 is the factor
	Threads    int       // of a process
	PerThread  int       // GPUs of a thread
	Warmup     int       // runs before those that are timed; they change nothing
	Iterations int       // runs that are timed; all are alike
	Graph      int       // launches of a CUDA graph, 0 for none
}

// step prints what leads from a size to the next.
func (s *Sweep) step() string {
	if s.Step > 0 {
		return fmt.Sprintf("%d(bytes)", s.Step)
	}
	return strconv.FormatFloat(s.Factor, 'f', -1, 64) + "(factor)"
}

// BenchRow is the answer for one size.
type BenchRow struct {
	Size       sim.Bytes
	Count      int64  // elements, as nccl-tests counts them for the operation
	Type       string // of an element: "float"
	RedOp      string // "sum", or "none" for data movement
	Root       int    // -1 for operations without a root
	Out, In    Placed // out of place and in place
	Algo       string
	Proto      string
	Channels   int     // 0 where nobody said
	WireBytes  float64 // sent by one rank, mean
	Bottleneck string  // the busiest class of links
}

// Placed is a time and what follows from it.
type Placed struct {
	Time  sim.Time
	AlgBW sim.Rate
	BusBW sim.Rate
}

// BenchTable prints the rows of a bench: Begin once, Row as each is there, so
// that what was found stays when the rest is interrupted, and End.
type BenchTable interface {
	Begin() error
	Row(BenchRow) error
	End() error
}

// Table returns the printer of a format: text, csv or json. A text for a
// terminal narrower than the table of nccl-tests, where width is above 0, has
// the columns that fit.
func (b *Bench) Table(format string, w io.Writer, width int) BenchTable {
	switch {
	case format == "csv":
		return &benchCSV{w: w}
	case format == "json":
		return &benchJSON{bench: b, w: w}
	case width > 0 && width < benchWidth:
		return &benchNarrow{benchText: benchText{bench: b, w: w}, width: width}
	}
	return &benchText{bench: b, w: w}
}

// benchWidth is how long the header of nccl-tests is; its rows are shorter by 3.
const benchWidth = 119

// benchText prints the table as nccl-tests does, so that what reads its logs
// reads this too. Nothing is computed on real buffers, so it is what nccl-tests
// prints with -c 0: N/A where it would count wrong values.
//
// Source of the format: NVIDIA/nccl-tests a0b82b22, src/util.cu.
type benchText struct {
	bench   *Bench
	w       io.Writer
	sum     float64 // of all bus bandwidths
	n       int
	choices choices
}

// title says what ran, in lines of a width, 0 for any.
func (b *Bench) title(out io.Writer, width int) {
	fmt.Fprintf(out, "# weft %s: %s on %s, %s, %s\n", b.Version, b.Op, b.System, Plural(b.GPUs, "GPU"), Plural(b.Nodes, "node"))
	switch {
	case b.Launch != "":
		fmt.Fprintf(out, "# %s, launched %s\n", b.Library, b.Launch)
	case b.Library != "":
		fmt.Fprintf(out, "# %s\n", b.Library)
	}
	for _, warning := range b.Warnings {
		var note strings.Builder
		paragraph(&note, max(width-2, 0), "note: ", warning)
		for line := range strings.SplitSeq(note.String(), "\n") {
			fmt.Fprintf(out, "# %s\n", line)
		}
	}
}

// preface writes what stands above the columns.
func (t *benchText) preface(out io.Writer) {
	b, s := t.bench, &t.bench.Sweep
	b.title(out, 0)
	fmt.Fprintf(out, "# Collective test starting: %s_perf\n", b.Op)
	fmt.Fprintf(out, "# nThread %d nGpus %d minBytes %d maxBytes %d step: %s warmup iters: %d iters: %d agg iters: 1 validation: 0 graph: %d unalign: 0\n",
		s.Threads, s.PerThread, s.Begin, s.End, s.step(), s.Warmup, s.Iterations, s.Graph)
	fmt.Fprintf(out, "#\n")
}

const benchHead = "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s  %7s  %6s  %6s  %6s %s\n"

// Begin writes the header.
func (t *benchText) Begin() error {
	out := bufio.NewWriter(t.w)
	t.preface(out)
	fmt.Fprintf(out, "# %10s  %12s  %8s  %6s  %6s           out-of-place                       in-place          \n", "", "", "", "", "")
	fmt.Fprintf(out, benchHead, "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong", "")
	fmt.Fprintf(out, benchHead, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "", "")
	return out.Flush()
}

// Row writes a line.
func (t *benchText) Row(r BenchRow) error {
	t.add(r)
	_, err := fmt.Fprintf(t.w, "%12d  %12d  %8s  %6s  %6d%s%s\n", r.Size, r.Count, r.Type, r.RedOp, r.Root, r.Out.text(), r.In.text())
	return err
}

func (p *Placed) text() string {
	return fmt.Sprintf("  %7s  %6s  %6s    N/A", fit(p.Time.Microseconds(), 7), fit(gigabytes(p.AlgBW), 6), fit(gigabytes(p.BusBW), 6))
}

// add books a row for the footer.
func (t *benchText) add(r BenchRow) {
	t.sum += gigabytes(r.Out.BusBW) + gigabytes(r.In.BusBW)
	t.n += 2
	t.choices.add(r)
}

// End writes the footer of nccl-tests and, before its last line, which
// algorithm ran from which size to which: comments, so that the columns stay
// as they are.
func (t *benchText) End() error {
	out := bufio.NewWriter(t.w)
	fmt.Fprintf(out, "# %-20s : 0 OK\n", "Out of bounds values")
	fmt.Fprintf(out, "# %-20s : %s \n", "Avg bus bandwidth", strconv.FormatFloat(t.average(), 'g', 6, 64))
	fmt.Fprintf(out, "#\n")
	t.choices.write(out)
	fmt.Fprintf(out, "# Collective test concluded: %s_perf\n", t.bench.Op)
	return out.Flush()
}

// average is the mean of all bus bandwidths, in GB/s.
func (t *benchText) average() float64 { return t.sum / float64(max(t.n, 1)) }

// benchNarrow is the table for people at a terminal that the columns of
// nccl-tests do not fit: those that change from row to row, and the algorithm.
type benchNarrow struct {
	benchText
	width int
}

const narrowHead = "# %10s  %7s  %6s  %6s  %7s  %6s  %6s%s\n"

// Begin writes the header.
func (t *benchNarrow) Begin() error {
	out := bufio.NewWriter(t.w)
	t.bench.title(out, t.width)
	fmt.Fprintf(out, "#\n# %10s       out-of-place             in-place\n", "")
	fmt.Fprintf(out, narrowHead, "size", "time", "algbw", "busbw", "time", "algbw", "busbw", "  algorithm")
	fmt.Fprintf(out, narrowHead, "(B)", "(us)", "(GB/s)", "(GB/s)", "(us)", "(GB/s)", "(GB/s)", "")
	return out.Flush()
}

// Row writes a line.
func (t *benchNarrow) Row(r BenchRow) error {
	t.add(r)
	_, err := fmt.Fprintf(t.w, "%12d%s%s  %s\n", r.Size, r.Out.narrow(), r.In.narrow(), r.algorithm())
	return err
}

func (p *Placed) narrow() string {
	return fmt.Sprintf("  %7s  %6s  %6s", fit(p.Time.Microseconds(), 7), fit(gigabytes(p.AlgBW), 6), fit(gigabytes(p.BusBW), 6))
}

// fit prints v with two decimals if they fit the width, else one, else none,
// else with an exponent.
func fit(v float64, width int) string {
	for decimals := 2; decimals >= 0; decimals-- {
		if s := strconv.FormatFloat(v, 'f', decimals, 64); len(s) <= width {
			return s
		}
	}
	return strconv.FormatFloat(v, 'e', 1, 64)
}

// exact prints a float for programs: at most six decimals, none that say
// nothing.
func exact(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}
