package nccl

import (
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// nodePace is Pace within one NVLink domain, from what the kernels do: a
// message is spread over thread blocks, each of which passes it on in chunks
// and slices, one after the other.
//
// Source of all sizes: NVIDIA/nccl 2.30.7, src/enqueue.cc, src/device/*.h.
func (m *Model) nodePace(op workloads.Coll, c Choice, size sim.Bytes, s Setting) collective.Pace {
	k := &costs[GenerationOf(m.SM)]
	return m.kernelPace(k, &host, op, c, size, s)
}

// kernelPace is nodePace with given costs.
func (m *Model) kernelPace(k *Costs, h *hostCosts, op workloads.Coll, c Choice, size sim.Bytes, s Setting) collective.Pace {
	var w work
	switch {
	case c.Algorithm == NVLS:
		w = m.nvlsWork(k, op, c, size)
	case c.Algorithm == Tree, chained(op):
		w = m.chainWork(k, op, c, size)
	default:
		w = m.ringWork(k, op, c, size)
	}
	p := collective.Pace{
		Start: micros(w.start), Step: micros(w.step), NetStep: micros(w.step),
		Slice: micros(w.slice), Slices: w.slices, Fill: micros(w.fill), Spread: micros(w.spread),
		Limit: sim.Rate(w.limit * 1e9),
	}
	switch s.Launch {
	case Threads:
		p.Start += micros(h.Thread)
	case OneProcess:
		p.Floor = micros(k.Launch * float64(m.Ranks))
	case PyTorch:
		p.Start += micros(h.Python)
		p.Floor = micros(h.PyTorch)
	}
	return p
}

// work is what a kernel does beyond the wires, in microseconds and GB/s.
type work struct {
	start, step, slice float64
	slices             int64
	fill               float64 // until all stages of a pipeline work
	spread, limit      float64
}

// Sizes of Simple over NVLink.
const (
	ringChunk  = 2 << 20   // four of the eight steps of a buffer
	chainChunk = 512 << 10 // one step
	leastSlice = 32 << 10
	jitterUnit = 32 << 10
	// leastNVLSChunk is the smallest of the chunk rule.
	leastNVLSChunk = 16 << 10
	llPass         = 512 * 8 // a line of every thread
	// emptyStep is which part of a step of LL a block does not take whose next
	// chunk is empty: parts are no smaller than 16 bytes. Measured on H20 and
	// H100 from 8 to 128 bytes.
	emptyStep = 0.4
)

// ringWork is of a ring in which every rank passes chunks on.
func (m *Model) ringWork(k *Costs, op workloads.Coll, c Choice, size sim.Bytes) work {
	p, n := c.Protocol, float64(m.Ranks)
	hops, channels := steps(op, m.Ranks), float64(c.Channels)
	w := work{start: k.Start[p], step: k.Step[p], limit: channels * k.CTA[p]}
	own := k.Own[2]
	switch op {
	case workloads.AllGather:
		own = k.Own[0]
	case workloads.ReduceScatter:
		own = k.Own[1]
	}
	w.limit /= 1 + own/(n-1)
	part := float64(size) / channels / n // of a rank, in one channel
	if p == LL {
		passes := part / llPass
		full, whole := min(1, passes), llPass/p.Payload()/(k.CTA[p]*1e3)
		// Its first pass is under way while a block waits, one more reads what is
		// sent first and one writes what comes last; a pass that is not full takes
		// as long as others.
		w.step = max(0, w.step+full*(k.Pass-whole))
		w.start += 2 * full * k.Pass
		if passes > 1 && part <= llChunk {
			w.step += (math.Ceil(passes) - passes) * whole
		}
		if op == workloads.AllReduce && size < 16*sim.Bytes(m.Ranks) {
			w.step *= 1 - emptyStep*(1-math.Ceil(float64(size)/16)/n)
		}
	}
	if p != Simple {
		return w
	}
	loops := math.Ceil(part / ringChunk)
	slice := max(min(part, ringChunk)/2, leastSlice)
	w.slice, w.slices = k.Slice, int64(loops*hops*2)
	// The next slice is being copied while the news of this one travels.
	w.step = max(0, w.step-min(slice, part)/(k.CTA[p]*1e3))
	w.spread = spread(k.Jitter, hops*part, channels)
	return w
}

// chainWork is of chains, in which a chunk has arrived whole before it goes on.
func (m *Model) chainWork(k *Costs, op workloads.Coll, c Choice, size sim.Bytes) work {
	p, channels := c.Protocol, float64(c.Channels)
	w := work{start: k.Start[p], step: k.Step[p], limit: channels * k.CTA[p]}
	if p != Simple {
		return w
	}
	part := float64(size) / channels
	w.slice, w.slices = k.Slice, int64(math.Ceil(part/chainChunk))
	w.step += min(part, leastSlice) / (k.CTA[p] * 1e3)
	w.spread = spread(k.Jitter, part, channels)
	return w
}

// nvlsWork is of reduction and multicast in the switch: in each loop a thread
// block copies a chunk for every head to where the switch finds it, heads
// reduce, and all copy the results back. Warps do the three at once, on the
// chunks of consecutive loops; a loop takes as long as its copies, or as its
// fences and flags, whichever is more.
func (m *Model) nvlsWork(k *Costs, op workloads.Coll, c Choice, size sim.Bytes) work {
	channels, heads := float64(c.Channels), float64(m.heads())
	chunk := float64(m.nvlsChunk(c.Channels, size))
	part := float64(size) / channels / heads
	loops := max(1, part/chunk) // the last may have less to do
	carried := 1.               // bytes on the wire for each of the message
	if op == workloads.AllReduce {
		carried += 1 / heads
	}
	// The switch reduces when the last GPU has copied.
	doublings := math.Log2(float64(m.Ranks))
	cta := k.NVLS.CTA / (1 + k.NVLS.Skew*doublings)
	copied := min(chunk, part) * heads * carried / (cta * 1e3)
	w := work{limit: channels * cta}
	turns := k.NVLS.turns(heads * min(1, part/leastNVLSChunk))
	beside := longer(turns, copied) - copied
	// Before the first loop ends nothing is back. More loops than there are
	// stages to fill are waits for the last of many GPUs.
	deep := k.NVLS.Depth * doublings
	fill := min(deep, nvlsStages-1)
	w.start, w.fill = k.NVLS.Start+(deep-fill)*(copied+beside), fill*(copied+beside)
	w.slices = slicesToFill(nvlsStages-1, loops, fill)
	w.slice = beside * loops / float64(w.slices)
	w.spread = spread(k.NVLS.Jitter, part*heads*carried, channels)
	return w
}

// nvlsStages are what a byte passes: into the switch, out of it as a sum, back
// into it, and out to all.
const nvlsStages = 4

// slicesToFill is into how many slices rounds are cut so that a slice passes
// later stages in what the pipeline takes to fill, which is fill rounds: while
// it fills, stages have for themselves what they share later.
func slicesToFill(later, rounds, fill float64) int64 {
	return int64(math.Ceil(max(rounds, 1) * max(1, later/max(fill, 0.1))))
}

// heads is how many GPUs reduce a part each.
func (m *Model) heads() int { return max(m.NVLS.Channels, 1) }

// nvlsChunk is what a thread block hands to the switch at once for one head.
func (m *Model) nvlsChunk(channels int, size sim.Bytes) sim.Bytes {
	chunk := sim.Bytes(128 << 10)
	at := sim.Bytes(channels * m.heads())
	first := sim.Bytes(64)
	if m.SM >= 100 && m.Version.before(28) {
		// Measured on 8 B200 with 2.26 and 2.27 and on 72 with 2.26: the step is
		// at four times the size where later releases have it.
		first = 256
	}
	for _, rule := range []struct{ times, chunk sim.Bytes }{{first, 64 << 10}, {8, 32 << 10}, {2, 16 << 10}} {
		if size < rule.times*at*chunk {
			chunk = rule.chunk
		}
	}
	return chunk
}

// spread is how much later than their mean the last of so many thread blocks
// ends, when the time of every unit of bytes varies by sigma at random: the
// expected largest of normal deviates.
func spread(sigma, bytes, blocks float64) float64 {
	if blocks < 2 {
		return 0
	}
	return sigma * math.Sqrt(2*math.Log(blocks)*bytes/jitterUnit)
}

// longer is the longer of two times that vary, so that it is more than either
// where they are about equal.
func longer(a, b float64) float64 { return math.Pow(math.Pow(a, 1.5)+math.Pow(b, 1.5), 1/1.5) }

// micros turns microseconds into time.
func micros(us float64) sim.Time { return sim.Time(math.Round(us * 1e6)) }
