package main

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/workloads/trace/chakra"
)

func newTrace(a *app) *cobra.Command {
	var world, element positive
	var groups string
	var dims []int32
	cmd := &cobra.Command{
		Use:   "trace FILE|FOLDER|SCENARIO",
		Short: "What is in this trace, and what the import keeps, drops and repairs",
		Long: `Reads a Chakra execution trace, a file or a folder of one file a rank, or that
of a scenario, and says which ranks, groups, collectives and bytes are in it, and
what an import keeps, drops and repairs, with the reason. What is complete of a
file that was cut short is shown; the exit code is 4 all the same.`,
		Example: `  weft trace trace-pipeline                  # a trace that comes with weft
  weft trace traces/mine/
  weft trace rank.0.et.gz --format json
  weft trace traces/mine/ --groups groups.json`,
		Args: arguments(1, 1, "a trace (a file, or a folder of one file a rank)"),
	}
	form := formatFlag(cmd, "text", "json")
	cmd.Flags().Var(&world, "world", "`number` of ranks, where the trace does not say it")
	cmd.Flags().StringVar(&groups, "groups", "", "`file` of the communicators, where it is not beside the trace")
	cmd.Flags().Int32SliceVar(&dims, "dims", nil, "`sizes` of the dimensions of the topology, the fastest first, such as 8,2")
	cmd.Flags().Var(&element, "bytes-per-element", "`bytes` of an element, for traces that count elements")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		stop := a.Spin("reading " + args[0])
		defer stop()
		opt := chakra.Options{World: int32(world), BytesPerElement: int64(element), Dims: dims, Say: flagged}
		var t *report.Trace
		var err error
		if ofScenario(args[0]) {
			if cmd.Flags().NFlag() > 1 || cmd.Flags().NFlag() == 1 && !cmd.Flags().Changed("format") {
				return usage(cmd, "%s is a scenario: its workload says what the flags of a trace say", args[0])
			}
			t, err = scenarioTrace(cmd, args[0])
		} else {
			t, err = readTrace(args[0], groups, opt)
		}
		if err != nil {
			return err
		}
		stop()
		if form.value == "json" {
			err = t.JSON(a.Out)
		} else {
			err = t.Text(a.Out, a.Terminal)
		}
		if err != nil {
			return err
		}
		return t.Problem
	}
	return cmd
}

// ofScenario reports whether a name is that of a scenario, by its ending or
// because one comes with weft, and no file has it.
func ofScenario(name string) bool {
	trace, err := isTrace(name)
	if err != nil || trace {
		return false
	}
	switch filepath.Ext(name) {
	case ".yaml", ".yml":
		return true
	}
	return !isFile(name) && slices.ContainsFunc(configs.List(), func(e configs.Entry) bool { return e.Name == name })
}

// scenarioTrace imports the trace of a scenario.
func scenarioTrace(cmd *cobra.Command, name string) (*report.Trace, error) {
	q, err := new(overrides).load(name)
	if err != nil {
		return nil, err
	}
	if q.Workload.Trace == nil {
		return nil, usage(cmd, "the scenario %s has no trace: expected a workload of kind trace, or the name of a trace", name)
	}
	job, err := q.build()
	if err != nil {
		return nil, err
	}
	return &report.Trace{
		Name: q.Name, Files: job.Trace.Files, Skipped: job.Trace.Skipped,
		Program: job.Program, Import: job.Trace, Version: version,
	}, nil
}

// flagged writes an option of a trace as `weft trace` takes it.
func flagged(option, value string) string {
	switch option {
	case "world", "groups", "dims":
		return "--" + option + " " + value
	case "bytes_per_element":
		return "--bytes-per-element " + value
	}
	return "--set workload." + option + "=" + value + " to `weft run`"
}

// readTrace reads a trace and tries to import it. What could be read is
// returned also when the import finds a contradiction.
func readTrace(name, groups string, opt chakra.Options) (*report.Trace, error) {
	if groups != "" {
		abs, err := filepath.Abs(groups)
		if err != nil {
			return nil, err
		}
		opt.GroupFile = abs
	}
	set, err := chakra.Read(disk{}, name, opt)
	if err != nil {
		return nil, err
	}
	t := &report.Trace{Name: set.Name, Skipped: set.Skipped, Version: version}
	for _, tr := range set.Traces {
		t.Files = append(t.Files, chakra.FileReport{File: tr.File, Rank: tr.Rank, Summary: tr.Summary()})
		if tr.Truncated != nil {
			t.Cut = append(t.Cut, tr.Truncated.Error())
		}
	}
	cut := set.Truncated(opt)
	opt.AcceptTruncated = true // what is complete is shown, and the error says that it is not all
	t.Program, t.Import, t.Problem = chakra.Import(set, opt)
	t.Problem = cmp.Or(t.Problem, cut)
	return t, nil
}
