package main

import (
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// kernels are the routes of a machine as the kernels of NCCL's send and
// receive meet them: a transfer reaches what its channels move, and on NVLink
// no more than kernels get out of the links, which is less than copy engines
// do.
type kernels struct {
	topology.Router
	mach    *topology.Machine
	rates   []sim.Rate // of one link, by class; 0 is not known
	channel sim.Rate   // of one channel; 0 is not known
	ranks   int
	size    sim.Bytes
}

// withKernels returns the machine with the routes of kernels, for messages of
// one size between so many ranks.
func withKernels(m *topology.Machine, gpu *catalog.GPU, ranks int, size sim.Bytes) (*topology.Machine, error) {
	c, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	k := &kernels{Router: m.Router, mach: m, ranks: ranks, size: size}
	if gpu != nil {
		k.channel = gpu.Channel.Value()
	}
	for _, class := range m.Graph.Classes {
		rate := sim.Rate(0)
		if l, err := c.Link(class.Name); err == nil {
			rate = l.Kernels.Value()
		}
		k.rates = append(k.rates, rate)
	}
	n := *m
	n.Router = k
	return &n, nil
}

// Route is the machine's own, with a ceiling on NVLink and on the network.
func (k *kernels) Route(a, b int32, buf []topology.Hop) (topology.Path, error) {
	p, err := k.Router.Route(a, b, buf)
	if err != nil {
		return p, err
	}
	switch p.Kind {
	case topology.NVL, topology.NVB:
		links, most := k.links(&p, a, b)
		p.Rate = least(p.Rate, most, sim.Rate(peerChannels(links, k.ranks, k.size))*k.channel)
	case topology.NET:
		p.Rate = least(p.Rate, sim.Rate(netChannels(k.ranks))*k.channel)
	}
	return p, nil
}

// links returns how many NVLinks a path has at its narrower end, and what
// kernels get out of them.
func (k *kernels) links(p *topology.Path, a, b int32) (int, sim.Rate) {
	var from, to int
	var rate sim.Rate
	for _, h := range p.Hops {
		links, _ := k.mach.Graph.Members(h.Resource)
		for _, id := range links {
			l := &k.mach.Graph.Links[id]
			rate = k.rates[l.Class]
			if l.From == k.mach.Ranks[a] {
				from += int(l.Width)
			}
			if l.To == k.mach.Ranks[b] {
				to += int(l.Width)
			}
		}
	}
	n := min(from, to)
	return n, sim.Rate(n) * rate
}

// NCCL's numbers for send and receive within a node (NVIDIA/nccl 2.30.7,
// enqueue.cc and paths.cc).
const (
	mostChannels = 32                // for all peers together
	leastPart    = 512 * sim.KiB / 8 // of a message on one channel
	mostPart     = 32 * 512 * sim.KiB
)

// peerChannels returns over how many channels NCCL spreads a message to a peer
// with so many NVLinks: twice the links at most, in powers of two. It begins
// with its part of all channels, and doubles them while a channel's part of
// the message is large.
func peerChannels(links, ranks int, size sim.Bytes) int {
	most := 1
	for 2*most <= min(2*links, mostChannels) {
		most *= 2
	}
	n := most
	for n > 1 && n*ranks > mostChannels {
		n /= 2
	}
	n = max(1, min(n, int((size+leastPart-1)/leastPart)))
	for n < most && size > sim.Bytes(n)*mostPart {
		n *= 2
	}
	return n
}

// netChannels returns the channels to a peer on another node: two, halved while
// there are more than four for each of four channels. NCCL counts the channels
// of its search, which is not modelled; four fit a cluster of one to eight
// GPUs a node and 2 to 20 ranks.
func netChannels(ranks int) int {
	n := 2
	for n > 1 && n*ranks > 4*4 {
		n /= 2
	}
	return n
}

// least returns the smallest rate above zero, or zero.
func least(rates ...sim.Rate) sim.Rate {
	var low sim.Rate
	for _, r := range rates {
		if r > 0 && (low == 0 || r < low) {
			low = r
		}
	}
	return low
}
