package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/weft-sim/weft/sim"
)

// Bench is a table of nccl-tests: one collective on one machine, a row a size.
type Bench struct {
	Op      string // as nccl-tests calls it: "all_reduce"
	System  string
	GPUs    int
	Nodes   int
	Type    string // element type: "float"
	RedOp   string // "sum", or "none" for data movement
	Root    int    // -1 for operations without a root
	Rows    []BenchRow
	Version string
	// Warnings are comments of the text table, which people read with it.
	Warnings []string
}

// BenchRow is the answer for one size.
type BenchRow struct {
	Size       sim.Bytes
	Count      int64 // elements, as nccl-tests counts them for the operation
	Time       sim.Time
	AlgBW      sim.Rate
	BusBW      sim.Rate
	Algo       string
	Proto      string
	Channels   int     // 0 where the algorithm has none
	WireBytes  float64 // sent by one rank, mean
	Bottleneck string  // the busiest link or class of links
}

// Text writes the table as nccl-tests prints it, so that what reads its logs
// reads this too. Nothing is computed on real buffers, so the columns of wrong
// values say N/A, also where nccl-tests counts them; out of place and in place
// cost the same here, and are one run.
//
// Source of the format: NVIDIA/nccl-tests a0b82b22, src/common.cu.
func (b *Bench) Text(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# weft %s: %s on %s, %s, %s\n", b.Version, b.Op, b.System, Plural(b.GPUs, "GPU"), Plural(b.Nodes, "node"))
	for _, warning := range b.Warnings {
		fmt.Fprintf(out, "# note: %s\n", warning)
	}
	fmt.Fprintf(out, "# note: out-of-place and in-place are one run here, and no values are checked\n")
	fmt.Fprintf(out, "#\n")
	fmt.Fprintf(out, "# %10s  %12s  %8s  %6s  %6s           out-of-place                       in-place          \n", "", "", "", "", "")
	const head = "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s  %7s  %6s  %6s  %6s %s\n"
	fmt.Fprintf(out, head, "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong", "")
	fmt.Fprintf(out, head, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "", "")
	sum := 0.0
	for _, r := range b.Rows {
		half := fmt.Sprintf("  %7s  %6s  %6s    N/A", fit(r.Time.Microseconds(), 7), fit(gigabytes(r.AlgBW), 6), fit(gigabytes(r.BusBW), 6))
		fmt.Fprintf(out, "%12d  %12d  %8s  %6s  %6d%s%s\n", r.Size, r.Count, b.Type, b.RedOp, b.Root, half, half)
		sum += gigabytes(r.BusBW)
	}
	fmt.Fprintf(out, "# Out of bounds values : N/A\n")
	fmt.Fprintf(out, "# Avg bus bandwidth    : %s \n", strconv.FormatFloat(sum/float64(max(len(b.Rows), 1)), 'g', 6, 64))
	fmt.Fprintf(out, "#\n")
	fmt.Fprintf(out, "# Collective test concluded: %s_perf\n", b.Op)
	return out.Flush()
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

// benchColumns are the columns of `weft bench --format csv`: an API.
var benchColumns = []string{
	"size_bytes", "count", "type", "redop", "time_us", "algbw_gbytes_per_s", "busbw_gbytes_per_s",
	"algo", "proto", "channels", "wire_bytes_per_rank", "bottleneck",
}

// CSV writes the rows with the columns that docs/reference/csv.md lists.
func (b *Bench) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(benchColumns); err != nil {
		return err
	}
	for _, r := range b.Rows {
		channels := ""
		if r.Channels > 0 {
			channels = strconv.Itoa(r.Channels)
		}
		err := out.Write([]string{
			strconv.FormatInt(int64(r.Size), 10), strconv.FormatInt(r.Count, 10), b.Type, b.RedOp,
			exact(r.Time.Microseconds()), exact(gigabytes(r.AlgBW)), exact(gigabytes(r.BusBW)),
			r.Algo, r.Proto, channels, exact(r.WireBytes), r.Bottleneck,
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// exact prints a float for programs: at most six decimals, none that say
// nothing.
func exact(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}

type benchDocument struct {
	Op       string             `json:"op"`
	System   string             `json:"system"`
	Nodes    int                `json:"nodes"`
	GPUs     int                `json:"gpus"`
	Type     string             `json:"type"`
	RedOp    string             `json:"redop"`
	Root     int                `json:"root"`
	Rows     []benchRowDocument `json:"rows"`
	Warnings []string           `json:"warnings"`
	Version  string             `json:"weft_version"`
}

type benchRowDocument struct {
	Size       int64   `json:"size_bytes"`
	Count      int64   `json:"count"`
	Time       float64 `json:"time_us"`
	AlgBW      float64 `json:"algbw_gbytes_per_s"`
	BusBW      float64 `json:"busbw_gbytes_per_s"`
	Algo       string  `json:"algo"`
	Proto      string  `json:"proto"`
	Channels   int     `json:"channels,omitempty"`
	WireBytes  float64 `json:"wire_bytes_per_rank"`
	Bottleneck string  `json:"bottleneck"`
}

// JSON writes the table as one document, with the names of the CSV columns.
func (b *Bench) JSON(w io.Writer) error {
	doc := benchDocument{
		Op: b.Op, System: b.System, Nodes: b.Nodes, GPUs: b.GPUs, Type: b.Type, RedOp: b.RedOp, Root: b.Root,
		Rows: make([]benchRowDocument, len(b.Rows)), Warnings: append([]string{}, b.Warnings...), Version: b.Version,
	}
	for i, r := range b.Rows {
		doc.Rows[i] = benchRowDocument{
			int64(r.Size), r.Count, r.Time.Microseconds(), gigabytes(r.AlgBW), gigabytes(r.BusBW),
			r.Algo, r.Proto, r.Channels, r.WireBytes, r.Bottleneck,
		}
	}
	return WriteJSON(w, doc)
}
