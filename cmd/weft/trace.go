package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/workloads/trace/chakra"
)

func newTrace(a *app) *cobra.Command {
	var world, element positive
	var groups string
	cmd := &cobra.Command{
		Use:   "trace FILE|FOLDER",
		Short: "What is in this trace, and what the import keeps, drops and repairs",
		Long: `Reads a Chakra execution trace, a file or a folder of one file a rank, and says
which ranks, groups, collectives and bytes are in it, and what an import keeps,
drops and repairs, with the reason.`,
		Example: `  weft trace traces/llama/
  weft trace rank.0.et.gz --format json
  weft trace traces/moe/ --groups groups.json`,
		Args: arguments(1, 1, "a trace (a file, or a folder of one file a rank)"),
	}
	form := formatFlag(cmd, "text", "json")
	cmd.Flags().Var(&world, "world", "`number` of ranks, where the trace does not say it")
	cmd.Flags().StringVar(&groups, "groups", "", "`file` of the communicators, where it is not beside the trace")
	cmd.Flags().Var(&element, "bytes-per-element", "`bytes` of an element, for traces that count elements")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		stop := a.Spin("reading " + args[0])
		defer stop()
		t, err := readTrace(args[0], groups, chakra.Options{World: int32(world), BytesPerElement: int64(element)})
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
	t.Program, t.Import, t.Problem = chakra.Import(set, opt)
	return t, nil
}
