package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/fit"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads/replay"
)

// fitting is a log that is being fitted.
type fitting struct {
	subjects []*subject
	trials   []*trial // as the machine is now
	measured []float64
	figures  []fitted
	wires    string // the figures of the catalogue that the trials have
}

// fitted is a figure that is fitted: the key of a scenario, and how its value is
// written there.
type fitted struct {
	name, path string // for --fit, and in a scenario
	what, unit string
	fit.Parameter
	time bool // in picoseconds
	// pace sets a figure of the kernels' pace; nil for one of the catalogue.
	pace func(*configs.Pace, float64)
}

// show writes a value as a scenario takes it.
func (g *fitted) show(v float64) string {
	if g.time {
		return fmt.Sprintf("%.4gus", v/float64(sim.Microsecond))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// mostFitted bounds the sizes of a table that are fitted.
const mostFitted = 48

// prepare makes the machines, and finds the figures that the traffic depends
// on.
func (f *fitting) prepare(ctx context.Context) error {
	classes := map[string]bool{}
	floor := sim.Time(0)
	several := false
	for _, s := range f.subjects {
		t, err := s.stage(change{})
		if err != nil {
			return err
		}
		f.trials = append(f.trials, t)
		at := probes(len(s.rows), mostFitted)
		for _, k := range at {
			f.measured = append(f.measured, float64(s.rows[k].Of()))
		}
		for _, k := range []int{at[0], at[len(at)-1]} {
			use, err := t.use(ctx, s, s.rows[k].Size)
			if err != nil {
				return err
			}
			for _, c := range use.classes {
				classes[c] = true
			}
			floor = max(floor, use.floor)
		}
		several = several || s.nodes > 1
	}
	for _, g := range []struct {
		name, what string
		high       float64
		pace       func(*configs.Pace, float64)
	}{
		{"start", "launch and set-up", 4, func(p *configs.Pace, v float64) { p.Start = v }},
		{"step", "a step within a node", 4, func(p *configs.Pace, v float64) { p.Step = v }},
		{"net_step", "a step across the network", 4, func(p *configs.Pace, v float64) { p.NetStep = v }},
		{"slice", "what slices cost", 4, func(p *configs.Pace, v float64) { p.Slice = v }},
		{"rate", "the rate of thread blocks", 4, func(p *configs.Pace, v float64) { p.Rate = v }},
	} {
		if !f.trials[0].nccl || g.name == "net_step" && !several {
			continue
		}
		f.figures = append(f.figures, fitted{name: g.name, path: "collectives.pace." + g.name, what: g.what, unit: "x", pace: g.pace,
			Parameter: fit.Parameter{Name: g.name, Start: 1, Low: 1 / g.high, High: g.high}})
	}
	if floor > 0 {
		f.figures = append(f.figures, fitted{name: "floor", path: "collectives.pace.floor", what: "the host's launches", time: true,
			pace:      func(p *configs.Pace, v float64) { p.Floor = sim.Time(math.Round(v)) },
			Parameter: fit.Parameter{Name: "floor", Start: float64(floor), Low: float64(floor) / 10, High: float64(floor) * 10}})
	}
	for _, p := range f.trials[0].job.Provenance {
		class, ok := strings.CutSuffix(strings.TrimPrefix(p.Path, "links."), ".calibration")
		v, err := strconv.ParseFloat(p.Value, 64)
		if !ok || !strings.HasPrefix(p.Path, "links.") || err != nil || !(v > 0 && v <= 1) || !carries(classes, class) {
			continue
		}
		f.figures = append(f.figures, fitted{name: "links." + class, path: "figures." + p.Path, what: "efficiency of " + class,
			Parameter: fit.Parameter{Name: "links." + class, Start: v, Low: min(0.2, v/2), High: 1}})
	}
	return nil
}

// carries reports whether a class of links of the catalogue is among those of a
// graph, whose names may say more.
func carries(classes map[string]bool, name string) bool {
	for c := range classes { // any: the order says nothing
		if c == name || strings.HasPrefix(c, name+" ") || strings.HasPrefix(c, name+"-") {
			return true
		}
	}
	return false
}

// choose keeps the figures that --fit names.
func (f *fitting) choose(cmd *cobra.Command, only []string) error {
	if len(only) == 0 {
		return nil
	}
	var names []string
	for _, g := range f.figures {
		names = append(names, g.name)
	}
	for _, want := range only {
		if want != "links" && !slices.Contains(names, want) {
			return usage(cmd, "--fit %s: the times of this log depend on no such figure, expected some of links, %s%s", want, strings.Join(names, ", "), didYouMean(want, names))
		}
	}
	f.figures = slices.DeleteFunc(f.figures, func(g fitted) bool {
		return !slices.Contains(only, g.name) && !(slices.Contains(only, "links") && strings.HasPrefix(g.name, "links."))
	})
	return nil
}

// problem is what to fit.
func (f *fitting) problem() *fit.Problem {
	p := &fit.Problem{Measured: f.measured, Predict: f.predict}
	for _, g := range f.figures {
		p.Parameters = append(p.Parameters, g.Parameter)
	}
	return p
}

// predict simulates all tables with values for the figures. Machines are built
// anew only where a figure of the catalogue changed.
func (f *fitting) predict(ctx context.Context, values []float64) ([]float64, error) {
	var c change
	var pace configs.Pace
	if own := f.trials[0].own; own != nil {
		pace = *own
	}
	for i, g := range f.figures {
		if g.pace != nil {
			g.pace(&pace, values[i])
			continue
		}
		// With many digits, since a search looks for small differences.
		c.set = append(c.set, g.path+"="+strconv.FormatFloat(values[i], 'g', 12, 64))
	}
	wires := strings.Join(c.set, " ")
	var all []float64
	for i, s := range f.subjects {
		if f.wires != wires {
			t, err := s.stage(c)
			if err != nil {
				return nil, err
			}
			f.trials[i] = t
		}
		if f.trials[i].nccl {
			f.trials[i].paced(&pace)
		}
		var sizes []sim.Bytes
		for _, k := range probes(len(s.rows), mostFitted) {
			sizes = append(sizes, s.rows[k].Size)
		}
		got, err := f.trials[i].run(ctx, s, sizes)
		if err != nil {
			return nil, err
		}
		for _, e := range got {
			all = append(all, float64(e.Time))
		}
	}
	f.wires = wires
	return all, nil
}

// use is what a test of one size uses.
type use struct {
	classes []string
	floor   sim.Time // of the host's launches; 0 is none
}

// use runs one size.
func (t *trial) use(ctx context.Context, s *subject, size sim.Bytes) (use, error) {
	var u use
	m, program, err := t.program(s, size)
	if err != nil {
		return u, err
	}
	options := t.job.Options
	if s.pairs {
		options.Send = t.send
	}
	res, err := replay.Run(ctx, program, m, options)
	if err != nil {
		return u, fmt.Errorf("simulate %s of %s: %w", s.opName(), report.Size(size), err)
	}
	for _, l := range res.Links {
		if l.Peak > 0.05 { // what carries less bounds nothing
			u.classes = append(u.classes, l.Class)
		}
	}
	if !s.pairs && options.Choose != nil {
		c, err := options.Choose(s.op, size, t.group)
		if err != nil {
			return u, err
		}
		u.floor = c.Pace.Floor
	}
	return u, nil
}
