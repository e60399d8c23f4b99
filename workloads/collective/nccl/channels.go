package nccl

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// maxChannels is the most that NCCL runs.
func (v Version) maxChannels() int {
	if v.before(25) {
		return 32
	}
	return 64
}

// Channels returns how many channels rings and trees have: two for each of the
// search's, within what the environment asks for.
func (m *Model) Channels() int {
	most := m.Version.maxChannels()
	n := min(2*min(m.Ring.Channels, m.Tree.Channels), most)
	if m.SM >= 90 && m.Nodes > 1 && m.Ring.Intra > 45 && n < 16 {
		n = min(2*n, most)
	}
	if m.collNet() && m.Chain.Intra > m.Chain.Inter && m.Ranks > m.Nodes {
		n = min(n+n/2, most)
	}
	return m.Env.clamp(n, most)
}

// nvlsChannels returns how many NVLS has, which do not follow from its graph.
func (m *Model) nvlsChannels() int {
	n := 16
	if m.SM >= 100 {
		n = 24
		if m.Nodes > 1 {
			n = 32
		}
	}
	if m.Env.NVLSChannels > 0 {
		n = m.Env.NVLSChannels
	}
	return m.Env.clamp(n, m.Version.maxChannels())
}

// mostChannels is how many channels an algorithm has.
func (m *Model) mostChannels(a Algorithm) int {
	if a == NVLS || a == NVLSTree {
		return m.nvlsChannels()
	}
	return m.Channels()
}

// RunChannels returns over how many channels a message is spread: few bytes do
// not keep all of them busy.
func (m *Model) RunChannels(op workloads.Coll, e Estimate, size sim.Bytes) int {
	if e.Algorithm == NVLS || e.Algorithm == NVLSTree {
		return m.nvlsChannels()
	}
	n := m.Channels()
	threads, least := m.threads(e.Algorithm, e.Protocol), m.least(e.Algorithm, e.Protocol)
	for n > 1 && size < sim.Bytes(n)*threads*least {
		n--
	}
	return n
}

// threads returns how many threads a channel has.
//
// Source: NVIDIA/nccl 2.30.7, src/graph/tuning.cc.
func (m *Model) threads(a Algorithm, p Protocol) sim.Bytes {
	threads, asked := 512, m.Env.Threads
	switch {
	case a == CollNetDirect || a == CollNetChain:
		return 640
	case p == LL128:
		threads, asked = 640, m.Env.LL128Threads
	case a == Ring && p == Simple && float64(m.Ring.Channels)*m.Ring.Intra <= 12:
		threads = 256 // one slow PCIe link
	}
	if asked > 0 {
		threads = asked
	}
	return sim.Bytes(threads)
}

// least returns for how many bytes a thread is worth waking.
func (m *Model) least(a Algorithm, p Protocol) sim.Bytes {
	if a == CollNetDirect || a == CollNetChain {
		return 512
	}
	if t := m.Env.Thresholds; t != nil && (a == Tree || a == Ring) {
		row := 0
		if a == Ring {
			row = 1
		}
		if n := t[row][p]; n >= 0 {
			return sim.Bytes(n)
		}
	}
	switch {
	case p == Simple:
		return 64
	case p == LL && a == Ring:
		return sim.Bytes(8 * m.Ranks)
	}
	return 8
}
