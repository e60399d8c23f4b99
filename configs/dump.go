package configs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/discover/netfile"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/pcie"
	"github.com/weft-sim/weft/topology/shortest"
)

// dump makes the hardware of what a server says about itself. What it leaves
// open comes from the catalogue; nodes and fabric come from the scenario.
func (s *Scenario) dump(cat *catalog.Catalog, d *discover.Dump) (*Hardware, error) {
	hw := &Hardware{Format: string(d.Format), Dump: d}
	if len(d.Graphs) > 0 {
		return nil, &discover.Error{Doing: "make a machine", Source: d.Source, Err: discover.ErrNoMachine,
			Text: "an NCCL graph holds the orders of its channels, and no wires",
			Hint: "set NCCL_TOPO_DUMP_FILE for the topology; `weft topo` shows the channels"}
	}
	if len(d.Hosts) == 0 || len(d.Hosts[0].GPUs) == 0 {
		return nil, &discover.Error{Doing: "make a machine", Source: d.Source, Err: discover.ErrNoMachine,
			Text: fmt.Sprintf("this %s shows no GPU", d.Format), Hint: "take it on a server with GPUs whose driver is loaded"}
	}
	if s.GPUs != 0 {
		return nil, s.tree.ErrorAt("gpus", fmt.Sprintf("the file says how many GPUs there are: %d in a host", len(d.Hosts[0].GPUs)), "leave gpus out")
	}
	c := &completer{parts: parts{cat: cat}}
	var err error
	if c.gpu, err = s.kind(c, d); err != nil {
		return nil, err
	}
	hw.GPU = c.gpu
	spec, err := d.Spec(c)
	if errors.Is(err, discover.ErrContradiction) || errors.Is(err, discover.ErrNoMachine) {
		return nil, &discover.Error{Doing: "make a machine", Source: d.Source, Err: discover.ErrContradiction, Text: unwrapped(err)}
	}
	if err != nil {
		return nil, s.tree.ErrorAt("system", unwrapped(err), "")
	}
	if err := c.chips(&spec); err != nil {
		return nil, err
	}
	if err := c.staging(spec.Host.PCIe); err != nil {
		return nil, err
	}
	roots(&spec)
	if err := s.between(hw, c, &spec); err != nil {
		return nil, err
	}
	hw.Spec = &spec
	hw.Completed, hw.Provenance = c.said, append(hw.Provenance, c.used...)
	hw.FileNotes = slices.Clone(spec.Notes)
	spec.Notes = append(spec.Notes, assumed(c.used)...)
	return hw, nil
}

// unwrapped is the text of an error without what wraps it, where that is one
// error.
func unwrapped(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}

// chips hangs GPUs that have a chip-to-chip link from their CPU, where a dump
// shows them on host bridges. One below a PCIe switch stays there.
func (c *completer) chips(spec *machine.Spec) error {
	p := spec.Host.PCIe
	if p == nil || c.gpu.C2C == "" || c.gpu.PCIe != nil {
		return nil
	}
	for i := range p.GPUs {
		var err error
		switch g := &p.GPUs[i]; g.Under.Kind {
		case pcie.OnBridge:
			g.Under = pcie.Parent{Kind: pcie.OnSocket, Index: p.Bridges[g.Under.Index].Socket}
		case pcie.OnSwitch:
			c.say("GPU %d is below a PCIe switch, though a %s has a link to its CPU: PCIe 5 x16", i, c.gpu.Name)
			if g.Link, err = c.lanes(5, 16); err != nil {
				return err
			}
		}
	}
	return nil
}

// roots gives each host bridge the on-die rate of as many x16 ports as it has.
func roots(spec *machine.Spec) {
	p := spec.Host.PCIe
	if p == nil {
		return
	}
	ports := make([]int, len(p.Bridges))
	for _, slots := range [][]pcie.Slot{p.Switches, p.GPUs, p.NICs} {
		for _, slot := range slots {
			if slot.Under.Kind == pcie.OnBridge {
				ports[slot.Under.Index]++
			}
		}
	}
	for i := range p.Bridges {
		n := sim.Rate(max(1, ports[i]))
		p.Bridges[i].Link.Rate *= n
		p.Bridges[i].Link.Class.Raw *= n
	}
}

// kind finds the kind of the GPUs: the scenario's word, else the dump's.
func (s *Scenario) kind(c *completer, d *discover.Dump) (*catalog.GPU, error) {
	h := &d.Hosts[0]
	kinds, why := kindOf(c.cat, h, &h.GPUs[0])
	if s.GPU != "" {
		g, err := s.gpuKind(c.cat)
		if err == nil && g.Name != s.GPU {
			c.say("%q is the GPU %s", s.GPU, g.Name)
		}
		if err == nil && len(kinds) > 0 && !slices.Contains(kinds, g.Name) {
			c.say("the GPUs are taken as %s as you say, though the file shows %s (%s)", g.Name, why, strings.Join(kinds, " or "))
		}
		return g, err
	}
	for i := range h.GPUs {
		if other, _ := kindOf(c.cat, h, &h.GPUs[i]); !slices.Equal(other, kinds) {
			c.say("GPU %d is of another kind than GPU 0; all are taken as GPU 0", h.GPUs[i].Index)
			break
		}
	}
	if len(kinds) == 1 {
		c.say("the GPUs are %s: the file shows %s", kinds[0], why)
		return c.cat.GPU(kinds[0])
	}
	return nil, s.whichGPU(c.cat, h, kinds, why)
}

// whichGPU is the error of a dump that does not tell the kind of its GPUs.
func (s *Scenario) whichGPU(cat *catalog.Catalog, h *discover.Host, kinds []string, why string) error {
	msg := "the file does not name the kind of its GPUs, on which the rates of their links depend"
	switch {
	case len(kinds) > 1:
		msg = fmt.Sprintf("the file shows %s only, which can be %s", why, strings.Join(kinds, ", "))
	case why != "":
		msg = fmt.Sprintf("the file shows %s, which the catalogue does not have", why)
		if strings.Contains(why, "AMD") {
			kinds = withLink(cat, func(p *catalog.Ports) bool { return strings.HasPrefix(p.Link, "xgmi") })
			msg += fmt.Sprintf(" (of AMD it has %s)", strings.Join(kinds, ", "))
		}
	default:
		links := 0
		for i := range h.GPUs {
			links = max(links, h.GPUs[i].NVLinks())
		}
		if kinds = withLink(cat, func(p *catalog.Ports) bool { return int(p.Count.Value()) == links }); links > 0 && len(kinds) > 0 {
			msg += fmt.Sprintf("; with %d NVLinks each they can be %s", links, strings.Join(kinds, ", "))
		}
	}
	example := "h100"
	if len(kinds) > 0 {
		example = kinds[0]
	}
	return s.tree.ErrorAt("system", msg, fmt.Sprintf("write gpu: %s (or --gpu %s); `weft list gpus` has the kinds", example, example))
}

// withLink lists the models of the catalogue whose NVLinks are such.
func withLink(cat *catalog.Catalog, such func(*catalog.Ports) bool) []string {
	var names []string
	for _, name := range cat.GPUs() {
		if g, err := cat.GPU(name); err == nil && g.NVLink != nil && such(g.NVLink) && !slices.Contains(names, model(name)) {
			names = append(names, model(name))
		}
	}
	return names
}

// gpuKind returns the GPU that the key gpu names.
func (s *Scenario) gpuKind(cat *catalog.Catalog) (*catalog.GPU, error) {
	name := gpuNamed(cat, s.GPU)
	if name == "" {
		_, err := cat.GPU(s.GPU)
		var unknown *catalog.UnknownError
		if errors.As(err, &unknown) {
			return nil, s.tree.ErrorAt("gpu", fmt.Sprintf("read %q, expected a GPU of the catalogue: %s", s.GPU, unknown.Choices()), strict.DidYouMean(s.GPU, models(cat)))
		}
		return nil, err
	}
	return cat.GPU(name)
}

// models are the names of the catalogue's GPUs and what they begin with.
func models(cat *catalog.Catalog) []string {
	var all []string
	for _, name := range cat.GPUs() {
		all = append(all, name, model(name))
	}
	return all
}

// between joins several nodes of a dump.
func (s *Scenario) between(hw *Hardware, c *completer, spec *machine.Spec) error {
	spec.Hosts = int(s.Nodes)
	if s.Network.Fabric.Kind != "" {
		spec.Fabric = s.Network.Fabric.spec()
		return nil
	}
	name := s.Network.Fabric.Name
	if name == "" && s.Nodes <= 1 {
		return nil
	}
	like := c.board(spec.Host.GPUs, 0, func(b *catalog.System) bool { return b.NIC != "" && b.Fabric != "" })
	if like == nil {
		return s.tree.ErrorAt("nodes", fmt.Sprintf("%d nodes, but nothing joins them", s.Nodes), "write network: {fabric: {kind: rail-optimized, bandwidth: 50GB/s, latency: 500ns}}")
	}
	m, err := c.cat.Machine(like.Name, catalog.Options{Hosts: max(2, int(s.Nodes)), Fabric: name})
	if err != nil {
		return s.hardwareError(err)
	}
	spec.Fabric, hw.Plugin = m.Spec.Fabric, m.Plugin
	for _, p := range m.Provenance {
		if strings.HasPrefix(p.Path, "fabrics.") || strings.HasPrefix(p.Path, "nics.") || strings.HasSuffix(p.Path, m.Fabric.Switch) {
			hw.Provenance = append(hw.Provenance, p)
		}
	}
	c.say("the network between nodes is %s, with the NIC of %s (%s)", m.Fabric.Name, like.Name, like.NIC)
	return nil
}

// net makes the hardware of a network file.
func (s *Scenario) net(cat *catalog.Catalog, n *netfile.Net) (*Hardware, error) {
	hw := &Hardware{Format: string(n.Format), Net: n}
	c := &completer{parts: parts{cat: cat}}
	var err error
	switch {
	case s.Nodes > 1:
		return nil, s.tree.ErrorAt("nodes", fmt.Sprintf("the %s says how many nodes there are: %d", n.Format, n.Hosts), "leave nodes out")
	case s.Network.Fabric.Kind != "" || s.Network.Fabric.Name != "":
		return nil, s.tree.ErrorAt("network.fabric", fmt.Sprintf("the %s has a network of its own", n.Format), "leave the fabric out")
	case s.Network.Relay != "":
		return nil, s.tree.ErrorAt("network.relay", fmt.Sprintf("traffic of the %s takes shortest paths, which have no such rule", n.Format), "leave relay out")
	case s.PCIe != (PCIe{}):
		return nil, s.tree.ErrorAt("pcie", fmt.Sprintf("traffic of the %s takes shortest paths, which have no such rule", n.Format), "leave pcie out")
	case s.GPUs != 0 && len(n.GPUs) > 0:
		return nil, s.tree.ErrorAt("gpus", fmt.Sprintf("the %s names its GPUs: %d", n.Format, len(n.GPUs)), "leave gpus out")
	case s.GPUs == 0 && len(n.GPUs) == 0:
		return nil, s.tree.ErrorAt("system", fmt.Sprintf("the %s names no GPUs", n.Format), "write gpus: and how many each host has (or --set gpus=8), and gpu: with their kind (or --gpu h100)")
	case s.GPU == "" && len(n.GPUs) == 0:
		return nil, s.tree.ErrorAt("gpus", "GPUs of a kind that is not named cannot be attached", "write gpu: and their kind (or --gpu h100)")
	}
	if s.GPU != "" {
		if c.gpu, err = s.gpuKind(cat); err != nil {
			return nil, err
		}
		hw.GPU = c.gpu
		if c.gpu.Name != s.GPU {
			c.say("%q is the GPU %s", s.GPU, c.gpu.Name)
		}
	}
	if len(n.GPUs) == 0 {
		if err := s.attach(c, n); err != nil {
			return nil, err
		}
	}
	o := shortest.Options{Notes: assumed(c.used)}
	switch {
	case n.Route == nil:
		o.Prefer = nvlinkClasses(n.Graph)
	case len(s.Faults) > 0: // the file's own routes know no faults
		n.Route = nil
		o.Notes = append(o.Notes, "with faults, traffic takes shortest paths, not the routes of the simulator that the file is for")
	}
	if hw.Machine, err = n.Machine(o); err != nil {
		return nil, s.tree.ErrorAt("system", err.Error(), "")
	}
	hw.Completed, hw.Provenance, hw.FileNotes = c.said, c.used, n.Notes
	return hw, nil
}

// nvlinkClasses names the classes of links between GPUs and NVSwitches, which
// traffic takes before any other; at most the three that can be preferred.
func nvlinkClasses(g *topology.Graph) []string {
	var names []string
	for _, l := range g.Links {
		from, to := g.Nodes[l.From].Kind, g.Nodes[l.To].Kind
		if name := g.Classes[l.Class].Name; from == topology.GPU && (to == topology.GPU || to == topology.NVSwitch) &&
			!slices.Contains(names, name) && len(names) < 3 {
			names = append(names, name)
		}
	}
	return names
}

// attach hangs GPUs from the NICs of a network.
func (s *Scenario) attach(c *completer, n *netfile.Net) error {
	var a netfile.Attachment
	a.PerHost = s.GPUs
	var err error
	if c.gpu.C2C != "" {
		a.PCIe, err = c.chip(&discover.Link{})
	} else {
		a.PCIe, err = c.Slot(discover.SlotQuestion{GPU: &discover.GPU{}})
	}
	if err != nil {
		return s.tree.ErrorAt("gpu", err.Error(), "")
	}
	a.PCIe.Width = 1 // a slot is one link here
	if p := c.gpu.NVLink; p != nil && !p.Bridge && s.GPUs > 1 {
		l, err := c.cat.Link(p.Link)
		if err != nil {
			return err
		}
		links := int(take(&c.parts, p.Count))
		a.NVLink = c.wire(l, links)
		like := c.board(s.GPUs, links, func(b *catalog.System) bool {
			return b.NVLink != nil && b.NVLink.Switch != "" && b.NVLink.Link == l.Name
		})
		if like != nil {
			sw, err := c.cat.Switch(like.NVLink.Switch)
			if err != nil {
				return err
			}
			a.NVLink.Latency += take(&c.parts, sw.Latency) / 2 // once on a path of two links
		}
		c.say("the GPUs of a host are joined by %d links of %s each, all through one switch", links, l.Name)
	}
	if err := n.AttachGPUs(a); err != nil {
		return s.tree.ErrorAt("gpus", err.Error(), "")
	}
	return nil
}
