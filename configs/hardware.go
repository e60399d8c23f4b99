package configs

import (
	"errors"
	"fmt"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/discover/netfile"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
)

// Hardware is the machine of a scenario, and what is known of it beside its
// wires.
type Hardware struct {
	Machine *topology.Machine // with the faults of the scenario

	// Spec is what the machine was built of; nil for a network file. Faults are
	// not in it.
	Spec *machine.Spec

	// GPU is the kind of the GPUs, nil if it is not known; System is the record
	// of a system of the catalogue.
	GPU    *catalog.GPU
	System *catalog.System
	// Plugin is what the network between nodes costs NCCL beyond its wires.
	Plugin catalog.Plugin

	// Format is what the file of the machine is; "" for a system of the
	// catalogue and an inline one. Dump or Net is its content.
	Format string
	Dump   *discover.Dump
	Net    *netfile.Net

	// Faulty says that the machine has faults of the scenario.
	Faulty bool

	// FileNotes are what a dump leaves open, what was mended in it and what
	// looks broken in the machine itself. They are among the machine's notes.
	FileNotes []string
	// Completed says what the catalogue filled in where a file is silent.
	Completed []string
	// Provenance is every figure of the catalogue that was used.
	Provenance []catalog.Provenance

	anySize bool
}

// Warnings are the sentences that a report must repeat: what was filled in,
// assumed, repaired or broken.
func (hw *Hardware) Warnings() []string {
	var out []string
	for _, c := range hw.Completed {
		out = append(out, "completed from the catalogue: "+c)
	}
	return append(out, hw.Machine.Notes...)
}

// Hardware makes the machine of the scenario, as [Scenario.Build] does, and
// leaves the workload aside.
func (s *Scenario) Hardware(cat *catalog.Catalog) (*Hardware, error) {
	if cat == nil {
		var err error
		if cat, err = catalog.Load(); err != nil {
			return nil, err
		}
	}
	hw, err := s.hardware(cat)
	if err != nil {
		return nil, err
	}
	if hw.Machine == nil {
		if err := strict.Join(s.adjust(hw.Spec), s.tooLarge(hw.Spec)); err != nil {
			return nil, err
		}
		if hw.Machine, err = machine.Build(*hw.Spec); err != nil {
			return nil, s.tree.ErrorAt(s.blamed(*hw.Spec), err.Error(), "")
		}
	}
	return hw, s.damage(hw)
}

// blamed is the key of what is wrong with a machine: the fabric of the scenario
// if a node by itself is sound.
func (s *Scenario) blamed(spec machine.Spec) string {
	spec.Hosts, spec.Fabric = 1, nil
	if s.Network.Fabric.Kind != "" && spec.Validate() == nil {
		return "network.fabric"
	}
	return "system"
}

// hardware finds the system and the fabric.
func (s *Scenario) hardware(cat *catalog.Catalog) (*Hardware, error) {
	if s.System.Name == "" {
		return s.inline(cat)
	}
	if _, err := cat.System(s.System.Name); err == nil && s.content == nil {
		return s.named(cat, s.System.Name)
	}
	return s.file(cat, s.System.Name)
}

// named makes the hardware of a system of the catalogue.
func (s *Scenario) named(cat *catalog.Catalog, name string) (*Hardware, error) {
	if s.GPU != "" {
		return nil, s.tree.ErrorAt("gpu", fmt.Sprintf("read %q, but system %s has GPUs of its own; the key is for files that do not name them", s.GPU, name), "leave gpu out")
	}
	if err := s.setFigures(cat); err != nil {
		return nil, err
	}
	o := catalog.Options{Hosts: int(s.Nodes), GPUs: s.GPUs, Fabric: s.Network.Fabric.Name}
	own := s.Network.Fabric.Kind != ""
	if own {
		o.Hosts = 1
	}
	m, err := cat.Machine(name, o)
	if err != nil {
		return nil, s.hardwareError(err)
	}
	if own {
		m.Spec.Hosts, m.Spec.Fabric = int(s.Nodes), s.Network.Fabric.spec()
	}
	return &Hardware{Spec: &m.Spec, GPU: m.GPU, System: m.System, Plugin: m.Plugin, anySize: m.System.AnySize, Provenance: m.Provenance}, nil
}

// hardwareError puts an error of the catalogue at its place in the scenario.
func (s *Scenario) hardwareError(err error) error {
	var es strict.Errors
	if errors.As(err, &es) {
		return err // it has a place, in a file of the catalogue's form
	}
	var unknown *catalog.UnknownError
	if errors.As(err, &unknown) {
		key := "system"
		switch unknown.Name {
		case s.Network.Fabric.Name:
			key = "network.fabric"
		case s.System.GPU:
			key = "system.gpu"
		}
		hint := strict.DidYouMean(unknown.Name, unknown.Known)
		return s.tree.ErrorAt(key, fmt.Sprintf("read %q, expected a %s of the catalogue: %s", unknown.Name, unknown.Noun, unknown.Choices()), hint)
	}
	key := "system"
	if s.GPUs != 0 {
		key = "gpus"
	}
	return s.tree.ErrorAt(key, err.Error(), "")
}

// inline makes the hardware of an inline system.
func (s *Scenario) inline(cat *catalog.Catalog) (*Hardware, error) {
	if err := s.setFigures(cat); err != nil {
		return nil, err
	}
	in := &s.System
	hw := &Hardware{Spec: &machine.Spec{
		Name:  s.Name,
		Hosts: int(s.Nodes),
		Host:  machine.Host{GPUs: in.GPUs},
	}}
	if s.GPUs != 0 {
		hw.Spec.Host.GPUs = s.GPUs
	}
	hw.anySize = in.NVLink == nil || len(in.NVLink.Edges) == 0
	if in.NVLink != nil {
		hw.Spec.Host.NVLink = in.NVLink.spec()
	}
	switch f := &s.Network.Fabric; {
	case f.Kind != "":
		hw.Spec.Fabric = f.spec()
	case f.Name != "":
		return nil, s.tree.ErrorAt("network.fabric", fmt.Sprintf("read %q beside an inline system, whose NICs it does not know; expected an inline fabric", f.Name),
			"write {kind: rail-optimized, bandwidth: 50GB/s, latency: 500ns}")
	case s.Nodes > 1:
		return nil, s.tree.ErrorAt("nodes", fmt.Sprintf("%d nodes, but nothing joins them", s.Nodes),
			"write network: {fabric: {kind: rail-optimized, bandwidth: 50GB/s, latency: 500ns}}")
	}
	var err error
	switch {
	case in.GPU != "":
		if hw.GPU, err = cat.GPU(in.GPU); err != nil {
			return nil, s.hardwareError(err)
		}
	case s.GPU != "":
		if hw.GPU, err = s.gpuKind(cat); err != nil {
			return nil, err
		}
	}
	return hw, nil
}

// own is the class of a link whose figures the scenario gives.
func own(name string, r sim.Rate) topology.Class {
	return topology.Class{Name: name, Raw: r, Note: "given by the scenario"}
}

func (n *NVLink) spec() *nvlink.Spec {
	out := &nvlink.Spec{
		Planes:        n.Planes,
		BalanceRelays: n.BalanceRelays,
		Link:          topology.Wire{Rate: n.Bandwidth, Latency: n.Latency, Class: own("nvlink", n.Bandwidth)},
		SwitchLatency: n.SwitchLatency,
	}
	for _, e := range n.Edges {
		out.Edges = append(out.Edges, [3]int{e[0], e[1], e[2]})
	}
	if len(out.Planes) == 0 && len(out.Edges) == 0 {
		out.Planes = []int{1}
	}
	return out
}
