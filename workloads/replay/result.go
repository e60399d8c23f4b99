package replay

import (
	"github.com/weft-sim/weft/sim"
)

// Result is what a replay found.
type Result struct {
	StepTime  sim.Time
	Breakdown Breakdown
	Ranks     RankTimes
	Links     []LinkUse       // by class, busiest first
	Busiest   []LinkUse       // single links, busiest first
	Colls     []CollectiveUse // by operation, group size and bytes
	Warnings  []string
	Stats     Stats
}

// Breakdown is a partition of the step along its critical path: the parts add
// up to the step time exactly.
type Breakdown struct {
	Compute sim.Time
	// Exposed is communication on the critical path, by dimension and group.
	Exposed []Exposed
	Launch  sim.Time
	Bubble  sim.Time
	Wait    sim.Time
}

// Exposed is the communication of one communicator on the critical path.
type Exposed struct {
	Dim  string // "tp", "dp", ... "other"
	Comm string // the communicator's name
	Time sim.Time
}

// RankTimes is where the ranks' time went, averaged over ranks: at each
// moment of the step a rank computes, or communicates without computing, or
// waits. The three add up to the step.
type RankTimes struct {
	Compute, ExposedComm, Wait sim.Time
	// HiddenComm is communication under compute; it is part of Compute.
	HiddenComm sim.Time
}

// LinkUse is the load of a link, or the sum over a class of links.
type LinkUse struct {
	Class       string
	Name        string   // of a single link: "n0.gpu3 > n0.nvswitch"
	Links       int      // physical links counted, a full-duplex link once
	Bytes       float64  // carried, summed over the links
	Rate        sim.Rate // usable capacity of one link, per direction
	Utilisation float64  // of capacity x step time, mean over the class
	Peak        float64  // of the busiest link of the class
}

// CollectiveUse adds up equal collectives.
type CollectiveUse struct {
	Op     string
	Comm   string
	Dim    string
	Ranks  int       // group size
	Groups int       // groups that ran it
	Bytes  sim.Bytes // nccl-tests size
	Count  int       // runs per group, over the step
	Algo   string
	Proto  string
	// Channels is how many thread blocks of a rank share it, 0 if nobody said.
	Channels int
	Why      string // why the library runs it so
	// Time is the mean from the last member's arrival to the end; Min and Max
	// bound it.
	Time, Min, Max sim.Time
	BusBW          sim.Rate
	// Bound is the least time that the wires allow one run.
	Bound sim.Time
	// WireBytes is what one rank sends, mean over the group.
	WireBytes float64
}

// Stats counts the work of the simulator itself.
type Stats struct {
	Events      int64
	Transfers   int64
	Ranks       int // in the program
	Simulated   int // rank representatives actually run
	EventDigest uint64
}
