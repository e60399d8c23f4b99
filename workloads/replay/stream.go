package replay

import (
	"cmp"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// streamState is a stream of one representative.
type streamState struct {
	running int32 // the operation that has the stream, or -1
	cursor  int32 // InOrder: position of the head in the queue
	dirty   bool  // AnyReady: listed for dispatch

	// AnyReady: waiting has operations that are ready; armed has collectives
	// that all members have reached and that wait for all their streams.
	waiting, armed opHeap

	taken   candidate // who took it, if in this dispatch: see takenIn
	takenIn int64

	freedAt sim.Time // when the stream last became idle, and by whose end
	freedBy int32
}

// opHeap is a binary heap of operation numbers, least first.
type opHeap []int32

func (h *opHeap) push(op int32) {
	*h = append(*h, op)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if s[up] <= s[i] {
			break
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
}

func (h *opHeap) pop() int32 {
	s := *h
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	*h = s
	for i := 0; ; {
		least := i
		if l := 2*i + 1; l < len(s) && s[l] < s[least] {
			least = l
		}
		if r := 2*i + 2; r < len(s) && s[r] < s[least] {
			least = r
		}
		if least == i {
			return top
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
}

// streamID names a stream of a representative.
type streamID struct{ rep, stream int32 }

// touch lists an AnyReady stream for dispatch at the end of the instant.
func (x *exec) touch(id streamID) {
	s := &x.reps[id.rep].streams[id.stream]
	if !s.dirty {
		s.dirty = true
		x.dirty = append(x.dirty, id)
	}
}

// candidate is the first operation that an idle stream might run.
type candidate struct {
	k       int32  // position in the program of its rank
	content uint64 // what the rank does
	streamID
}

func (a candidate) before(b candidate) int {
	if a.k != b.k {
		return int(a.k - b.k)
	}
	if a.content != b.content {
		return cmp.Compare(a.content, b.content)
	}
	if a.rep != b.rep {
		return int(a.rep - b.rep)
	}
	return int(a.stream - b.stream)
}

// candidates is a binary heap, the first at its top.
type candidates []candidate

func (h *candidates) push(c candidate) {
	*h = append(*h, c)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if s[up].before(s[i]) <= 0 {
			break
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
}

func (h *candidates) pop() candidate {
	s := *h
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	*h = s
	for i := 0; ; {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(s); k++ {
			if s[k].before(s[least]) < 0 {
				least = k
			}
		}
		if least == i {
			return top
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
}

// dispatch lets idle AnyReady streams choose. It runs once all events of the
// instant are in, so that the choice does not depend on their order: streams
// choose in the order of their candidates' places in the program.
func (x *exec) dispatch(*sim.Engine) {
	if len(x.dirty) == 0 {
		return
	}
	x.cands = x.cands[:0]
	for _, id := range x.dirty {
		x.reps[id.rep].streams[id.stream].dirty = false
		x.propose(id)
	}
	x.dirty = x.dirty[:0]
	x.held = x.held[:0]
	x.dispatches++
	for len(x.cands) > 0 {
		c := x.cands.pop()
		r := &x.reps[c.rep]
		s := &r.streams[c.stream]
		if s.running >= 0 {
			continue
		}
		op := r.base + c.k
		switch {
		case len(s.waiting) > 0 && s.waiting[0] == op:
			s.waiting.pop()
			s.running = op
			s.taken, s.takenIn = c, x.dispatches
			if s.freedAt == x.eng.Now() && x.ops[op].begin < s.freedAt {
				x.ops[op].cause = s.freedBy
			}
			x.ops[op].begin = x.eng.Now()
			x.issue(int(c.rep), op)
		case x.insts[x.ops[op].slot].begun:
			s.armed.pop()
			x.propose(c.streamID)
		case x.allIdle(x.ops[op].slot):
			s.armed.pop()
			x.take(x.ops[op].slot, c)
			x.begin(x.ops[op].slot)
		default: // a member is busy; nothing gets idle before the next dispatch
			if !x.c.identity && x.tied(x.ops[op].slot, c) {
				x.eng.Fail(errTied)
				return
			}
			x.held = append(x.held, held{c.streamID, s.armed.pop()})
			x.propose(c.streamID)
		}
	}
	for _, h := range x.held {
		x.reps[h.rep].streams[h.stream].armed.push(h.op)
	}
}

// held is an armed collective put aside during a dispatch.
type held struct {
	streamID
	op int32
}

// take notes which candidate took the streams of a collective's members.
func (x *exec) take(inst int32, c candidate) {
	for op := x.insts[inst].first; op >= 0; op = x.ops[op].next {
		if id, ok := x.picking(op); ok {
			s := x.stream(id)
			s.taken, s.takenIn = c, x.dispatches
		}
	}
}

// tied says that a collective is held up only because another, equal in rank's
// work and place in the program, came first: rank numbers decided.
func (x *exec) tied(inst int32, c candidate) bool {
	for op := x.insts[inst].first; op >= 0; op = x.ops[op].next {
		if id, ok := x.picking(op); ok {
			s := x.stream(id)
			if s.running >= 0 && s.takenIn == x.dispatches && s.taken.k == c.k && s.taken.content == c.content && s.taken.rep != c.rep {
				return true
			}
		}
	}
	return false
}

// propose enters the first candidate of a stream.
func (x *exec) propose(id streamID) {
	r := &x.reps[id.rep]
	s := &r.streams[id.stream]
	if s.running >= 0 || len(s.waiting)+len(s.armed) == 0 {
		return
	}
	var op int32
	switch {
	case len(s.armed) == 0, len(s.waiting) > 0 && s.waiting[0] < s.armed[0]:
		op = s.waiting[0]
	default:
		op = s.armed[0]
	}
	x.cands.push(candidate{op - r.base, x.work[r.class].content, id})
}

// picking returns the AnyReady stream of an operation, or false if its stream
// has another order.
func (x *exec) picking(op int32) (streamID, bool) {
	rep := x.opRep[op]
	r := &x.reps[rep]
	w := &x.work[r.class]
	s := w.streamOf[op-r.base]
	return streamID{rep, int32(s)}, w.streams[s] == workloads.AnyReady
}

func (x *exec) stream(id streamID) *streamState { return &x.reps[id.rep].streams[id.stream] }

// allIdle says that every member whose stream picks freely could run the
// collective now.
func (x *exec) allIdle(inst int32) bool {
	for op := x.insts[inst].first; op >= 0; op = x.ops[op].next {
		if id, ok := x.picking(op); ok && x.stream(id).running >= 0 {
			return false
		}
	}
	return true
}
