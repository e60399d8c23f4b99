package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs/fit"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/workloads/trace/nccltests"
)

func newCalibrate(a *app) *cobra.Command {
	var m measurement
	var out string
	var only []string
	cmd := &cobra.Command{
		Use:   "calibrate LOG",
		Short: "Fit link efficiency, latency and launch cost to measurements of your own",
		Long: `Reads what nccl-tests printed on your machine, fits the figures on which the times depend
to it, and writes a preset that scenarios, bench and the other verbs take (key preset, or
--preset): the efficiency of each class of links that carries the traffic, and what
NCCL's kernels cost at your site, as factors of what weft knows: launch and set-up
(start), each step within a node (step) and across the network (net_step), slices, the
rate of thread blocks, and the host's launch where it is the floor.

All sizes count the same, by the logarithm of their ratio; rows that went wrong count
less. For each figure there are a 95 % interval, whether the log says anything of it at
all, and which figures it cannot tell apart. All tables of the log are fitted together,
so a log of several operations and numbers of GPUs tells more.

--fit names the figures to fit, where fewer are wanted: start, step, net_step, slice,
rate, floor, links (the efficiency of all classes), or links.CLASS.`,
		Example: `  weft calibrate all_reduce.log -o mine.yaml
  weft calibrate all_reduce.log --system dgx-h100 --nodes 2 --fit net_step,links
  weft bench all_reduce --system dgx-h100 --preset mine.yaml`,
		Args: arguments(1, 1, "a log of nccl-tests, or - for standard input"),
	}
	m.logFlags(cmd)
	form := formatFlag(cmd, "text", "json")
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "write the preset to `file`; - is standard output, without the report")
	f.StringSliceVar(&only, "fit", nil, "`figures` to fit (default all that the traffic depends on)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		content, name, err := a.input(args[0])
		if err != nil {
			return err
		}
		stop := a.Spin("fitting")
		defer stop()
		c, err := m.calibrate(cmd.Context(), cmd, name, content, only)
		if err != nil {
			return err
		}
		stop()
		switch out {
		case "-":
			_, err := a.Out.Write([]byte(c.Preset()))
			return err
		case "":
		default:
			if err := os.WriteFile(out, []byte(c.Preset()), 0o644); err != nil {
				return unwritten("preset "+out, err)
			}
			c.Written = out
		}
		if form.value == "json" {
			return c.JSON(a.Out)
		}
		return c.Text(a.Out, a.Terminal)
	}
	return cmd
}

// calibrate fits the tables of a log together.
func (m *measurement) calibrate(ctx context.Context, cmd *cobra.Command, name string, content []byte, only []string) (*report.Calibration, error) {
	if discover.Detect(content) == discover.SMIMatrix {
		return nil, usage(cmd, "%s is a matrix of nvidia-smi, in which nothing was timed; expected a log of nccl-tests (weft diagnose compares a matrix)", name)
	}
	log, err := nccltests.Parse(name, content)
	if err != nil {
		return nil, exitcode.With(exitcode.Input, err)
	}
	var all fitting
	for _, t := range log.Tables {
		s, err := m.subject(cmd, name, t)
		if err != nil {
			return nil, err
		}
		if len(all.subjects) > 0 && s.system != all.subjects[0].system {
			return nil, usage(cmd, "%s: tables of %s and of %s: a preset is of one system; expected --system", s.place(), all.subjects[0].system, s.system)
		}
		all.subjects = append(all.subjects, s)
	}
	if err := all.prepare(ctx); err != nil {
		return nil, (&question{made: true}).mend(err)
	}
	if err := all.choose(cmd, only); err != nil {
		return nil, err
	}
	if n, k := len(all.measured), len(all.figures); n <= k {
		return nil, exitcode.With(exitcode.Input, fmt.Errorf("calibrate %s: %s for %s to fit, expected more; run nccl-tests with -b 8 -e 8G -f 2, or fit fewer with --fit",
			name, report.Plural(n, "size"), report.Plural(k, "figure")))
	}
	r, err := fit.Solve(ctx, all.problem())
	if err != nil {
		return nil, (&question{made: true}).mend(err)
	}
	return all.report(name, r), nil
}

// report makes the answer.
func (f *fitting) report(name string, r *fit.Result) *report.Calibration {
	c := &report.Calibration{Name: name, System: f.subjects[0].system, Version: version, Evaluations: r.Evaluations,
		Before: fit.RMS(r.Before), After: fit.RMS(r.After)}
	for _, p := range r.Pairs {
		c.Pairs = append(c.Pairs, report.CalibrationPair{A: p.A, B: p.B, Correlation: p.Correlation})
	}
	for i, e := range r.Estimates {
		g := f.figures[i]
		c.Figures = append(c.Figures, report.CalibratedFigure{
			Path: g.path, What: g.what, Unit: g.unit, Value: g.show(e.Value), Was: g.show(e.Start),
			Number: e.Value, Error: e.Error, Least: e.Least, Most: e.Most,
			From: g.show(e.Least), To: g.show(e.Most), State: string(e.State),
		})
	}
	at := 0
	for _, s := range f.subjects {
		t := report.CalibrationTest{Op: s.opName(), GPUs: s.ranks, Nodes: s.nodes, Launch: s.launch, NCCL: s.nccl}
		for _, k := range probes(len(s.rows), mostFitted) {
			row := s.rows[k]
			t.Rows = append(t.Rows, report.CalibrationRow{Size: row.Size, Measured: row.Of(), Before: r.Before[at], After: r.After[at]})
			at++
		}
		c.Tests = append(c.Tests, t)
		for _, n := range append(s.notes, report.Grave(f.trials[len(c.Tests)-1].job.Warnings)...) {
			if !strings.Contains(strings.Join(c.Warnings, "\n"), n) {
				c.Warnings = append(c.Warnings, n)
			}
		}
		for _, odd := range s.table.Check() {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %s", s.opName(), odd.Text))
		}
	}
	return c
}
