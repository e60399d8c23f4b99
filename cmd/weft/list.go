package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/catalog"
)

// families are what `weft list` can list, in the order of help.
var families = []struct {
	name string
	list func(*catalog.Catalog) (report.Listing, error)
}{
	{"systems", listSystems},
	{"gpus", listGPUs},
	{"links", listLinks},
	{"switches", listSwitches},
	{"nics", listNICs},
	{"cpus", listCPUs},
	{"fabrics", listFabrics},
	{"scenarios", listScenarios},
	{"sources", listSources},
}

func familyNames() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

func newList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [FAMILY]",
		Short: "What is in the catalogue, and which scenarios come with weft",
		Long: `Lists the systems, GPUs, links, switches, NICs, CPUs, fabrics, scenarios or
sources that weft knows by name. Without a family it lists the families. All
rates are of one direction.`,
		Example: `  weft list
  weft list systems
  weft list links --format json`,
		Args:      arguments(0, 1, ""),
		ValidArgs: familyNames(),
	}
	form := formatFlag(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := catalog.Load()
		if err != nil {
			return err
		}
		l, err := listing(cmd, c, args)
		if err != nil {
			return err
		}
		if form.value == "json" {
			return l.JSON(a.Out)
		}
		return l.Text(a.Out)
	}
	return cmd
}

func listing(cmd *cobra.Command, c *catalog.Catalog, args []string) (report.Listing, error) {
	if len(args) == 0 {
		l := report.Listing{Family: "families", Columns: []string{"family", "entries"}}
		for _, f := range families {
			entries, err := f.list(c)
			if err != nil {
				return l, err
			}
			l.Add(f.name, report.Count(int64(len(entries.Rows))))
		}
		return l, nil
	}
	for _, f := range families {
		if f.name == args[0] {
			return f.list(c)
		}
	}
	return report.Listing{}, usage(cmd, "there is no family %q%s", args[0], didYouMean(args[0], familyNames()))
}

func listSystems(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "systems", Columns: []string{"name", "GPUs", "GPU", "NVLink", "NICs", "NIC", "fabric", "what it is"}, Right: []string{"GPUs", "NICs"}}
	for _, name := range c.Systems() {
		s, err := c.System(name)
		if err != nil {
			return l, err
		}
		nvlink := ""
		if s.NVLink != nil {
			nvlink = s.NVLink.Link
		}
		nics := int(s.NICs.Value()) * max(int(s.Trays.Value()), 1)
		l.Add(name, s.GPUs.String(), s.GPU, nvlink, count(nics), s.NIC, s.Fabric, s.Title)
	}
	return l, nil
}

func listGPUs(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "gpus", Columns: []string{"name", "memory", "memory rate", "bf16, dense", "NVLinks", "NVLink", "PCIe", "what it is"},
		Right: []string{"memory", "memory rate", "bf16, dense", "NVLinks"}}
	for _, name := range c.GPUs() {
		g, err := c.GPU(name)
		if err != nil {
			return l, err
		}
		links, nvlink, pcie := "", "", ""
		if g.NVLink != nil {
			links, nvlink = g.NVLink.Count.String(), g.NVLink.Link
		}
		if g.PCIe != nil {
			pcie = g.PCIe.Link + " x" + g.PCIe.Lanes.String()
		}
		l.Add(name, g.Memory.String(), g.MemoryRate.String(), g.Peak.BF16.String(), links, nvlink, pcie, g.Title)
	}
	return l, nil
}

func listLinks(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "links", Columns: []string{"name", "kind", "nominal, each way", "usable, each way", "latency", "what it is"},
		Right: []string{"nominal, each way", "usable, each way", "latency"}}
	for _, name := range c.Links() {
		k, err := c.Link(name)
		if err != nil {
			return l, err
		}
		l.Add(name, k.Kind, report.Rate(k.Nominal()), report.Rate(k.Usable()), report.Duration(k.Latency.Value()), k.Title)
	}
	return l, nil
}

func listSwitches(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "switches", Columns: []string{"name", "kind", "ports", "link", "latency", "what it is"}, Right: []string{"ports", "latency"}}
	for _, name := range c.Switches() {
		s, err := c.Switch(name)
		if err != nil {
			return l, err
		}
		l.Add(name, s.Kind, s.Ports.String(), s.Link, report.Duration(s.Latency.Value()), s.Title)
	}
	return l, nil
}

func listNICs(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "nics", Columns: []string{"name", "link", "PCIe", "latency", "what it is"}, Right: []string{"latency"}}
	for _, name := range c.NICs() {
		n, err := c.NIC(name)
		if err != nil {
			return l, err
		}
		l.Add(name, n.Link, n.PCIe.Link+" x"+n.PCIe.Lanes.String(), report.Duration(n.Latency.Value()), n.Title)
	}
	return l, nil
}

func listCPUs(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "cpus", Columns: []string{"name", "PCIe", "links between sockets", "link", "memory bus", "what it is"},
		Right: []string{"links between sockets", "memory bus"}}
	for _, name := range c.CPUs() {
		p, err := c.CPU(name)
		if err != nil {
			return l, err
		}
		l.Add(name, p.PCIe, p.SocketLinks.String(), p.SocketLink, p.MemoryRate.String(), p.Title)
	}
	return l, nil
}

func listFabrics(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "fabrics", Columns: []string{"name", "kind", "switch", "link", "tiers", "what it is"}, Right: []string{"tiers"}}
	for _, name := range c.Fabrics() {
		f, err := c.Fabric(name)
		if err != nil {
			return l, err
		}
		l.Add(name, f.Kind, f.Switch, f.Link, f.Tiers.String(), f.Title)
	}
	return l, nil
}

func listScenarios(*catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "scenarios", Columns: []string{"name", "what it teaches"}}
	for _, e := range configs.List() {
		l.Add(e.Name, e.About)
	}
	return l, nil
}

func listSources(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "sources", Columns: []string{"name", "kind", "title", "where"}}
	for _, name := range c.Sources() {
		s, err := c.Source(name)
		if err != nil {
			return l, err
		}
		l.Add(name, s.Kind, s.Title, s.Where)
	}
	return l, nil
}

// count prints a number of parts, or nothing for none.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
