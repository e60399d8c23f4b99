package synth

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// Program describes the work of all ranks.
type Program struct {
	World     int32      `yaml:"world" weft:"min=1,max=16777216,doc=number of ranks; as many as the machine has GPUs when absent"`
	Groups    []Group    `yaml:"groups" weft:"doc=communicators by name"`
	Streams   []Stream   `yaml:"streams" weft:"doc=queues by name and their order: in_order, any_ready or concurrent"`
	Blocks    []Block    `yaml:"blocks" weft:"required,min=1,doc=operations by name of block, run one block after the other"`
	Jitter    float64    `yaml:"jitter" weft:"min=0,max=0.99,doc=each compute time is multiplied by uniform(1-jitter, 1+jitter)"`
	Straggler *Straggler `yaml:"straggler" weft:"doc=one rank that computes slower"`
}

// Group is a communicator, or a family of equal ones that covers the world.
//
// A family is given by its stride: group k holds the ranks that are stride
// apart, Size of them. Tensor parallelism of 8 on neighbours is {size: 8};
// data parallelism across them is {stride: 8}.
type Group struct {
	Name   string    `yaml:",key"`
	Size   int32     `yaml:"size" weft:"min=1,doc=ranks in a group; all that fit when absent"`
	Stride int32     `yaml:"stride" weft:"min=1,doc=distance of neighbours in a group; 1 when absent"`
	Ranks  [][]int32 `yaml:"ranks" weft:"doc=the groups written out, in ring order, in place of size and stride"`
	Dim    string    `yaml:"dim" weft:"enum=tp|pp|dp|cp|ep|other,doc=parallel dimension for the report; taken from the name when absent"`
}

// Check refuses a group that is both a family and written out.
func (g *Group) Check(report func(key, message string)) {
	if len(g.Ranks) > 0 && (g.Size > 0 || g.Stride > 0) {
		report("ranks", "read ranks beside size or stride, expected one of the two ways to name a group")
	}
}

// Stream is a queue and the order in which it is served; see
// [workloads.Order].
type Stream struct {
	Name  string `yaml:",key"`
	Order string `yaml:"order" weft:"required,enum=in_order|any_ready|concurrent"`
}

// Short lets a stream be written as its order alone.
func (s *Stream) Short() any { return &s.Order }

// orders are the values of Stream.Order.
var orders = map[string]workloads.Order{
	"in_order":   workloads.InOrder,
	"any_ready":  workloads.AnyReady,
	"concurrent": workloads.Concurrent,
}

// Straggler is a rank whose compute takes Factor times as long.
type Straggler struct {
	Rank   int32   `yaml:"rank" weft:"required,min=0"`
	Factor float64 `yaml:"factor" weft:"required,positive,max=1000000,doc=its compute takes this many times as long"`
}

// Block is a run of operations that repeats.
type Block struct {
	Name   string             `yaml:",key"`
	Repeat int                `yaml:"repeat" weft:"min=1,doc=how often the block runs; once when absent"`
	At     map[string][]int32 `yaml:"at" weft:"doc=only ranks at these positions of the group, for example {pp: [0]}"`
	Ops    []Op               `yaml:"ops" weft:"required,min=1"`
}

// Op is one operation: exactly one of the fields up to Ops is set.
type Op struct {
	Compute       *Compute `yaml:"compute" weft:"doc=a kernel: a time, or {flops, mem_bytes}"`
	AllReduce     *Coll    `yaml:"all_reduce"`
	AllGather     *Coll    `yaml:"all_gather"`
	ReduceScatter *Coll    `yaml:"reduce_scatter"`
	Broadcast     *Coll    `yaml:"broadcast"`
	Reduce        *Coll    `yaml:"reduce"`
	AllToAll      *Coll    `yaml:"alltoall"`
	AllToAllV     *Coll    `yaml:"alltoallv"`
	Send          *P2P     `yaml:"send"`
	Recv          *P2P     `yaml:"recv"`
	Ops           []Op     `yaml:"ops" weft:"min=1,doc=operations that repeat together"`

	Repeat     int                `yaml:"repeat" weft:"min=1,doc=how often this runs; once when absent"`
	At         map[string][]int32 `yaml:"at" weft:"doc=only ranks at these positions of the group"`
	Stream     string             `yaml:"stream" weft:"doc=the queue it runs in"`
	Label      string             `yaml:"label" weft:"doc=a name for after"`
	After      *[]string          `yaml:"after" weft:"doc=labels to wait for, in place of the operation before"`
	Background bool               `yaml:"background" weft:"doc=holds up nothing that follows"`
}

// Compute is a kernel: a time, or work for the roofline of the GPU.
type Compute struct {
	Time     sim.Time  `yaml:"time" weft:"doc=recorded duration"`
	FLOPs    float64   `yaml:"flops" weft:"min=0,doc=floating-point operations"`
	MemBytes sim.Bytes `yaml:"mem_bytes" weft:"max=1125899906842624,doc=bytes read and written in the GPU's memory"`
}

// Short lets a kernel be written as its duration.
func (c *Compute) Short() any { return &c.Time }

// Check refuses a kernel with a time and work, and one with neither.
func (c *Compute) Check(report func(key, message string)) {
	if c.Time != 0 && c.modelled() {
		report("time", "read a time beside flops or mem_bytes, expected one of the two")
	}
	if c.Time < 0 {
		report("", fmt.Sprintf("read %v, expected a time of zero or more", c.Time))
	}
	if c.MemBytes < 0 {
		report("mem_bytes", fmt.Sprintf("read %d bytes, expected zero or more", c.MemBytes))
	}
}

func (c *Compute) modelled() bool { return c.FLOPs > 0 || c.MemBytes > 0 }

// Coll is a collective on a group. Bytes is what nccl-tests prints as size.
type Coll struct {
	Group string    `yaml:"group" weft:"doc=name of a group; all ranks when absent"`
	Bytes sim.Bytes `yaml:"bytes" weft:"required,positive,max=1125899906842624,doc=as nccl-tests counts"`
	Root  int32     `yaml:"root" weft:"min=0,doc=position in the group, for broadcast and reduce"`
	Skew  float64   `yaml:"skew" weft:"positive,doc=for alltoallv: the first member receives this many times what each other does"`
}

// P2P is a send or a receive. The peer is a rank (To, From), or the member of
// the group Offset positions further on.
type P2P struct {
	Bytes  sim.Bytes `yaml:"bytes" weft:"required,positive,max=1125899906842624"`
	To     *int32    `yaml:"to" weft:"min=0,doc=receiving rank of a send"`
	From   *int32    `yaml:"from" weft:"min=0,doc=sending rank of a recv"`
	Group  string    `yaml:"group" weft:"doc=the group in which offset counts; all ranks when absent"`
	Offset int32     `yaml:"offset" weft:"doc=positions from this rank to its peer, for example 1 or -1"`
	Wrap   bool      `yaml:"wrap" weft:"doc=count around the end of the group; otherwise the last member skips the operation"`
	Tag    int32     `yaml:"tag" weft:"min=0"`
}

// variant is one of the mutually exclusive fields of an Op.
type variant struct {
	key  string
	set  bool
	coll *Coll
	kind workloads.Coll
}

func (o *Op) variants() []variant {
	return []variant{
		{key: "compute", set: o.Compute != nil},
		{"all_reduce", o.AllReduce != nil, o.AllReduce, workloads.AllReduce},
		{"all_gather", o.AllGather != nil, o.AllGather, workloads.AllGather},
		{"reduce_scatter", o.ReduceScatter != nil, o.ReduceScatter, workloads.ReduceScatter},
		{"broadcast", o.Broadcast != nil, o.Broadcast, workloads.Broadcast},
		{"reduce", o.Reduce != nil, o.Reduce, workloads.Reduce},
		{"alltoall", o.AllToAll != nil, o.AllToAll, workloads.AllToAll},
		{"alltoallv", o.AllToAllV != nil, o.AllToAllV, workloads.AllToAllV},
		{key: "send", set: o.Send != nil},
		{key: "recv", set: o.Recv != nil},
		{key: "ops", set: o.Ops != nil},
	}
}

// Check refuses an operation that is none or several things at once, and keys
// that mean nothing for what it is.
func (o *Op) Check(report func(key, message string)) {
	var is, all []string
	for _, v := range o.variants() {
		all = append(all, v.key)
		if v.set {
			is = append(is, v.key)
		}
	}
	if len(is) != 1 {
		got := "none of them"
		if len(is) > 1 {
			got = strings.Join(is, " and ")
		}
		report("", fmt.Sprintf("read %s, expected exactly one of %s", got, strings.Join(all, ", ")))
		return
	}
	key := is[0]
	if key == "ops" {
		for _, k := range []struct {
			name string
			set  bool
		}{{"stream", o.Stream != ""}, {"label", o.Label != ""}, {"after", o.After != nil}, {"background", o.Background}} {
			if k.set {
				report(k.name, fmt.Sprintf("read %s beside ops, expected it on the operations themselves", k.name))
			}
		}
	}
	for _, v := range o.variants() {
		if v.coll == nil {
			continue
		}
		if v.coll.Root != 0 && v.kind != workloads.Broadcast && v.kind != workloads.Reduce {
			report(key+".root", "read a root, expected it on broadcast and reduce only")
		}
		if v.coll.Skew != 0 && v.kind != workloads.AllToAllV {
			report(key+".skew", "read a skew, expected it on alltoallv only")
		}
	}
	if o.Send != nil && o.Send.From != nil {
		report("send.from", "read from on a send, expected to")
	}
	if o.Recv != nil && o.Recv.To != nil {
		report("recv.to", "read to on a recv, expected from")
	}
	for _, p := range []*P2P{o.Send, o.Recv} {
		if p == nil {
			continue
		}
		fixed := p.To != nil || p.From != nil
		if fixed == (p.Offset != 0) {
			report(key, "expected either a rank (to, from) or an offset other than 0")
		}
		if fixed && (p.Group != "" || p.Wrap) {
			report(key, "read group or wrap beside a fixed rank, expected them with offset only")
		}
	}
}
