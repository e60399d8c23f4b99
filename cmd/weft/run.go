package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/sim/record"
	"github.com/weft-sim/weft/workloads/replay"
)

func newRun(a *app) *cobra.Command {
	var o overrides
	var traceOut string
	cmd := &cobra.Command{
		Use:   "run [SCENARIO|TRACE|-]",
		Short: "How long is the step, and why",
		Long: `Runs a scenario: a YAML file, the name of one that comes with weft, or standard
input (-). Without one it runs the default scenario. A trace, as a file or a
folder of one file a rank, is run as it is, on as many nodes of --system as it
has ranks for.

The answer is the step time, where it goes along the critical path, the busiest
links, and each collective with the least time that its wires allow.`,
		Example: `  weft run
  weft run step.yaml --set nodes=4 --set network.model=ideal
  weft run traces/mine/ --system dgx-a100
  weft run step.yaml --format json
  weft run step.yaml --trace-out step.json     # opens at ui.perfetto.dev`,
		Args: arguments(0, 1, ""),
	}
	o.flags(cmd)
	form := formatFlag(cmd, "text", "json")
	cmd.Flags().StringVar(&traceOut, "trace-out", "", "write a timeline for Perfetto to `file`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if traceOut == "-" {
			return usage(cmd, "--trace-out -: the answer goes to standard output, expected a file for the timeline")
		}
		stop := a.Spin("simulating")
		defer stop()
		q, err := o.load(first(args))
		if err != nil {
			return err
		}
		job, err := q.build()
		if err != nil {
			return err
		}
		if traceOut != "" {
			job.Options.Recorder = record.New()
		}
		res, err := replay.Run(cmd.Context(), job.Program, job.Machine, job.Options)
		if err != nil {
			return err
		}
		if traceOut != "" {
			if err := writeTrace(traceOut, job.Options.Recorder); err != nil {
				return err
			}
		}
		stop()
		answer := q.answer(job, res)
		if form.value == "json" {
			err = answer.JSON(a.Out)
		} else {
			err = answer.Text(a.Out, a.Terminal)
		}
		return errors.Join(err, missed(answer.Thresholds))
	}
	return cmd
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// answer puts together what a report of a run needs.
func (q *question) answer(job *configs.Job, res *replay.Result) *report.Run {
	answer := &report.Run{
		Name: q.Name, System: q.system(), Nodes: int(job.Machine.Hosts), GPUs: len(job.Machine.Ranks),
		Ranks: int(job.Program.World), Import: job.Trace, Trace: q.trace,
		Network: job.Options.Model.String(), Check: q.check,
		Result: res, Provenance: job.Provenance, Warnings: job.Warnings, Version: version,
	}
	if b := q.Thresholds.StepTime; b != nil {
		answer.Thresholds = append(answer.Thresholds, report.Threshold{
			Metric: "step_time", Want: b.String(), Got: report.Duration(res.StepTime), Met: b.Met(res.StepTime),
		})
	}
	return answer
}

// missed is the error of thresholds that the answer does not keep.
func missed(all []report.Threshold) error {
	var errs []error
	for _, th := range all {
		if !th.Met {
			errs = append(errs, fmt.Errorf("threshold missed: %s is %s, the scenario wants %s", th.Metric, th.Got, th.Want))
		}
	}
	return exitcode.With(exitcode.Threshold, errors.Join(errs...))
}

// writeTrace writes what was recorded.
func writeTrace(name string, r *record.Recorder) error {
	what := "timeline " + name
	f, err := os.Create(name)
	if err != nil {
		return unwritten(what, err)
	}
	if err := r.WriteTrace(f); err != nil {
		f.Close()
		return unwritten(what, err)
	}
	if err := f.Close(); err != nil {
		return unwritten(what, err)
	}
	return nil
}
