package synth

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// maxOps bounds the operations of a whole program, over its classes: a slip
// in repeat should be a message, not a machine out of memory.
const maxOps = 1 << 23

// builder holds what Build has made so far.
type builder struct {
	spec    *Program
	world   int32
	out     *workloads.Program
	comms   []*comm
	streams []workloads.Stream
	leaves  []leaf // operations as written, in order
	runs    []run  // operations as they run, in order
	peers   map[peerKey]int32
	errs    Errors
}

// leaf is an operation as written, with what all its runs have in common.
type leaf struct {
	op   workloads.Op
	who  []bool // by rank: runs it; nil is all
	path string
}

// run is one execution of a leaf. Deps are indices in builder.runs.
type run struct {
	leaf int32
	deps []int32
}

type peerKey struct {
	comm   int32
	offset int32
	wrap   bool
}

// Build makes the program for world ranks. The seed drives the jitter. What of
// a description does not fit the world is returned at once, as [Errors].
func (p *Program) Build(world int32, seed uint64) (*workloads.Program, error) {
	if world < 1 {
		return nil, Errors{{Path: "world", Msg: fmt.Sprintf("read %d ranks, expected at least one", world)}}
	}
	b := &builder{spec: p, world: world, out: &workloads.Program{World: world}, peers: map[peerKey]int32{}, errs: p.Names()}
	for _, s := range p.Streams {
		order, ok := orders[s.Order]
		if !ok {
			b.fail("streams."+s.Name, "read order %q, expected in_order, any_ready or concurrent", s.Order)
		}
		b.streams = append(b.streams, workloads.Stream{Name: s.Name, Order: order})
	}
	for i := range p.Groups {
		b.add(&p.Groups[i])
	}
	if s := p.Straggler; s != nil && s.Rank >= world {
		b.fail("straggler.rank", "rank %d does not exist, expected 0 to %d", s.Rank, world-1)
	}
	w := walk{builder: b, labels: map[string]*label{}, leafOf: map[*Op]int32{}}
	total := int64(0)
	for i := range p.Blocks {
		bl := &p.Blocks[i]
		w.declare(bl)
		total += w.measure(bl.Ops, bl.Repeat, "blocks."+bl.Name)
	}
	if total > maxOps {
		b.fail("blocks", "the repeats make %d operations, expected at most %d", total, maxOps)
	}
	if err := b.errs.err(); err != nil {
		return nil, err
	}
	for i := range p.Blocks {
		w.block(i, &p.Blocks[i])
	}
	if err := b.classes(seed); err != nil {
		return nil, Errors{err}
	}
	return b.out, nil
}

// stream returns the index of a stream, 0 for one that does not exist, which
// [Program.Names] has found.
func (b *builder) stream(name string) int16 {
	for i, s := range b.streams {
		if s.Name == name {
			return int16(i)
		}
	}
	for _, s := range standard {
		if s.Name == name {
			b.streams = append(b.streams, s)
			return int16(len(b.streams) - 1)
		}
	}
	return 0
}

// standard are the streams that need no declaration.
var standard = []workloads.Stream{
	{Name: "compute", Order: workloads.InOrder},
	{Name: "comm", Order: workloads.InOrder},
	{Name: "background", Order: workloads.InOrder},
	{Name: "p2p", Order: workloads.Concurrent},
}

// classes deals the ranks to classes and writes their operations.
func (b *builder) classes(seed uint64) *Error {
	factor := func(r int32) float64 {
		if s := b.spec.Straggler; s != nil && s.Rank == r {
			return s.Factor
		}
		return 1
	}
	jitter := b.spec.Jitter > 0
	byWork := map[string]int{} // signature to class
	sig := make([]byte, len(b.leaves)+1)
	for r := range b.world {
		for i, l := range b.leaves {
			sig[i] = '1'
			if l.who != nil && !l.who[r] {
				sig[i] = '0'
			}
		}
		sig[len(b.leaves)] = '='
		if factor(r) != 1 {
			sig[len(b.leaves)] = '*'
		}
		ci, ok := byWork[string(sig)]
		if !ok || jitter {
			ci = len(b.out.Classes)
			byWork[string(sig)] = ci
			b.out.Classes = append(b.out.Classes, workloads.Class{Streams: b.streams})
			if n := len(b.out.Classes) * len(b.runs); n > maxOps {
				return &Error{Path: "blocks", Msg: fmt.Sprintf("%d classes of ranks times %d operations, expected at most %d in all; a smaller repeat or no jitter", len(b.out.Classes), len(b.runs), maxOps)}
			}
		}
		b.out.Classes[ci].Ranks = append(b.out.Classes[ci].Ranks, r)
	}
	for i := range b.out.Classes {
		c := &b.out.Classes[i]
		first := c.Ranks[0]
		c.Name = fmt.Sprintf("ranks of %d", first)
		if len(b.out.Classes) == 1 {
			c.Name = "all ranks"
		}
		c.Ops = b.ops(first)
		b.scale(c.Ops, factor(first), first, seed)
	}
	return nil
}

// ops writes the operations of rank r. What waited for an operation that r
// skips waits for what that waited for.
func (b *builder) ops(r int32) []workloads.Op {
	skips := false
	for _, l := range b.leaves {
		skips = skips || l.who != nil && !l.who[r]
	}
	out := make([]workloads.Op, 0, len(b.runs))
	if !skips {
		for _, ru := range b.runs {
			op := b.leaves[ru.leaf].op
			op.Deps = ru.deps
			out = append(out, op)
		}
		return out
	}
	deps := make([][]int32, len(b.runs)) // by run: what stands in for it
	for i, ru := range b.runs {
		var d []int32
		for _, x := range ru.deps {
			for _, y := range deps[x] {
				if !slices.Contains(d, y) {
					d = append(d, y)
				}
			}
		}
		slices.Sort(d)
		l := &b.leaves[ru.leaf]
		if l.who != nil && !l.who[r] {
			deps[i] = d
			continue
		}
		op := l.op
		op.Deps = d
		deps[i] = []int32{int32(len(out))}
		out = append(out, op)
	}
	return out
}

// scale multiplies the compute of rank r by its straggler factor and jitter.
func (b *builder) scale(ops []workloads.Op, factor float64, r int32, seed uint64) {
	j := b.spec.Jitter
	if factor == 1 && j == 0 {
		return
	}
	rng := rand.New(rand.NewPCG(seed, uint64(r)))
	for i := range ops {
		if ops[i].Kind != workloads.Compute {
			continue
		}
		f := factor
		if j > 0 {
			f *= 1 - j + 2*j*rng.Float64()
		}
		if ops[i].Duration >= 0 {
			ops[i].Duration = sim.FromSeconds(ops[i].Duration.Seconds() * f)
		}
		ops[i].FLOPs *= f
		ops[i].MemBytes = sim.Bytes(min(float64(ops[i].MemBytes)*f, float64(workloads.MaxBytes)))
	}
}
