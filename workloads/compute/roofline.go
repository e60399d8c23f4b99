// Package compute says how long a kernel takes on a GPU.
//
// [Roofline] is the model for work of which only the number of operations and
// the bytes touched are known:
//
//	time = launch + max(flops / (peak x efficiency), bytes / (memory rate x efficiency))
//
// It leaves out cache reuse, wave quantisation and shape; measured tables
// serve those.
package compute

import (
	"fmt"
	"math"

	"github.com/weft-sim/weft/sim"
)

// Roofline is the classic bound of a kernel by arithmetic or by memory.
type Roofline struct {
	Peak   sim.FlopRate // dense, of the data type in use
	Memory sim.Rate     // of the GPU's own memory
	// FLOPEfficiency and MemoryEfficiency are the fractions of the two peaks
	// that large kernels reach, in (0, 1].
	FLOPEfficiency, MemoryEfficiency float64
	Launch                           sim.Time // shortest kernel
}

// Validate returns an error for a roofline that cannot time a kernel.
func (r Roofline) Validate() error {
	if !(r.Peak > 0) || !(r.Memory > 0) || math.IsInf(float64(r.Peak), 0) || math.IsInf(float64(r.Memory), 0) {
		return fmt.Errorf("roofline: peak %v FLOP/s and memory %v bytes/s: want both finite and above zero", float64(r.Peak), float64(r.Memory))
	}
	if !(r.FLOPEfficiency > 0 && r.FLOPEfficiency <= 1) || !(r.MemoryEfficiency > 0 && r.MemoryEfficiency <= 1) {
		return fmt.Errorf("roofline: efficiencies %v and %v: want both above 0 and at most 1", r.FLOPEfficiency, r.MemoryEfficiency)
	}
	if r.Launch < 0 {
		return fmt.Errorf("roofline: launch %v: want zero or more", r.Launch)
	}
	return nil
}

// Time returns how long a kernel of the given operations and bytes takes.
// A kernel of neither takes no time: it is a label in a trace.
func (r Roofline) Time(flops float64, bytes sim.Bytes) sim.Time {
	if flops <= 0 && bytes <= 0 {
		return 0
	}
	arithmetic := flops / (float64(r.Peak) * r.FLOPEfficiency)
	memory := float64(bytes) / (float64(r.Memory) * r.MemoryEfficiency)
	return r.Launch.Add(sim.FromSeconds(max(arithmetic, memory)))
}

// CopyTime returns how long the GPU takes to copy bytes within its own
// memory, which it reads and writes.
func (r Roofline) CopyTime(bytes sim.Bytes) sim.Time {
	return r.Time(0, 2*bytes)
}
