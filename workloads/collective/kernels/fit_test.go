package kernels

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/optimize"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

var update = flag.Bool("update", false, "fit the measured constants to the published tables and write them")

// predict is the time in us of a point with given constants.
func predict(t *testing.T, s *series, p point, c cost) float64 {
	t.Helper()
	k, g := p.k, generationOf(s.library.Machine)
	ch := collective.Choice{Algorithm: k.algorithm(workloads.AllReduce), Overhead: k.overhead,
		Pace: k.paceAt(c, g, s.library.Setting, workloads.AllReduce, p.size, len(s.ranks))}
	took, err := timeAlone(workloads.AllReduce, ch, p.size, len(s.ranks), wires[g])
	require.NoError(t, err)
	return took.Microseconds()
}

// group is what one row of constants is fitted to: a list of points a series.
type group struct {
	key    costKey
	parts  []*series
	points [][]point
}

func groupsOf(all []*series) []*group {
	var groups []*group
	of := map[costKey]*group{}
	for _, s := range all {
		byKernel := map[costKey][]point{}
		var order []costKey
		for _, p := range s.points {
			key := costKey{p.k.name, generationOf(s.library.Machine)}
			if len(byKernel[key]) == 0 {
				order = append(order, key)
			}
			byKernel[key] = append(byKernel[key], p)
		}
		for _, key := range order {
			g := of[key]
			if g == nil {
				g = &group{key: key}
				of[key] = g
				groups = append(groups, g)
			}
			g.parts, g.points = append(g.parts, s), append(g.points, byKernel[key])
		}
	}
	return groups
}

// loss is the mean over series of the mean |log(predicted/measured)|.
func (g *group) loss(t *testing.T, c cost) float64 {
	sum := 0.0
	for i, s := range g.parts {
		one := 0.0
		for _, p := range g.points[i] {
			one += math.Abs(math.Log(predict(t, s, p, c) / p.us))
		}
		sum += one / float64(len(g.points[i]))
	}
	return sum / float64(len(g.parts))
}

// fit finds the constants of a group: start, peer, lane, rank, wave. What the points
// do not tell stays near where it began.
func (g *group) fit(t *testing.T, from cost) cost {
	begin := []float64{math.Log(from.start.Microseconds()), math.Log(max(from.peer.Microseconds(), 0.02)), math.Log(float64(from.lane) / 1e9), math.Log(float64(from.rank) / 1e9), math.Log(max(from.wave.Microseconds(), 1e-3))}
	at := func(x []float64) cost {
		c := from
		c.start, c.peer = sim.Time(math.Exp(x[0])*float64(sim.Microsecond)), sim.Time(math.Exp(x[1])*float64(sim.Microsecond))
		c.lane, c.rank = sim.Rate(math.Exp(x[2])*1e9), sim.Rate(math.Exp(x[3])*1e9)
		if from.wave > 0 {
			c.wave = sim.Time(math.Exp(x[4]) * float64(sim.Microsecond))
		}
		return c
	}
	problem := optimize.Problem{Func: func(x []float64) float64 {
		pull := 0.0
		for i := range x {
			pull += math.Abs(x[i] - begin[i])
		}
		return g.loss(t, at(x)) + 1e-3*pull
	}}
	largest := sim.Bytes(0)
	for _, points := range g.points {
		for _, p := range points {
			largest = max(largest, p.size)
		}
	}
	if held := at; largest < 128*sim.KiB { // such sizes tell little of rates
		at = func(x []float64) cost {
			c := held(x)
			c.lane, c.rank = from.lane, from.rank
			return c
		}
	}
	x := begin
	for range 3 { // a simplex may fold: begin again where it ended
		r, err := optimize.Minimize(problem, x, &optimize.Settings{FuncEvaluations: 1500}, &optimize.NelderMead{SimplexSize: 0.3})
		require.NoError(t, err)
		x = r.X
	}
	return at(x)
}

func quantile(sorted []float64, q float64) float64 {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func TestFit(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all tables")
	}
	all := graphSeries(t)
	groups := groupsOf(all)
	known, err := costs()
	require.NoError(t, err)
	if *update {
		fitted := map[costKey]cost{}
		for _, g := range groups {
			fitted[g.key] = g.fit(t, known[g.key])
		}
		write(t, fitted)
		for key, c := range fitted {
			known[key] = c
		}
	}
	for _, g := range groups {
		c := known[g.key]
		t.Logf("%-18s %-10s %2d series, mean |log| %.3f: %v + %v a peer, %.0f a pair, %.0f GB/s", g.key.kernel, g.key.on, len(g.parts), g.loss(t, c), c.start, c.peer, c.lane/1e9, c.rank/1e9)
	}
	// Every series counts the same: its points are weighted by their number.
	type weighted struct{ err, weight float64 }
	var errs []weighted
	var medians []float64
	for _, s := range all {
		var own []float64
		for _, p := range s.points {
			c := known[costKey{p.k.name, generationOf(s.library.Machine)}]
			e := predict(t, s, p, c)/p.us - 1
			own = append(own, math.Abs(e))
			errs = append(errs, weighted{math.Abs(e), 1 / float64(len(s.points))})
			if math.Abs(e) > 0.3 {
				t.Logf("%s %s %v: %.2f us, measured %.2f", s.name, p.k.name, p.size, predict(t, s, p, c), p.us)
			}
		}
		if len(own) > 0 {
			slices.Sort(own)
			medians = append(medians, quantile(own, 0.5))
			t.Logf("%-30s %2d points, median %.1f %%, 90th %.1f %%", s.name, len(own), 100*quantile(own, 0.5), 100*quantile(own, 0.9))
		}
	}
	slices.SortFunc(errs, func(a, b weighted) int {
		return int(math.Copysign(1, a.err-b.err))
	})
	total, sum := 0.0, 0.0
	for _, e := range errs {
		total += e.weight
	}
	at := func(q float64) float64 {
		sum = 0
		for _, e := range errs {
			if sum += e.weight; sum >= q*total {
				return e.err
			}
		}
		return errs[len(errs)-1].err
	}
	t.Logf("%d series, %d points: median |error| %.1f %%, 90th percentile %.1f %%", len(medians), len(errs), 100*at(0.5), 100*at(0.9))
	assert.LessOrEqual(t, at(0.5), 0.10)
	assert.LessOrEqual(t, at(0.9), 0.30)
}

// write puts fitted constants in the place of those of their rows, and of rows
// that are assumed to be as they.
func write(t *testing.T, fitted map[costKey]cost) {
	lines := strings.Split(strings.TrimSuffix(costTable, "\n"), "\n")
	for i, l := range lines {
		f := strings.SplitN(l, ",", 9)
		if len(f) < 9 {
			continue
		}
		name := f[0]
		if same, found := strings.CutPrefix(f[8], "as "); found {
			name = strings.TrimSuffix(same, " there")
		} else if f[7] != "measured" {
			continue
		}
		c, ok := fitted[costKey{name, generation(f[1])}]
		if !ok {
			continue
		}
		lines[i] = fmt.Sprintf("%s,%s,%.2f,%.3f,%.3f,%.0f,%.0f,%s,%s", f[0], f[1], c.start.Microseconds(), c.peer.Microseconds(), c.wave.Microseconds(), c.lane/1e9, c.rank/1e9, f[7], f[8])
	}
	require.NoError(t, os.WriteFile("costs.csv", []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}
