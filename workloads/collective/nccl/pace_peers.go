package nccl

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// Peers says how the ranks of a communicator reach one another, as NCCL's send
// and receive see it.
type Peers struct {
	// Links are the NVLinks between two GPUs of a node, of the pair that has
	// the fewest: all of a GPU's on NVSwitch. 0 is a pair without.
	Links int
	// NICs are those that a GPU sends with, and NICRate is GB/s of them
	// together, one way: its share where several GPUs use one.
	NICs    int
	NICRate float64
}

func (p Peers) validate(m *Model) error {
	switch {
	case p.Links < 0 || p.NICs < 0 || p.NICRate < 0 || math.IsNaN(p.NICRate) || math.IsInf(p.NICRate, 0):
		return fmt.Errorf("pace sends as NCCL: %d NVLinks, %d NICs and %g GB/s: want zero or more", p.Links, p.NICs, p.NICRate)
	case m.Nodes > 1 && (p.NICs == 0 || p.NICRate == 0):
		return fmt.Errorf("pace sends as NCCL: %d nodes, and %d NICs of %g GB/s a GPU: want one NIC with a rate at least", m.Nodes, p.NICs, p.NICRate)
	}
	return nil
}

// mostAtOnce is how many sends and receives one thread block serves at once.
//
// Source: NVIDIA/nccl, src/include/device.h (NCCL_MAX_DEV_WORK_P2P_PER_BATCH), 2.30.7.
const mostAtOnce = 8

// PeerChannels returns over how many channels NCCL runs all sends and receives
// of a communicator, and over how many at most those of one peer. They are
// thread blocks.
//
// Source: NVIDIA/nccl, src/graph/paths.cc (ncclTopoComputeP2pChannels), tags
// 2.27.7 and 2.30.7; see nccl-tuning.yaml for the rows that it is held against.
func (m *Model) PeerChannels(p Peers) (all, each int) {
	all = upToPower(m.Channels())
	each = all
	if m.Ranks > m.Nodes {
		within := 2 // PCIe
		if p.Links > 0 {
			within = 2 * p.Links
		}
		each = min(each, upToPower(within))
	}
	if m.Nodes > 1 {
		each = min(each, upToPower(m.channelsOverNet(all, p)))
		// All peers together get by with the channels there are.
		for each > 1 && each*((m.Ranks+mostAtOnce-1)/mostAtOnce) > all {
			each /= 2
		}
	}
	return all, each
}

// channelsOverNet is how many NCCL wants to a peer on another node.
func (m *Model) channelsOverNet(all int, p Peers) int {
	if m.Version.Compare(Version{2, 29, 7}) >= 0 {
		const rate = 14 // GB/s that a channel is trusted with, NCCL_P2P_PER_CHANNEL_NET_BW
		return max(p.NICs, int(math.Ceil(p.NICRate/rate-1e-9)))
	}
	n := 2
	for n > 1 && n*m.Ranks > 4*all {
		n /= 2
	}
	return max(n, p.NICs)
}

// upToPower rounds up to a power of two.
func upToPower(n int) int {
	if n < 2 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}

// Sizes of sends and receives.
//
// Source: NVIDIA/nccl, src/enqueue.cc and src/init.cc, 2.30.7.
const (
	peerChunkNVLink = 512 * sim.KiB
	peerChunk       = 128 * sim.KiB // over PCIe and between nodes
	peerChunkARM    = 256 * sim.KiB // between nodes of Grace and Blackwell, since 2.29.7
	peerLL          = 16 * sim.KiB  // of a part, up to which LL is used within a node
)

// chunkOf is what is sent at once.
func (m *Model) chunkOf(p Peers) sim.Bytes {
	switch {
	case m.Nodes == 1 && p.Links > 0:
		return peerChunkNVLink
	case m.Nodes > 1 && m.CPU == ARM && m.SM >= 100 && m.Version.Compare(Version{2, 29, 7}) >= 0:
		return peerChunkARM
	}
	return peerChunk
}

// PeerParts returns over how many channels NCCL spreads a message to one peer.
// It begins with the peer's part of all channels, or fewer if there would be
// little for each, and doubles them while there is much.
func (m *Model) PeerParts(bytes sim.Bytes, p Peers) int {
	all, each := m.PeerChannels(p)
	chunk := m.chunkOf(p)
	least, most := chunk/8, 32*chunk
	if m.Nodes > 1 {
		least, most = chunk/2, chunk
	}
	n := each
	for n > 1 && n*m.Ranks > all {
		n /= 2
	}
	n = max(1, min(n, int((bytes+least-1)/least)))
	for n < each && bytes > sim.Bytes(n)*most {
		n *= 2
	}
	return min(n, each)
}

// PeerPace returns how NCCL runs an operation that it makes of sends and
// receives: all_to_all, all_to_all_v, gather and scatter. part is the size of
// the message from one rank to another; where they differ, the largest counts.
func (m *Model) PeerPace(op workloads.Coll, part sim.Bytes, p Peers, s Setting) (collective.Choice, error) {
	switch op {
	case workloads.AllToAll, workloads.AllToAllV, workloads.Gather, workloads.Scatter:
	default:
		return collective.Choice{}, fmt.Errorf("pace sends as NCCL: %v is not made of sends and receives; want alltoall, alltoallv, gather or scatter", op)
	}
	e := exchange{part: part, within: m.Ranks/m.Nodes - 1, across: m.Ranks - m.Ranks/m.Nodes}
	e.own = op == workloads.AllToAll || op == workloads.AllToAllV
	return m.exchange(e, p, s)
}

// SendPace returns how NCCL runs one message to a peer, between nodes or within
// one; both says that the sender receives another in the same group of calls.
// The Limit of its Pace is that of the message.
func (m *Model) SendPace(bytes sim.Bytes, between, both bool, p Peers, s Setting) (collective.Choice, error) {
	e := exchange{part: bytes, within: 1, oneWay: !both}
	if between {
		e.within, e.across = 0, 1
		if m.Nodes < 2 {
			return collective.Choice{}, fmt.Errorf("pace sends as NCCL: a message between nodes, and there is one node; want two at least")
		}
	}
	return m.exchange(e, p, s)
}

// exchange is what a rank sends and receives in one group of calls.
type exchange struct {
	part           sim.Bytes // to each peer
	within, across int       // peers on its node, and on others
	oneWay         bool      // it does not receive
	own            bool      // it copies a part of its own
}

// exchange returns how an exchange runs.
func (m *Model) exchange(e exchange, p Peers, s Setting) (collective.Choice, error) {
	if err := p.validate(m); err != nil {
		return collective.Choice{}, err
	}
	if e.part < 0 {
		return collective.Choice{}, fmt.Errorf("pace sends as NCCL: a message of %d bytes: want zero or more", e.part)
	}
	return m.exchangeAt(&peerCosts[GenerationOf(m.SM)], &hostCostsOf[GenerationOf(m.SM)], e, p, s), nil
}

// exchangeAt is exchange with given costs. A message is cut in parts, one a
// channel; the sender copies a part chunk by chunk into a buffer, and the
// receiver copies each out when it is whole, so that the last chunk is on its
// way twice.
func (m *Model) exchangeAt(k *PeerCosts, h *HostCosts, e exchange, p Peers, s Setting) collective.Choice {
	parts := m.PeerParts(e.part, p)
	all, _ := m.PeerChannels(p)
	ch := collective.Choice{
		Algorithm: collective.Direct, Protocol: Simple.String(), Channels: min(all, parts*(e.within+e.across+1)), Overhead: 1,
		Why: "made of sends and receives",
	}
	proto := Simple
	if e.across == 0 && e.part <= peerLL*sim.Bytes(parts) {
		proto = LL
		ch.Protocol, ch.Overhead = LL.String(), 1/LL.Payload()
	}
	share := float64(e.part) / float64(parts) * ch.Overhead // of a channel
	chunk := min(share, float64(m.chunkOf(p)))
	var start, limit, slice float64
	slices := 1
	switch {
	case e.across > 0:
		limit = float64(parts) * peerNet.CTA
		reached := peerNet.NIC
		if e.across == 1 {
			reached = peerNet.Pair
		}
		limit = min(limit, reached*p.NICRate/float64(e.across))
		start = peerNet.Start + float64(s.Plugin.Base+s.Plugin.Step)/float64(sim.Microsecond)
		slices = e.across
		slice = peerNet.Fill * chunk / (peerNet.CTA * 1e3)
		if s.Plugin.Rate > 0 {
			limit *= s.Plugin.Rate
		}
	case p.Links > 0:
		rate := k.CTA[proto]
		if m.Nodes > 1 && proto == Simple {
			// A thread block that also serves the network: with one channel a
			// peer, rings of 20 H100 pass 25 GB/s on, over NVLink as between nodes.
			rate = max(rate, peerNet.CTA)
		}
		if e.oneWay {
			rate *= k.OneWay
		}
		if e.own {
			rate *= 1 - k.Own/float64(e.within+1)
		}
		limit = float64(parts) * rate
		// As few peers a thread block as here share the links unevenly; with
		// more they even out.
		load := max(1, float64(parts*(e.within+1))/float64(all))
		link := float64(p.Links) * LinkRate(m.Version, m.SM)
		uneven := k.Uneven[0]
		if e.within > 1 {
			uneven = k.Uneven[1] / load
		}
		limit = min(limit, link*(1-uneven)/float64(e.within))
		start = k.Start[proto] + k.Block*float64(ch.Channels)
		if proto == Simple {
			slice = k.Drain * chunk / (rate * 1e3)
		}
	default:
		limit = min(float64(parts)*h.CTA[proto], m.hostLimit(h, proto)/float64(e.within))
		start = h.Peer[proto]
		if proto == Simple {
			slice = k.Drain * chunk / (h.CTA[proto] * 1e3)
		}
	}
	ch.Pace = collective.Pace{
		Start: micros(start), Limit: sim.Rate(limit * 1e9), Slice: micros(slice), Slices: int64(slices),
		Floor: micros(m.enqueue(e, s)),
	}
	if s.Launch == Threads {
		ch.Pace.Start += micros(host.Thread)
	}
	return ch
}

// enqueue is what the host takes, in microseconds: every call of a group is
// checked, planned and written down for the kernel, and one thread may do so
// for all GPUs of its node.
func (m *Model) enqueue(e exchange, s Setting) float64 {
	calls := float64(e.within+e.across+1) * callCost
	switch s.Launch {
	case OneProcess:
		return float64(m.Ranks/m.Nodes) * (host.OneProcess + calls)
	case PyTorch:
		return host.PyTorch + calls
	case CUDAGraph:
		return 0
	}
	return calls
}
