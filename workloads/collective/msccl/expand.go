package msccl

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// What a protocol carries.
//
// Source: NVIDIA/nccl 2.30.7 and microsoft/msccl b23e9cd5, src/include/device.h
// and src/device/*.h: buffers of 8 steps, of 64 KiB on the wire for LL, 614,400 B
// for LL128 and 512 KiB for Simple, of which MSCCL's chunk has four.
var (
	// carried is the data of one chunk, by protocol.
	carried = [...]sim.Bytes{nccl.LL: 32 << 10, nccl.LL128: 576000, nccl.Simple: 2 << 20}
	// rounds is the data that a thread block hands on at once: lines of 8 bytes
	// of 512 threads, 8 words of 8 bytes of 640 threads less flags. Of Simple it
	// is the least slice, a chunk having two.
	rounds = [...]sim.Bytes{nccl.LL: 4 << 10, nccl.LL128: 38400, nccl.Simple: 32 << 10}
)

// mostOps bounds the operations of a program; larger ones are made of coarser
// units.
const mostOps = 1 << 19

// Run is an algorithm ready to be replayed.
type Run struct {
	Program *workloads.Program
	// Send is how its messages run, for the options of the replay.
	Send collective.Sender
	// Choose is how what the switch does runs; nil where it does nothing.
	Choose   collective.Chooser
	Sent     float64 // bytes on the wire that a rank sends, mean
	Warnings []string
}

// Expand makes the program of one call with a message of size bytes, as
// nccl-tests counts. GPU i of the algorithm is ranks[i] of a world of so many;
// the others are idle. Every thread block is a stream of its rank.
func (a *Algorithm) Expand(size sim.Bytes, ranks []int32, world int32, c Costs) (*Run, error) {
	if len(ranks) != len(a.GPUs) {
		return nil, fmt.Errorf("run %s: it is for %d GPUs (ngpus), and there are %d", a.File, len(a.GPUs), len(ranks))
	}
	if err := a.Fits(size); err != nil {
		return nil, fmt.Errorf("run %s: a message of %w", a.File, err)
	}
	x := &expansion{a: a, costs: c, ranks: ranks, chunk: size / sim.Bytes(a.Chunks), coarse: 1}
	x.pair()
	run := &Run{Program: &workloads.Program{Name: a.Name, World: world}, Send: x.send}
	for n := x.count(); n > mostOps; n = x.count() {
		if x.coarse *= 2; x.coarse > 1<<20 {
			return nil, fmt.Errorf("run %s: %d operations at least for %d bytes, expected at most %d", a.File, n, size, mostOps)
		}
	}
	if x.coarse > 1 {
		run.Warnings = append(run.Warnings, fmt.Sprintf("%s: %d bytes are simulated in units %d times as large as those that NCCL's kernels hand on, since they are so many", a.File, size, x.coarse))
	}
	for g := range a.GPUs {
		run.Program.Classes = append(run.Program.Classes, x.class(g))
	}
	part := make([]bool, world)
	for _, r := range ranks {
		part[r] = true
	}
	var idle []int32
	for r := range world {
		if !part[r] {
			idle = append(idle, r)
		}
	}
	if idle != nil {
		run.Program.Classes = append(run.Program.Classes, workloads.Class{Name: "idle", Ranks: idle, Streams: []workloads.Stream{{Name: "none"}}})
	}
	run.Sent = a.Sent() * float64(x.chunk) / a.Protocol.Payload()
	return run, nil
}

// expansion is the state of one Expand.
type expansion struct {
	a      *Algorithm
	costs  Costs
	ranks  []int32
	chunk  sim.Bytes
	coarse int64      // how many times larger all units are
	passed [][][]bool // by GPU, block and step: what it sends or receives is passed on at once
}

// pair finds the messages that are cut in units: those that the sender passes on
// from somebody else, or that the receiver passes on. Others need not be, but
// for the slices of Simple, which have their costs.
func (x *expansion) pair() {
	a := x.a
	send, _ := a.ends(func(wire, end, end, bool) {})
	x.passed = make([][][]bool, len(a.GPUs))
	for g := range a.GPUs {
		x.passed[g] = make([][]bool, len(a.GPUs[g].Blocks))
		for b := range a.GPUs[g].Blocks {
			x.passed[g][b] = make([]bool, len(a.GPUs[g].Blocks[b].Steps))
			for k := range x.passed[g][b] {
				x.passed[g][b][k] = a.Protocol == nccl.Simple && a.GPUs[g].Blocks[b].Steps[k].Kind < LocalCopy
			}
		}
	}
	for g := range a.GPUs {
		for b := range a.GPUs[g].Blocks {
			blk := &a.GPUs[g].Blocks[b]
			if blk.Recv < 0 {
				continue
			}
			from := send[wire{blk.Recv, g, blk.Channel}]
			sender := a.at(from, true)
			k := 0
			for i := range blk.Steps {
				if !blk.Steps[i].Kind.Receives() {
					continue
				}
				for !sender.Steps[k].Kind.Sends() {
					k++
				}
				if blk.Steps[i].Kind.Sends() || sender.Steps[k].Kind.Receives() {
					x.passed[g][b][i], x.passed[from.gpu][from.block][k] = true, true
				}
				k++
			}
		}
	}
}

// loops returns how many times all thread blocks run all their steps, and the
// bytes of a chunk that one of them moves.
func (x *expansion) loops() (n int64, part sim.Bytes) {
	most := carried[x.a.Protocol] * sim.Bytes(x.coarse)
	return int64((x.chunk + most - 1) / most), min(x.chunk, most)
}

// calls cuts the chunks of a step into those that one chunk of the protocol
// carries together.
func (x *expansion) calls(count int, part sim.Bytes, each func(chunks int)) {
	together := int(max(1, min(carried[x.a.Protocol]/max(part, 1), mostCount)))
	for ; count > 0; count -= together {
		each(min(count, together))
	}
}

// units is how many units bytes are handed on in.
func (x *expansion) units(b sim.Bytes) int64 {
	u := rounds[x.a.Protocol]
	if x.a.Protocol == nccl.Simple {
		u = max(u, (b+1)/2)
	}
	u *= sim.Bytes(x.coarse)
	return int64(max(1, (b+u-1)/u))
}

// count is the operations of the program.
func (x *expansion) count() int64 {
	loops, part := x.loops()
	total := int64(0)
	for g := range x.a.GPUs {
		for b := range x.a.GPUs[g].Blocks {
			for k := range x.a.GPUs[g].Blocks[b].Steps {
				s := &x.a.GPUs[g].Blocks[b].Steps[k]
				if s.Kind == Nop {
					total++
				}
				x.calls(s.Count, part, func(chunks int) {
					n := int64(1)
					if x.passed[g][b][k] {
						n = x.units(part * sim.Bytes(chunks))
					}
					if s.Kind.Sends() && s.Kind.Receives() {
						n *= 2
					}
					total += n
				})
			}
		}
	}
	if total > 0 && loops > mostOps*2/total {
		return mostOps * 2
	}
	return total * loops
}

// send is the pace of each message.
func (x *expansion) send(b sim.Bytes, _, _ int32) (collective.Choice, error) {
	ch := collective.Choice{
		Algorithm: collective.Direct, Name: x.a.Name, Protocol: x.a.Protocol.String(), Channels: x.a.Channels, Overhead: 1 / x.a.Protocol.Payload(),
	}
	if x.costs.Message != nil {
		ch.Pace = x.costs.Message(b)
	}
	return ch, nil
}

// class writes the operations of one GPU.
func (x *expansion) class(g int) workloads.Class {
	gpu := &x.a.GPUs[g]
	cl := workloads.Class{Name: fmt.Sprintf("GPU %d", g), Ranks: []int32{x.ranks[g]}}
	for b := range gpu.Blocks {
		cl.Streams = append(cl.Streams, workloads.Stream{Name: fmt.Sprintf("thread block %d", b)})
		if x.costs.Start > 0 {
			cl.Ops = append(cl.Ops, workloads.Op{Name: "start", Kind: workloads.Delay, Stream: int16(b), Duration: x.costs.Start})
		}
	}
	local := 0 // blocks that use the memory by themselves
	for b := range gpu.Blocks {
		if len(gpu.Blocks[b].filter(func(k Kind) bool { return k >= LocalCopy })) > 0 {
			local++
		}
	}
	loops, part := x.loops()
	ends := make([][]int32, len(gpu.Blocks)) // the last operation of each step of the loop
	for b := range gpu.Blocks {
		ends[b] = make([]int32, len(gpu.Blocks[b].Steps))
	}
	type wait struct {
		op   int32
		step *Step
	}
	for l := range loops {
		if l == loops-1 {
			part = x.chunk - sim.Bytes(l)*part
		}
		var waits []wait
		for b := range gpu.Blocks {
			for k := range gpu.Blocks[b].Steps {
				s := &gpu.Blocks[b].Steps[k]
				first := int32(len(cl.Ops))
				x.step(&cl, g, b, k, part, local)
				if s.Block >= 0 && s.Block != b { // its own are in order
					waits = append(waits, wait{first, s})
				}
				ends[b][k] = int32(len(cl.Ops)) - 1
			}
		}
		for _, w := range waits {
			cl.Ops[w.op].Deps = []int32{ends[w.step.Block][w.step.After]}
		}
	}
	x.finish(&cl, ends)
	return cl
}

// step writes the operations of one step, at least one.
func (x *expansion) step(cl *workloads.Class, g, b, k int, part sim.Bytes, local int) {
	blk := &x.a.GPUs[g].Blocks[b]
	s := &blk.Steps[k]
	op := workloads.Op{Name: s.Kind.String(), Stream: int16(b), Tag: int32(blk.Channel)}
	if s.Kind == Nop {
		op.Kind = workloads.Delay
		cl.Ops = append(cl.Ops, op)
		return
	}
	x.calls(s.Count, part, func(chunks int) {
		left := part * sim.Bytes(chunks)
		if s.Kind >= LocalCopy {
			touched := 2 // read and written
			if s.Kind != LocalCopy {
				touched = 3
			}
			op.Kind, op.Duration = workloads.Compute, x.costs.LocalTime(left, touched, local)
			cl.Ops = append(cl.Ops, op)
			return
		}
		n := int64(1)
		if x.passed[g][b][k] {
			n = x.units(left)
		}
		for ; n > 0; n-- {
			op.Bytes = (left + sim.Bytes(n) - 1) / sim.Bytes(n)
			left -= op.Bytes
			if s.Kind.Receives() {
				op.Kind, op.Peer = workloads.Recv, x.ranks[blk.Recv]
				cl.Ops = append(cl.Ops, op)
			}
			if s.Kind.Sends() {
				op.Kind, op.Peer = workloads.Send, x.ranks[blk.Send]
				cl.Ops = append(cl.Ops, op)
			}
		}
	})
}

// finish adds what is no step: the wait for the slowest, and for the host.
func (x *expansion) finish(cl *workloads.Class, ends [][]int32) {
	if x.costs.Spread == 0 && x.costs.Floor == 0 {
		return
	}
	at := int16(len(cl.Streams))
	cl.Streams = append(cl.Streams, workloads.Stream{Name: "kernel", Order: workloads.Concurrent})
	if x.costs.Spread > 0 {
		op := workloads.Op{Name: "slowest thread block", Kind: workloads.Delay, Stream: at, Duration: x.costs.Spread}
		for _, e := range ends {
			if len(e) > 0 {
				op.Deps = append(op.Deps, e[len(e)-1])
			}
		}
		cl.Ops = append(cl.Ops, op)
	}
	if x.costs.Floor > 0 {
		cl.Ops = append(cl.Ops, workloads.Op{Name: "launch", Kind: workloads.Delay, Stream: at, Duration: x.costs.Floor})
	}
}
