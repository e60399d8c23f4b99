package msccl

import (
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// Costs are what the thread blocks of an algorithm cost beyond the wires. The
// zero value costs nothing.
type Costs struct {
	Start  sim.Time // from the call to the first step of each thread block
	Spread sim.Time // what the slowest thread block takes beyond the others
	Floor  sim.Time // the host's launches: the whole takes at least this
	// Message is the pace of a message with so many bytes of data from one thread
	// block to another; nil costs nothing.
	Message func(sim.Bytes) collective.Pace
	Local   sim.Rate // what one thread block copies or adds up within memory, of results; 0 costs nothing
	Memory  sim.Rate // of a GPU, reading and writing together, for all its blocks; 0 is no limit
}

// Pacer says what NCCL's kernels cost, such as [nccl.Model.Pace] for a setting.
type Pacer func(op workloads.Coll, c nccl.Choice, size sim.Bytes) collective.Pace

// CostsOf returns the costs of a message of size bytes where MSCCL's kernels
// cost what NCCL's do in a ring of as many thread blocks, of which they are
// made: the same primitives pass on the same units. Memory is what the GPU's
// memory reads and writes in a second.
//
// That the two cost the same is an assumption. It is NCCL's calibration that
// carries the figures, and nothing here was fitted.
func (a *Algorithm) CostsOf(pace Pacer, size sim.Bytes, memory sim.Rate) Costs {
	op := a.Coll
	if a.Custom || op == workloads.AllToAll { // no ring
		op = workloads.AllGather
	}
	_, blocks := a.Blocks()
	ring := nccl.Choice{Estimate: nccl.Estimate{Algorithm: nccl.Ring, Protocol: a.Protocol}, Channels: max(blocks, 1)}
	all := sim.Bytes(ring.Channels * len(a.GPUs)) // parts of a ring
	block := pace(op, ring, all*carried[a.Protocol]).Limit / sim.Rate(ring.Channels)
	whole := pace(op, ring, size)
	c := Costs{Start: whole.Start, Spread: whole.Spread, Floor: whole.Floor, Memory: memory}
	simple := a.Protocol == nccl.Simple
	known := map[sim.Bytes]collective.Pace{}
	c.Message = func(b sim.Bytes) collective.Pace {
		p, ok := known[b]
		if ok {
			return p
		}
		part, slices := b, int64(1)
		switch least := rounds[nccl.Simple] / 2; {
		case simple && b > least: // one of two slices of a chunk
			part = min(2*b, carried[nccl.Simple])
		case simple: // all of a chunk, whose second slice is empty
			slices = 2
		}
		like := pace(op, ring, part*all)
		p = collective.Pace{Step: like.Step, NetStep: like.NetStep, Limit: block}
		if simple {
			p.Slice, p.Slices = like.Slice, slices
		}
		known[b] = p
		return p
	}
	copies := ring // the primitives of Simple also copy within memory
	copies.Protocol = nccl.Simple
	c.Local = pace(op, copies, all*carried[nccl.Simple]).Limit / sim.Rate(ring.Channels)
	return c
}

// LocalTime is the time of a copy or an addition of b bytes by one of so many
// thread blocks: what the block moves, or its part of the memory, of which
// touched times the bytes are read or written.
func (c *Costs) LocalTime(b sim.Bytes, touched, blocks int) sim.Time {
	var t float64
	if c.Local > 0 {
		t = float64(b) / float64(c.Local)
	}
	if c.Memory > 0 {
		t = max(t, float64(b)*float64(touched*blocks)/float64(c.Memory))
	}
	return sim.Time(math.Ceil(t * float64(sim.Second)))
}
