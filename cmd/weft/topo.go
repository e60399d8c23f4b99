package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/topology/machine"
)

func newTopo(a *app) *cobra.Command {
	var nodes positive
	var fabric string
	cmd := &cobra.Command{
		Use:   "topo [SYSTEM|SCENARIO|-]",
		Short: "What is this machine: its links, its rates, and the ways from GPU to GPU",
		Long: `Describes a system of the catalogue, or the machine of a scenario (a file, the
name of one that comes with weft, or standard input), as sentences and tables.
All rates are of one direction.`,
		Example: `  weft topo dgx-h100
  weft topo pcie-a100-8
  weft topo dgx-a100 --nodes 4
  weft topo step.yaml --format json`,
		Args: arguments(0, 1, ""),
	}
	form := formatFlag(cmd, "text", "json")
	cmd.Flags().Var(&nodes, "nodes", "`number` of nodes (default 1, or the scenario's)")
	cmd.Flags().StringVar(&fabric, "fabric", "", "`name` of the network between nodes, in place of the system's own")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		t, err := describe(first(args), nodes, fabric)
		if err != nil {
			return err
		}
		if form.value == "json" {
			return t.JSON(a.Out)
		}
		return t.Text(a.Out, a.Terminal)
	}
	return cmd
}

// describe builds a machine and looks at it. A system of the catalogue needs
// no workload, so it does not go through a scenario.
func describe(name string, nodes positive, fabric string) (*report.Topo, error) {
	c, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = standardSystem
	}
	if _, err := c.System(name); err == nil {
		m, err := c.Machine(name, catalog.Options{Hosts: int(nodes), Fabric: fabric})
		if err != nil {
			return nil, err
		}
		built, err := machine.Build(m.Spec)
		if err != nil {
			return nil, fmt.Errorf("build %s: %w", name, err)
		}
		return report.NewTopo(built, version)
	} else if !isScenario(name) {
		return nil, err
	}
	o := overrides{nodes: nodes}
	if fabric != "" {
		o.set = []string{"network.fabric=" + fabric}
	}
	q, err := o.load(name)
	if err != nil {
		return nil, err
	}
	job, err := q.build()
	if err != nil {
		return nil, err
	}
	return report.NewTopo(job.Machine, version)
}

// isScenario reports whether a name can be that of a scenario: standard input,
// a file that exists or looks like one, or a scenario that comes with weft.
func isScenario(name string) bool {
	if name == "-" || isFile(name) {
		return true
	}
	for _, e := range configs.List() {
		if e.Name == name {
			return true
		}
	}
	return false
}
