package collective

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// Algorithm is a way to run a collective.
type Algorithm uint8

// The algorithms.
const (
	Ring   Algorithm = iota // neighbour to neighbour around a ring, or along a chain
	Direct                  // every pair by itself
)

func (a Algorithm) String() string { return [...]string{"ring", "direct"}[a] }

// Grain says how finely a plan is simulated.
type Grain uint8

// The grains.
const (
	// Stream runs a whole ring as one flow over all its links, which move in
	// step: the cost does not depend on the message size.
	Stream Grain = iota
	// Chunk runs every message of every step, each in slices under flow
	// control.
	Chunk
)

func (g Grain) String() string { return [...]string{"stream", "chunk"}[g] }

// Pattern is the set of ordered pairs of group positions that a plan uses,
// its lanes.
type Pattern uint8

// The patterns. Positions count modulo the group size n.
const (
	Cycle     Pattern = iota // i to i+1, for all i
	FromRoot                 // the chain root, root+1, ..., root-1
	ToRoot                   // the chain root+1, ..., root-1, root
	AllPairs                 // i to j, for all i and j that differ
	RootToAll                // root to each other
	AllToRoot                // each other to root
)

// Plan is how a collective moves its bytes, for one group.
type Plan struct {
	Pattern Pattern
	Root    int32
	// Steps is the number of messages that a lane carries one after another;
	// message s of a lane waits for message s-1 of the lane before it in a
	// Cycle. It is 1 for the other patterns.
	Steps int
	// Message is the size of each message.
	Message sim.Bytes
	// Pipelined says that a message is forwarded slice by slice, so that a
	// chain carries its message once, not once a hop.
	Pipelined bool
	// MinSend is what the busiest rank must send under any algorithm without
	// reduction in the network; with the rank's egress rate it bounds the time
	// from below.
	MinSend sim.Bytes
	// MinReceive is the same for what it must receive.
	MinReceive sim.Bytes
}

// Choice is the algorithm chosen for a collective, and why.
type Choice struct {
	Algorithm Algorithm
	Protocol  string // "simple": no protocol overhead is modelled
	Why       string
}

// Chooser picks the algorithm for a collective of size bytes (as nccl-tests
// counts) among n ranks. It is the door for libraries that choose by
// themselves.
type Chooser func(c workloads.Coll, size sim.Bytes, n int) (Choice, error)

// Default is the [Chooser] that needs no library: a ring (or chain) for what
// a ring can do, direct for the rest.
func Default(c workloads.Coll, _ sim.Bytes, _ int) (Choice, error) {
	switch c {
	case workloads.AllToAll, workloads.AllToAllV, workloads.Gather, workloads.Scatter:
		return Choice{Algorithm: Direct, Protocol: "simple", Why: "the parts differ by receiver, so each pair is served by itself"}, nil
	}
	return Choice{Algorithm: Ring, Protocol: "simple", Why: "explicit: ring is weft's default without a library"}, nil
}

// Explicit returns a [Chooser] that uses algorithm a where c allows it and
// fails where it does not.
func Explicit(a Algorithm) Chooser {
	return func(c workloads.Coll, size sim.Bytes, n int) (Choice, error) {
		if _, err := NewPlan(c, a, size, n, 0); err != nil {
			return Choice{}, err
		}
		return Choice{Algorithm: a, Protocol: "simple", Why: "explicit"}, nil
	}
}

// NewPlan returns the plan of collective c with algorithm a, for n >= 1 ranks
// and size bytes. The plan of one rank moves nothing.
func NewPlan(c workloads.Coll, a Algorithm, size sim.Bytes, n int, root int32) (Plan, error) {
	if n < 1 || size < 0 || root < 0 || int(root) >= n {
		return Plan{}, fmt.Errorf("plan %v: %d ranks, %d bytes, root %d: want at least one rank, no negative size and a root below the number of ranks", c, n, size, root)
	}
	part := (size + sim.Bytes(n) - 1) / sim.Bytes(n)
	// What the ranks other than the busiest hold may be a byte short of part
	// each, so the bounds use the exact share.
	exact := size - part
	if exact < 0 || n == 1 {
		exact = 0
	}
	p := Plan{Root: root, Steps: 1}
	switch {
	case c == workloads.AllReduce && a == Ring:
		p.Pattern, p.Steps, p.Message = Cycle, 2*(n-1), part
		p.MinSend, p.MinReceive = 2*exact, 2*exact
	case c == workloads.Barrier && a == Ring:
		// One byte a rank must reach every other: an all-reduce of n bytes.
		p.Pattern, p.Steps, p.Message = Cycle, 2*(n-1), 1
		p.MinSend, p.MinReceive = 1, 1
	case (c == workloads.AllGather || c == workloads.ReduceScatter) && a == Ring:
		p.Pattern, p.Steps, p.Message = Cycle, n-1, part
		if c == workloads.AllGather {
			p.MinReceive = exact
		} else {
			p.MinSend = exact
		}
	case c == workloads.AllGather && a == Direct:
		p.Pattern, p.Message = AllPairs, part
		p.MinReceive = exact
	case c == workloads.ReduceScatter && a == Direct:
		p.Pattern, p.Message = AllPairs, part
		p.MinSend = exact
	case c == workloads.Broadcast && a == Ring:
		p.Pattern, p.Message, p.Pipelined = FromRoot, size, true
		p.MinSend, p.MinReceive = size, size
	case c == workloads.Reduce && a == Ring:
		p.Pattern, p.Message, p.Pipelined = ToRoot, size, true
		p.MinSend, p.MinReceive = size, size
	case c == workloads.Broadcast && a == Direct:
		p.Pattern, p.Message = RootToAll, size
		p.MinSend, p.MinReceive = size, size
	case c == workloads.Reduce && a == Direct:
		p.Pattern, p.Message = AllToRoot, size
		p.MinSend, p.MinReceive = size, size
	case (c == workloads.AllToAll || c == workloads.AllToAllV) && a == Direct:
		p.Pattern, p.Message = AllPairs, part
		if c == workloads.AllToAll {
			p.MinSend, p.MinReceive = exact, exact
		}
	case c == workloads.Scatter && a == Direct:
		p.Pattern, p.Message = RootToAll, part
		p.MinSend = exact
	case c == workloads.Gather && a == Direct:
		p.Pattern, p.Message = AllToRoot, part
		p.MinReceive = exact
	default:
		return Plan{}, fmt.Errorf("plan %v: no %v algorithm for it: want %s", c, a, algorithms(c))
	}
	if n == 1 {
		p.Steps, p.Message, p.MinSend, p.MinReceive = 0, 0, 0, 0
	}
	return p, nil
}

// algorithms lists what NewPlan accepts for c.
func algorithms(c workloads.Coll) string {
	switch c {
	case workloads.AllReduce, workloads.Barrier:
		return "ring"
	case workloads.AllGather, workloads.ReduceScatter, workloads.Broadcast, workloads.Reduce:
		return "ring or direct"
	}
	return "direct"
}

// Lanes returns the number of lanes of the plan for n ranks.
func (p Plan) Lanes(n int) int {
	if n < 2 {
		return 0
	}
	switch p.Pattern {
	case Cycle:
		return n
	case AllPairs:
		return n * (n - 1)
	}
	return n - 1
}

// Lane returns the positions that lane i joins, for n ranks: sender, receiver.
func (p Plan) Lane(i, n int) (from, to int) {
	root := int(p.Root)
	switch p.Pattern {
	case Cycle:
		return i, (i + 1) % n
	case FromRoot:
		return (root + i) % n, (root + i + 1) % n
	case ToRoot:
		return (root + 1 + i) % n, (root + 2 + i) % n
	case RootToAll:
		return root, (root + 1 + i) % n
	case AllToRoot:
		return (root + 1 + i) % n, root
	}
	from = i / (n - 1)
	to = i % (n - 1)
	if to >= from {
		to++
	}
	return from, to
}

// BusFactor returns the factor by which nccl-tests turns algorithm bandwidth
// (size / time) into bus bandwidth.
//
// Source: NVIDIA/nccl-tests doc/PERFORMANCE.md.
func BusFactor(c workloads.Coll, n int) float64 {
	if n < 2 {
		return 1
	}
	r := float64(n-1) / float64(n)
	switch c {
	case workloads.AllReduce:
		return 2 * r
	case workloads.AllGather, workloads.ReduceScatter, workloads.AllToAll, workloads.AllToAllV,
		workloads.Gather, workloads.Scatter:
		return r
	}
	return 1
}
