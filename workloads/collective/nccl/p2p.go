package nccl

import "math/bits"

// peerBatch is how many sends and receives one thread block runs at a time,
// peerRate GB/s that one channel is reckoned to send into the network.
//
// Source: NVIDIA/nccl, src/include/device.h 2.30.7, and src/graph/paths.cc,
// NCCL_P2P_PER_CHANNEL_NET_BW, since 2.29.
const (
	peerBatch = 8
	peerRate  = 14
)

// peerChannels finds how many channels sends and receives have.
//
// Source: NVIDIA/nccl 2.30.7, 2.28.9 and 2.21.5, src/graph/paths.cc, written
// down anew.
func (s *searcher) peerChannels(c *Channels) {
	most := s.v.maxChannels()
	model := Model{Version: s.v, Summary: Summary{Ranks: s.ranks, Nodes: len(s.nodes), SM: s.p.SM, CPU: s.p.CPU, Graphs: c.Graphs}, Env: s.env}
	c.Run = model.Channels()
	c.P2P = c.Run
	if s.env.MaxP2P > 0 {
		c.P2P = min(c.P2P, s.env.MaxP2P)
	}
	c.P2P = max(c.P2P, s.env.MinP2P)
	per := most
	for i, w := range s.views {
		if w.like == nil || i == 0 {
			per = min(per, s.perPeer(w, c.P2P))
		}
	}
	c.PerPeer, c.P2P = powerOfTwo(per), min(powerOfTwo(c.P2P), most)
	if len(s.nodes) > 1 && s.env.PerNetPeer == 0 {
		for c.PerPeer > 1 && c.PerPeer*((s.ranks+peerBatch-1)/peerBatch) > c.P2P {
			c.PerPeer /= 2
		}
		return
	}
	c.PerPeer = min(c.P2P, c.PerPeer)
}

// perPeer is the least of the channels that members of a node have to anyone.
func (s *searcher) perPeer(w *view, p2p int) int {
	least := s.v.maxChannels()
	each := mega(LinkRate(s.v, s.p.SM))
	for g := range w.gpus {
		for p := range w.gpus {
			if p == g {
				continue
			}
			n := 2
			if path := w.gpuWay(p, g); path.kind == NVL || path.kind == NVB && !s.v.before(29) {
				n = 2 * max(1, int(path.rate/each))
			}
			least = min(least, n)
		}
		if w.inter {
			least = min(least, s.perNetPeer(w, g, p2p))
		}
	}
	return least
}

// perNetPeer is how many channels a GPU has to a member on another node.
func (s *searcher) perNetPeer(w *view, g, p2p int) int {
	if s.env.PerNetPeer > 0 {
		return s.env.PerNetPeer
	}
	count, rate := 0, int32(0)
	if cpu := w.cpuOf(g); cpu >= 0 {
		own := w.to(w.gpu(g), spotCPU, int(w.spots[cpu].index)).rate
		for _, n := range w.ownNets(g) {
			rate += w.outWay(g, n).rate
			count++
			if rate >= own {
				break
			}
		}
	}
	if !s.v.before(29) {
		if count == 0 {
			return 2
		}
		return max(count, (int(rate/1000)+peerRate-1)/peerRate)
	}
	n := 2
	for n > 1 && n*s.ranks > 4*p2p {
		n /= 2
	}
	return max(n, count)
}

// powerOfTwo rounds up.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }
