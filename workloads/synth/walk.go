package synth

import (
	"fmt"
	"slices"
	"strings"

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
func (w *walk) block(i int, bl *Block) error {
	path := "blocks." + bl.Name
	who, err := w.places(bl.At, path+".at", nil)
	if err != nil {
		return err
	}
	w.current = i
	w.leafOf = map[*Op]int32{}
	if err := w.declare(bl.Ops, who, path, bl.Name); err != nil {
		return err
	}
	return w.list(bl.Ops, max(bl.Repeat, 1), path)
}

// places returns which ranks are at the given positions, and among those in
// who. nil is all.
func (w *walk) places(at map[string][]int32, path string, who []bool) ([]bool, error) {
	names := make([]string, 0, len(at))
	for name := range at {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c, err := w.comm(name, path+"."+name)
		if err != nil {
			return nil, err
		}
		here := make([]bool, w.world)
		any := false
		for r := range here {
			here[r] = c.at[r] >= 0 && slices.Contains(at[name], c.at[r]) && (who == nil || who[r])
			any = any || here[r]
		}
		if !any {
			return nil, &Error{Path: path + "." + name, Msg: fmt.Sprintf("no rank is at position %v of %q", at[name], name)}
		}
		who = here
	}
	return who, nil
}

// declare makes the leaves of a list of operations.
func (w *walk) declare(ops []Op, who []bool, path, block string) error {
	for i := range ops {
		o := &ops[i]
		at := fmt.Sprintf("%s.ops[%d]", path, i)
		here, err := w.places(o.At, at+".at", who)
		if err != nil {
			return err
		}
		if o.Ops != nil {
			if err := w.declare(o.Ops, here, at, block); err != nil {
				return err
			}
			continue
		}
		l, err := w.leaf(o, here, at, block)
		if err != nil {
			return err
		}
		w.leafOf[o] = int32(len(w.leaves))
		w.leaves = append(w.leaves, l)
	}
	return nil
}

// leaf makes the operation that o describes.
func (w *walk) leaf(o *Op, who []bool, path, block string) (leaf, error) {
	l := leaf{who: who, path: path}
	stream := "comm"
	var err error
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
		case v.coll != nil:
			if o.Background {
				stream = "background"
			}
			err = w.collective(&l, v, path+"."+v.key)
		default:
			stream = "p2p"
			err = w.pointToPoint(&l, o, path+"."+v.key)
		}
	}
	if err != nil {
		return l, err
	}
	if o.Label != "" {
		l.op.Name = block + " " + o.Label
	}
	if o.Stream != "" {
		stream = o.Stream
	}
	l.op.Stream, err = w.stream(stream, path+".stream")
	return l, err
}

func (w *walk) collective(l *leaf, v variant, path string) error {
	c, err := w.comm(v.coll.Group, path+".group")
	if err != nil {
		return err
	}
	groups := w.out.Comms[c.id].Groups
	op := &l.op
	op.Kind, op.Coll, op.Comm, op.Bytes, op.Root = workloads.Collective, v.kind, c.id, v.coll.Bytes, v.coll.Root
	smallest := len(groups[0])
	for _, g := range groups {
		smallest = min(smallest, len(g))
	}
	if int(v.coll.Root) >= smallest {
		return &Error{Path: path + ".root", Msg: fmt.Sprintf("read position %d, expected 0 to %d: a group of %q has %d ranks", v.coll.Root, smallest-1, c.name, smallest)}
	}
	if v.kind == workloads.AllToAllV {
		for _, g := range groups {
			if len(g) != smallest {
				return &Error{Path: path + ".group", Msg: fmt.Sprintf("groups of %q differ in size (%d and %d), expected equal ones for alltoallv", c.name, smallest, len(g))}
			}
		}
		op.Splits = splits(v.coll.Bytes, smallest, v.coll.Skew)
	}
	if !c.full {
		l.who = with(l.who, w.world, func(r int32) bool { return c.at[r] >= 0 })
	}
	return w.whole(l, c, path)
}

// whole refuses a collective that some members of a group would skip: the
// others would wait for ever.
func (w *walk) whole(l *leaf, c *comm, path string) error {
	if l.who == nil {
		return nil
	}
	for _, ranks := range w.out.Comms[c.id].Groups {
		for _, r := range ranks {
			if l.who[r] != l.who[ranks[0]] {
				has, lacks := ranks[0], r
				if l.who[r] {
					has, lacks = r, ranks[0]
				}
				return &Error{Path: path, Msg: fmt.Sprintf("rank %d joins and rank %d of the same group of %q does not (see at), expected whole groups", has, lacks, c.name)}
			}
		}
	}
	return nil
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

func (w *walk) pointToPoint(l *leaf, o *Op, path string) error {
	p, op := o.Recv, &l.op
	op.Kind = workloads.Recv
	if o.Send != nil {
		p, op.Kind = o.Send, workloads.Send
	}
	op.Bytes, op.Tag = p.Bytes, p.Tag
	for _, fixed := range []struct {
		key string
		r   *int32
	}{{".to", p.To}, {".from", p.From}} {
		if fixed.r == nil {
			continue
		}
		if *fixed.r >= w.world {
			return &Error{Path: path + fixed.key, Msg: fmt.Sprintf("rank %d does not exist, expected 0 to %d", *fixed.r, w.world-1)}
		}
		op.Peer = *fixed.r
		l.who = with(l.who, w.world, func(r int32) bool { return r != op.Peer })
		return nil
	}
	c, err := w.comm(p.Group, path+".group")
	if err != nil {
		return err
	}
	op.PeerMap = w.peerMap(c, p.Offset, p.Wrap)
	peer := w.out.PeerMaps[op.PeerMap-1]
	l.who = with(l.who, w.world, func(r int32) bool { return peer[r] >= 0 })
	return nil
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
func (w *walk) list(ops []Op, times int, path string) error {
	for range times {
		for i := range ops {
			o := &ops[i]
			at := fmt.Sprintf("%s.ops[%d]", path, i)
			n := max(o.Repeat, 1)
			if o.Ops != nil {
				if err := w.list(o.Ops, n, at); err != nil {
					return err
				}
				continue
			}
			for range n {
				if err := w.one(o, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// one runs one operation.
func (w *walk) one(o *Op, path string) error {
	if len(w.runs) >= maxOps {
		return &Error{Path: path, Msg: fmt.Sprintf("the repeats make more than %d operations", maxOps)}
	}
	deps := w.prev
	if o.After != nil {
		deps = nil
		for i, name := range *o.After {
			l := w.labels[name]
			if l == nil {
				return w.noLabel(name, fmt.Sprintf("%s.after[%d]", path, i))
			}
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
	return nil
}

func (w *walk) noLabel(name, path string) error {
	var names []string
	for n := range w.labels {
		names = append(names, n)
	}
	slices.Sort(names)
	known := "none"
	if len(names) > 0 {
		known = strings.Join(names, ", ")
	}
	return &Error{Path: path, Msg: fmt.Sprintf("label %q is on no operation before this one (labels so far: %s)", name, known), Near: name, Valid: names}
}
