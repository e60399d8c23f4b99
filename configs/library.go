package configs

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/weft-sim/weft/configs/catalog"
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
func (s *Scenario) library(o *replay.Options, hw *Hardware, p *workloads.Program) ([]string, error) {
	c := &s.Collectives
	if c.Library == explicit || c.Library == "" && c.Algorithm != (Algorithms{}) {
		if key := s.libraryOnly(); key != "" {
			return nil, s.tree.ErrorAt(key, "no library runs the collectives of this scenario, so this says nothing", "write collectives.library: nccl")
		}
		o.Choose = c.Algorithm.chooser()
		return nil, nil
	}
	if c.Library == "" && s.libraryOnly() == "" && (hw.GPU == nil || capabilityOf(hw.GPU) == 0) {
		return []string{"the kind of the GPUs is not known, so no library runs: collectives are rings and direct transfers on bare wires, without the cost of kernels"}, nil
	}
	if e := s.Workload.Exchange; e != nil {
		return s.exchanges(e, o, hw, p)
	}
	if c.Library == byDeepEP || c.Library == byNVLink {
		return nil, s.tree.ErrorAt("collectives.library", c.Library+" moves tokens between experts, and this workload does not say which", "write workload: {kind: exchange, tokens: 4096}")
	}
	lib, notes, err := s.NCCL(hw)
	if err != nil {
		return nil, err
	}
	if err := communicators(lib, p); err != nil {
		if c.Library != "" || s.libraryOnly() != "" {
			return nil, s.tree.ErrorAt("collectives.library", err.Error(), "")
		}
		return []string{fmt.Sprintf("what NCCL would run here is not known, so collectives are rings and direct transfers on bare wires: %v", err)}, nil
	}
	o.Choose, o.Send = c.Pace.Choices(lib.Choose), c.Pace.Sends(lib.Send(nil, false))
	if c.Library == byNCCL || c.Library == "" {
		return notes, nil
	}
	own, err := s.kernels(hw, lib, c.Library, kernels.Setting{Version: c.Version, Kernel: c.Kernel})
	if err != nil {
		return nil, err
	}
	o.Choose = c.Pace.Choices(own.Choose)
	return notes, nil
}

// libraryOnly is the path of a setting that says something to a library alone,
// "" if there is none.
func (s *Scenario) libraryOnly() string {
	c := &s.Collectives
	for _, k := range []struct {
		path string
		set  bool
	}{
		{"collectives.version", c.Version != ""}, {"collectives.env", len(c.Env) > 0}, {"collectives.launch", c.Launch != ""},
		{"collectives.kernel", c.Kernel != ""}, {"collectives.tuner", c.Tuner != ""}, {"collectives.pace", c.Pace != nil}, {"network.plugin", s.Network.Plugin != nil},
	} {
		if k.set {
			return k.path
		}
	}
	return ""
}

// communicators makes NCCL find the channels of all groups of a program, so
// that a group for which it cannot shows before the run.
func communicators(lib *nccl.Library, p *workloads.Program) error {
	for i := range p.Comms { // ranks that the machine has not are an error of their own
		for _, g := range p.Comms[i].Groups {
			if len(g) < 2 || int(p.World) > lib.Ranks() {
				continue
			}
			if _, err := lib.Communicator(g); err != nil {
				return err
			}
		}
	}
	return nil
}

// Names of libraries; the others are those of package kernels.
const (
	explicit = "explicit" // none: the scenario itself says what runs
	byNCCL   = "nccl"
)

// kernels returns a library of an inference engine with its settings, which
// leaves to NCCL what its kernels do not run.
func (s *Scenario) kernels(hw *Hardware, nvidia *nccl.Library, name string, set kernels.Setting) (*kernels.Library, error) {
	c := &s.Collectives
	m := hw.Machine
	host := func(r int32) int32 { return m.Graph.Nodes[m.Ranks[r]].Host }
	survey := m.Survey()
	on := kernels.Machine{
		SM: nvidia.On.SM, NVLink: survey.LargestDomain()*len(survey.Domains) == len(m.Ranks), NoPeer: nvidia.On.NoP2P,
		Host: host, Domain: domains(m, survey),
	}
	if rack(hw) { // its trays are the hosts
		trays, per := int32(hw.Spec.Host.Trays), int32(hw.Spec.Host.GPUs/hw.Spec.Host.Trays)
		on.Host = func(r int32) int32 {
			n := m.Graph.Nodes[m.Ranks[r]]
			return n.Host*trays + n.Unit/per
		}
	}
	on.NVLink = on.NVLink && survey.LargestDomain() > 1
	on.Multicast = on.NVLink && on.SM >= 90 &&
		slices.ContainsFunc(m.Graph.Nodes, func(n topology.Node) bool { return n.Kind == topology.NVSwitch && !n.Down })
	switch c.Launch {
	case "", nccl.CUDAGraph.String():
	default:
		set.Launch, set.HostLaunch = kernels.Eager, hw.hostLaunch()
	}
	lib, err := kernels.New(name, on, set, nvidia.Choose)
	if err != nil {
		return nil, s.tree.ErrorAt("collectives.library", err.Error(), "")
	}
	return lib, nil
}

// hostLaunch is what the CPU takes to launch a kernel from an engine written in
// Python, 0 where it is not known to differ from the usual.
//
// Source: eager rows of vLLM and SGLang in ai-dynamo/aiconfigurator 095f58a5,
// measured: on GB200 and GB300 42 to 50 us for two launches and 70 for three, on
// an A100 host 45 for two. Of other CPUs of their kinds it is assumed.
func (hw *Hardware) hostLaunch() sim.Time {
	if hw.System == nil {
		return 0
	}
	switch name := hw.System.CPU; {
	case strings.HasPrefix(name, "grace"), strings.HasPrefix(name, "gb10"):
		return 23 * sim.Microsecond
	case name == "epyc-rome":
		return 22 * sim.Microsecond
	}
	return 0
}

// domains tells the NVLink domain of a rank, or without NVLink its host.
func domains(m *topology.Machine, survey *topology.Survey) func(rank int32) int32 {
	of := make([]int32, len(m.Ranks))
	for r := range of {
		of[r] = int32(len(survey.Domains)) + m.Graph.Nodes[m.Ranks[r]].Host
	}
	for d, ranks := range survey.Domains {
		for _, r := range ranks {
			of[r] = int32(d)
		}
	}
	return func(r int32) int32 { return of[r] }
}

// plugin returns what the network between nodes costs NCCL, and the settings
// that come with it, without those that the scenario has itself.
func (s *Scenario) plugin(hw *Hardware) (nccl.Plugin, []string) {
	p := nccl.Plugin{Base: hw.Plugin.Base, Step: hw.Plugin.Step, Post: hw.Plugin.Post, Eager: hw.Plugin.Eager, Rate: hw.Plugin.Rate}
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
	ofNCCL := c.Library == byNCCL || c.Library == ""
	if c.Version != "" && ofNCCL { // another library's version is its own
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
	if !ofNCCL {
		launch = nccl.CUDAGraph
	}
	if c.Launch != "" {
		if launch, err = nccl.ParseLaunch(c.Launch); err != nil {
			return nil, nil, s.tree.ErrorAt("collectives.launch", err.Error(), "")
		}
	}
	lib := nccl.NewLibrary(hw.Machine, release, env, host, nccl.Setting{Launch: launch, Plugin: plugin})
	if c.Tuner != "" {
		fsys, name := s.open("collectives.tuner", c.Tuner)
		content, err := fs.ReadFile(fsys, name)
		if err == nil {
			lib.Tuner, err = nccl.ReadTuner(c.Tuner, content)
		}
		if err != nil {
			return nil, nil, s.tree.ErrorAt("collectives.tuner", err.Error(), "")
		}
	}
	return lib, append(notes, env.Notes()...), nil
}

// NCCLPlatform returns what NCCL asks of a machine beside its wires, and a note
// where that is taken for granted.
func (hw *Hardware) NCCLPlatform(v nccl.Version) (nccl.Platform, []string, error) {
	if hw.GPU == nil {
		return nccl.Platform{}, nil, fmt.Errorf("the kind of the GPUs of %s is not known, expected gpu: with a name of `weft list gpus`", hw.Machine.Name)
	}
	sm := capabilityOf(hw.GPU)
	if sm == 0 {
		return nccl.Platform{}, nil, fmt.Errorf("NCCL's figures for GPUs of architecture %s are not known to weft", hw.GPU.Arch)
	}
	h := nccl.Platform{SM: sm, Sockets: hw.sockets(v), GroupNICs: hw.Plugin.Grouped}
	if hw.Spec != nil && hw.Spec.Host.PCIe != nil {
		h.NoP2P, h.NoGDR = hw.Spec.Host.PCIe.P2P == pcie.Nowhere, hw.Spec.Host.PCIe.GDR == pcie.Nowhere
		h.Translated = hw.Spec.Host.PCIe.ACS
	}
	var notes []string
	var ok bool
	if h.CPU, ok = hw.maker(); !ok && hw.Machine.Hosts > 1 {
		notes = append(notes, "the make of the CPUs is not known and is taken as Intel; NCCL lets LL reach other rates on AMD")
	}
	return h, notes, nil
}

// capabilityOf returns the compute capability of a GPU, times ten, 0 if NCCL's
// figures for its architecture are not known.
//
// Source: NVIDIA, CUDA GPUs (developer.nvidia.com/cuda-gpus).
func capabilityOf(gpu *catalog.GPU) int {
	has := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(gpu.Name, p) })
	}
	switch gpu.Arch {
	case "pascal":
		return 60
	case "volta":
		return 70
	case "turing":
		return 75
	case "ampere":
		if has("a100", "a800") {
			return 80
		}
		return 86
	case "ada":
		return 89
	case "hopper":
		return 90
	case "blackwell":
		switch {
		case has("rtx"):
			return 120
		case has("gb10"):
			return 121
		case has("b300", "gb300"):
			return 103
		}
		return 100
	}
	return 0
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
