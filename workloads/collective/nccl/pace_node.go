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
		Slice: micros(w.slice), Slices: w.slices, Spread: micros(w.spread),
		Limit: sim.Rate(w.limit * 1e9),
	}
	switch s.Launch {
	case Threads:
		p.Start += micros(h.Thread)
	case OneProcess:
		p.Floor = micros(h.OneProcess * float64(m.Ranks))
	case PyTorch:
		p.Floor = micros(h.PyTorch)
	}
	return p
}

// work is what a kernel does beyond the wires, in microseconds and GB/s.
type work struct {
	start, step, slice float64
	slices             int64
	spread, limit      float64
}

// Sizes of Simple over NVLink.
const (
	ringChunk  = 2 << 20   // four of the eight steps of a buffer
	chainChunk = 512 << 10 // one step
	leastSlice = 32 << 10
	jitterUnit = 32 << 10
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
	if p != Simple {
		return w
	}
	part := float64(size) / channels / n // of a rank, in one channel
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
	chunk := min(part, chainChunk)
	w.slice, w.slices = k.Slice, int64(math.Ceil(part/chainChunk))
	w.step += chunk / (k.CTA[p] * 1e3)
	w.spread = spread(k.Jitter, part, channels)
	return w
}

// nvlsWork is of reduction and multicast in the switch: a thread block copies
// the chunk of each head to where the switch finds it, reduces and copies back,
// with its warps at work on the chunks before and behind.
func (m *Model) nvlsWork(k *Costs, op workloads.Coll, c Choice, size sim.Bytes) work {
	channels, heads := float64(c.Channels), float64(max(m.NVLS.Channels, 1))
	chunk := float64(m.nvlsChunk(c.Channels, size))
	part := float64(size) / channels / heads
	loops := max(1, math.Ceil(part/chunk))
	chunk = min(chunk, part)
	carried := 1. // bytes on the wire for each of the message
	if op == workloads.AllReduce {
		carried += 1 / heads
	}
	w := work{slice: k.NVLS.Slice, slices: int64((loops + 1) * heads), limit: channels * k.NVLS.CTA}
	// Of the first loop nothing is on the wire until it has been copied.
	w.start = k.NVLS.Start + heads*chunk*carried/(k.NVLS.CTA*1e3)
	w.spread = spread(k.NVLS.Jitter, part*heads*carried, channels)
	return w
}

// nvlsChunk is what a thread block hands to the switch at once for one head.
func (m *Model) nvlsChunk(channels int, size sim.Bytes) sim.Bytes {
	chunk := sim.Bytes(128 << 10)
	at := sim.Bytes(channels * max(m.NVLS.Channels, 1))
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

// micros turns microseconds into time.
func micros(us float64) sim.Time { return sim.Time(math.Round(us * 1e6)) }
