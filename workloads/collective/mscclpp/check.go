package mscclpp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/workloads/collective/msccl/sums"
)

// WrongError is a plan that can be read, and does not do what it says.
type WrongError struct {
	File string
	Text string
}

func (e *WrongError) Error() string { return "check MSCCL++ plan: " + e.File + ": " + e.Text }

// Check runs the plan without numbers and compares what it leaves behind with
// what its collective promises. The thread blocks run in two orders, first to
// last and last to first, each as far as it can. The error, a [*WrongError],
// tells of the first rank and chunk that are wrong, or who waits for whom.
func (p *Plan) Check() (notes []string, err error) {
	for _, backwards := range []bool{false, true} {
		r := p.run(backwards)
		if err := r.verdict(); err != nil {
			return nil, err
		}
	}
	if p.Custom {
		notes = append(notes, p.File+": the plan is for no collective that is known here, so what it computes was not checked; that nothing hangs was")
	}
	return notes, nil
}

// ref is an operation of a plan.
type ref struct{ gpu, block, op int }

// arrival is what an operation wrote to one of its destinations.
type arrival struct {
	ref
	dst int
}

// match is whom an operation waited for.
type match struct {
	signals []arrival // of each channel of a wait: the operation and its channel
	packets []arrival
	done    []ref // semaphores of the GPU
	meet    []ref // at a barrier
}

// cellAt is a chunk of a buffer.
type cellAt struct {
	rank   int
	buffer Buffer
	chunk  int
}

// packet is data that says by itself that it is there.
type packet struct {
	value sums.Value
	by    arrival
}

// way is a pair of semaphores, one way.
type way struct {
	from, to, nth int
	port          bool
}

// run is one execution without numbers.
type run struct {
	p       *Plan
	sums    *sums.Table
	memory  [][3][]sums.Value
	packets map[cellAt]packet
	signals map[way][]arrival
	sems    [][][]ref // by GPU and semaphore: the releases not yet taken
	initial [][]int   // what semaphores begin with, which nobody released
	meeting map[[2]int][]ref
	met     map[ref]bool
	next    [][]int
	matches map[ref]*match
	bad     string
}

func (p *Plan) run(backwards bool) *run {
	n := len(p.GPUs)
	in, out := p.total(), p.total()
	if !p.Custom {
		in, out = sums.Sizes(p.Coll, n, p.total())
	}
	r := &run{
		p: p, sums: sums.NewTable(max(in, 1)), packets: map[cellAt]packet{}, signals: map[way][]arrival{}, meeting: map[[2]int][]ref{},
		met: map[ref]bool{}, matches: map[ref]*match{}, memory: make([][3][]sums.Value, n), next: make([][]int, n), sems: make([][][]ref, n), initial: make([][]int, n),
	}
	for g := range p.GPUs {
		gpu := &p.GPUs[g]
		r.memory[g] = [3][]sums.Value{make([]sums.Value, max(in, gpu.Chunks[Input])), make([]sums.Value, max(out, gpu.Chunks[Output])), make([]sums.Value, gpu.Chunks[Scratch])}
		r.next[g] = make([]int, len(gpu.Blocks))
		r.sems[g], r.initial[g] = make([][]ref, len(gpu.Initial)), slices.Clone(gpu.Initial)
		for c := range in {
			*r.cell(cellAt{g, Input, c}) = r.sums.Input(g, c)
		}
	}
	var order []ref
	for g := range p.GPUs {
		for b := range p.GPUs[g].Blocks {
			order = append(order, ref{gpu: g, block: b})
		}
	}
	if backwards {
		slices.Reverse(order)
	}
	for moved := true; moved && r.bad == ""; {
		moved = false
		for _, o := range order {
			for r.bad == "" && r.step(o.gpu, o.block) {
				moved = true
			}
		}
	}
	return r
}

// verdict says what is wrong at the end of a run.
func (r *run) verdict() error {
	p := r.p
	if r.bad != "" {
		return &WrongError{p.File, r.bad}
	}
	if err := r.sums.Err(); err != nil {
		return &WrongError{p.File, err.Error()}
	}
	var stuck []string
	for g := range p.GPUs {
		for b := range p.GPUs[g].Blocks {
			if k := r.next[g][b]; k < len(p.GPUs[g].Blocks[b].Ops) && len(stuck) < 4 {
				op := &p.GPUs[g].Blocks[b].Ops[k]
				stuck = append(stuck, fmt.Sprintf("line %d: thread block %d of GPU %d waits in operation %d, %s, %s", op.Line, b, g, k, op.Name, r.reason(g, op)))
			}
		}
	}
	if len(stuck) > 0 {
		return &WrongError{p.File, "it hangs: " + strings.Join(stuck, "; ")}
	}
	if p.Custom {
		return nil
	}
	if _, err := r.sums.Verify(p.Coll, len(p.GPUs), p.total(), func(rank, c int) sums.Value { return *r.cell(cellAt{rank, Output, c}) }); err != nil {
		return &WrongError{p.File, err.Error()}
	}
	return nil
}

// reason says what an operation waits for.
func (r *run) reason(g int, op *Op) string {
	for _, c := range op.Channels {
		if len(r.signals[way{c.Peer, g, c.Nth, c.Port}]) == 0 && known[op.Name].waits {
			return fmt.Sprintf("for GPU %d to signal on channel %d between the two", c.Peer, c.Nth)
		}
	}
	switch {
	case op.Name == "barrier":
		return fmt.Sprintf("for %d thread blocks in all to reach barrier %d", op.Meet, op.Barrier)
	case op.Name == "sem_acquire":
		return fmt.Sprintf("for a release of semaphore %v", op.Sems)
	}
	return "for packets"
}

// cell finds a chunk in memory. In place input and output are the same memory,
// where the smaller of the two is the rank's own part of the larger.
func (r *run) cell(at cellAt) *sums.Value {
	p := r.p
	if p.InPlace && at.buffer != Scratch && !p.Custom {
		in, out := sums.Sizes(p.Coll, len(p.GPUs), p.total())
		if at.buffer == Input && in <= out {
			if in < out {
				at.chunk += at.rank * in
			}
			at.buffer = Output
		} else if at.buffer == Output && out < in {
			at.buffer, at.chunk = Input, at.chunk+at.rank*out
		}
	}
	return &r.memory[at.rank][at.buffer][at.chunk]
}

func (r *run) match(at ref) *match {
	m := r.matches[at]
	if m == nil {
		m = &match{}
		r.matches[at] = m
	}
	return m
}

// step runs the next operation of a thread block, if it can.
func (r *run) step(g, b int) bool {
	ops := r.p.GPUs[g].Blocks[b].Ops
	at := ref{g, b, r.next[g][b]}
	if at.op == len(ops) {
		return false
	}
	op := &ops[at.op]
	k := known[op.Name]
	if !r.take(at, op, k) {
		return false
	}
	r.next[g][b]++
	if k.data {
		r.move(at, op, k)
	}
	if k.signals {
		for i, c := range op.Channels {
			w := way{g, c.Peer, c.Nth, c.Port}
			r.signals[w] = append(r.signals[w], arrival{at, i})
		}
	}
	if op.Name == "sem_release" {
		for _, s := range op.Sems {
			r.sems[g][s] = append(r.sems[g][s], at)
		}
	}
	return true
}

// take reports whether what an operation waits for is there, and takes it.
func (r *run) take(at ref, op *Op, k kind) bool {
	g := at.gpu
	switch {
	case k.waits:
		need := map[way]int{}
		for _, c := range op.Channels {
			w := way{c.Peer, g, c.Nth, c.Port}
			if need[w]++; len(r.signals[w]) < need[w] {
				return false
			}
		}
		for _, c := range op.Channels {
			w := way{c.Peer, g, c.Nth, c.Port}
			m := r.match(at)
			m.signals = append(m.signals, r.signals[w][0])
			r.signals[w] = r.signals[w][1:]
		}
	case op.Name == "sem_acquire":
		need := map[int]int{}
		for _, s := range op.Sems {
			if need[s]++; r.initial[g][s]+len(r.sems[g][s]) < need[s] {
				return false
			}
		}
		for _, s := range op.Sems {
			if r.initial[g][s] > 0 {
				r.initial[g][s]--
				continue
			}
			m := r.match(at)
			m.done = append(m.done, r.sems[g][s][0])
			r.sems[g][s] = r.sems[g][s][1:]
		}
	case op.Name == "barrier":
		key := [2]int{g, op.Barrier}
		if r.met[at] {
			return true
		}
		if !slices.Contains(r.meeting[key], at) {
			r.meeting[key] = append(r.meeting[key], at)
		}
		if len(r.meeting[key]) < op.Meet {
			return false
		}
		for _, o := range r.meeting[key] {
			r.met[o] = true
			r.match(o).meet = r.meeting[key]
		}
		delete(r.meeting, key)
	case k.takes >= 0:
		for _, s := range op.Src[min(k.takes, len(op.Src)):] {
			for c := range s.Count {
				if _, ok := r.packets[cellAt{s.Rank, s.Buffer, s.Chunk + c}]; !ok {
					return false
				}
			}
		}
		m := r.match(at)
		for _, s := range op.Src[min(k.takes, len(op.Src)):] {
			for c := range s.Count {
				if by := r.packets[cellAt{s.Rank, s.Buffer, s.Chunk + c}].by; !slices.Contains(m.packets, by) {
					m.packets = append(m.packets, by)
				}
			}
		}
	}
	return true
}

// move does what an operation does to memory.
func (r *run) move(at ref, op *Op, k kind) {
	read := func(i, c int) sums.Value {
		s := op.Src[i]
		switch {
		case k.takes >= 0 && i >= k.takes:
			return r.packets[cellAt{s.Rank, s.Buffer, s.Chunk + c}].value
		case s.Switch != nil:
			v := sums.Unwritten
			for j, rank := range s.Switch {
				w := *r.cell(cellAt{rank, s.Buffer, s.Chunk + c})
				if j == 0 {
					v = w
				} else {
					v = r.sums.Add(v, w)
				}
			}
			return v
		}
		return *r.cell(cellAt{s.Rank, s.Buffer, s.Chunk + c})
	}
	values := make([][]sums.Value, len(op.Dst))
	for d := range op.Dst {
		for c := range op.Dst[d].Count {
			i := 0
			if !k.adds && len(op.Src) > 1 {
				i = d
			}
			v := read(i, c)
			if k.adds {
				for i := 1; i < len(op.Src); i++ {
					v = r.sums.Add(v, read(i, c))
				}
			}
			values[d] = append(values[d], v)
		}
	}
	for d, dst := range op.Dst {
		for c, v := range values[d] {
			if dst.Switch != nil {
				for _, rank := range dst.Switch {
					*r.cell(cellAt{rank, dst.Buffer, dst.Chunk + c}) = v
				}
				continue
			}
			to := cellAt{dst.Rank, dst.Buffer, dst.Chunk + c}
			if !op.packetsTo(d, at.gpu) {
				*r.cell(to) = v
				continue
			}
			if first, ok := r.packets[to]; ok && first.by != (arrival{at, d}) && op.Part == 1 {
				r.bad = fmt.Sprintf("line %d: chunk %d of the %v of GPU %d gets packets twice, which is not modelled; expected another chunk for each", op.Line, to.chunk, to.buffer, to.rank)
				return
			}
			r.packets[to] = packet{v, arrival{at, d}}
		}
	}
}

// packetsTo reports whether an operation of a GPU writes packets to its
// destination d.
func (o *Op) packetsTo(d, gpu int) bool {
	if !known[o.Name].packets {
		return false
	}
	return o.Dst[d].Rank != gpu || o.Name == "cpkt" || d > 0 && o.Dst[d].Buffer == Scratch
}
