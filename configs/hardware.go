package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
)

// hardware is the machine of a scenario before it is built.
type hardware struct {
	spec       machine.Spec
	gpu        *catalog.GPU // nil when an inline system names none
	anySize    bool
	provenance []catalog.Provenance
	warnings   []string
}

// hardware finds the system and the fabric.
func (s *Scenario) hardware(cat *catalog.Catalog) (*hardware, error) {
	if s.System.Name == "" {
		return s.inline(cat)
	}
	name := s.System.Name
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		var err error
		if name, err = s.systemFile(cat, name); err != nil {
			return nil, err
		}
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
	return &hardware{m.Spec, m.GPU, m.System.AnySize, m.Provenance, m.Warnings}, nil
}

// systemFile lays a catalogue file over the catalogue and returns the name of
// its system.
func (s *Scenario) systemFile(cat *catalog.Catalog, file string) (string, error) {
	fsys, name := s.open("system", file)
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return "", s.tree.ErrorAt("system", fmt.Sprintf("read catalogue file: %v", err), "")
	}
	root, err := strict.Parse(strict.NewSource(name, text), text)
	if err != nil {
		return "", err
	}
	systems := root.Child("systems")
	if systems == nil || len(systems.Keys) != 1 {
		return "", root.ErrorAt("systems", "expected one system under the key systems, as the catalogue has them", "")
	}
	return systems.Keys[0].Name, cat.MergeNode(root)
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
		return s.tree.ErrorAt(key, fmt.Sprintf("read %q, expected a %s of the catalogue: %s", unknown.Name, unknown.Noun, strings.Join(unknown.Known, ", ")), hint)
	}
	key := "system"
	if s.GPUs != 0 {
		key = "gpus"
	}
	return s.tree.ErrorAt(key, err.Error(), "")
}

// inline makes the hardware of an inline system.
func (s *Scenario) inline(cat *catalog.Catalog) (*hardware, error) {
	in := &s.System
	hw := &hardware{spec: machine.Spec{
		Name:  s.Name,
		Hosts: int(s.Nodes),
		Host:  machine.Host{GPUs: in.GPUs},
	}}
	if s.GPUs != 0 {
		hw.spec.Host.GPUs = s.GPUs
	}
	hw.anySize = in.NVLink == nil || len(in.NVLink.Edges) == 0
	if in.NVLink != nil {
		hw.spec.Host.NVLink = in.NVLink.spec()
	}
	switch f := &s.Network.Fabric; {
	case f.Kind != "":
		hw.spec.Fabric = f.spec()
	case f.Name != "":
		return nil, s.tree.ErrorAt("network.fabric", fmt.Sprintf("read %q beside an inline system, whose NICs it does not know; expected an inline fabric", f.Name),
			"write {kind: rail-optimized, bandwidth: 50GB/s, latency: 500ns}")
	case s.Nodes > 1:
		return nil, s.tree.ErrorAt("nodes", fmt.Sprintf("%d nodes, but nothing joins them", s.Nodes),
			"write network: {fabric: {kind: rail-optimized, bandwidth: 50GB/s, latency: 500ns}}")
	}
	if in.GPU != "" {
		var err error
		if hw.gpu, err = cat.GPU(in.GPU); err != nil {
			return nil, s.hardwareError(err)
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

func (f *Fabric) spec() *fabric.Spec {
	return &fabric.Spec{
		Kind: fabric.Kind(f.Kind), Tiers: f.Tiers, Radix: f.Radix, HostsPerLeaf: f.HostsPerLeaf, Oversubscription: f.Oversubscription,
		Port:          topology.Wire{Rate: f.Bandwidth, Latency: f.Latency, Class: own("fabric", f.Bandwidth)},
		SwitchLatency: f.SwitchLatency,
	}
}
