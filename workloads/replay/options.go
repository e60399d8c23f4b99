package replay

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/sim/record"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/compute"
)

// Options says how to run a program. The zero value is the default, save that
// a program with work of unknown duration needs Compute.
type Options struct {
	Model    Model
	Grain    collective.Grain
	Collapse Collapse
	// Slice is the unit in which a message is forwarded, at grain chunk. Zero
	// is the whole message in a ring, and 512 KiB in a chain (NCCL's chunk for
	// broadcast and reduce with the Simple protocol, NVIDIA/nccl 2.30.7).
	Slice sim.Bytes
	// Window is how many slices a connection may have sent and not seen
	// acknowledged, at grain chunk. Zero is 8, NCCL's number of buffer steps.
	Window int
	// Rings bounds the rings that a ring algorithm runs at once over several
	// hosts. Zero is one for each rank that a host has in the group, so that
	// every NIC works; on one host there is one ring.
	Rings int
	// Choose picks the algorithm of each collective; nil is collective.Default.
	Choose collective.Chooser
	// Send says how the messages between two ranks run; nil is the wires alone.
	Send collective.Sender
	// Compute times work of unknown duration; nil refuses such work.
	Compute *compute.Roofline
	// OneAtATime replaces every rank's streams by two, one for compute and one
	// for communication, each of which runs one operation at a time, of those
	// ready the first in program order. It is what ASTRA-sim does.
	OneAtATime bool
	// FullSolve recomputes all rates at every change, where the default
	// recomputes those that can have changed. The answers are equal.
	FullSolve bool
	Digest    bool // fill Stats.EventDigest
	Limits    sim.Limits
	Recorder  *record.Recorder // nil records nothing
}

// Model is a network model.
type Model uint8

// The network models.
const (
	Fluid Model = iota // flows share links max-min fairly
	Ideal              // every transfer has the wires to itself
)

func (m Model) String() string { return [...]string{"fluid", "ideal"}[m] }

// Collapse says whether equal ranks are simulated once.
type Collapse uint8

// The settings of Collapse. Both give the same answer, bit for bit.
const (
	Auto Collapse = iota
	Off
)

func (c Collapse) String() string { return [...]string{"auto", "off"}[c] }

// Validate returns an error for options that cannot be met.
func (o *Options) Validate() error {
	if o.Slice < 0 {
		return fmt.Errorf("replay options: slice %d bytes: want zero (the default) or more", o.Slice)
	}
	if o.Rings < 0 {
		return fmt.Errorf("replay options: rings %d: want zero (the default) or more", o.Rings)
	}
	if o.Window < 0 {
		return fmt.Errorf("replay options: window %d: want zero (the default) or more", o.Window)
	}
	if o.Compute != nil {
		return o.Compute.Validate()
	}
	return nil
}
