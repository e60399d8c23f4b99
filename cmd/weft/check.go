package main

import (
	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
)

func newCheck(a *app) *cobra.Command {
	var o overrides
	cmd := &cobra.Command{
		Use:   "check [SCENARIO|TRACE|-]",
		Short: "Is this scenario right, what does it resolve to, and where does each value come from",
		Long: `Loads a scenario and builds its machine and its program without running it. It
prints each setting with the place that set it, and each figure of the catalogue
with its source. What is wrong is reported all at once, with file, line and
column.`,
		Example: `  weft check step.yaml
  weft check                                # the default scenario
  weft check step.yaml --set nodes=4 --format json`,
		Args: arguments(0, 1, ""),
	}
	o.flags(cmd)
	form := formatFlag(cmd, "text", "json")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		q, err := o.load(first(args))
		if err != nil {
			return err
		}
		job, err := q.build()
		if err != nil {
			return err
		}
		c := &report.Check{Name: q.Name, System: q.system(), Settings: q.Resolved(), Job: job, Version: version}
		if form.value == "json" {
			return c.JSON(a.Out)
		}
		return c.Text(a.Out, a.Terminal)
	}
	return cmd
}
