package msccl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/workloads/collective/msccl/sums"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// WrongError is an algorithm that can be read, and does not do what it says.
type WrongError struct {
	File string
	Text string
}

func (e *WrongError) Error() string { return "check MSCCL algorithm: " + e.File + ": " + e.Text }

// Check runs the algorithm without numbers and compares what it leaves behind
// with what its collective promises. The thread blocks run in two orders, first
// to last and last to first, each as far as it can: an algorithm whose answer
// depends on that lacks a dependency. The error, a [*WrongError], tells of the
// first rank and chunk that are wrong, or who waits for whom.
//
// The notes say what the check leaves open: a custom collective has no promise,
// and an algorithm may hang for want of buffers.
func (a *Algorithm) Check() (notes []string, err error) {
	for _, inPlace := range []bool{true, false} {
		if inPlace && !a.InPlace || !inPlace && !a.OutOfPlace {
			continue
		}
		for _, backwards := range []bool{false, true} {
			if err := a.check(inPlace, backwards); err != nil {
				return nil, err
			}
		}
	}
	if a.Custom {
		notes = append(notes, a.File+": coll=custom promises nothing that could be checked; that every send has its receive and nothing hangs was")
	}
	r := a.run(a.InPlace, false, a.window())
	if len(r.stuck) > 0 {
		notes = append(notes, fmt.Sprintf("%s: with the %d chunks that a buffer of NCCL holds it hangs from some size on: %s", a.File, a.window(), strings.Join(r.stuck, "; ")))
	}
	return notes, nil
}

// window is how many chunks a connection holds: 8 steps of a buffer, of which a
// chunk of Simple takes 4.
//
// Source: microsoft/msccl b23e9cd5, NCCL_STEPS and MSCCL_CHUNKSTEPS.
func (a *Algorithm) window() int {
	if a.Protocol == nccl.Simple {
		return 2
	}
	return 8
}

func (a *Algorithm) check(inPlace, backwards bool) error {
	r := a.run(inPlace, backwards, 0)
	if err := r.sums.Err(); err != nil {
		return &WrongError{a.File, err.Error()}
	}
	if len(r.stuck) > 0 {
		return &WrongError{a.File, "it hangs: " + strings.Join(r.stuck, "; ")}
	}
	if a.Custom {
		return nil
	}
	_, err := r.sums.Verify(a.Coll, len(a.GPUs), a.Chunks, func(rank, c int) sums.Value {
		return *r.cell(rank, Place{Output, c})
	})
	if err == nil {
		return nil
	}
	text := err.Error()
	if backwards && a.check(inPlace, false) == nil {
		text += " (where the last thread blocks run first; in the order of the file it is right: a step lacks its depid)"
	}
	return &WrongError{a.File, text}
}

// run is one execution without numbers.
type run struct {
	a       *Algorithm
	sums    *sums.Table
	inPlace bool
	memory  [][3][]sums.Value // by GPU
	next    [][]int           // step of each thread block
	fifo    map[wire][][]sums.Value
	window  int // messages that fit a wire, 0 for any number
	stuck   []string
}

// run executes the algorithm as far as it goes.
func (a *Algorithm) run(inPlace, backwards bool, window int) *run {
	n := len(a.GPUs)
	in, out := a.Chunks, a.Chunks
	if !a.Custom {
		in, out = sums.Sizes(a.Coll, n, a.Chunks)
	}
	r := &run{a: a, sums: sums.NewTable(max(in, 1)), inPlace: inPlace, fifo: map[wire][][]sums.Value{}, window: window}
	r.memory, r.next = make([][3][]sums.Value, n), make([][]int, n)
	for g := range a.GPUs {
		chunks := a.GPUs[g].Chunks
		if a.Custom {
			in, out = chunks[Input], chunks[Output]
		}
		r.memory[g] = [3][]sums.Value{make([]sums.Value, max(in, chunks[Input])), make([]sums.Value, max(out, chunks[Output])), make([]sums.Value, chunks[Scratch])}
		r.next[g] = make([]int, len(a.GPUs[g].Blocks))
		for c := range in {
			*r.cell(g, Place{Input, c}) = r.sums.Input(g, c)
		}
	}
	type id struct{ g, b int }
	var order []id
	for g := range a.GPUs {
		for b := range a.GPUs[g].Blocks {
			order = append(order, id{g, b})
		}
	}
	if backwards {
		slices.Reverse(order)
	}
	for moved := true; moved; {
		moved = false
		for _, o := range order {
			for r.step(o.g, o.b) {
				moved = true
			}
		}
	}
	for _, o := range order {
		if w := r.waits(o.g, o.b); w != "" && len(r.stuck) < 4 {
			r.stuck = append(r.stuck, w)
		}
	}
	return r
}

// cell finds a chunk in memory. In place input and output are the same memory,
// where the smaller of the two is the rank's own part of the larger.
func (r *run) cell(g int, p Place) *sums.Value {
	if r.inPlace && p.Buffer != Scratch && !r.a.Custom {
		in, out := sums.Sizes(r.a.Coll, len(r.a.GPUs), r.a.Chunks)
		if p.Buffer == Input && in <= out {
			if in < out {
				p.Chunk += g * in
			}
			p.Buffer = Output
		} else if p.Buffer == Output && out < in {
			p = Place{Input, p.Chunk + g*out}
		}
	}
	return &r.memory[g][p.Buffer][p.Chunk]
}

// ready reports whether the next step of a thread block can run.
func (r *run) ready(g, b int) bool {
	blk := &r.a.GPUs[g].Blocks[b]
	k := r.next[g][b]
	if k == len(blk.Steps) {
		return false
	}
	s := &blk.Steps[k]
	switch {
	case s.Block >= 0 && r.next[g][s.Block] <= s.After:
		return false
	case s.Kind.Receives() && len(r.fifo[wire{blk.Recv, g, blk.Channel}]) == 0:
		return false
	case s.Kind.Sends() && r.window > 0 && len(r.fifo[wire{g, blk.Send, blk.Channel}]) >= r.window:
		return false
	}
	return true
}

// step runs the next step of a thread block, if it can.
func (r *run) step(g, b int) bool {
	if !r.ready(g, b) {
		return false
	}
	blk := &r.a.GPUs[g].Blocks[b]
	s := &blk.Steps[r.next[g][b]]
	r.next[g][b]++
	if s.Kind == Nop {
		return true
	}
	var got []sums.Value
	if s.Kind.Receives() {
		w := wire{blk.Recv, g, blk.Channel}
		got = r.fifo[w][0]
		r.fifo[w] = r.fifo[w][1:]
	}
	out := make([]sums.Value, s.Count)
	for c := range out {
		var v sums.Value
		if got != nil {
			v = got[c]
		}
		if s.Kind.reads() {
			src := *r.cell(g, Place{s.Src.Buffer, s.Src.Chunk + c})
			switch {
			case s.Kind == LocalReduce || s.Kind == LocalAdd:
				v = r.sums.Add(src, *r.cell(g, Place{s.Dst.Buffer, s.Dst.Chunk + c}))
			case s.Kind.Adds():
				v = r.sums.Add(v, src)
			default:
				v = src
			}
		}
		out[c] = v
	}
	if s.Kind.writes() {
		for c, v := range out {
			*r.cell(g, Place{s.Dst.Buffer, s.Dst.Chunk + c}) = v
		}
	}
	if s.Kind.Sends() {
		w := wire{g, blk.Send, blk.Channel}
		r.fifo[w] = append(r.fifo[w], out)
	}
	return true
}

// waits says what a thread block that is not done waits for.
func (r *run) waits(g, b int) string {
	blk := &r.a.GPUs[g].Blocks[b]
	k := r.next[g][b]
	if k == len(blk.Steps) {
		return ""
	}
	s := &blk.Steps[k]
	who := fmt.Sprintf("line %d: thread block %d of GPU %d waits in step %d for", s.Line, b, g, k)
	switch {
	case s.Block >= 0 && r.next[g][s.Block] <= s.After:
		return fmt.Sprintf("%s step %d of thread block %d", who, s.After, s.Block)
	case s.Kind.Receives() && len(r.fifo[wire{blk.Recv, g, blk.Channel}]) == 0:
		return fmt.Sprintf("%s GPU %d to send on channel %d", who, blk.Recv, blk.Channel)
	}
	return fmt.Sprintf("%s GPU %d to receive on channel %d", who, blk.Send, blk.Channel)
}
