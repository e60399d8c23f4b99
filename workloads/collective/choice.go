package collective

import (
	"fmt"
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// Choice is how a library runs a collective: the way of the bytes, and what its
// kernels cost beyond the wires.
type Choice struct {
	Algorithm Algorithm
	Name      string // what the library calls it; "" is the algorithm's own name
	Protocol  string // of the library: "ll", "ll128", "simple"
	Channels  int    // thread blocks that share the message; 0 is not known
	// Overhead is bytes on the wire for a byte of data, flags included; 0 is 1.
	Overhead float64
	Pace     Pace
	// Orders are the rings of a ring algorithm, cut at the root to make chains, each the positions of all
	// members in the order in which bytes pass them, or of a tree the chains
	// within nodes, each from the head on; nil is the order of the group, and
	// over several nodes one from each member of a node. Choices of groups that
	// lie alike must share it.
	Orders *Orders
	Why    string
}

// Orders are rings: orders of the positions of a group.
type Orders [][]int32

// Label is the name of the algorithm in reports.
func (c Choice) Label() string {
	if c.Name != "" {
		return c.Name
	}
	return c.Algorithm.String()
}

// Wire returns how many bytes on the wire carry so many of data.
func (c Choice) Wire(data sim.Bytes) sim.Bytes {
	if c.Overhead == 0 || c.Overhead == 1 {
		return data
	}
	return sim.Bytes(math.Ceil(float64(data) * c.Overhead))
}

// Pace is what the kernels of a collective cost beyond the wires. The zero
// value costs nothing: bytes leave at the rate of the wires and are passed on
// as soon as they are there.
//
// A collective alone takes
//
//	max(Floor, Start + latency of its longest way + Tail + bytes/rate)
//
// where each step of the way costs the latency of its wires and Step, or
// NetStep where it leaves the NVLink domain or the host, and the rate is what
// the wires grant, at most Limit.
type Pace struct {
	Start   sim.Time // from the call to the first byte: launch and set-up
	Step    sim.Time // a receiver's notice and turn-round, at each dependent step
	NetStep sim.Time // the same across the network: proxies, doorbells, completions
	// Slice is what a thread block spends on each slice beside copying it, and
	// Slices how many it handles one after the other.
	Slice  sim.Time
	Slices int64
	// Fill is what it takes until the stages of a pipeline all work, which
	// simulating slice by slice makes by itself and so leaves out.
	Fill sim.Time
	// Spread is what the slowest of the thread blocks takes beyond the others.
	Spread sim.Time
	Floor  sim.Time // the host's launches: the whole takes at least this
	// Limit is the most that the thread blocks of a rank send, in bytes on the
	// wire a second; for plans whose lanes are flows of their own, such as
	// direct ones, it is the limit of each lane. 0 is none.
	Limit sim.Rate
}

// Tail is what the slices of a collective cost where they are not simulated.
func (p Pace) Tail() sim.Time { return sim.Time(p.Slices)*p.Slice + p.Fill + p.Spread }

// Validate refuses what no kernel does.
func (p Pace) Validate() error {
	for _, t := range []struct {
		what string
		v    sim.Time
	}{{"start", p.Start}, {"step", p.Step}, {"network step", p.NetStep}, {"slice", p.Slice}, {"fill", p.Fill}, {"spread", p.Spread}, {"floor", p.Floor}} {
		if t.v < 0 {
			return fmt.Errorf("pace of a collective: %s of %v: want zero or more", t.what, t.v)
		}
	}
	if p.Slices < 0 || p.Limit < 0 || math.IsNaN(float64(p.Limit)) || math.IsInf(float64(p.Limit), 0) {
		return fmt.Errorf("pace of a collective: %d slices and a limit of %g B/s: want zero or more", p.Slices, float64(p.Limit))
	}
	return nil
}

// Chooser picks how a collective of size bytes (as nccl-tests counts) runs
// among ranks, which are in the order of their group. It is the door for
// libraries that choose by themselves. Groups that lie alike on equal machines
// must get equal choices.
type Chooser func(c workloads.Coll, size sim.Bytes, ranks []int32) (Choice, error)

// Sender says how a message of size bytes from one rank to another runs: its
// Pace, of which Limit bounds this message, and its Overhead. Messages between
// ranks that lie alike must run alike.
type Sender func(size sim.Bytes, from, to int32) (Choice, error)

// Default is the [Chooser] that needs no library: a ring (or chain) for what
// a ring can do, direct for the rest.
func Default(c workloads.Coll, _ sim.Bytes, _ []int32) (Choice, error) {
	switch c {
	case workloads.AllToAll, workloads.AllToAllV, workloads.Gather, workloads.Scatter:
		return Choice{Algorithm: Direct, Protocol: "simple", Why: "the parts differ by receiver, so each pair is served by itself"}, nil
	}
	return Choice{Algorithm: Ring, Protocol: "simple", Why: "explicit: ring is weft's default without a library"}, nil
}

// Explicit returns a [Chooser] that uses algorithm a where c allows it and
// fails where it does not.
func Explicit(a Algorithm) Chooser {
	return func(c workloads.Coll, size sim.Bytes, ranks []int32) (Choice, error) {
		if _, err := NewPlan(c, Choice{Algorithm: a}, size, OneNode(len(ranks)), 0); err != nil {
			return Choice{}, err
		}
		return Choice{Algorithm: a, Protocol: "simple", Why: "explicit"}, nil
	}
}

// Validate refuses rings that do not pass each of n members once.
func (o *Orders) Validate(n int) error {
	seen := make([]int, n)
	for i, ring := range *o {
		if len(ring) != n {
			return fmt.Errorf("ring %d passes %d members: want all %d of the group, once each", i, len(ring), n)
		}
		for _, p := range ring {
			if p < 0 || int(p) >= n || seen[p] > i {
				return fmt.Errorf("ring %d passes position %d twice, or there is none: want each of 0 to %d once", i, p, n-1)
			}
			seen[p] = i + 1
		}
	}
	if len(*o) == 0 {
		return fmt.Errorf("no rings: want at least one")
	}
	return nil
}
