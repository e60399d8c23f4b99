package nccl

import (
	"math"
	"math/bits"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// netPace is Pace over several nodes: the steps within a node cost what they
// cost there, those across it what proxies and the network's plugin take, and a
// thread block sends no faster than its part of the queue pairs lets it.
//
// Source of all sizes: NVIDIA/nccl 2.30.7, src/enqueue.cc, src/device/*.h.
func (m *Model) netPace(op workloads.Coll, c Choice, size sim.Bytes, s Setting) collective.Pace {
	g, size := GenerationOf(m.SM), max(size, 1)
	k := crossing{Costs: m.within(g), net: &netCosts[g], post: s.Plugin.Post.Seconds() * 1e6, trip: s.RoundTrip.Seconds() * 1e6}
	if e := s.Plugin.Eager; e > 0 && m.firstChunk(op, c, size) <= float64(e) {
		k.post = 0
	}
	var w netWork
	switch {
	case c.Algorithm == NVLSTree:
		w = k.nvlsTree(m, c, size)
	case c.Algorithm == Tree:
		w = k.tree(m, c, size)
	case c.Algorithm == PAT:
		w = k.pat(c)
	case chained(op):
		w = k.chain(m, c, size)
	default:
		w = k.ring(m, op, c, size)
	}
	p := collective.Pace{
		Start:   micros(w.start) + s.Plugin.Base,
		Step:    micros(w.step),
		NetStep: micros(w.net) + s.Plugin.Step,
		Slices:  int64(w.slices),
		Fill:    micros(w.fill),
		Spread:  micros(w.spread),
		Limit:   sim.Rate(w.limit * 1e9),
	}
	if s.Plugin.Rate > 0 {
		p.Limit = min(p.Limit, sim.Rate(m.outward(c)*s.Plugin.Rate*1e9))
	}
	switch s.Launch {
	case Threads:
		p.Start += micros(host.Thread)
	case OneProcess:
		p.Floor = micros(host.OneProcess * m.perNode())
	case PyTorch:
		p.Floor = micros(host.PyTorch)
	}
	return p
}

// firstChunk is the largest message on a connection across the network, in
// bytes on the wire.
func (m *Model) firstChunk(op workloads.Coll, c Choice, size sim.Bytes) float64 {
	part, chunk := float64(size)/float64(c.Channels), chunkOf(c.Protocol)
	switch {
	case c.Algorithm == NVLSTree:
		part, chunk = part/float64(max(m.NVLS.Channels, 1)), m.nvlsTreeChunk(c.Channels, size)
	case c.Algorithm == Tree:
		chunk = m.treeChunk(c, size)
	case !chained(op):
		part /= float64(m.Ranks)
		if c.Protocol == Simple {
			chunk = ringChunk / 2
		}
	}
	return min(part, chunk) / c.Protocol.Payload()
}

// outward is what the NICs of a node let an algorithm carry of what a rank
// sends in all, in GB/s.
func (m *Model) outward(c Choice) float64 {
	switch c.Algorithm {
	case Tree, NVLSTree:
		g := m.graph(c.Algorithm)
		rate := float64(g.Channels) * g.Inter
		if m.Nodes > 2 {
			rate /= 2 // an inner node sends up, and down to two children, in one tree, and up in the other
		}
		if c.Algorithm == NVLSTree {
			rate *= float64(g.Channels+1) / float64(g.Channels)
		}
		return rate
	}
	return float64(m.Ring.Channels) * m.Ring.Inter
}

// within returns what steps within a node cost: those of NVLink, or of cards
// that have none.
func (m *Model) within(g Generation) *Costs {
	k := costs[g]
	if m.Ring.TypeIntra > C2C || m.SM > 80 && m.SM < 90 || m.SM >= 120 {
		h := &hostCostsOf[g]
		k.Start, k.Step = h.Start, h.Step
		if m.staged() {
			k.Step = h.StagedStep
		}
	}
	return &k
}

// crossing is what steps cost within nodes and between them.
type crossing struct {
	*Costs
	net  *NetCosts
	post float64 // of the plugin
	trip float64 // round trip of the wires
}

// netWork is what kernels and proxies do beyond the wires, in microseconds and
// GB/s.
type netWork struct {
	start, step, net, limit float64
	slices                  float64 // chunks that a thread block passes on one after the other
	fill                    float64 // until all stages of the pipeline work
	spread                  float64
}

func (k crossing) of(p Protocol) netWork {
	return netWork{start: k.Start[p], step: k.Costs.Step[p], net: k.net.Step[p]}
}

// Sizes, in bytes of the message.
const (
	llChunk    = 32 << 10 // a step of LL
	ll128Chunk = 576000   // a step of LL128
	window     = 8        // steps of a connection's buffer
)

// inRing is how many slices of a ring are under way: Simple's take two steps.
var inRing = [protocols]float64{window, window, window / 2}

// chunkOf returns what a tree or a chain passes on at once, in bytes of the
// message, and so a ring but for Simple.
func chunkOf(p Protocol) float64 { return [...]float64{llChunk, ll128Chunk, chainChunk}[p] }

// inFlight is what connections carry that have so many slices on their way and
// must wait a round trip for each to be acknowledged, in GB/s.
func (k crossing) inFlight(channels, slice, slices float64) float64 {
	if k.trip <= 0 {
		return math.Inf(1)
	}
	return channels * slices * slice / k.trip / 1e3
}

// ring is of a ring over all ranks. Every slice of every rank crosses the
// network somewhere, so that all wait for the connections there.
func (k crossing) ring(m *Model, op workloads.Coll, c Choice, size sim.Bytes) netWork {
	p, channels := c.Protocol, float64(c.Channels)
	w := k.of(p)
	part := math.Ceil(float64(size)/float64(m.Ranks)) / channels // whole bytes
	rate, post := k.net.Ring[p]*1e3, k.net.Post[p]+k.post
	chunk, slice := chunkOf(p), part/p.Payload()
	if p == Simple {
		chunk = ringChunk
		slice = min(part, max(min(part, ringChunk)/2, leastSlice))
		w.spread = k.own(op) * part / rate
		w.step = max(0, w.step-slice/rate)
	}
	chunks := math.Ceil(part / chunk)
	part /= p.Payload()
	busy := part/rate + chunks*post
	if p != Simple {
		busy = overlapped(busy, part*channels/(float64(m.Ring.Channels)*m.Ring.Inter*1e3))
	}
	w.limit = channels * part / busy / 1e3
	if chunks > 1 {
		w.limit = min(w.limit, k.inFlight(channels, min(slice, chunk/p.Payload()), inRing[p]))
	}
	return w
}

// overlapped is what a step takes whose two parts, the kernels' and the NICs',
// overlap but for their ends: the longer, and a tenth more where both are as
// long.
func overlapped(a, b float64) float64 {
	const sharp = 6
	return math.Pow(math.Pow(a, sharp)+math.Pow(b, sharp), 1./sharp)
}

// own returns how many times its part a rank's own is copied or reduced.
func (k crossing) own(op workloads.Coll) float64 {
	switch op {
	case workloads.AllGather:
		return k.Own[0]
	case workloads.ReduceScatter:
		return k.Own[1]
	}
	return k.Own[2]
}

// tree is of two binary trees over nodes with a chain in each: what the proxy
// sends, and all that Simple does, goes on once a chunk has arrived whole.
func (k crossing) tree(m *Model, c Choice, size sim.Bytes) netWork {
	p, channels := c.Protocol, float64(c.Channels)
	w := k.of(p)
	part := float64(size) / channels
	rate := k.net.Tree[p] * 1e3
	chunk := m.treeChunk(c, size)
	first := min(part, chunk) / p.Payload() / rate
	if p == LL { // its lines go on one by one within a node
		w.step += min(part, lineBytes) / p.Payload() / (k.net.Ring[p] * 1e3)
	}
	w.net += k.post
	w.fill = 2 * m.log2Nodes() * first
	if p == Simple {
		w.fill += 2 * (m.perNode() - 1) * max(0, first-w.step)
	}
	// Connections work on one chunk while the kernel works on the next.
	chunks := math.Ceil(part / chunk)
	w.slices = chunks
	each := max(first, k.net.Child[p]+k.post)
	w.limit = channels * part / p.Payload() / (first + (chunks-1)*each) / 1e3
	if chunks > window {
		w.limit = min(w.limit, k.inFlight(channels, chunk/p.Payload(), window))
	}
	// The slowest of so many connections, if the time of each is as much at
	// random as it is long.
	w.spread = k.post * math.Sqrt(2*math.Log(channels))
	return w
}

// treeChunk is what a tree passes on at once, in bytes of the message.
func (m *Model) treeChunk(c Choice, size sim.Bytes) float64 {
	if c.Protocol != LL128 {
		return chunkOf(c.Protocol)
	}
	chunk, per := float64(ll128Chunk), m.perNode()
	depth := 1 + m.log2Nodes() + 0.1*per
	for _, rule := range []struct{ times, least float64 }{{64, 128 << 10}, {16, 32 << 10}} {
		for chunk > rule.least && float64(size)/(float64(c.Channels)*chunk) < depth*rule.times/per {
			chunk /= 2
		}
	}
	return chunk
}

// chain is of a broadcast or a reduction along the ring: a rank passes a chunk
// on once it has arrived whole.
func (k crossing) chain(m *Model, c Choice, size sim.Bytes) netWork {
	p, channels := c.Protocol, float64(c.Channels)
	w := k.of(p)
	chunk := chunkOf(p)
	part, rate := float64(size)/channels, k.net.Ring[p]*1e3
	// A rank hands on and is done: of calls that follow one another each takes
	// what handling it takes, while the one before is still on its way.
	w.start += k.net.Step[p] + k.net.Post[p] + k.post
	hop := min(chunk, part) / p.Payload() / rate
	w.net, w.fill = 0, float64(m.Nodes-1)*hop
	if p == Simple { // within a node bytes go on line by line, as chainWork has it
		w.step += min(part, leastSlice) / (k.CTA[p] * 1e3)
	}
	w.slices = math.Ceil(part / chunk)
	more := max(0, w.slices-1)
	part /= p.Payload()
	w.limit = channels * part / (part/rate + more*(k.net.Post[p]+k.post)) / 1e3
	return w
}

// pat is of binomial trees of one rank a node.
func (k crossing) pat(c Choice) netWork {
	w := k.of(Simple)
	w.limit = float64(c.Channels) * k.net.Ring[Simple]
	return w
}

// nvlsTree is of a reduction in each node's switch and a tree over nodes for
// each head. A round is a chunk of each head; several are under way, one in
// each stage of the pipeline.
func (k crossing) nvlsTree(m *Model, c Choice, size sim.Bytes) netWork {
	n := &k.net.NVLSTree
	rate := n.Pair
	if m.Nodes > 2 {
		rate = n.Many
	}
	channels, heads := float64(c.Channels), float64(max(m.NVLS.Channels, 1))
	part := float64(size) / channels
	round := min(part, heads*m.nvlsTreeChunk(c.Channels, size))
	// While the pipeline fills, sums go up alone and results come down alone:
	// such a round takes half of one that shares links and warps with both.
	rounds := part / round
	deep := (n.Fill + n.Level*m.levels()) * (1 - 1/(2*rounds))
	w := netWork{start: k.NVLS.Start + k.NVLS.turns(heads), net: n.Step + k.post, limit: channels * rate * (heads + 1) / heads, fill: deep * round / (rate * 1e3)}
	w.slices = float64(slicesToFill(nvlsStages-1+2*m.levels(), rounds, deep))
	if rounds > window {
		w.limit = min(w.limit, k.inFlight(channels, round, window)*(heads+1)/heads)
	}
	return w
}

// levels is how deep the deeper of the two binary trees over nodes is.
func (m *Model) levels() float64 { return float64(bits.Len(uint(m.Nodes - 1))) }

// nvlsTreeChunk is what a thread block sends at once for one head.
func (m *Model) nvlsTreeChunk(channels int, size sim.Bytes) float64 {
	chunk := sim.Bytes(128 << 10)
	if m.Nodes >= 4 {
		chunk = 64 << 10
	}
	at := sim.Bytes(channels * max(m.NVLS.Channels, 1))
	for _, rule := range []struct{ times, chunk sim.Bytes }{{32, 256 << 10}, {16, 128 << 10}, {4, 64 << 10}, {1, 32 << 10}} {
		if chunk > rule.chunk && size < rule.times*at*chunk {
			chunk = rule.chunk
		}
	}
	return float64(chunk)
}
