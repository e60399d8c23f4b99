package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/measured"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads/trace/nccltests"
)

// band is a class of sizes, by its place among those of `weft accuracy`.
func band(size sim.Bytes) int { return slices.Index(measured.Classes(), measured.Class(size)) }

// bands are the classes in words.
var bands = [3]string{"below 1 MiB", "from 1 MiB to 64 MiB", "from 64 MiB on"}

// tolerance is by how much, as a part, a time may differ from what weft expects
// and be normal, by kind of machine and class of size: by so much or less nine
// of ten published measurements do (`weft accuracy`, rounded; laboratories differ
// from each other, too). It ends at [widest]: where weft knows less, everything
// would be normal.
var tolerance = map[string][3]float64{
	"nvlink-node":  {0.20, 0.25, 0.15},
	"pcie":         {0.40, 0.30, 0.22},
	"multi-node":   {0.40, 0.30, 0.22},
	"cloud-plugin": {widest, 0.40, 0.30},
}

const widest = 0.6

// tolerance is what --within says, or that of the kind of machine.
func (s *subject) tolerance(kind string) [3]float64 {
	if s.within > 0 {
		return [3]float64{s.within, s.within, s.within}
	}
	return tolerance[kind]
}

// kind is the kind of machine by which accuracy is told.
func (s *subject) kind(hw *configs.Hardware) string {
	switch {
	case s.nodes > 1 && strings.HasPrefix(s.system, "aws-"), s.nodes > 1 && strings.HasPrefix(s.system, "gcp-"):
		return "cloud-plugin"
	case s.nodes > 1:
		return "multi-node"
	}
	for _, l := range hw.Machine.Graph.Links {
		if n := hw.Machine.Graph.Nodes; n[l.From].Kind == topology.GPU && (n[l.To].Kind == topology.GPU || n[l.To].Kind == topology.NVSwitch) {
			return "nvlink-node"
		}
	}
	return "pcie"
}

// describe fills in what was compared.
func (s *subject) describe(t *trial, expected []expectation) *report.Test {
	out := &report.Test{
		Line: s.table.Line, Op: s.opName(), System: s.system, GPUs: s.ranks, Nodes: s.nodes,
		Launch: s.launch, NCCL: s.nccl, Kind: s.kind(t.hw), Notes: s.notes,
		Warnings: report.Grave(t.job.Warnings),
	}
	within := s.tolerance(out.Kind)
	factor, _ := nccltests.Factor(out.Op, s.ranks)
	for i, r := range s.rows {
		e := expected[i]
		row := report.TestRow{
			Size: r.Size, Measured: r.Of(), Expected: e.Time, Algo: e.Algo, Proto: e.Proto, Bottleneck: e.Bottleneck,
			Ratio: float64(r.Of()) / float64(e.Time), Within: within[band(r.Size)],
		}
		row.BusBW = sim.Rate(float64(r.Size) / r.Of().Seconds() * factor)
		row.ExpectedBusBW = sim.Rate(float64(r.Size) / e.Time.Seconds() * factor)
		row.Verdict = verdict(row.Ratio, row.Within)
		out.Rows = append(out.Rows, row)
	}
	for _, f := range s.table.Check() {
		text := f.Text
		if f.Line > 0 {
			text = fmt.Sprintf("line %d: %s", f.Line, text)
		}
		out.Findings = append(out.Findings, report.Finding{Kind: string(f.Kind), Text: text})
	}
	return out
}

// verdict judges a ratio of measured over expected time.
func verdict(ratio, within float64) report.Verdict {
	switch {
	case ratio > 1+within:
		return report.Slow
	case ratio < 1/(1+within):
		return report.Fast
	}
	return report.Normal
}

// judge decides on the whole, by classes of sizes: the middle of a class counts,
// and so do many single sizes.
func (s *subject) judge(t *report.Test) {
	allowed := s.tolerance(t.Kind)
	var ratios [3][]float64
	odd := 0
	t.Verdict = report.Normal
	for _, r := range t.Rows {
		b := band(r.Size)
		ratios[b] = append(ratios[b], r.Ratio)
		if r.Verdict != report.Normal {
			odd++
		}
	}
	var said []string
	all := map[report.Verdict]bool{}
	for b, in := range ratios {
		if len(in) == 0 {
			continue
		}
		mid := median(in)
		v := verdict(mid, allowed[b])
		t.Classes = append(t.Classes, report.TestClass{Name: measured.Classes()[b], Rows: len(in), Ratio: mid, Within: allowed[b], Verdict: v})
		if v != report.Normal {
			all[v] = true
			said = append(said, fmt.Sprintf("%s it takes %s times what is expected", bands[b], report.Figure(mid)))
		}
	}
	switch {
	case all[report.Slow] && all[report.Fast]:
		t.Verdict = report.Mixed
	case all[report.Slow]:
		t.Verdict = report.Slow
	case all[report.Fast]:
		t.Verdict = report.Fast
	case odd > 1 && 4*odd > len(t.Rows):
		t.Verdict = report.Mixed
		said = append(said, fmt.Sprintf("%d of %s differ by more than they should", odd, report.Plural(len(t.Rows), "size")))
	}
	if t.Verdict == report.Normal {
		by := "what weft is uncertain by on such machines"
		if s.within > 0 {
			by = report.Percent(s.within)
		}
		t.Summary = fmt.Sprintf("%d of %s are within %s", len(t.Rows)-odd, report.Plural(len(t.Rows), "size"), by)
		return
	}
	t.Summary = strings.Join(said, "; ")
	if len(t.Rows) < 3 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s tells few causes apart; a sweep such as -b 8 -e 8G -f 2 tells more", report.Plural(len(t.Rows), "size")))
	}
}

// median returns the middle of values, of an even number the geometric mean of
// the two.
func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return math.Sqrt(v[(n-1)/2] * v[n/2])
}

// rms is the root of the mean square of logarithms, as a part: 0.1 is 10 % off.
func rms(logs []float64) float64 {
	sum := 0.0
	for _, l := range logs {
		sum += l * l
	}
	return math.Sqrt(sum / float64(max(1, len(logs))))
}

// mostProbed bounds the sizes at which faults are simulated: fewer among many
// GPUs, where each takes long.
func mostProbed(ranks int) int {
	if ranks > 256 {
		return 8
	}
	return 24
}

// probes picks so many of n sizes, evenly, the first and the last among them.
func probes(n, most int) []int {
	var all []int
	for i := range min(n, most) {
		at := i
		if n > most {
			at = int(math.Round(float64(i) * float64(n-1) / float64(most-1)))
		}
		all = append(all, at)
	}
	return all
}

// order puts the likeliest causes first, and marks those that the log cannot
// tell from the first.
func order(t *report.Test) {
	slices.SortStableFunc(t.Causes, func(a, b report.Cause) int { return cmp.Compare(a.Off, b.Off) })
	for i := range t.Causes {
		c := &t.Causes[i]
		c.Explains = 1 - c.Off*c.Off/(t.Off*t.Off)
		// Noise between runs of one laboratory is a few per cent (docs/accuracy.md).
		c.AsLikely = i > 0 && c.Off < 1.1*t.Causes[0].Off+0.01
	}
}
