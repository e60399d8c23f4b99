package replay

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// exec is a simulation in progress. Operations are numbered through all
// representatives: the operations of representative i start at reps[i].base.
type exec struct {
	j   *job
	c   *classes
	l   *layout
	eng *sim.Engine
	net topology.Network
	me  int32 // target of our events

	reps    []rep
	work    []work // by program class, the job's
	ops     []opState
	opRep   []int32
	insts   []instance
	msgs    []message
	pipes   []pipe
	freePip []int32

	cur       int32 // the operation whose end is being handled, -1 at the start
	left      int   // operations not finished
	transfers int64
	beyond    float64 // bytes that leave GPUs beyond those sent, of all ranks
	uses      []use   // collectives by kind, for the report
	useOf     map[useKey]int32

	// Scratch of dispatch.
	dirty      []streamID
	cands      candidates
	dispatches int64
	held       []held
}

// rep is a representative rank.
type rep struct {
	rank    int32
	class   int32 // program class
	base    int32
	streams []streamState
	account account
}

// opState is what changes about an operation.
type opState struct {
	begin, end sim.Time
	// cause is the operation whose end let this one begin; -1 is the start.
	cause int32
	slot  int32 // index of its instance or message
	next  int32 // next member of the same instance, or -1
	indeg int32
	state uint8
}

// The states of an operation.
const (
	pending uint8 = iota
	issued        // running, or waiting for others
	finished
)

// Kinds of our events.
const (
	evOp      int32 = iota // an operation ends; arg is its number
	evInst                 // an instance without traffic ends
	evMove                 // the kernels of an instance run
	evLane                 // a lane's only transfer has arrived; arg is the instance
	evSent                 // a slice has left; arg is pipe<<32 | lane
	evGot                  // a slice has arrived
	evAck                  // the sender knows that a slice has arrived
	evMsgMove              // the kernel of a message runs
	evMsgSent              // a message has left
	evMsgGot               // a message has arrived
)

// Name names the replay in reports of the engine.
func (x *exec) Name() string { return "replay" }

// Handle is the engine's way in.
func (x *exec) Handle(_ *sim.Engine, ev sim.Event) {
	switch ev.Kind {
	case evOp:
		x.finish(int32(ev.Arg))
	case evInst:
		x.endInstance(int32(ev.Arg))
	case evMove:
		x.move(int32(ev.Arg))
	case evLane:
		in := &x.insts[ev.Arg]
		if in.lanesLeft--; in.lanesLeft == 0 {
			x.endInstance(int32(ev.Arg))
		}
	case evSent:
		x.sliceSent(int32(ev.Arg>>32), int32(ev.Arg&0xffffffff))
	case evGot:
		x.sliceGot(int32(ev.Arg>>32), int32(ev.Arg&0xffffffff))
	case evAck:
		x.sliceAcked(int32(ev.Arg>>32), int32(ev.Arg&0xffffffff))
	case evMsgMove:
		x.moveMessage(int32(ev.Arg))
	case evMsgSent:
		x.messageSent(int32(ev.Arg))
	case evMsgGot:
		x.messageGot(int32(ev.Arg))
	}
}

// opOf returns the description of an operation.
func (x *exec) opOf(op int32) *workloads.Op {
	r := &x.reps[x.opRep[op]]
	return &x.j.prog.Classes[r.class].Ops[op-r.base]
}

// start issues everything that depends on nothing.
func (x *exec) start() {
	x.cur = -1
	for i := range x.reps {
		r := &x.reps[i]
		w := &x.work[r.class]
		for k, n := range w.indeg {
			if n == 0 {
				x.ready(i, r.base+int32(k))
			}
		}
	}
}

// ready hands an operation whose dependencies are met to its stream.
func (x *exec) ready(rep int, op int32) {
	r := &x.reps[rep]
	w := &x.work[r.class]
	k := op - r.base
	x.ops[op].begin, x.ops[op].cause = x.eng.Now(), x.cur
	s := &r.streams[w.streamOf[k]]
	switch w.streams[w.streamOf[k]] {
	case workloads.Concurrent:
		x.issue(rep, op)
	case workloads.InOrder:
		q := w.queue[w.streamOf[k]]
		if s.running < 0 && q[s.cursor] == k {
			s.running = op
			x.issue(rep, op)
		}
	case workloads.AnyReady:
		if x.opOf(op).Kind == workloads.Collective {
			// It takes the stream when all members can: see arrive.
			x.ops[op].state = issued
			x.arrive(x.ops[op].slot)
			return
		}
		s.waiting.push(op)
		x.touch(streamID{int32(rep), int32(w.streamOf[k])})
	}
}

// issue starts an operation that has its stream.
func (x *exec) issue(rep int, op int32) {
	o := x.opOf(op)
	st := &x.ops[op]
	st.state = issued
	switch o.Kind {
	case workloads.Collective:
		x.arrive(st.slot)
	case workloads.Send:
		x.sendMessage(op)
	case workloads.Recv:
		x.postReceive(op)
	default:
		r := &x.reps[rep]
		d := x.work[r.class].durations[op-r.base]
		if o.Kind != workloads.Delay {
			r.account.compute(x.eng.Now(), 1)
		}
		x.eng.Schedule(x.eng.Now().Add(d), x.me, evOp, int64(op))
	}
}

// finish ends an operation, frees its stream and releases what waited for it.
func (x *exec) finish(op int32) {
	rep := int(x.opRep[op])
	r := &x.reps[rep]
	w := &x.work[r.class]
	st := &x.ops[op]
	st.state, st.end = finished, x.eng.Now()
	x.left--
	if st.end == sim.MaxTime {
		x.eng.Fail(&LimitError{fmt.Sprintf("rank %d: operation %q ends after %v, the end of simulated time (106 days): want shorter work or smaller messages", r.rank, x.opOf(op).Name, sim.MaxTime)})
		return
	}
	x.record(rep, op)
	if k := x.opOf(op).Kind; k == workloads.Compute || k == workloads.Copy {
		r.account.compute(x.eng.Now(), -1)
	}
	x.cur = op
	k := op - r.base
	stream := int(w.streamOf[k])
	s := &r.streams[stream]
	if s.running == op {
		s.running = -1
	}
	s.freedAt, s.freedBy = x.eng.Now(), op
	for _, d := range w.succ[k] {
		n := &x.ops[r.base+d]
		if n.indeg--; n.indeg == 0 {
			x.ready(rep, r.base+d)
		}
	}
	switch w.streams[stream] {
	case workloads.InOrder:
		// The head of the queue may have been made ready just now.
		q := w.queue[stream]
		s.cursor++
		if int(s.cursor) < len(q) && s.running < 0 {
			next := r.base + q[s.cursor]
			if x.ops[next].indeg == 0 && x.ops[next].state == pending {
				s.running = next
				x.ops[next].begin, x.ops[next].cause = x.eng.Now(), op
				x.issue(rep, next)
			}
		}
	case workloads.AnyReady:
		x.touch(streamID{int32(rep), int32(stream)})
	}
}

// build numbers the operations of the representatives and joins those that
// meet.
func (x *exec) build() error {
	p := x.j.prog
	x.work = x.j.work
	total := 0
	for _, r := range x.c.rankRep {
		cl := x.j.classOf[r]
		x.reps = append(x.reps, rep{rank: r, class: cl, base: int32(total)})
		total += len(p.Classes[cl].Ops)
	}
	x.ops = make([]opState, total)
	x.opRep = make([]int32, total)
	x.left = total
	for i := range x.reps {
		r := &x.reps[i]
		w := &x.work[r.class]
		r.streams = make([]streamState, len(w.streams))
		for s := range r.streams {
			r.streams[s].running = -1
		}
		for k := range w.indeg {
			x.ops[int(r.base)+k] = opState{indeg: w.indeg[k], next: -1, slot: -1, cause: -1}
			x.opRep[int(r.base)+k] = int32(i)
		}
	}
	x.useOf = map[useKey]int32{}
	if err := x.joinCollectives(); err != nil {
		return err
	}
	return x.joinMessages()
}

// lanesOf returns the lanes that an instance of plan p uses in group class g,
// nil if it moves nothing.
func (x *exec) lanesOf(p collective.Plan, g int32, n int) (*laneSet, bool) {
	if !plansWires(p, n) {
		return nil, false
	}
	want := x.j.shapeOf(p)
	for k := range x.j.patterns {
		if x.j.patterns[k].shape == want {
			return x.l.sets[setKey{int32(k), g}], want.merged
		}
	}
	return nil, false
}
