package catalog

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
)

// Options say how a system is used. The zero Options are one host by itself.
type Options struct {
	Hosts  int    // 0 is 1
	Fabric string // between hosts; "" is the system's own if there are several hosts
	GPUs   int    // of a host, for systems of any size; 0 is the system's
	ACS    bool   // peer traffic below a PCIe switch goes up to the host bridge
}

// Machine is a system made ready for the builders of package machine, with all
// that a report needs to say about it.
type Machine struct {
	Spec   machine.Spec
	System *System
	GPU    *GPU
	Fabric *Fabric // nil for a host by itself
	Plugin Plugin  // of Fabric

	// Provenance is every figure that went into Spec, in the order of use,
	// each once.
	Provenance []Provenance

	// Warnings are sentences for the user: which figures are assumed, and why.
	// Figures that the user set are not among them.
	Warnings []string

	said []string // what was decided on the way
}

// Machine resolves a system of the catalogue. The errors are those of names
// that do not exist, and of options that do not fit the system.
func (c *Catalog) Machine(system string, o Options) (*Machine, error) {
	s, err := c.System(system)
	if err != nil {
		return nil, err
	}
	r := &resolver{c: c, seen: map[string]bool{}}
	m := &Machine{System: s}
	if err := r.machine(m, o); err != nil {
		return nil, fmt.Errorf("catalogue: system %s: %w", system, err)
	}
	m.Provenance = r.used
	m.Warnings = assumptions(r.used)
	m.Warnings = append(m.Warnings, m.said...)
	m.Spec.Notes = m.Warnings
	return m, nil
}

// resolver turns records into specifications and remembers every figure that
// it takes: [use] is the only way to a value here.
type resolver struct {
	c    *Catalog
	used []Provenance
	seen map[string]bool
}

// use returns the value of a figure and adds it to the provenance.
func use[T Quantity](r *resolver, f Figure[T]) T {
	if f.Known() && !r.seen[f.path] {
		r.seen[f.path] = true
		r.used = append(r.used, f.Provenance())
	}
	return f.Value()
}

func (r *resolver) machine(m *Machine, o Options) error {
	s := m.System
	var err error
	if m.GPU, err = r.c.GPU(s.GPU); err != nil {
		return err
	}
	gpus := int(use(r, s.GPUs))
	if o.GPUs != 0 && o.GPUs != gpus {
		if !s.AnySize {
			return fmt.Errorf("%d GPUs in a host asked for, but it has %d", o.GPUs, gpus)
		}
		gpus = o.GPUs
	}
	m.Spec = machine.Spec{Name: s.Name, Hosts: max(1, o.Hosts)}
	m.Spec.Host = machine.Host{GPUs: gpus, Trays: max(1, int(use(r, s.Trays)))}
	if o.Hosts < 0 || gpus < 1 || gpus%m.Spec.Host.Trays != 0 {
		return fmt.Errorf("%d hosts of %d GPUs in %d trays, expected at least one of each and as many GPUs in each tray", o.Hosts, gpus, m.Spec.Host.Trays)
	}
	if s.NVLink != nil {
		if m.Spec.Host.NVLink, err = r.nvlink(s.NVLink); err != nil {
			return err
		}
	}
	if s.PCIe != nil {
		if m.Spec.Host.PCIe, err = r.pcie(s, m.GPU, gpus/m.Spec.Host.Trays, o.ACS); err != nil {
			return err
		}
	}
	return r.network(m, o)
}

func (r *resolver) nvlink(n *SystemNVLink) (*nvlink.Spec, error) {
	l, err := r.c.Link(n.Link)
	if err != nil {
		return nil, err
	}
	spec := &nvlink.Spec{Planes: use(r, n.Planes), Edges: use(r, n.Edges), Link: r.wire(l, 1)}
	if n.Switch == "" {
		return spec, nil
	}
	sw, err := r.c.Switch(n.Switch)
	if err != nil {
		return nil, err
	}
	spec.SwitchLatency, spec.Ports = use(r, sw.Latency), int(use(r, sw.Ports))
	if n.Tier != nil {
		spec.Tier, err = r.tier(n.Tier)
	}
	return spec, err
}

// tier resolves the second tier of an NVLink domain, whose links are those of
// the first.
func (r *resolver) tier(t *SystemTier) (*nvlink.Tier, error) {
	tier := &nvlink.Tier{Groups: int(use(r, t.Groups)), Uplinks: use(r, t.Uplinks), Switches: use(r, t.Switches)}
	if t.Switch == "" {
		return tier, nil
	}
	sw, err := r.c.Switch(t.Switch)
	if err != nil {
		return nil, err
	}
	tier.SwitchLatency, tier.Ports = use(r, sw.Latency), int(use(r, sw.Ports))
	return tier, nil
}

// network adds the fabric that the options or, for several hosts, the system
// names.
func (r *resolver) network(m *Machine, o Options) error {
	name := o.Fabric
	if name == "" && m.Spec.Hosts > 1 {
		name = m.System.Fabric
		if name == "" {
			return fmt.Errorf("%d hosts, but no fabric to join them is named and the system has no usual one; expected one of %s",
				m.Spec.Hosts, strings.Join(r.c.Fabrics(), ", "))
		}
	}
	if name == "" {
		return nil
	}
	f, err := r.c.Fabric(name)
	if err != nil {
		return err
	}
	sw, err := r.c.Switch(f.Switch)
	if err != nil {
		return err
	}
	trunk, err := r.c.Link(f.Link)
	if err != nil {
		return err
	}
	port, nicLatency := trunk, sim.Time(0)
	if m.Spec.Host.PCIe != nil {
		if m.System.NIC == "" {
			return fmt.Errorf("it has no NIC to plug into fabric %s", name)
		}
		nic, err := r.c.NIC(m.System.NIC)
		if err != nil {
			return err
		}
		nicLink, err := r.c.Link(nic.Link)
		if err != nil {
			return err
		}
		if a, b := nicLink.Family, trunk.Family; a != "" && b != "" && a != b {
			m.said = append(m.said, fmt.Sprintf("NIC %s is of %s and fabric %s of %s: the NIC is taken to be of the fabric's kind, as fast as the slower of both", nic.Name, a, name, b))
		}
		port = slower(nicLink, trunk)
		nicLatency = use(r, nic.Latency)
	}
	m.Fabric, m.Plugin = f, r.plugin(f.Plugin)
	m.Spec.Fabric = r.fabric(f, sw, trunk, port, nicLatency)
	if o.Fabric == "" {
		return m.grow()
	}
	return nil
}

// grow gives the system's usual fabric a third tier where two cannot join so
// many hosts: nobody asked for two. Where three cannot either, the error is
// theirs.
func (m *Machine) grow() error {
	if m.Spec.Fabric.Tiers != 2 || m.Spec.Validate() == nil {
		return nil
	}
	taller := *m.Spec.Fabric
	taller.Tiers = 3
	spec := m.Spec
	spec.Fabric = &taller
	if err := spec.Validate(); err != nil {
		return fmt.Errorf("fabric %s with three tiers of switches: %w; name another fabric (network.fabric) or use fewer nodes", m.Fabric.Name, err)
	}
	m.Spec = spec
	m.said = append(m.said, fmt.Sprintf("fabric %s has three tiers of switches here: two do not join %d nodes", m.Fabric.Name, m.Spec.Hosts))
	return nil
}

// assumptions says which figures are assumed, one sentence for a reason.
func assumptions(used []Provenance) []string {
	var reasons []string
	by := map[string][]string{}
	for _, p := range used {
		if p.Status != Assumed || p.Source == userSource {
			continue
		}
		if by[p.Note] == nil {
			reasons = append(reasons, p.Note)
		}
		by[p.Note] = append(by[p.Note], p.Path+" = "+p.Value)
	}
	out := make([]string, len(reasons))
	for i, reason := range reasons {
		out[i] = "assumed: " + strings.Join(by[reason], ", ") + " (" + reason + ")"
	}
	return out
}
