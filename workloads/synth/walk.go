package synth

import (
	"fmt"
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// walk goes through the blocks as they run and writes builder.runs.
type walk struct {
	*builder
	prev    []int32 // what the next operation of the chain waits for
	labels  map[string]*label
	current int // index of the block
	leafOf  map[*Op]int32
}

// label is the operations that carry a label: all, and the latest.
type label struct {
	block  int
	all    []int32
	latest []int32
}

// block runs one block.
func (w *walk) block(i int, bl *Block) {
	w.current = i
	w.list(bl.Ops, max(bl.Repeat, 1))
}

// measure returns how many operations a list makes that repeats. The innermost
// repeat that makes too many is an error, and counts as none.
func (w *walk) measure(ops []Op, times int, path string) int64 {
	sum := int64(0)
	for i := range ops {
		at := fmt.Sprintf("%s.ops[%d]", path, i)
		if ops[i].Ops != nil {
			sum += w.measure(ops[i].Ops, ops[i].Repeat, at)
		} else {
			sum += w.repeated(1, ops[i].Repeat, at)
		}
	}
	return w.repeated(sum, times, path)
}

func (w *walk) repeated(ops int64, times int, path string) int64 {
	n := int64(max(times, 1))
	if ops > 0 && n > maxOps/ops {
		w.fail(path+".repeat", "the repeats make more than %d operations", maxOps)
		return 0
	}
	return ops * n
}

// place is which ranks an operation is for.
type place struct {
	who   []bool // nil is all
	guess bool   // one of the groups that say so does not exist
}

// narrow returns the ranks of p that are at the given positions.
func (w *walk) narrow(p place, at map[string][]int32, path string) place {
	for _, name := range sorted(at) {
		c := w.comm(name)
		if c == nil {
			p.guess = true
			continue
		}
		here := make([]bool, w.world)
		any := false
		for r := range here {
			here[r] = c.at[r] >= 0 && slices.Contains(at[name], c.at[r]) && (p.who == nil || p.who[r])
			any = any || here[r]
		}
		if !any {
			if !p.guess {
				w.fail(path+"."+name, "no rank is at position %v of %q", at[name], name)
			}
			p.guess = true
			continue
		}
		p.who = here
	}
	return p
}

// declare makes the leaves of a block.
func (w *walk) declare(bl *Block) {
	path := "blocks." + bl.Name
	w.declareOps(bl.Ops, w.narrow(place{}, bl.At, path+".at"), path, bl.Name)
}

// declareOps makes the leaves of a list of operations.
func (w *walk) declareOps(ops []Op, p place, path, block string) {
	for i := range ops {
		o := &ops[i]
		at := fmt.Sprintf("%s.ops[%d]", path, i)
		here := w.narrow(p, o.At, at+".at")
		if o.Ops != nil {
			w.declareOps(o.Ops, here, at, block)
			continue
		}
		w.leafOf[o] = int32(len(w.leaves))
		w.leaves = append(w.leaves, w.leaf(o, here, at, block))
	}
}

// leaf makes the operation that o describes.
func (w *walk) leaf(o *Op, p place, path, block string) leaf {
	l := leaf{who: p.who, path: path}
	stream := "comm"
	for _, v := range o.variants() {
		if !v.set {
			continue
		}
		l.op.Name = block + " " + v.key
		switch {
		case o.Compute != nil:
			stream = "compute"
			c := o.Compute
			l.op.Kind, l.op.Duration, l.op.FLOPs, l.op.MemBytes = workloads.Compute, c.Time, c.FLOPs, c.MemBytes
			if c.modelled() {
				l.op.Duration = -1
			}
			w.bounded(c.MemBytes, path+".compute.mem_bytes")
		case v.coll != nil:
			if o.Background {
				stream = "background"
			}
			w.bounded(v.coll.Bytes, path+"."+v.key+".bytes")
			w.collective(&l, v, path+"."+v.key, p.guess)
		default:
			stream = "p2p"
			w.pointToPoint(&l, o, path+"."+v.key)
		}
	}
	if o.Label != "" {
		l.op.Name = block + " " + o.Label
	}
	if o.Stream != "" {
		stream = o.Stream
	}
	l.op.Stream = w.stream(stream)
	return l
}

// bounded refuses more bytes than one operation may have.
func (w *walk) bounded(b sim.Bytes, path string) {
	if b > workloads.MaxBytes {
		w.fail(path, "read %v, expected at most %v for one operation", b, workloads.MaxBytes)
	}
}

func (w *walk) collective(l *leaf, v variant, path string, guess bool) {
	c := w.comm(v.coll.Group)
	if c == nil {
		return
	}
	groups := w.out.Comms[c.id].Groups
	op := &l.op
	op.Kind, op.Coll, op.Comm, op.Bytes, op.Root = workloads.Collective, v.kind, c.id, v.coll.Bytes, v.coll.Root
	smallest := len(groups[0])
	for _, g := range groups {
		smallest = min(smallest, len(g))
	}
	if int(v.coll.Root) >= smallest {
		w.fail(path+".root", "read position %d, expected 0 to %d: a group of %q has %s", v.coll.Root, smallest-1, c.name, ranks(int32(smallest)))
	}
	if v.kind == workloads.AllToAllV {
		for _, g := range groups {
			if len(g) != smallest {
				w.fail(path+".group", "groups of %q differ in size (%d and %d), expected equal ones for alltoallv", c.name, smallest, len(g))
				break
			}
		}
		op.Splits = splits(v.coll.Bytes, smallest, v.coll.Skew)
	}
	if !c.full {
		l.who = with(l.who, w.world, func(r int32) bool { return c.at[r] >= 0 })
	}
	if !guess {
		w.whole(l, c, path)
	}
}

// whole refuses a collective that some members of a group would skip: the
// others would wait for ever.
func (w *walk) whole(l *leaf, c *comm, path string) {
	if l.who == nil {
		return
	}
	for _, ranks := range w.out.Comms[c.id].Groups {
		for _, r := range ranks {
			if l.who[r] != l.who[ranks[0]] {
				has, lacks := ranks[0], r
				if l.who[r] {
					has, lacks = r, ranks[0]
				}
				w.fail(path, "rank %d joins and rank %d of the same group of %q does not (see at), expected whole groups", has, lacks, c.name)
				return
			}
		}
	}
}

// splits divides what a rank sends among n members: the first receives skew
// times what each other does. The remainder of bytes goes to the first.
func splits(bytes sim.Bytes, n int, skew float64) []sim.Bytes {
	if skew == 0 {
		skew = 1
	}
	out := make([]sim.Bytes, n)
	part := sim.Bytes(float64(bytes) / (skew + float64(n-1)))
	rest := bytes
	for i := 1; i < n; i++ {
		out[i] = part
		rest -= part
	}
	out[0] = rest
	return out
}

func (w *walk) pointToPoint(l *leaf, o *Op, path string) {
	p, op := o.Recv, &l.op
	op.Kind = workloads.Recv
	if o.Send != nil {
		p, op.Kind = o.Send, workloads.Send
	}
	op.Bytes, op.Tag = p.Bytes, p.Tag
	w.bounded(p.Bytes, path+".bytes")
	for _, fixed := range []struct {
		key string
		r   *int32
	}{{".to", p.To}, {".from", p.From}} {
		if fixed.r == nil {
			continue
		}
		if *fixed.r >= w.world {
			w.fail(path+fixed.key, "rank %d does not exist, expected 0 to %d", *fixed.r, w.world-1)
		}
		op.Peer = *fixed.r
		l.who = with(l.who, w.world, func(r int32) bool { return r != op.Peer })
		return
	}
	c := w.comm(p.Group)
	if c == nil {
		return
	}
	op.Dim = w.out.Comms[c.id].Dim
	op.PeerMap = w.peerMap(c, p.Offset, p.Wrap)
	peer := w.out.PeerMaps[op.PeerMap-1]
	l.who = with(l.who, w.world, func(r int32) bool { return peer[r] >= 0 })
}

// with narrows who to the ranks for which in is true. nil stays nil when that
// is all of them.
func with(who []bool, world int32, in func(r int32) bool) []bool {
	out, all := make([]bool, world), true
	for r := range world {
		out[r] = (who == nil || who[r]) && in(r)
		all = all && out[r]
	}
	if all {
		return nil
	}
	return out
}

// peerMap returns the number of the peer map for an offset in a communicator.
// Ranks without a peer have -1.
func (w *walk) peerMap(c *comm, offset int32, wrap bool) int32 {
	k := peerKey{c.id, offset, wrap}
	if n, ok := w.peers[k]; ok {
		return n
	}
	m := filled(w.world, -1)
	for _, ranks := range w.out.Comms[c.id].Groups {
		n := len(ranks)
		for i, r := range ranks {
			to := i + int(offset)
			if wrap {
				to = ((to % n) + n) % n
			}
			if to >= 0 && to < n && to != i {
				m[r] = ranks[to]
			}
		}
	}
	w.out.PeerMaps = append(w.out.PeerMaps, m)
	w.peers[k] = int32(len(w.out.PeerMaps))
	return w.peers[k]
}

// list runs operations in order, times over.
func (w *walk) list(ops []Op, times int) {
	for range times {
		for i := range ops {
			o := &ops[i]
			n := max(o.Repeat, 1)
			if o.Ops != nil {
				w.list(o.Ops, n)
				continue
			}
			for range n {
				w.one(o)
			}
		}
	}
}

// one runs one operation.
func (w *walk) one(o *Op) {
	deps := w.prev
	if o.After != nil {
		deps = nil
		for _, name := range *o.After {
			l := w.labels[name] // it exists: see Program.Names
			from := l.all
			if l.block == w.current {
				from = l.latest
			}
			deps = append(deps, from...)
		}
		slices.Sort(deps)
		deps = slices.Compact(deps)
	}
	me := int32(len(w.runs))
	w.runs = append(w.runs, run{w.leafOf[o], deps})
	if o.Label != "" {
		l := w.labels[o.Label]
		if l == nil {
			l = &label{}
			w.labels[o.Label] = l
		}
		l.block, l.latest = w.current, []int32{me}
		l.all = append(l.all, me)
	}
	if !o.Background && o.Send == nil {
		w.prev = []int32{me}
	}
}
