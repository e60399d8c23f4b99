package main

import (
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
		return l.Text(a.Out, a.Terminal)
	}
	return cmd
}

func listing(cmd *cobra.Command, c *catalog.Catalog, args []string) (report.Listing, error) {
	if len(args) == 0 {
		l := report.Listing{Family: "families", Columns: []report.Column{report.Left("family"), report.Right("entries")}}
		for _, f := range families {
			entries, err := f.list(c)
			if err != nil {
				return l, err
			}
			l.Add(report.Word(f.name), report.Number(len(entries.Rows)))
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
	l := report.Listing{Family: "systems", Columns: []report.Column{
		report.Left("name"), report.Right("GPUs"), report.Left("GPU"), report.Left("NVLink").Or(1), report.Right("NICs").Or(4), report.Left("NIC").Or(3), report.Left("fabric").Or(2), report.Words("what it is"),
	}}
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
		l.Add(report.Word(name), report.Number(int(s.GPUs.Value())), report.Word(s.GPU), report.Word(nvlink), report.Number(nics),
			report.Word(s.NIC), report.Word(s.Fabric), report.Word(s.Title))
	}
	return l, nil
}

func listGPUs(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "gpus", Columns: []report.Column{
		report.Left("name"), report.Right("memory"), report.Right("memory rate"), report.Right("bf16, dense"), report.Right("NVLinks").Or(3), report.Left("NVLink").Or(2), report.Left("PCIe").Or(1), report.Words("what it is"),
	}}
	for _, name := range c.GPUs() {
		g, err := c.GPU(name)
		if err != nil {
			return l, err
		}
		links, nvlink, pcie := 0, "", ""
		if g.NVLink != nil {
			links, nvlink = int(g.NVLink.Count.Value()), g.NVLink.Link
		}
		if g.PCIe != nil {
			pcie = g.PCIe.Link + " x" + g.PCIe.Lanes.String()
		}
		l.Add(report.Word(name), report.SizeCell(g.Memory.String(), g.Memory.Value()), report.RateCell(g.MemoryRate.Value()),
			report.FlopsCell(g.Peak.BF16.Value()), report.Number(links), report.Word(nvlink), report.Word(pcie), report.Word(g.Title))
	}
	return l, nil
}

func listLinks(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "links", Columns: []report.Column{
		report.Left("name"), report.Left("kind"), report.Right("nominal, each way"), report.Right("usable, each way"), report.Right("latency"), report.Words("what it is"),
	}}
	for _, name := range c.Links() {
		k, err := c.Link(name)
		if err != nil {
			return l, err
		}
		l.Add(report.Word(name), report.Word(k.Kind), report.RateCell(k.Nominal()), report.RateCell(k.Usable()),
			report.TimeCell(k.Latency.Value(), k.Latency.Known()), report.Word(k.Title))
	}
	return l, nil
}

func listSwitches(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "switches", Columns: []report.Column{
		report.Left("name"), report.Left("kind"), report.Right("ports"), report.Left("link"), report.Right("latency"), report.Words("what it is"),
	}}
	for _, name := range c.Switches() {
		s, err := c.Switch(name)
		if err != nil {
			return l, err
		}
		l.Add(report.Word(name), report.Word(s.Kind), report.Number(int(s.Ports.Value())), report.Word(s.Link),
			report.TimeCell(s.Latency.Value(), s.Latency.Known()), report.Word(s.Title))
	}
	return l, nil
}

func listNICs(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "nics", Columns: []report.Column{
		report.Left("name"), report.Left("link"), report.Left("PCIe"), report.Right("latency"), report.Words("what it is"),
	}}
	for _, name := range c.NICs() {
		n, err := c.NIC(name)
		if err != nil {
			return l, err
		}
		l.Add(report.Word(name), report.Word(n.Link), report.Word(n.PCIe.Link+" x"+n.PCIe.Lanes.String()),
			report.TimeCell(n.Latency.Value(), n.Latency.Known()), report.Word(n.Title))
	}
	return l, nil
}

func listCPUs(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "cpus", Columns: []report.Column{
		report.Left("name"), report.Left("PCIe"), report.Right("links between sockets"), report.Left("link"), report.Right("memory bus"), report.Words("what it is"),
	}}
	for _, name := range c.CPUs() {
		p, err := c.CPU(name)
		if err != nil {
			return l, err
		}
		l.Add(report.Word(name), report.Word(p.PCIe), report.Number(int(p.SocketLinks.Value())), report.Word(p.SocketLink),
			report.RateCell(p.MemoryRate.Value()), report.Word(p.Title))
	}
	return l, nil
}

func listFabrics(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "fabrics", Columns: []report.Column{
		report.Left("name"), report.Left("kind"), report.Left("switch"), report.Left("link"), report.Right("tiers"), report.Words("what it is"),
	}}
	for _, name := range c.Fabrics() {
		f, err := c.Fabric(name)
		if err != nil {
			return l, err
		}
		l.Add(report.Word(name), report.Word(f.Kind), report.Word(f.Switch), report.Word(f.Link),
			report.Number(int(f.Tiers.Value())), report.Word(f.Title))
	}
	return l, nil
}

func listScenarios(*catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "scenarios", Columns: []report.Column{
		report.Left("name"), report.Words("what it teaches"),
	}}
	for _, e := range configs.List() {
		l.Add(report.Word(e.Name), report.Word(e.About))
	}
	return l, nil
}

func listSources(c *catalog.Catalog) (report.Listing, error) {
	l := report.Listing{Family: "sources", Columns: []report.Column{
		report.Left("name"), report.Left("kind"), report.Words("title"), report.Words("where"),
	}}
	for _, name := range c.Sources() {
		s, err := c.Source(name)
		if err != nil {
			return l, err
		}
		l.Add(report.Word(name), report.Word(s.Kind), report.Word(s.Title), report.Word(s.Where))
	}
	return l, nil
}
