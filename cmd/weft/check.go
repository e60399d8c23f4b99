package main

import (
	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/replay"
)

func newCheck(a *app) *cobra.Command {
	var o overrides
	cmd := &cobra.Command{
		Use:   "check [SCENARIO|TRACE|-]",
		Short: "Does this scenario hold together, what does it resolve to, and where does each value come from",
		Long: `Loads a scenario, builds its machine and its program, and runs that to see that
it ends, unless it is large. It prints each setting with the place that set it,
and each figure of the catalogue with its source. What a file has wrong is
reported all at once, with line and column.`,
		Example: `  weft check step.yaml
  weft check                                # the default scenario
  weft check step.yaml --set nodes=4 --format json`,
		Args: arguments(0, 1, ""),
	}
	o.flags(cmd)
	form := formatFlag(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		stop := a.Spin("checking")
		defer stop()
		q, err := o.load(first(args))
		if err != nil {
			return err
		}
		job, err := q.build()
		if err != nil {
			return err
		}
		c := &report.Check{Name: q.Name, System: q.system(), Settings: q.Resolved(), Job: job, Version: version}
		if work(job) <= mostWork {
			if _, err := replay.Run(cmd.Context(), job.Program, job.Machine, job.Options); err != nil {
				return err
			}
			c.Simulated = true
		}
		stop()
		if form.value == "json" {
			return c.JSON(a.Out)
		}
		return c.Text(a.Out, a.Terminal)
	}
	return cmd
}

// mostWork is how much work check does without being asked: some seconds.
const mostWork = 2_000_000

// work estimates the transfers of a job: one for each operation of a rank, and
// as many as it has members for those of a collective that are not one flow.
func work(job *configs.Job) int64 {
	sum := int64(0)
	for i := range job.Program.Classes {
		c := &job.Program.Classes[i]
		for j := range c.Ops {
			n := int64(1)
			if o := &c.Ops[j]; o.Kind == workloads.Collective &&
				(job.Options.Grain == collective.Chunk || o.Coll == workloads.AllToAll || o.Coll == workloads.AllToAllV) {
				for _, g := range job.Program.Comms[o.Comm].Groups {
					n = max(n, int64(len(g)))
				}
			}
			sum += n * int64(len(c.Ranks))
		}
	}
	return sum
}
