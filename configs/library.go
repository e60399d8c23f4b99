package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/pcie"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/kernels"
	"github.com/weft-sim/weft/workloads/collective/nccl"
	"github.com/weft-sim/weft/workloads/replay"
)

// library fills in who picks the algorithms of a scenario's collectives and how
// messages run, and returns sentences that a report must repeat.
func (s *Scenario) library(o *replay.Options, hw *Hardware) ([]string, error) {
	c := &s.Collectives
	if c.Library == "" || c.Library == explicit {
		for _, k := range []struct {
			key string
			set bool
		}{{"version", c.Version != ""}, {"env", len(c.Env) > 0}, {"launch", c.Launch != ""}, {"pace", c.Pace != nil}} {
			if k.set {
				return nil, s.tree.ErrorAt("collectives."+k.key, "no library runs the collectives of this scenario, so this says nothing", "write library: nccl beside it")
			}
		}
		if s.Network.Plugin != nil {
			return nil, s.tree.ErrorAt("network.plugin", "no library runs the collectives of this scenario, so this says nothing", "write collectives: {library: nccl}")
		}
		o.Choose = c.Algorithm.chooser()
		return nil, nil
	}
	lib, notes, err := s.NCCL(hw)
	if err != nil {
		return nil, err
	}
	o.Choose, o.Send = c.Pace.Choices(lib.Choose), c.Pace.Sends(lib.Send(nil, false))
	if c.Library == byNCCL {
		return notes, nil
	}
	own, err := s.kernels(hw, lib)
	if err != nil {
		return nil, err
	}
	o.Choose = c.Pace.Choices(own.Choose)
	return notes, nil
}

// Names of libraries; the others are those of package kernels.
const (
	explicit = "explicit" // none: the scenario itself says what runs
	byNCCL   = "nccl"
)

// kernels returns the library of an inference engine, which leaves to NCCL
// what its kernels do not run.
func (s *Scenario) kernels(hw *Hardware, nvidia *nccl.Library) (*kernels.Library, error) {
	c := &s.Collectives
	m := hw.Machine
	host := func(r int32) int32 { return m.Graph.Nodes[m.Ranks[r]].Host }
	survey := m.Survey()
	on := kernels.Machine{SM: nvidia.On.SM, NVLink: survey.LargestDomain()*len(survey.Domains) == len(m.Ranks), NoPeer: nvidia.On.NoP2P, Host: host}
	on.NVLink = on.NVLink && survey.LargestDomain() > 1
	on.Multicast = on.NVLink && on.SM >= 90 &&
		slices.ContainsFunc(m.Graph.Nodes, func(n topology.Node) bool { return n.Kind == topology.NVSwitch && !n.Down })
	set := kernels.Setting{Version: c.Version}
	switch c.Launch {
	case "", nccl.CUDAGraph.String():
	default:
		set.Launch = kernels.Eager
	}
	lib, err := kernels.New(c.Library, on, set, nvidia.Choose)
	if err != nil {
		return nil, s.tree.ErrorAt("collectives.library", err.Error(), "")
	}
	return lib, nil
}

// plugin returns what the network between nodes costs NCCL, and the settings
// that come with it, without those that the scenario has itself.
func (s *Scenario) plugin(hw *Hardware) (nccl.Plugin, []string) {
	p := nccl.Plugin{Base: hw.Plugin.Base, Step: hw.Plugin.Step, Post: hw.Plugin.Post, Rate: hw.Plugin.Rate}
	if own := s.Network.Plugin; own != nil {
		p = nccl.Plugin{Base: own.Base, Step: own.Step, Post: own.Post, Rate: own.Rate}
	}
	var settings []string
	for _, text := range hw.Plugin.Settings {
		name, _, _ := strings.Cut(text, "=")
		if !slices.ContainsFunc(s.Collectives.Env, func(e EnvVar) bool { return e.Name == name }) {
			settings = append(settings, text)
		}
	}
	return p, settings
}

// NCCL returns NVIDIA's library on the scenario's machine, as its collectives
// have it, and sentences that a report must repeat.
func (s *Scenario) NCCL(hw *Hardware) (*nccl.Library, []string, error) {
	c := &s.Collectives
	if c.Algorithm != (Algorithms{}) {
		return nil, nil, s.tree.ErrorAt("collectives.algorithm", "NCCL chooses its algorithms by itself", "write env: {NCCL_ALGO: Ring} to force one")
	}
	release := nccl.Latest
	if c.Version != "" && c.Library == byNCCL { // another library's version is its own

		var err error
		if release, err = nccl.ParseVersion(c.Version); err != nil {
			return nil, nil, s.tree.ErrorAt("collectives.version", err.Error(), "")
		}
	}
	plugin, settings := s.plugin(hw)
	for _, e := range c.Env {
		settings = append(settings, e.Name+"="+e.Value)
	}
	env, err := nccl.ParseEnv(release, settings)
	if err != nil {
		return nil, nil, s.tree.ErrorAt("collectives.env", err.Error(), "")
	}
	host, notes, err := hw.NCCLPlatform(release)
	if err != nil {
		return nil, nil, s.tree.ErrorAt("collectives.library", err.Error(), "")
	}
	if n := len(settings) - len(c.Env); n > 0 {
		notes = append(notes, "the network between nodes comes with "+strings.Join(settings[:n], " "))
	}
	launch := nccl.PerGPU
	if c.Library != byNCCL {
		launch = nccl.CUDAGraph
	}
	if c.Launch != "" {
		if launch, err = nccl.ParseLaunch(c.Launch); err != nil {
			return nil, nil, s.tree.ErrorAt("collectives.launch", err.Error(), "")
		}
	}
	return nccl.NewLibrary(hw.Machine, release, env, host, nccl.Setting{Launch: launch, Plugin: plugin}), notes, nil
}

// NCCLPlatform returns what NCCL asks of a machine beside its wires, and a note
// where that is taken for granted.
func (hw *Hardware) NCCLPlatform(v nccl.Version) (nccl.Platform, []string, error) {
	if hw.GPU == nil {
		return nccl.Platform{}, nil, fmt.Errorf("the kind of the GPUs of %s is not known, expected gpu: with a name of `weft list gpus`", hw.Machine.Name)
	}
	sm, ok := capability[hw.GPU.Arch]
	if !ok {
		return nccl.Platform{}, nil, fmt.Errorf("NCCL's figures for GPUs of architecture %s are not known to weft", hw.GPU.Arch)
	}
	h := nccl.Platform{SM: sm, Sockets: hw.sockets(v)}
	if hw.Spec != nil && hw.Spec.Host.PCIe != nil {
		h.NoP2P, h.NoGDR = hw.Spec.Host.PCIe.P2P == pcie.Nowhere, hw.Spec.Host.PCIe.GDR == pcie.Nowhere
		h.Translated = hw.Spec.Host.PCIe.ACS
	}
	var notes []string
	if h.CPU, ok = hw.maker(); !ok && hw.Machine.Hosts > 1 {
		notes = append(notes, "the make of the CPUs is not known and is taken as Intel; NCCL lets LL reach other rates on AMD")
	}
	return h, notes, nil
}

// capability is the compute capability of an architecture, times ten. NCCL
// asks for no more than the generation where NVSwitch is.
//
// Source: NVIDIA, CUDA GPUs (developer.nvidia.com/cuda-gpus).
var capability = map[string]int{
	"pascal": 60, "volta": 70, "turing": 75, "ampere": 80, "ada": 89, "hopper": 90, "blackwell": 100,
}

// sockets returns GB/s between two sockets as NCCL plans with it where it tells
// models of one make apart, and 0 elsewhere.
//
// Source: NVIDIA/nccl 2.27.7, src/graph/topo.cc and topo.h: Intel from model
// 0x8F (Sapphire Rapids) on 22, from 0xCF (Emerald Rapids) on 40. Granite
// Rapids is model 0xAD.
func (hw *Hardware) sockets(v nccl.Version) float64 {
	if hw.System == nil || v.Compare(nccl.Version{Major: 2, Minor: 27}) < 0 {
		return 0
	}
	switch hw.System.CPU {
	case "xeon-sp4", "xeon-6700p", "xeon-6900p":
		return 22
	case "xeon-sp5":
		return 40
	}
	return 0
}

// maker returns who made the CPUs of a machine, if the catalogue tells.
func (hw *Hardware) maker() (nccl.CPU, bool) {
	if hw.System == nil {
		return nccl.Intel, false
	}
	switch name := hw.System.CPU; {
	case strings.HasPrefix(name, "xeon"):
		return nccl.Intel, true
	case strings.HasPrefix(name, "epyc"):
		return nccl.AMD, true
	case slices.ContainsFunc([]string{"grace", "vera", "gb10"}, func(p string) bool { return strings.HasPrefix(name, p) }):
		return nccl.ARM, true
	}
	return nccl.Intel, false
}

// chooser returns the chooser of algorithms, or nil when none is named.
func (a *Algorithms) chooser() collective.Chooser {
	if *a == (Algorithms{}) {
		return nil
	}
	named := map[workloads.Coll]string{
		workloads.AllGather:     a.AllGather,
		workloads.ReduceScatter: a.ReduceScatter,
		workloads.Broadcast:     a.Broadcast,
		workloads.Reduce:        a.Reduce,
	}
	choose := map[string]collective.Chooser{
		"":                         collective.Default,
		collective.Ring.String():   collective.Explicit(collective.Ring),
		collective.Direct.String(): collective.Explicit(collective.Direct),
	}
	return func(c workloads.Coll, size sim.Bytes, ranks []int32) (collective.Choice, error) {
		return choose[named[c]](c, size, ranks)
	}
}
