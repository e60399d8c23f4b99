package replay

import (
	"fmt"
	"math/bits"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// ports is what a GPU's links carry together.
type ports struct{ out, in sim.Rate }

// portOf returns the port of a rank: the sums of the rates of the links that
// leave its GPU and that enter it.
func (j *job) portOf(rank int32) ports {
	if j.ports == nil {
		j.ports = make([]ports, len(j.mach.Graph.Nodes))
		for _, l := range j.mach.Graph.Links {
			if !l.Down {
				j.ports[l.From].out += l.Rate
				j.ports[l.To].in += l.Rate
			}
		}
	}
	return j.ports[j.mach.Ranks[rank]]
}

// bound returns the least time of a collective: what each rank must send and
// receive under any algorithm without reduction in the network, at the rate of
// all the links of its GPU. It knows nothing of routes, so it checks them.
func (x *exec) bound(in *instance) sim.Time {
	p := &in.plan
	if p.MinSend == 0 && p.MinReceive == 0 {
		return 0
	}
	ranks := x.j.ranksOf(x.c.groupRep[in.group])
	var most sim.Time
	for i, r := range ranks {
		root := int32(i) == p.Root
		sends, receives := true, true
		switch p.Pattern {
		case collective.FromRoot, collective.RootToAll:
			sends, receives = root, !root
		case collective.ToRoot, collective.AllToRoot:
			sends, receives = !root, root
		}
		port := x.j.portOf(r)
		if sends && port.out > 0 {
			most = max(most, sim.TransferTime(p.MinSend, port.out))
		}
		if receives && port.in > 0 {
			most = max(most, sim.TransferTime(p.MinReceive, port.in))
		}
	}
	return most
}

// checkSent holds the bytes on the wires against the program: each byte that
// it sends leaves its sender's GPU once, beside what GPUs relay and what paths
// hold without carrying it. The program's side is counted from its operations and all its ranks, so that it checks lanes, weights, classes and
// denominators alike.
func (x *exec) checkSent() error {
	want, err := x.j.sent()
	if err != nil {
		return err
	}
	want += x.beyond
	g := x.j.mach.Graph
	got := 0.0
	for r, k := range x.c.res {
		links, _ := g.Members(topology.ResourceID(r))
		if g.Nodes[g.Links[links[0]].From].Kind == topology.GPU {
			got += x.net.Carried(k)
		}
	}
	if d := got - want; d > 1e-6*want+1 || -d > 1e-6*want+1 {
		return &LawError{fmt.Errorf("the program sends %.0f bytes between GPUs, and %.0f left them", want, got)}
	}
	return nil
}

// beyond returns what a path puts on wires that leave GPUs, for each byte, over
// the byte that leaves its sender.
func (j *job) beyond(p *topology.Path, a int32) float64 {
	j.findPorts()
	sender := j.mach.Ranks[a]
	parts := int32(0)
	for _, h := range p.Hops { // held ones too: see wires.path
		if from := j.gpuOut[h.Resource]; from >= 0 && from != sender {
			parts += h.Share
		}
	}
	for _, h := range p.Held {
		if j.gpuOut[h.Resource] == sender {
			parts += h.Share
		}
	}
	return float64(parts) / float64(p.Den)
}

// sent adds up what the ranks of the program send to other ranks.
func (j *job) sent() (float64, error) {
	total := 0.0
	for i := range j.prog.Classes {
		cl := &j.prog.Classes[i]
		for k := range cl.Ops {
			o := &cl.Ops[k]
			switch {
			case o.Kind == workloads.Send:
				for _, r := range cl.Ranks {
					if peer := j.prog.Peer(o, r); peer != r {
						ch, err := j.sender(o, r, peer)
						if err != nil {
							return 0, err
						}
						total += float64(ch.Wire(o.Bytes))
					}
				}
			case o.Kind == workloads.Collective && o.Coll == workloads.AllToAllV:
				for _, r := range cl.Ranks {
					for to, b := range o.Splits {
						if int32(to) != j.posOf[o.Comm][r] {
							total += float64(b)
						}
					}
				}
			case o.Kind == workloads.Collective:
				b, err := j.sentBy(o, cl.Ranks)
				if err != nil {
					return 0, err
				}
				total += b
			}
		}
	}
	return total, nil
}

// sentBy returns what ranks send in a collective, counted as their parts of
// what their groups send.
func (j *job) sentBy(o *workloads.Op, ranks []int32) (float64, error) {
	total, each := 0.0, 0.0
	last := groupID{-1, -1}
	for _, r := range ranks {
		g := groupID{o.Comm, j.groupOf[o.Comm][r]}
		if g != last {
			p, err := j.plan(o, g)
			if err != nil {
				return 0, err
			}
			if j.shapeOf(p).staged() {
				each = j.stagesSent(p, g) / float64(len(j.ranksOf(g)))
				last = g
				total += each
				continue
			}
			if sh := j.shapeOf(p); j.opt.Grain == collective.Chunk && (p.Pattern == collective.Cycle || p.Pipelined) {
				rings := sim.Bytes(j.partsOf(sh, g))
				p.Message = (p.Message + rings - 1) / rings * rings
			}
			each = p.Sent(j.layoutOf(g)) / float64(len(j.ranksOf(g)))
		}
		last = g
		total += each
	}
	return total, nil
}

// splitBounds sets the bounds of an all-to-all with parts of any size, and
// returns what a rank holds and what it sends to others, means over the group.
func (j *job) splitBounds(p *collective.Plan, g groupID, op func(rank int32) *workloads.Op) (holds, sends float64) {
	ranks := j.ranksOf(g)
	received := make([]sim.Bytes, len(ranks))
	for i, r := range ranks {
		var out sim.Bytes
		for to, b := range op(r).Splits {
			holds += float64(b)
			if to != i {
				out += b
				received[to] += b
			}
		}
		sends += float64(out)
		p.MinSend = max(p.MinSend, out)
	}
	for _, b := range received {
		p.MinReceive = max(p.MinReceive, b)
	}
	n := float64(len(ranks))
	return holds / n, sends / n
}

// sumOf adds products of times and counts without loss: the sum over a class
// at once equals the sum over its members.
type sumOf struct{ hi, lo uint64 }

func (s *sumOf) add(t sim.Time, n int) {
	hi, lo := bits.Mul64(uint64(max(t, 0)), uint64(n))
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + carry
}

// over returns the sum divided by a count of at least what was added.
func (s sumOf) over(n int64) sim.Time {
	q, _ := bits.Div64(s.hi, s.lo, uint64(n))
	return sim.Time(q)
}
