package configs

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads/synth"
)

// Scenario is a question to weft: a machine, what it is asked to do, and how to
// simulate that. [Load] makes one; [Scenario.Build] gives it to the simulator.
type Scenario struct {
	Name        string      `yaml:"name" weft:"required,doc=a short name for reports"`
	About       string      `yaml:"about" weft:"doc=what the scenario teaches"`
	Preset      string      `yaml:"preset" weft:"doc=a file with keys of a scenario that lie below those of this one, such as what weft calibrate writes"`
	System      System      `yaml:"system" weft:"required,doc=one server or rack: a name of the catalogue, a file, or an inline description; a file is a catalogue file with one system, what a tool prints of a server, or a network file"`
	GPU         string      `yaml:"gpu" weft:"doc=kind of the GPUs where a file does not name them: a name of the catalogue, or the start of one"`
	GPUs        int         `yaml:"gpus" weft:"min=1,max=1048576,doc=GPUs of a node, for systems of any size and for network files that name none"`
	Nodes       int32       `yaml:"nodes" weft:"min=1,max=1048576,doc=how many of the system"`
	Network     Network     `yaml:"network"`
	PCIe        PCIe        `yaml:"pcie"`
	Collectives Collectives `yaml:"collectives"`
	Collapse    string      `yaml:"collapse" weft:"enum=auto|off,doc=simulate equal ranks once (auto) or all of them (off); the answers are equal"`
	Issue       Issue       `yaml:"issue"`
	Faults      []Fault     `yaml:"faults" weft:"doc=what is slower or missing: a node, links A>B or A<>B, or class:C, then what is wrong with it, such as n0.gpu3 down"`
	Figures     []Figure    `yaml:"figures" weft:"doc=figures of the catalogue to replace in this run: the path that weft check shows, such as links.nvlink4.calibration, and a value"`
	Workload    Workload    `yaml:"workload" weft:"required"`
	Seed        uint64      `yaml:"seed" weft:"doc=seeds all that is random: jitter, and the ways of flows under ecmp"`
	Thresholds  Thresholds  `yaml:"thresholds" weft:"doc=bounds that decide the exit code"`

	// Warnings are sentences about the loading that a report must repeat.
	Warnings []string `yaml:"-"`

	tree    *strict.Node
	home    home
	content []byte // of the system's file, if it was read already
	fit     bool   // as many nodes as the ranks of the trace need
}

// System is the machine of one node: a name of the catalogue; a file, whose
// form is found out by its content (of the catalogue's form with one system,
// what nvidia-smi, NCCL or lstopo print of a server, or a network file); or an
// inline description of GPUs on one NVLink domain with figures of the user's
// own.
type System struct {
	Name   string  `yaml:"-"`
	GPUs   int     `yaml:"gpus" weft:"required,min=1,max=1048576,doc=GPUs of a node"`
	GPU    string  `yaml:"gpu" weft:"doc=name of the GPU in the catalogue, for work given in FLOPs"`
	NVLink *NVLink `yaml:"nvlink" weft:"doc=what joins the GPUs of a node"`
}

// Short lets a system be written as its name.
func (s *System) Short() any { return &s.Name }

// Check refuses a name that is empty, and a mesh with GPUs that do not exist.
func (s *System) Check(report func(key, message string)) {
	if strings.TrimSpace(s.Name) == "" && s.GPUs == 0 {
		report("", fmt.Sprintf("read %q, expected a system of the catalogue, such as dgx-h100 (`weft list systems` has them), or a file", s.Name))
	}
	if s.NVLink == nil {
		return
	}
	for i, e := range s.NVLink.Edges {
		for k := range e[:2] {
			if e[k] < 0 || e[k] >= s.GPUs {
				report("nvlink."+at(at("edges", i), k), fmt.Sprintf("GPU %d does not exist, expected 0 to %d", e[k], s.GPUs-1))
			}
		}
	}
}

// NVLink is the inline description of what joins the GPUs of a node: switches
// (one, unless planes says otherwise) or, with edges, a mesh.
type NVLink struct {
	Bandwidth     sim.Rate `yaml:"bandwidth" weft:"required,positive,doc=usable rate of one link, per direction"`
	Latency       sim.Time `yaml:"latency" weft:"required,doc=of one link, from end to end"`
	SwitchLatency sim.Time `yaml:"switch_latency" weft:"doc=traversal of a switch"`
	Planes        []int    `yaml:"planes" weft:"min=1,each=1,doc=links of each GPU to each switch, for example [5, 4, 4, 5]; [1] when absent"`
	Edges         [][]int  `yaml:"edges" weft:"min=1,doc=a mesh in place of switches: [GPU, GPU, links]"`
	BalanceRelays bool     `yaml:"balance_relays" weft:"doc=in a mesh, a pair without a link is relayed by all GPUs that join it with equally many; by the first of them, as NCCL has it, when absent"`
}

// Check refuses switches and a mesh at once, and links without bound.
func (n *NVLink) Check(report func(key, message string)) {
	if len(n.Planes) > 0 && len(n.Edges) > 0 {
		report("edges", "read edges beside planes, expected a mesh (edges) or switches (planes)")
	}
	if n.BalanceRelays && len(n.Edges) == 0 {
		report("balance_relays", "nothing is relayed through switches, expected a mesh (edges)")
	}
	for i, e := range n.Edges {
		if len(e) != 3 {
			report(at("edges", i), "expected [GPU, GPU, links]")
		} else if e[2] < 1 || e[2] > mostLinks {
			report(at(at("edges", i), 2), fmt.Sprintf("read %d links, expected 1 to %d", e[2], mostLinks))
		}
	}
	links := 0
	for i, p := range n.Planes {
		if links += min(p, mostLinks+1); links > mostLinks {
			report(at("planes", i), fmt.Sprintf("read %d, expected at most %d links of a GPU to all switches together", p, mostLinks))
			break
		}
	}
}

// Collectives says which algorithm runs each collective and how finely it is
// simulated.
type Collectives struct {
	Library   string     `yaml:"library" weft:"enum=explicit|nccl|vllm|sglang|trtllm|pytorch-symm|mscclpp|nccl-symm|deepep|nvlink-a2a,doc=who chooses algorithm and protocol and whose kernels move the bytes: the scenario itself, without kernels (explicit); NCCL, also when absent where the kind of the GPUs is known and no algorithm is named; the all-reduce kernels of an inference engine, which leave the rest to NCCL; or, of a workload of kind exchange, DeepEP (also when absent) or in a rack the kernels over NVLink (nvlink-a2a)"`
	Version   string     `yaml:"version" weft:"doc=release of the library, such as 2.27 or 2.27.3; the last that weft knows when absent"`
	Env       []EnvVar   `yaml:"env" weft:"doc=environment variables of the library, such as NCCL_ALGO: Ring"`
	Kernel    string     `yaml:"kernel" weft:"doc=one kernel of an inference engine's library, to run wherever it can; the library chooses when absent; of nvlink-a2a one-sided (also when absent) or two-sided"`
	Tuner     string     `yaml:"tuner" weft:"doc=file of rules of NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE), which go before NCCL's own choice"`
	Launch    string     `yaml:"launch" weft:"enum=process-per-gpu|one-process|threads|graph|pytorch,doc=how the host starts kernels: a process for each GPU (also when absent), one thread for all GPUs of a node (nccl-tests -g), one process with a thread for each (-t), replay of a CUDA graph, or torch.distributed"`
	Pace      *Pace      `yaml:"pace" weft:"doc=what the library's kernels cost here, compared with what weft knows of them; a preset of weft calibrate has it"`
	Algorithm Algorithms `yaml:"algorithm"`
	Grain     string     `yaml:"grain" weft:"enum=stream|chunk,doc=stream: a collective is one coupled flow; chunk: every message in slices under flow control"`
	Slice     sim.Bytes  `yaml:"slice" weft:"positive,doc=unit in which a message is forwarded at grain chunk"`
	Window    int        `yaml:"window" weft:"min=1,doc=slices sent and not acknowledged at grain chunk"`
	Rings     int        `yaml:"rings" weft:"min=1,max=64,doc=rings that a ring algorithm runs at once over several nodes, each from another GPU; one for each rank of a node when absent, so that every NIC works"`
}

// EnvVar is a variable of a library's environment.
type EnvVar struct {
	Name  string `yaml:",key"`
	Value string `yaml:"value" weft:"required"`
}

// Short lets a variable be written as its value alone.
func (e *EnvVar) Short() any { return &e.Value }

// Algorithms is the algorithm of each operation that has a choice. An
// all-reduce is a ring, an all-to-all direct.
type Algorithms struct {
	AllGather     string `yaml:"all_gather" weft:"enum=ring|direct"`
	ReduceScatter string `yaml:"reduce_scatter" weft:"enum=ring|direct"`
	Broadcast     string `yaml:"broadcast" weft:"enum=ring|direct"`
	Reduce        string `yaml:"reduce" weft:"enum=ring|direct"`
}

// Issue says how a GPU takes up operations that are ready.
type Issue struct {
	OneAtATime bool `yaml:"one_at_a_time" weft:"doc=at most one compute operation and one collective at a time, as ASTRA-sim does"`
}

// Workload is what runs: exactly one of the fields is set.
type Workload struct {
	Trace      *Trace
	Collective *Collective
	Exchange   *Exchange
	Program    *Program
}

// Forms picks the kind of workload.
func (w *Workload) Forms() (key string, names []string, pick func(string) any) {
	return "kind", []string{"trace", "collective", "exchange", "program"}, func(name string) any {
		*w = Workload{}
		switch name {
		case "trace":
			w.Trace = &Trace{}
			return w.Trace
		case "collective":
			w.Collective = &Collective{}
			return w.Collective
		case "exchange":
			w.Exchange = &Exchange{}
			return w.Exchange
		case "program":
			w.Program = &Program{}
			return w.Program
		}
		return nil
	}
}

// Trace is a recorded run.
type Trace struct {
	Path            string  `yaml:"path" weft:"required,doc=a trace file or a folder of one file a rank; relative to the scenario's file"`
	Format          string  `yaml:"format" weft:"enum=auto|chakra"`
	World           int32   `yaml:"world" weft:"min=1,max=16777216,doc=number of ranks; inferred when absent"`
	Replicate       *bool   `yaml:"replicate" weft:"doc=ranks without a file are copies of one that has (true when absent)"`
	Groups          string  `yaml:"groups" weft:"doc=file of the communicators; looked for beside the trace when absent"`
	Dims            []int32 `yaml:"dims" weft:"min=1,each=1,doc=sizes of the dimensions of the topology, the fastest first"`
	BytesPerElement int64   `yaml:"bytes_per_element" weft:"min=1,max=64,doc=multiplies the sizes of traces that count elements"`
	Durations       string  `yaml:"durations" weft:"enum=recorded|roofline,doc=recorded times stand where there are any, or all work with known size goes through the roofline"`
	RecordedOnly    bool    `yaml:"recorded_only" weft:"doc=leave out the wait of a collective for the kernels before it, which PyTorch traces do not record"`
	Precision       string  `yaml:"precision" weft:"enum=bf16|fp16|tf32|fp32|fp8|fp4,doc=data type of work without a recorded time; bf16 when absent"`

	Truncated string     `yaml:"truncated" weft:"enum=refuse|accept,doc=a file that ends inside a record is an error (refuse, also when absent), or what is complete of it runs"`
	GroupDims []GroupDim `yaml:"group_dims" weft:"doc=parallel dimension of groups that do not say it, by their id or by their name in reports, for example {5: tp, world: dp}"`
}

// GroupDim is the parallel dimension of a group of a trace.
type GroupDim struct {
	Group string `yaml:",key"`
	Dim   string `yaml:"dim" weft:"required,enum=tp|pp|dp|cp|ep|other"`
}

// Short lets a dimension be written as its name alone.
func (g *GroupDim) Short() any { return &g.Dim }

// Figure is a value for a figure of the catalogue, in place of its own.
type Figure struct {
	Path  string   `yaml:",key"`
	Value Quantity `yaml:"value" weft:"required"`
}

// Short lets a figure be written as its value alone.
func (f *Figure) Short() any { return &f.Value }

// Quantity is the text of a quantity, such as 0.9 or 25GB/s, which the figure
// that it is for reads.
type Quantity string

// UnmarshalText takes any text.
func (q *Quantity) UnmarshalText(text []byte) error {
	*q = Quantity(text)
	return nil
}

// Collective is one collective, repeated.
type Collective struct {
	Op    string    `yaml:"op" weft:"required,enum=all_reduce|all_gather|reduce_scatter|broadcast|reduce|alltoall|alltoallv"`
	Bytes sim.Bytes `yaml:"bytes" weft:"required,positive,max=1125899906842624,doc=as nccl-tests counts"`
	Count int       `yaml:"count" weft:"min=1,doc=runs, one after the other; 1 when absent"`
	World int32     `yaml:"world" weft:"min=1,max=16777216,doc=number of ranks; all GPUs of the machine when absent"`
	Group *Subset   `yaml:"group" weft:"doc=the groups that run it, all at once; all ranks when absent"`
	Root  int32     `yaml:"root" weft:"min=0,doc=position in the group, for broadcast and reduce"`
	Skew  float64   `yaml:"skew" weft:"positive,doc=for alltoallv: the first member receives this many times what each other does"`
}

// Subset deals the ranks to groups; see [synth.Group].
type Subset struct {
	Size   int32     `yaml:"size" weft:"min=1"`
	Stride int32     `yaml:"stride" weft:"min=1"`
	Ranks  [][]int32 `yaml:"ranks" weft:"min=1"`
}

// Program is a description of the work in place.
type Program struct {
	synth.Program `yaml:",inline"`
	Precision     string `yaml:"precision" weft:"enum=bf16|fp16|tf32|fp32|fp8|fp4,doc=data type of compute given in flops; bf16 when absent"`
}

// Thresholds are bounds that a run must meet.
type Thresholds struct {
	StepTime *Bound `yaml:"step_time" weft:"doc=for example < 20ms"`
}
