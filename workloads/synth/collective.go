package synth

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// Collective returns the program in which all world ranks run one collective
// of bytes, as nccl-tests counts them, count times, one after the other. The
// root, where there is one, is rank 0.
func Collective(op workloads.Coll, bytes sim.Bytes, world int32, count int) (*workloads.Program, error) {
	return Repeated{Op: op, Bytes: bytes, Count: count}.Build(world)
}

// Repeated is a collective that groups of ranks run again and again.
type Repeated struct {
	Op    workloads.Coll
	Bytes sim.Bytes
	Count int   // 0 is 1
	Group Group // the zero Group is all ranks
	Root  int32 // position in the group
	Skew  float64
}

// Build makes the program for world ranks. Errors are those of [Program.Build], and name
// the field.
func (c Repeated) Build(world int32) (*workloads.Program, error) {
	var op Op
	body := &Coll{Group: c.Group.Name, Bytes: c.Bytes, Root: c.Root, Skew: c.Skew}
	switch c.Op {
	case workloads.AllReduce:
		op.AllReduce = body
	case workloads.AllGather:
		op.AllGather = body
	case workloads.ReduceScatter:
		op.ReduceScatter = body
	case workloads.Broadcast:
		op.Broadcast = body
	case workloads.Reduce:
		op.Reduce = body
	case workloads.AllToAll:
		op.AllToAll = body
	case workloads.AllToAllV:
		op.AllToAllV = body
	default:
		return nil, fmt.Errorf("build collective: no program for %v", c.Op)
	}
	op.Repeat = c.Count
	p := Program{Blocks: []Block{{Name: "bench", Ops: []Op{op}}}}
	if c.Group.Name != "" {
		p.Groups = []Group{c.Group}
	}
	out, err := p.Build(world, 0)
	if err == nil {
		out.Name = fmt.Sprintf("%v of %d bytes", c.Op, c.Bytes)
	}
	return out, err
}
