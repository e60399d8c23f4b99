package collective

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// Algorithm is a way to run a collective.
type Algorithm uint8

// The algorithms.
const (
	Ring       Algorithm = iota // neighbour to neighbour around a ring, or along a chain
	Direct                      // every pair by itself
	OneShot                     // everybody's whole message to everybody, summed there
	TwoShot                     // each reduces its part of everybody's message, then gives it to all
	Tree                        // two binary trees over nodes, a chain within each
	Switch                      // the NVSwitch reduces and multicasts (NVLS)
	SwitchShot                  // the NVSwitch reduces the whole message for everybody by itself
	SwitchTree                  // Switch within nodes, two binary trees between
	NetReduce                   // the network's switches reduce, once per byte and NIC (CollNet, SHARP)
	Doubling                    // partners at doubling distance, for one rank a node (PAT)
)

func (a Algorithm) String() string {
	return [...]string{"ring", "direct", "one-shot", "two-shot", "tree", "nvls", "nvls one-shot", "nvls-tree", "collnet", "pat"}[a]
}

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

	// Coupled patterns; see Pattern.EachLane.
	DoubleTree       // chains in nodes, two binary trees over them, up and down
	SwitchAll        // into the node's switch and back
	SwitchGather     // an n-th into the switch, all back
	SwitchScatter    // all into the switch, an n-th back
	SwitchAlone      // n times the message into the switch, the message back
	SwitchDoubleTree // SwitchAll, and two binary trees over nodes for each member
	NetSwitch        // through the members of a node to the network's switches and back
	Powers           // to members at distances that are powers of two
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
	// Hops and NetHops are, of a coupled pattern, the dependent steps of its
	// longest way: within nodes, and between them.
	Hops, NetHops int
	// Choice is how the library runs it.
	Choice Choice
	// MinSend is what the busiest rank must send under any algorithm without
	// reduction in the network; with the rank's egress rate it bounds the time
	// from below.
	MinSend sim.Bytes
	// MinReceive is the same for what it must receive.
	MinReceive sim.Bytes
}

// NewPlan returns the plan of collective c as choice ch has it, for the members
// of l and size bytes. The plan of one member moves nothing.
func NewPlan(c workloads.Coll, ch Choice, size sim.Bytes, l Layout, root int32) (Plan, error) {
	n, a := l.Members(), ch.Algorithm
	if n < 1 || size < 0 || root < 0 || int(root) >= n {
		return Plan{}, fmt.Errorf("plan %v: %d ranks, %d bytes, root %d: want at least one rank, no negative size and a root below the number of ranks", c, n, size, root)
	}
	if err := ch.Pace.Validate(); err != nil {
		return Plan{}, fmt.Errorf("plan %v: %w", c, err)
	}
	part := (size + sim.Bytes(n) - 1) / sim.Bytes(n)
	// What the ranks other than the busiest hold may be a byte short of part
	// each, so the bounds use the exact share.
	exact := size - part
	if exact < 0 || n == 1 {
		exact = 0
	}
	p := Plan{Root: root, Steps: 1, Choice: ch}
	switch {
	case c == workloads.AllReduce && a == Ring:
		p.Pattern, p.Steps, p.Message = Cycle, 2*(n-1), part
		p.MinSend, p.MinReceive = 2*exact, 2*exact
	case c == workloads.AllReduce && a == OneShot:
		p.Pattern, p.Message = AllPairs, size
		p.MinSend, p.MinReceive = 2*exact, 2*exact
	case c == workloads.AllReduce && a == TwoShot:
		p.Pattern, p.Message = AllPairs, 2*part
		p.MinSend, p.MinReceive = 2*exact, 2*exact
	case c == workloads.AllReduce && a == Tree:
		p.Pattern, p.Message = DoubleTree, size
		p.Hops, p.NetHops = 2*(l.Most()-1), 2*l.depth()
		p.MinSend, p.MinReceive = size, size
	case c == workloads.AllReduce && a == Switch && len(l) == 1:
		p.Pattern, p.Message, p.Hops = SwitchAll, size+part, 2
	case c == workloads.AllReduce && a == SwitchShot && len(l) == 1:
		p.Pattern, p.Message, p.Hops = SwitchAlone, size*sim.Bytes(n), 1
	case c == workloads.AllReduce && a == SwitchTree && l.Least() == l.Most():
		k := sim.Bytes(l.Least())
		p.Pattern, p.Message = SwitchDoubleTree, (size+k-1)/k*(k+1)
		p.Hops, p.NetHops = 2, 2*l.depth()
	case c == workloads.AllReduce && a == NetReduce && l.Least() == l.Most():
		p.Pattern, p.Message = NetSwitch, size
		p.Hops, p.NetHops = 2*min(1, l.Most()-1), 2*min(1, len(l)-1)
	case (c == workloads.AllGather || c == workloads.ReduceScatter) && a == NetReduce && l.Least() == l.Most():
		// What comes in of a gather, and goes out of a scatter, paces both ways.
		p.Pattern, p.Message = NetSwitch, part*sim.Bytes(n)
		p.Hops, p.NetHops = min(1, l.Most()-1), min(1, len(l)-1)
	case c == workloads.AllGather && a == Switch && len(l) == 1:
		p.Pattern, p.Message, p.Hops = SwitchGather, part*sim.Bytes(n), 1
		p.MinReceive = exact
	case c == workloads.ReduceScatter && a == Switch && len(l) == 1:
		p.Pattern, p.Message, p.Hops = SwitchScatter, part*sim.Bytes(n), 1
	case (c == workloads.AllGather || c == workloads.ReduceScatter) && a == Doubling && l.Most() == 1:
		p.Pattern, p.Message, p.NetHops = Powers, part*sim.Bytes(n), bits.Len(uint(n-1))
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
		return Plan{}, fmt.Errorf("plan %v: no %v algorithm for it among %d ranks on %d nodes: want %s", c, a, n, len(l), algorithms(c, l))
	}
	p.Message = ch.Wire(p.Message)
	if n == 1 {
		p.Steps, p.Message, p.MinSend, p.MinReceive = 0, 0, 0, 0
	}
	return p, nil
}

// algorithms lists what NewPlan accepts for c.
func algorithms(c workloads.Coll, l Layout) string {
	one, even, alone := len(l) == 1, l.Least() == l.Most(), l.Most() == 1
	var names []string
	for a := range Doubling + 1 {
		ok := false
		switch c {
		case workloads.AllReduce:
			switch a {
			case Ring, OneShot, TwoShot, Tree:
				ok = true
			case Switch, SwitchShot:
				ok = one
			case SwitchTree, NetReduce:
				ok = even
			}
		case workloads.Barrier:
			ok = a == Ring
		case workloads.AllGather, workloads.ReduceScatter:
			ok = a == Ring || a == Direct || a == Switch && one || a == NetReduce && even || a == Doubling && alone
		case workloads.Broadcast, workloads.Reduce:
			ok = a == Ring || a == Direct
		default:
			ok = a == Direct
		}
		if ok {
			names = append(names, a.String())
		}
	}
	return strings.Join(names, " or ")
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

// Sent returns the bytes that leave all members of l together, flags included.
func (p Plan) Sent(l Layout) float64 {
	n := l.Members()
	if n < 2 || p.Steps == 0 {
		return 0
	}
	if !p.Pattern.Coupled() {
		return float64(p.Lanes(n)) * float64(p.Steps) * float64(p.Message)
	}
	var weight int64
	_ = p.Pattern.EachLane(l, p.Choice.Orders, func(lane Lane) error { // which fails only if this does
		if lane.Part != In {
			weight += lane.Weight
		}
		return nil
	})
	return float64(p.Message) * (float64(weight) / float64(p.Pattern.Parts(l, p.Choice.Orders)))
}
