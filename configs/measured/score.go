package measured

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/weft-sim/weft/sim"
)

// All is the table, or the kind, of a row over all of them.
const All = "all"

// Classes are the classes of sizes, in the order of reports.
func Classes() []string { return []string{"small", "medium", "large"} }

// Class returns the class of a size.
func Class(size sim.Bytes) string {
	switch {
	case size < sim.MiB:
		return "small"
	case size < 64*sim.MiB:
		return "medium"
	}
	return "large"
}

// Row is the score of a class: of one series, or of many.
type Row struct {
	Table  string // All for many
	Kind   string // All for all
	System string // "" for many, as Op
	Op     string
	Ranks  int // 0 for many, as Nodes
	Nodes  int
	Class  string
	Series int
	Points int
	// Errors of time: medians and 90th percentiles of the absolute ones, the
	// median of the signed ones, and the largest with its sign.
	Median, P90, Bias, Worst float64
	// At is the worst point.
	At *Sample
}

// Left is how many points do not count for a reason.
type Left struct {
	Because string
	Points  int
}

// Report is the score of a comparison.
type Report struct {
	// Rows are those of each series and class, then of each kind and class,
	// then of each class.
	Rows []Row
	// Left are the points that do not count, most first.
	Left []Left
	// Below are the points that are predicted below the physical bound.
	Below []*Sample
	// Points and Counted are how many there are, and how many count.
	Points, Counted int
}

// weighted is an error with its share of a series.
type weighted struct {
	error, weight float64
	sample        *Sample
}

// Score scores the samples of a comparison; the package comment has the rule.
func Score(samples []Sample) *Report {
	rep := &Report{Points: len(samples)}
	left := map[string]int{}
	type group struct {
		key, class string
	}
	var order []group
	points := map[group][]*Sample{}
	for i := range samples {
		s := &samples[i]
		if s.Left != "" {
			left[s.Left]++
			continue
		}
		rep.Counted++
		if s.Below() {
			rep.Below = append(rep.Below, s)
		}
		g := group{s.Series.Key(), Class(s.Size)}
		if points[g] == nil {
			order = append(order, g)
		}
		points[g] = append(points[g], s)
	}
	sums := map[group][]weighted{} // by kind and class
	series := map[group]int{}
	for _, g := range order {
		of := points[g]
		var errs []weighted
		for _, s := range of {
			errs = append(errs, weighted{s.Error(), 1 / float64(len(of)), s})
		}
		first := of[0].Series
		row := Row{
			Table: first.Table.ID, Kind: first.Case.Kind, System: first.Case.System,
			Op: first.Op, Ranks: first.Ranks, Nodes: first.Nodes, Class: g.class, Series: 1,
		}
		row.fill(errs)
		rep.Rows = append(rep.Rows, row)
		for _, kind := range []string{first.Case.Kind, All} {
			sum := group{kind, g.class}
			sums[sum] = append(sums[sum], errs...)
			series[sum]++
		}
	}
	for _, kind := range append(Kinds(), All) {
		for _, class := range Classes() {
			g := group{kind, class}
			if errs := sums[g]; errs != nil {
				row := Row{Table: All, Kind: kind, Class: class, Series: series[g]}
				row.fill(errs)
				rep.Rows = append(rep.Rows, row)
			}
		}
	}
	for because, n := range left {
		rep.Left = append(rep.Left, Left{because, n})
	}
	slices.SortFunc(rep.Left, func(a, b Left) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.Because, b.Because))
	})
	return rep
}

// fill works out the figures of a row.
func (r *Row) fill(errs []weighted) {
	r.Points = len(errs)
	r.Bias = quantile(errs, 0.5, func(e float64) float64 { return e })
	r.Median = quantile(errs, 0.5, math.Abs)
	r.P90 = quantile(errs, 0.9, math.Abs)
	for _, e := range errs {
		if r.At == nil || math.Abs(e.error) > math.Abs(r.Worst) {
			r.Worst, r.At = e.error, e.sample
		}
	}
}

// quantile is the smallest value with so much of the weight at or below it.
func quantile(errs []weighted, p float64, of func(float64) float64) float64 {
	sorted := slices.Clone(errs)
	slices.SortStableFunc(sorted, func(a, b weighted) int { return cmp.Compare(of(a.error), of(b.error)) })
	x, w := make([]float64, len(sorted)), make([]float64, len(sorted))
	for i, e := range sorted {
		x[i], w[i] = of(e.error), e.weight
	}
	return stat.Quantile(p, stat.Empirical, x, w)
}
