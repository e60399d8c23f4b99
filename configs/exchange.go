package configs

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/kernels"
	"github.com/weft-sim/weft/workloads/replay"
)

// Exchange is the all-to-all of expert parallelism: tokens go to the ranks of
// their experts, and what these made of them comes back.
type Exchange struct {
	Phase    string `yaml:"phase" weft:"enum=both|dispatch|combine,doc=tokens to their experts (dispatch), back from them (combine), or one after the other (both, also when absent)"`
	Mode     string `yaml:"mode" weft:"enum=normal|low-latency,doc=a token crosses once to each node or rank that has an expert of its own (normal, also when absent), or each copy goes straight to its expert's rank (low-latency)"`
	Tokens   int    `yaml:"tokens" weft:"required,min=1,max=16777216,doc=of each rank"`
	Hidden   int    `yaml:"hidden" weft:"min=1,max=1048576,doc=elements of a token; 7168 when absent, as in DeepSeek-V3"`
	TopK     int    `yaml:"top_k" weft:"min=1,max=4096,doc=experts of a token; 8 when absent"`
	Experts  int    `yaml:"experts" weft:"min=1,max=1048576,doc=experts of all ranks of a group together; 256 when absent"`
	Routing  string `yaml:"routing" weft:"enum=random|balanced,doc=the experts of a token are drawn by chance (random, also when absent), or lie on as many ranks as can be (balanced)"`
	Dispatch string `yaml:"dispatch" weft:"enum=bf16|fp8|fp4,doc=type of the elements on the way out; fp8 when absent, with a scale for every 128"`
	Combine  string `yaml:"combine" weft:"enum=bf16|fp8|fp4,doc=type of the elements on the way back; bf16 when absent"`
	Blocks   int    `yaml:"blocks" weft:"min=1,max=160,doc=thread blocks (SMs) that the normal kernels of deepep take from compute; 24 when absent"`
	EP       int    `yaml:"ep" weft:"min=2,max=1048576,doc=ranks of a group, among which the experts are spread; all groups exchange at once; all ranks when absent"`
	World    int32  `yaml:"world" weft:"min=2,max=1048576,doc=number of ranks; all GPUs of the machine when absent"`
}

// elements are bytes of an element on the wire. FP4 is NVIDIA's, with a scale
// of one byte for 16.
var elements = map[string]float64{"": 0, "bf16": 2, "fp8": 1, "fp4": 0.5625}

// phases are the exchanges that run one after the other in each group of a world
// of ranks.
func (e *Exchange) phases(m *topology.Machine, world int32) []kernels.Exchange {
	ranks := e.group(world)
	x := kernels.Exchange{
		Tokens: e.Tokens, Ranks: ranks, Nodes: max(1, ranks/perDomain(m)), Hidden: e.Hidden, TopK: e.TopK, Experts: e.Experts, Blocks: e.Blocks,
		LowLatency: e.Mode == "low-latency", Balanced: e.Routing == "balanced", Element: elements[e.Dispatch],
	}
	back := x
	back.Combine, back.Element = true, elements[e.Combine]
	switch e.Phase {
	case "dispatch":
		return []kernels.Exchange{x}
	case "combine":
		return []kernels.Exchange{back}
	}
	return []kernels.Exchange{x, back}
}

// group is how many ranks exchange with each other in a world.
func (e *Exchange) group(world int32) int {
	if e.EP > 0 {
		return e.EP
	}
	return int(world)
}

// exchange makes the program of an exchange on a machine, whose NVLink domains
// are the nodes that a token crosses to once.
func (s *Scenario) exchange(e *Exchange, world int32, hw *Hardware) (*workloads.Program, error) {
	ranks, per := e.group(world), perDomain(hw.Machine)
	experts := e.Experts
	if experts == 0 {
		experts = 256
	}
	key := "workload"
	if e.EP > 0 {
		key = "workload.ep"
	}
	switch {
	case int(world)%ranks != 0:
		return nil, s.tree.ErrorAt(key, fmt.Sprintf("read %d ranks of a group, expected a divisor of the %d ranks", ranks, world), "")
	case ranks > per && ranks%per != 0 || ranks < per && per%ranks != 0 && int(world) > ranks:
		return nil, s.tree.ErrorAt(key, fmt.Sprintf("%d ranks exchange tokens in nodes of %d, expected whole nodes, or as many groups as fit in one", ranks, per), "")
	case experts%ranks != 0:
		k, hint := "workload.experts", fmt.Sprintf("write experts: %d", (experts+ranks-1)/ranks*ranks)
		return nil, s.tree.ErrorAt(k, fmt.Sprintf("%d experts over %d ranks, expected as many on each", experts, ranks), hint)
	}
	p, err := e.Program(hw.Machine, world)
	if err != nil {
		return nil, s.tree.ErrorAt("workload", err.Error(), "")
	}
	return p, nil
}

// Program returns the work of a world of ranks, the first of a machine.
func (e *Exchange) Program(m *topology.Machine, world int32) (*workloads.Program, error) {
	ranks := e.group(world)
	return kernels.ExchangeProgram(e.phases(m, world), int(world), ranks, min(perDomain(m), int(world)))
}

// perDomain is how many ranks each NVLink domain has, or each host where the
// domains differ or there are none.
func perDomain(m *topology.Machine) int {
	survey := m.Survey()
	if n := survey.LargestDomain(); n > 1 && n*len(survey.Domains) == len(m.Ranks) {
		return n
	}
	return max(1, len(m.Ranks)/int(max(1, m.Hosts)))
}

// Libraries of exchanges.
const (
	byDeepEP = "deepep"
	byNVLink = "nvlink-a2a"
)

// exchanges fills in whose kernels run an exchange of tokens: DeepEP's, or in a
// rack of trays those over NVLink.
func (s *Scenario) exchanges(e *Exchange, o *replay.Options, hw *Hardware, p *workloads.Program) ([]string, error) {
	c := &s.Collectives
	name, key := c.Library, "collectives.library"
	if name == "" {
		key = "workload"
	}
	switch name {
	case byDeepEP, byNVLink:
	case "":
		name = byDeepEP
		if e.Mode != "low-latency" && rack(hw) {
			name = byNVLink
		}
	default:
		return nil, s.tree.ErrorAt("collectives.library", fmt.Sprintf("%s has no kernels for an exchange of tokens", name), "write library: "+strings.Join(kernels.ExchangeNames(), " or ")+", or explicit for bare wires")
	}
	if e.Blocks > 0 && (name == byNVLink || e.Mode == "low-latency") {
		return nil, s.tree.ErrorAt("workload.blocks", "only the normal kernels of deepep take so many thread blocks, others all that there are, so this says nothing", "")
	}
	nvidia, notes, err := s.NCCL(hw)
	if err != nil {
		return nil, err
	}
	kernel := c.Kernel
	if name == byNVLink && kernel == "" {
		kernel = "one-sided"
	}
	var out, back collective.Chooser
	for _, x := range e.phases(hw.Machine, p.World) {
		lib, err := s.kernels(hw, nvidia, name, kernels.Setting{Version: c.Version, Kernel: kernel, Exchange: x})
		if err != nil {
			return nil, err
		}
		for i := range p.Comms {
			if int(p.World) > len(hw.Machine.Ranks) {
				break // an error of its own
			}
			if err := lib.Exchanges(p.Comms[i].Groups[0]); err != nil {
				return nil, s.tree.ErrorAt(key, err.Error(), other(name, e, hw))
			}
		}
		if x.Combine {
			back = lib.Choose
		} else {
			out = lib.Choose
		}
	}
	o.Choose = c.Pace.Choices(func(op workloads.Coll, size sim.Bytes, ranks []int32) (collective.Choice, error) {
		if op == workloads.AllToAll { // as kernels.ExchangeProgram tells them apart
			return back(op, size, ranks)
		}
		return out(op, size, ranks)
	})
	return notes, nil
}

// other says what to write in place of a library that does not run.
func other(name string, e *Exchange, hw *Hardware) string {
	switch {
	case name == byDeepEP && e.Mode != "low-latency" && rack(hw):
		return "write library: " + byNVLink + ", or mode: low-latency in the workload"
	case name == byNVLink:
		return "write library: " + byDeepEP
	}
	return "write library: explicit for bare wires"
}

// rack reports whether the trays of a machine are hosts of their own.
func rack(hw *Hardware) bool { return hw.Spec != nil && hw.Spec.Host.Trays > 1 }
