package nccl

import (
	"fmt"
	"math"
)

// Fabric is a host whose GPUs all meet in one NVSwitch fabric, with equal
// links, as NCCL sees it, and what joins such hosts: a machine whose channels
// have a closed form, for tests.
type Fabric struct {
	Nodes    int
	GPUs     int // of a node
	SM       int
	Links    int // NVLinks of a GPU into the fabric
	Switched bool
	NICs     int      // of a node; of no interest on one node
	NICRate  float64  // GB/s of a NIC: the least of its port and its slot
	NICPath  PathType // from a GPU to its NIC
	// NearNIC is how many GPUs are as near to a NIC as any: with one, a
	// balanced tree, which enters a node at two GPUs, does not fit.
	NearNIC int
}

// search is the closed form of NCCL's search on a [Fabric]. A channel takes its
// rate from a GPU's links where it enters and where it leaves. On one node a
// ring enters and leaves every GPU; between nodes it is a chain from NIC to
// NIC, like a tree's, and its two ends spare a link each.
type search struct {
	f     Fabric
	most  int       // channels
	total float64   // GB/s of a GPU's links, one way
	rates []float64 // to try
}

// Graphs returns the channels that NCCL's search finds on the fabric.
func (f Fabric) Graphs(v Version) (Graphs, error) {
	s := search{
		f: f, most: v.maxChannels() / 2, total: float64(f.Links) * LinkRate(v, f.SM), rates: speeds(v, f.SM, f.Nodes > 1),
	}
	switch {
	case f.GPUs < 2:
		return Graphs{}, fmt.Errorf("search channels as NCCL: %d GPU on a node, expected at least two on one NVSwitch fabric", f.GPUs)
	case f.GPUs > mostLocal:
		return Graphs{}, fmt.Errorf("search channels as NCCL: %d GPUs on a node, expected at most %d: NCCL's kernels hold no more", f.GPUs, mostLocal)
	case f.Nodes > 1 && (f.NICs < 1 || f.NICRate <= 0):
		return Graphs{}, fmt.Errorf("search channels as NCCL: %d nodes without NICs, expected at least one a node", f.Nodes)
	case f.Nodes > 1 && f.SM < 90 && f.NearNIC < 2:
		return Graphs{}, fmt.Errorf("search channels as NCCL: only one GPU is next to each NIC, for which no closed form is known before compute capability 9.0; a graph file of NCCL_GRAPH_DUMP_FILE has the channels")
	}
	var g Graphs
	g.Ring = s.ring()
	if g.Ring.Channels == 0 {
		return g, fmt.Errorf("search channels as NCCL: NICs of %.3g GB/s and %d links a GPU carry no channel at any rate that NCCL tries", f.NICRate, f.Links)
	}
	g.Tree = s.tree(g.Ring.Channels)
	if g.Tree.Channels == 0 {
		return g, fmt.Errorf("search channels as NCCL: no tree of %d channels fits %d links a GPU", g.Ring.Channels, f.Links)
	}
	if f.Switched && f.SM >= 90 {
		g.NVLS = s.nvls()
	}
	for _, at := range []*Graph{&g.Ring, &g.Tree, &g.NVLS} {
		at.TypeIntra, at.TypeInter = NVL, PIX
		if f.Nodes > 1 {
			at.TypeInter = f.NICPath
			if f.NICPath == P2C && v.before(27) {
				at.TypeInter = PHB
			}
		}
	}
	return g, nil
}

// whole rounds a number of channels down, past what decimals leave over.
func whole(x float64) int { return int(math.Floor(x + 1e-9)) }

// of returns how many channels of a rate one GPU's links carry.
func (s *search) of(rate float64) int { return whole(s.total / rate) }

// chains returns how many channels of a rate fit that pass each GPU once and
// end at two of them.
func (s *search) chains(rate float64) int {
	return s.f.GPUs * s.of(rate) / (s.f.GPUs - 1)
}

// overNICs returns how many channels of a rate the NICs carry.
func (s *search) overNICs(rate float64) int { return s.f.NICs * whole(s.f.NICRate/rate) }

// budget is how many steps the search allows itself to make all channels go
// the same way. Derived: 16 GPUs keep to it with 8 channels, not with 16.
const budget = 256

func (s *search) same(channels int) bool {
	return s.f.Nodes == 1 && channels*s.f.GPUs < budget
}

// ring finds the most channels times rate, the highest rate first, and cuts
// fast channels in two.
func (s *search) ring() Graph {
	g := Graph{Pattern: RingPattern}
	for _, rate := range s.rates {
		n := min(s.most, s.of(rate))
		if s.f.Nodes > 1 {
			n = min(s.most, s.chains(rate), s.overNICs(rate))
		}
		if g.Channels > 0 && rate < 0.49*g.Intra {
			break
		}
		if float64(n)*rate > float64(g.Channels)*g.Intra+1e-9 {
			g.Channels, g.Intra = n, rate
		}
	}
	g.Same = s.same(g.Channels)
	if g.Intra >= 25 && !(s.f.SM > 80 && g.Intra < 50 && g.Channels > 4) {
		n := min(2*g.Channels, s.most)
		g.Intra *= float64(g.Channels) / float64(n)
		g.Channels = n
	}
	g.Inter = g.Intra
	return g
}

// tree finds the highest rate at which as many trees fit as there are rings,
// and then how much more the links within a node give.
func (s *search) tree(channels int) Graph {
	g := Graph{Pattern: BalancedTree}
	for i, rate := range s.rates {
		if s.f.Nodes == 1 {
			same := channels <= s.of(rate)
			if !same && !s.mixed(channels, rate) {
				continue
			}
			if !same && s.f.GPUs > 2 && s.f.SM >= 90 {
				g.Pattern = PlainTree // the search tries it when the other takes too long
			}
			g.Channels, g.Intra, g.Inter, g.Same = channels, rate, rate, same && s.same(channels)
			return g
		}
		if channels > s.chains(rate) || channels > s.overNICs(rate) {
			continue
		}
		g.Channels, g.Intra, g.Inter = channels, rate, rate
		for i--; i >= 0 && g.Intra < 2*g.Inter && channels <= s.chains(s.rates[i]); i-- {
			g.Intra = s.rates[i]
		}
		if s.f.NearNIC < 2 {
			g.Pattern = PlainTree
		}
		return g
	}
	return g
}

// mixed reports whether chains in different orders fit on one node. With more
// than two GPUs the search finds no exact fit in its time.
func (s *search) mixed(channels int, rate float64) bool {
	need, have := channels*(s.f.GPUs-1), s.f.GPUs*s.of(rate)
	return need < have || need == have && s.f.GPUs == 2
}

// nvls finds the channels of NVLS, one a head. A head pays a channel twice,
// once for its own part, everybody else once.
func (s *search) nvls() Graph {
	heads := min(s.f.GPUs, s.most)
	if s.f.Nodes > 1 {
		heads = min(heads, s.f.NICs)
	}
	g := Graph{Pattern: NVLSPattern}
	fits := func(rate float64) bool { return s.f.Nodes == 1 || rate <= s.f.NICRate+1e-9 }
	for i, rate := range s.rates {
		if float64(heads+1)*rate > s.total+1e-9 || !fits(rate) {
			continue
		}
		g.Channels, g.Intra, g.Inter = heads, rate, rate
		for i--; i >= 0 && g.Inter < 2*g.Intra && fits(s.rates[i]); i-- {
			g.Inter = s.rates[i]
		}
		break
	}
	return g
}
