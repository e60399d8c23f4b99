package msccl

import (
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// Costs are what the thread blocks of an algorithm cost beyond the wires. The
// zero value costs nothing.
type Costs struct {
	Start   sim.Time // from the call to the first step of each thread block
	Step    sim.Time // a receiver's notice of a message, over the wires of a node
	NetStep sim.Time // the same over the network
	Slice   sim.Time // the fences and flags of a slice, with Simple
	Spread  sim.Time // what the slowest thread block takes beyond the others
	Floor   sim.Time // the host's launches: the whole takes at least this
	Block   sim.Rate // what one thread block sends, in bytes on the wire; 0 is no limit
	Local   sim.Rate // what one thread block copies or adds up within memory, of results; 0 costs nothing
	Memory  sim.Rate // of a GPU, reading and writing together, for all its blocks; 0 is no limit
}

// CostsOf returns the costs of a message of size bytes where MSCCL's kernels
// cost what NCCL's do in a ring of as many thread blocks, of which they are
// made: the same primitives pass on the same units. Model is NCCL's view of the
// ranks, and memory what the GPU's memory reads and writes in a second.
//
// That the two cost the same is an assumption. It is NCCL's calibration that
// carries the figures, and nothing here was fitted.
func (a *Algorithm) CostsOf(m *nccl.Model, s nccl.Setting, size sim.Bytes, memory sim.Rate) Costs {
	op := a.Coll
	if a.Custom || op == workloads.AllToAll { // no ring
		op = workloads.AllGather
	}
	_, blocks := a.Blocks()
	ring := nccl.Choice{Estimate: nccl.Estimate{Algorithm: nccl.Ring, Protocol: a.Protocol}, Channels: max(blocks, 1)}
	full := sim.Bytes(ring.Channels*len(a.GPUs)) * carried[a.Protocol] // a chunk in each block, for each rank
	small, whole, large := m.Pace(op, ring, 1, s), m.Pace(op, ring, size, s), m.Pace(op, ring, full, s)
	c := Costs{
		Start: small.Start, Step: small.Step, NetStep: small.NetStep, Slice: small.Slice, Spread: whole.Spread, Floor: small.Floor,
		Block: large.Limit / sim.Rate(ring.Channels), Memory: memory,
	}
	ring.Protocol = nccl.Simple
	c.Local = m.Pace(op, ring, sim.Bytes(ring.Channels*len(a.GPUs))*carried[nccl.Simple], s).Limit / sim.Rate(ring.Channels)
	return c
}

// local is the time of a copy or an addition of b bytes by one of so many
// thread blocks: what the block moves, or its part of the memory, of which
// touched times the bytes are read or written.
func (c *Costs) local(b sim.Bytes, touched, blocks int) sim.Time {
	var t float64
	if c.Local > 0 {
		t = float64(b) / float64(c.Local)
	}
	if c.Memory > 0 {
		t = max(t, float64(b)*float64(touched*blocks)/float64(c.Memory))
	}
	return sim.Time(math.Ceil(t * float64(sim.Second)))
}
