package nccl

import (
	"fmt"
	"math/bits"

	"github.com/weft-sim/weft/workloads"
)

// Pattern is the shape of a graph's channels.
type Pattern uint8

// The patterns, by NCCL's numbers.
const (
	BalancedTree  Pattern = 1 // parent and children on two GPUs
	SplitTree     Pattern = 2
	PlainTree     Pattern = 3 // all on the first GPU, which costs some of the rate
	RingPattern   Pattern = 4
	NVLSPattern   Pattern = 5
	DirectPattern Pattern = 6
)

// Graph is what NCCL's search finds for one algorithm. The zero Graph is none.
type Graph struct {
	Channels     int     // of the search: half of those that run, usually
	Intra, Inter float64 // GB/s of one channel, within and between nodes
	TypeIntra    PathType
	TypeInter    PathType
	Pattern      Pattern
	Same         bool // all channels go the same way
}

// Graphs are the results that the model needs.
type Graphs struct {
	Ring, Tree, NVLS Graph
	// Chain and Direct are those of in-network reduction, which is off unless
	// NCCL_COLLNET_ENABLE=1.
	Chain, Direct Graph
}

// Summary is what the model knows of a job's machine.
type Summary struct {
	Ranks, Nodes int // a rack of one NVLink domain is one node
	SM           int // compute capability times ten, the least of all GPUs
	CPU          CPU
	Graphs
	NICLatency float64 // us, as the network plugin reports it; the built-in ones say 0
	// AllPeers says that GPUs of a node reach each other however far they are, as
	// where NCCL_P2P_LEVEL says so.
	AllPeers bool
	// Uneven says that some nodes have more members than others, so that heads of
	// one place do not meet on all of them.
	Uneven bool
	// Translated says that an IOMMU translates what GPUs write and read in host
	// memory, as in virtual machines. NCCL chooses without asking.
	Translated bool
}

// Model predicts as NCCL does, for one job.
type Model struct {
	Version Version
	Summary
	Env   Env
	Tuner Tuner // rules that go before NCCL's own choice; none at first
	c     *constants
}

// New returns the model of a job.
func New(v Version, s Summary, env Env) (*Model, error) {
	switch {
	case s.Ranks < 2 || s.Nodes < 1 || s.Ranks < s.Nodes:
		return nil, fmt.Errorf("model NCCL: %d ranks on %d nodes, expected at least two ranks and one a node", s.Ranks, s.Nodes)
	case s.Ring.Channels < 1 || s.Tree.Channels < 1:
		return nil, fmt.Errorf("model NCCL: %d channels of the ring graph and %d of the tree, expected at least one of each", s.Ring.Channels, s.Tree.Channels)
	case s.SM >= 100 && v.before(25):
		return nil, fmt.Errorf("model NCCL: version %v on a GPU of compute capability %d.%d, which 2.25 is the first to know", v, s.SM/10, s.SM%10)
	}
	return &Model{Version: v, Summary: s, Env: env, c: v.constants()}, nil
}

// generation is the row of caps for the GPUs.
func (m *Model) generation() int {
	switch {
	case m.SM < 80:
		return 0
	case m.SM < 90:
		return 1
	case m.SM < 100 || m.Version.before(25):
		return 2
	}
	return 3
}

// scale is the column of caps.
func (m *Model) scale() int { return min(m.Nodes, 3) - 1 }

// perNode is ranks per node; NCCL takes the mean.
func (m *Model) perNode() float64 { return float64(m.Ranks) / float64(m.Nodes) }

// log2Nodes rounds down.
func (m *Model) log2Nodes() float64 { return float64(bits.Len(uint(m.Nodes)) - 1) }

// llMax is the most of LL. Between nodes it goes by the make of the CPU,
// whatever the GPUs are.
func (m *Model) llMax() float64 {
	row := m.generation()
	if m.Nodes > 1 {
		row = 0
		if m.CPU == AMD {
			row = 1
		}
	}
	return m.c.llMax[row][m.scale()]
}

// graph returns the channels that an algorithm runs on.
func (m *Model) graph(a Algorithm) Graph {
	switch a {
	case Ring:
		return m.Ring
	case NVLS, NVLSTree:
		return m.NVLS
	case CollNetDirect:
		return m.Direct
	case CollNetChain:
		return m.Chain
	}
	return m.Tree
}

// bandwidth returns GB/s of the message, before what its size takes away.
func (m *Model) bandwidth(op workloads.Coll, a Algorithm, p Protocol) float64 {
	g := m.graph(a)
	n, per := float64(m.Ranks), m.perNode()
	channels := float64(g.Channels)
	b := g.Intra
	if m.Nodes > 2 && a != CollNetDirect && a != CollNetChain {
		b = g.Inter
	}
	if a == NVLS || a == NVLSTree {
		b = m.nvls(op, a)
	}
	bus := channels * b
	gen, scale := m.generation(), m.scale()
	switch {
	case a == Ring && p == LL:
		part := 0.5
		if m.Version.before(21) {
			part = 1. / 4
			if m.Nodes == 1 && op != workloads.AllReduce && op != workloads.Reduce {
				part = 1. / 3
			}
		}
		bus = min(m.llMax(), part*bus)
	case a == Ring && p == LL128:
		part := 0.92
		if m.Version.before(23) && per < 2 {
			part = 0.7
		}
		bus = min(part*bus, channels*m.c.ringLL128[gen][scale])
	case a == Tree:
		bus = min(0.92*bus, channels*m.c.tree[gen][scale])
		switch p {
		case LL:
			bus = min(bus/3.8, m.llMax())
		case LL128:
			part := 7. / 9
			if m.Nodes > 1 {
				part = 15. / 16
			}
			bus = min(bus*part, channels*m.c.treeLL128[gen][scale])
		}
		if g.Pattern == PlainTree {
			bus *= 0.85
		}
	case a == PAT:
		if m.Version.before(24) {
			bus *= 0.85
		} else {
			bus *= 0.75
		}
	}
	if a == CollNetDirect {
		if sharded(op) {
			return per * min(g.Intra, 0.9*g.Inter)
		}
		shared := per / channels // GPUs that go by one NIC
		bus /= shared - (shared-1)/2
		if m.SM >= 90 {
			bus *= 0.85
		}
	}
	// From here on bytes of the message, not of the bus.
	switch {
	case a == Tree || a == CollNetDirect || a == CollNetChain:
		return bus * 0.5
	case a == Ring:
		return bus * n / steps(op, m.Ranks)
	case a == PAT:
		return bus
	case m.Version.before(27), m.Version.before(28) && op == workloads.AllReduce:
		return bus * 5 / 6
	case op == workloads.AllReduce:
		return bus * n / steps(op, m.Ranks)
	}
	return bus
}

// nvls returns GB/s of one channel of the NVLS graph.
func (m *Model) nvls(op workloads.Coll, a Algorithm) float64 {
	g, per := m.NVLS, m.perNode()
	if m.Version.before(28) {
		inter := g.Inter
		if a == NVLSTree && m.Nodes > 2 {
			inter /= 2
		}
		if !m.Version.before(27) && sharded(op) {
			return min(g.Intra*(per-1)/per, 0.9*inter)
		}
		return min(g.Intra, inter)
	}
	reached := 0.85 // of a channel, by generation
	if m.generation() == 3 {
		reached = 0.74
	}
	heads := float64(g.Channels)
	intra := g.Intra * reached * (heads - 1) / heads
	if op == workloads.AllReduce {
		intra *= 2
	} else {
		intra *= (per - 1) / per
	}
	inter := g.Inter
	if a == NVLSTree && m.Nodes <= 2 {
		inter *= 2
	}
	b := min(intra, inter)
	if a == NVLSTree {
		b = min(b, m.c.nvlsTree[m.generation()][m.scale()])
	}
	return b
}

// latency returns microseconds of a message without bytes.
func (m *Model) latency(op workloads.Coll, a Algorithm, p Protocol) float64 {
	within := 1 // PCIe
	if m.graph(a).TypeIntra == NVL {
		within = 0
	}
	const network = 2
	base, intra, inter := m.c.base[a][p], m.c.hw[within][a][p], m.c.hw[network][a][p]
	alone := m.Ranks == m.Nodes
	if alone && !m.Version.before(23) && a == Ring {
		inter = m.c.hw[network][Tree][p]
	}
	inter += m.NICLatency
	if p == Simple {
		inter += m.NICLatency
	}
	nodes := float64(m.Nodes)
	switch a {
	case Ring:
		if chained(op) {
			return base + m.chain(p, within)
		}
		hops, between := steps(op, m.Ranks), 0.
		overhead := 0.
		if m.Nodes > 1 {
			overhead = m.overhead(p)
			between = nodes - 1
			if op == workloads.AllReduce {
				between = 2 * (nodes - 1)
				if m.Version.before(23) {
					between = 2 * nodes
				}
			}
		}
		return base + (hops-between)*max(intra, overhead) + between*inter
	case Tree:
		return base + 2*((float64(m.Ranks/m.Nodes)-1)*intra+m.log2Nodes()*inter)
	case NVLS:
		if m.Nodes > 1 {
			intra += inter
		}
		return base + intra
	case NVLSTree:
		return base + intra + 2*m.log2Nodes()*inter
	case CollNetDirect:
		per := m.perNode()
		return base + 2*(min(1, per-1)*intra+0.4*(per-1)) + inter
	case CollNetChain:
		return base + 2*(m.perNode()-1)*intra + inter
	}
	return base + m.log2Nodes()*inter/3.5 + 2.8*float64(m.Ranks) // PAT
}

// chain returns the latency of a broadcast or reduce beyond its base.
func (m *Model) chain(p Protocol, within int) float64 {
	class := within
	if m.Nodes > 1 {
		class = 2
	}
	if m.Ring.Same {
		return m.c.hw[class][Ring][p]
	}
	row := Ring
	if p == Simple {
		row = Tree
	}
	return float64(m.Ranks) * m.c.hw[class][row][p]
}

// overhead returns what a step costs as soon as there is a network.
func (m *Model) overhead(p Protocol) float64 {
	us := 1.
	switch {
	case m.Env.NetOverhead >= 0:
		us = m.Env.NetOverhead / 1000
	case m.CPU == AMD:
		us = 2
	}
	if p == Simple {
		us *= 3
	}
	return us
}
