package nccl

import (
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// hostPace is Pace within one host whose GPUs meet over PCIe: directly, or by
// way of host memory, where the sender writes and the receiver reads.
func (m *Model) hostPace(op workloads.Coll, c Choice, size sim.Bytes, s Setting) collective.Pace {
	return m.hostPaceAt(&hostCostsOf[GenerationOf(m.SM)], op, c, size, s)
}

// staged reports that NCCL passes bytes by way of host memory. Unless the model
// knows better, that is by its default level:
// GPUs reach each other through PCIe switches alone, and two of them on
// AMD's processors everywhere.
//
// Source: NVIDIA/nccl, src/graph/paths.cc (ncclTopoCheckP2p), 2.30.7.
func (m *Model) staged() bool {
	return m.Env.NoP2P || !m.AllPeers && m.Ring.TypeIntra > PXB && !(m.CPU == AMD && m.Ranks <= 2)
}

// halved is the part of its rate that a thread block keeps with half of its
// threads, which is what NCCL gives it with Simple where it plans with one slow
// PCIe link.
//
// Source: derived from 8 RTX PRO 6000 on two sockets of AMD, 21.6 GB/s, where
// NCCL plans with next to nothing (local-inference-lab/rtx6kpro e2c2b9577c), and
// the same cards where it does not, 25 (ai-dynamo/aiconfigurator 095f58a51c4c).
const halved = 0.86

// threadsOf is the part of its rate that a thread block has with Simple.
func (m *Model) threadsOf() float64 {
	if float64(m.Ring.Channels)*m.Ring.Intra <= 12 {
		return halved
	}
	return 1
}

// hostLimit is GB/s that a rank's thread blocks send, however many they are.
func (m *Model) hostLimit(h *HostCosts, p Protocol) float64 {
	switch {
	case !m.staged():
		return h.Direct
	case m.Translated:
		return min(h.Staged, translated[p].four/math.Pow(float64(min(m.Ranks, 8))/4, translated[p].power))
	}
	return h.Staged
}

// translated is GB/s of one of four ranks, and by which power of their number it
// falls, where an IOMMU translates what GPUs write and read in host memory. More
// than eight were not measured and are taken as eight.
//
// Source: derived from 8 L40S (ai-dynamo/aiconfigurator 095f58a51c4c). With
// Simple four ranks have 3.6 to 5.2 GB/s each and eight 1.4 to 2.2, at all sizes
// and whatever the operation, and two RTX PRO 6000 of a host that is as slow 15;
// with LL, whose buffers are an eighth, 8 to 10 and 1.5 to 4. Presumed: the
// buffers of all ranks need more translations than are kept at hand.
var translated = [protocols]struct{ four, power float64 }{LL: {9, 2.2}, LL128: {9, 2.2}, Simple: {4.9, 1.45}}

// lineBytes is what a thread block passes on at once with LL: 512 threads, a
// line of 8 bytes of data each.
const lineBytes = 4 << 10

// hostPaceAt is hostPace with given costs.
func (m *Model) hostPaceAt(h *HostCosts, op workloads.Coll, c Choice, size sim.Bytes, s Setting) collective.Pace {
	n, channels, p := float64(m.Ranks), float64(c.Channels), c.Protocol
	step := h.Step[p]
	if m.staged() {
		step = h.StagedStep[p]
	}
	limit := min(channels*h.CTA[p], m.hostLimit(h, p))
	hops, part := steps(op, m.Ranks), float64(size)/channels/n
	switch {
	case c.Algorithm == Tree:
		hops, part = 2*(n-1), float64(size)/channels
	case chained(op):
		hops, part = n-1, float64(size)/channels
	}
	var slice, spreads float64
	slices := int64(1)
	switch {
	case p == LL:
		// Lines go on as they come: while a thread block copies the lines of a
		// part, the next step's are under way.
		lines := math.Ceil(part / lineBytes)
		copied := min(part, lines*lineBytes) * 2 / (h.CTA[LL] * 1e3)
		step = max(step/4, step-copied)
	case c.Algorithm == Tree || chained(op):
		if c.Algorithm == Tree && m.Ranks > 2 {
			limit /= 2 // inside a chain both up and down
		}
		limit = min(limit, channels*h.CTA[p]*m.threadsOf())
		// The next GPU follows closely: the time of a reduce grows by that of its
		// bytes alone from 128 KiB on (2 RTX 2080 Ti), not by a whole chunk.
		step += min(part, leastSlice) / (limit / channels * 1e3)
		spreads = spread(h.Jitter, part, channels)
	default:
		limit = min(limit, channels*h.CTA[p]*m.threadsOf())
		slice = part / (h.Own * 1e3)
		if op == workloads.AllReduce {
			slice /= 2 // reduced on the way, and copied with the last step
		}
		spreads = spread(h.Jitter, hops*part, channels)
	}
	pace := collective.Pace{
		Start: micros(h.Start[p]), Step: micros(step), NetStep: micros(step), Slice: micros(slice), Slices: slices,
		Spread: micros(spreads), Limit: sim.Rate(limit * 1e9),
	}
	switch s.Launch {
	case Threads:
		pace.Start += micros(host.Thread)
	case OneProcess:
		pace.Floor = micros(host.OneProcess * n)
	case PyTorch:
		pace.Floor = micros(host.PyTorch)
	}
	return pace
}
