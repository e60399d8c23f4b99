package chakra

import (
	"fmt"
	"math"
	"slices"

	"github.com/weft-sim/weft/workloads"
)

// stream returns the stream of a name, made at its first use.
func (b *builder) stream(name string, order workloads.Order) int16 {
	s, ok := b.streamOf[name]
	if !ok {
		s = int16(len(b.r.streams))
		b.streamOf[name] = s
		b.r.streams = append(b.r.streams, workloads.Stream{Name: name, Order: order})
		b.tails = append(b.tails, tail{last: -1})
		b.lastIn = append(b.lastIn, -1)
	}
	return s
}

// emit appends the operation of node i and gives it its stream. A group of -1
// is for operations that are no collectives.
func (b *builder) emit(i int32, op workloads.Op, group int32) error {
	n := &b.t.Nodes[i]
	if len(b.r.streams) >= math.MaxInt16-8 {
		return b.fault(n, fmt.Sprintf("more than %d streams", len(b.r.streams)), "fewer", "")
	}
	me := int32(len(b.r.ops))
	message := op.Kind == workloads.Send || op.Kind == workloads.Recv
	if s, ok := n.stream(); ok && b.recorded {
		own, known := b.cuda[s]
		if !known {
			own = b.stream(fmt.Sprintf("stream %d", s), workloads.InOrder)
			b.cuda[s] = own
		}
		end := &b.tails[own]
		if message {
			// Kernels before and after keep their order with it; messages
			// side by side, as in a group call, run together.
			if end.last >= 0 {
				op.Deps = append(op.Deps, end.last)
			}
			end.p2p = append(end.p2p, me)
			op.Stream = b.stream("p2p", workloads.Concurrent)
		} else {
			op.Deps = append(op.Deps, end.p2p...)
			end.p2p, end.last = nil, me
			op.Stream = own
		}
		if op.Kind == workloads.Collective {
			b.follow(s, &op)
		}
	} else {
		switch op.Kind {
		case workloads.Collective:
			op.Stream = b.stream("comm", workloads.AnyReady)
		case workloads.Send, workloads.Recv:
			op.Stream = b.stream("p2p", workloads.Concurrent)
		case workloads.Copy, workloads.Delay:
			op.Stream = b.stream("copy", workloads.AnyReady)
		default:
			op.Stream = b.stream("compute", workloads.AnyReady)
		}
	}
	op.Deps = b.reduce(op.Stream, op.Deps)
	b.front[i] = b.only(me)
	b.put(i, op)
	if group >= 0 {
		c, ok := b.collOf[group]
		if !ok {
			c = len(b.r.colls)
			b.collOf[group] = c
			first := 0
			for _, other := range b.r.colls {
				first += len(other.ops)
			}
			b.r.colls = append(b.r.colls, coll{group: group, first: first})
		}
		b.r.colls[c].ops = append(b.r.colls[c].ops, me)
	}
	return nil
}

// only returns a list of one, cut from a chunk.
func (b *builder) only(op int32) []int32 {
	if len(b.ones) == cap(b.ones) {
		b.ones = make([]int32, 0, 4096)
	}
	b.ones = append(b.ones, op)
	n := len(b.ones)
	return b.ones[n-1 : n : n]
}

// follow makes a collective on stream s that waits for no kernel wait for the
// last one launched before it on the main stream.
func (b *builder) follow(s int64, op *workloads.Op) {
	if b.im.opt.RecordedOnly || len(op.Deps) > 0 || s == b.main {
		return
	}
	main, ok := b.cuda[b.main]
	if !ok || b.tails[main].last < 0 {
		return
	}
	op.Deps = append(op.Deps, b.tails[main].last)
	b.im.repaired.add("collective", "waits for the kernel launched before it, which PyTorch ensures with an event that the trace lacks", 1, 0, 0)
}

// reduce drops dependencies that the order of a stream implies: earlier
// operations of the same in-order stream, and all but the last of another
// in-order stream.
func (b *builder) reduce(own int16, deps []int32) []int32 {
	if len(deps) == 0 {
		return nil
	}
	for _, d := range deps {
		s := b.r.ops[d].Stream
		b.lastIn[s] = max(b.lastIn[s], d)
	}
	kept := deps[:0:0]
	for _, d := range deps {
		s := b.r.ops[d].Stream
		if b.r.streams[s].Order == workloads.InOrder && (s == own || d != b.lastIn[s]) {
			continue
		}
		kept = append(kept, d)
	}
	for _, d := range deps {
		b.lastIn[b.r.ops[d].Stream] = -1
	}
	slices.Sort(kept)
	kept = slices.Compact(kept)
	b.im.repaired.add("dependency", "implied by the order of a stream", len(deps)-len(kept), 0, 0)
	return kept
}
