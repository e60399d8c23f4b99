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

// RunChannels returns over how many channels a message is spread: few bytes do
// not keep all of them busy.
func (m *Model) RunChannels(op workloads.Coll, e Estimate, size sim.Bytes) int {
	if e.Algorithm == NVLS || e.Algorithm == NVLSTree {
		return m.nvlsChannels()
	}
	n := m.Channels()
	threads, least := sim.Bytes(512), sim.Bytes(64)
	switch e.Protocol {
	case LL:
		least = 8
		if e.Algorithm == Ring {
			least *= sim.Bytes(m.Ranks)
		}
	case LL128:
		threads, least = 640, 8
	}
	if e.Algorithm == Ring && e.Protocol == Simple && float64(m.Ring.Channels)*m.Ring.Intra <= 12 {
		threads = 256 // one slow PCIe link
	}
	for n > 1 && size < sim.Bytes(n)*threads*least {
		n--
	}
	return n
}
