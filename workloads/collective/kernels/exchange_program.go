package kernels

import (
	"fmt"
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// Program returns the work of one group of ranks in nodes of perNode that
// exchange tokens once; [ExchangeProgram] has more groups and phases.
func (x Exchange) Program(ranks, perNode int) (*workloads.Program, error) {
	return ExchangeProgram([]Exchange{x}, ranks, ranks, perNode)
}

// ExchangeProgram returns the work of a world of ranks in nodes of perNode,
// which exchange tokens in groups of so many ranks each, all groups at once and
// one phase after the other.
//
// A phase is all to all at once with low latency or in one node; else an
// all-to-all between the ranks of one place in their nodes, each token once to a
// node, and one within nodes that passes it on. The two run chunk by chunk, so
// at once. Dispatch is written as an alltoallv and combine as an alltoall, by
// which whoever chooses can tell them apart.
func ExchangeProgram(phases []Exchange, world, ranks, perNode int) (*workloads.Program, error) {
	if len(phases) == 0 || ranks < 2 || perNode < 1 || ranks > perNode && ranks%perNode != 0 || ranks < perNode && perNode%ranks != 0 {
		return nil, fmt.Errorf("exchange of tokens: %d phases among %d ranks in nodes of %d: want two ranks, and whole nodes or an even part of one", len(phases), ranks, perNode)
	}
	if world < ranks || world%ranks != 0 {
		return nil, fmt.Errorf("exchange of tokens: %d ranks in groups of %d: want whole groups", world, ranks)
	}
	e := exchange{world: world, ranks: ranks, per: min(perNode, ranks), program: &workloads.Program{Name: "exchange of tokens", World: int32(world)}}
	all := make([]int32, world)
	for i := range all {
		all[i] = int32(i)
	}
	e.class = workloads.Class{Name: "rank", Ranks: all, Streams: []workloads.Stream{{Name: "comm", Order: workloads.Concurrent}}}
	for _, x := range phases {
		if err := x.validate(); err != nil {
			return nil, err
		}
		if x.Tokens < 1 {
			return nil, fmt.Errorf("exchange of tokens: %d tokens a rank: want one or more", x.Tokens)
		}
		e.phase(x)
	}
	e.program.Classes = []workloads.Class{e.class}
	return e.program, e.program.Validate()
}

// exchange is a program in the making.
type exchange struct {
	world, ranks, per int // per is the ranks of a group in one node
	program           *workloads.Program
	class             workloads.Class
	last              int // first operation of the last phase
}

// phase adds the stages of a phase, which wait for all of the phase before.
func (e *exchange) phase(x Exchange) {
	var before []int32
	for i := e.last; i < len(e.class.Ops); i++ {
		before = append(before, int32(i))
	}
	e.last = len(e.class.Ops)
	mine, nodes := float64(x.Tokens)*x.TokenBytes(), e.ranks/e.per
	if x.LowLatency || nodes == 1 {
		e.stage(x, "all ranks", e.ranks, 1, mine*x.Reach(e.ranks)/float64(e.ranks), before)
		return
	}
	e.stage(x, "between nodes", nodes, e.per, mine*x.Reach(nodes)/float64(nodes), before)
	if e.per > 1 {
		// A rank passes on what the nodes sent to its place and its own.
		e.stage(x, "within nodes", e.per, 1, mine*x.Reach(e.ranks)/float64(e.per), before)
	}
}

// stage adds an all-to-all of so many bytes to each member, in groups of so
// many members that lie stride ranks apart.
func (e *exchange) stage(x Exchange, name string, members, stride int, each float64, deps []int32) {
	bytes := sim.Bytes(math.Ceil(each))
	op := workloads.Op{Kind: workloads.Collective, Comm: e.comm(name, members, stride), Deps: deps}
	if x.Combine {
		op.Name, op.Coll, op.Bytes = "combine "+name, workloads.AllToAll, bytes*sim.Bytes(members)
	} else {
		op.Name, op.Coll, op.Splits = "dispatch "+name, workloads.AllToAllV, make([]sim.Bytes, members)
		for i := range op.Splits {
			op.Splits[i] = bytes
		}
	}
	e.class.Ops = append(e.class.Ops, op)
}

// comm returns the communicator of a stage, which both phases share.
func (e *exchange) comm(name string, members, stride int) int32 {
	for i := range e.program.Comms {
		if e.program.Comms[i].Name == name {
			return int32(i)
		}
	}
	var groups [][]int32
	for first := 0; first < e.world; first += members * stride {
		for place := range stride {
			group := make([]int32, members)
			for i := range group {
				group[i] = int32(first + place + i*stride)
			}
			groups = append(groups, group)
		}
	}
	e.program.Comms = append(e.program.Comms, workloads.Comm{Name: name, Dim: workloads.EP, Groups: groups})
	return int32(len(e.program.Comms) - 1)
}
