package replay

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
)

// pipe is a collective at grain chunk: messages that go from lane to lane in
// slices. A slice may leave when it is there (it has come from the lane
// before, or it is the rank's own), when the slice before it has left, and
// when fewer than the window are on their way or unacknowledged. The
// acknowledgement takes the latency of the lane.
type pipe struct {
	inst   int32
	slice  sim.Time // what a slice keeps its lane beyond its bytes
	slices int32    // per message
	total  int32    // slices that each lane carries
	acks   bool     // more than the window could be under way
	lanes  []pipeLane
	left   int // lanes that have not delivered all
}

type pipeLane struct {
	sent, there, got, flying int32
	busy                     bool
	size, final              sim.Bytes // of a slice, and of the last of a message
	limit                    sim.Rate
}

// defaultSlice is the slice of a chain: NCCL's chunk for broadcast and reduce
// with the Simple protocol (NVIDIA/nccl 2.30.7, 512 KiB).
const defaultSlice = 512 * sim.KiB

// defaultWindow is NCCL_STEPS, the slots of a connection's buffer
// (NVIDIA/nccl 2.30.7).
const defaultWindow = 8

// maxSlices bounds what one lane sends in one collective: more slices are
// hours of simulation.
const maxSlices = 1 << 24

func (x *exec) window() int32 {
	if x.j.opt.Window > 0 {
		return int32(x.j.opt.Window)
	}
	return defaultWindow
}

// slices returns into how many slices a message of so many bytes on a lane is
// cut.
func (x *exec) slices(in *instance, m sim.Bytes) sim.Bytes {
	slice := x.j.opt.Slice
	switch pace := &in.plan.Choice.Pace; {
	case slice > 0:
	case in.set.succ != nil && pace.Slices > 0:
		return sim.Bytes(pace.Slices)
	case in.set.succ != nil, in.plan.Pipelined:
		slice = defaultSlice
	default:
		return 1 // a message of one ring is no larger
	}
	return max((m+slice-1)/slice, 1)
}

// beginPipe starts instance id slice by slice.
func (x *exec) beginPipe(id int32) {
	in := &x.insts[id]
	set := in.set
	pace := &in.plan.Choice.Pace
	rings := sim.Bytes(set.rings)
	m := (in.plan.Message + rings - 1) / rings
	if set.succ != nil {
		m = in.plan.Message
	}
	n := x.slices(in, m)
	if n*sim.Bytes(max(in.plan.Steps, 1)) > maxSlices {
		x.eng.Fail(&LimitError{fmt.Sprintf("%v of %d bytes in %d slices on a lane: want at most %d, so slices of at least %d bytes",
			in.op.Coll, in.op.Bytes, n*sim.Bytes(in.plan.Steps), int64(maxSlices), (m*sim.Bytes(in.plan.Steps)+maxSlices-1)/maxSlices)})
		return
	}
	slices := int32(n)
	var at int32
	if n := len(x.freePip); n > 0 {
		at, x.freePip = x.freePip[n-1], x.freePip[:n-1]
	} else {
		at = int32(len(x.pipes))
		x.pipes = append(x.pipes, pipe{})
	}
	p := &x.pipes[at]
	lanes := p.lanes[:0]
	*p = pipe{
		inst: id, slices: slices, total: slices * int32(in.plan.Steps),
		slice: sim.Time(pace.Slices) * pace.Slice / sim.Time(int64(slices)*int64(max(in.plan.Steps, 1))),
		acks:  slices > x.window(), left: len(set.lanes),
	}
	for i := range set.lanes {
		l := pipeLane{limit: pace.Limit / sim.Rate(rings)}
		bytes := m
		if stage := &set.lanes[i].stage; set.succ != nil {
			bytes = stage.bytes(m, set.parts)
			l.limit = pace.Limit * sim.Rate(float64(stage.weight)/float64(set.parts))
		}
		switch {
		case set.succ != nil, n == 1:
			l.size = bytes / n
		case x.j.opt.Slice > 0:
			l.size = x.j.opt.Slice
		default:
			l.size = defaultSlice
		}
		l.final = bytes - l.size*(n-1)
		lanes = append(lanes, l)
	}
	p.lanes = lanes
	switch {
	case set.succ != nil:
		for i := range p.lanes {
			p.lanes[i].there = p.ready(set.lanes[i].stage.after)
		}
	case in.plan.Pipelined:
		// The root's own lanes have everything; of a collapsed set, one stands for
		// them all.
		for i := range p.lanes {
			p.lanes[i].there = p.total
		}
		for i := range set.lanes {
			if next := set.lanes[i].next; next >= 0 {
				p.lanes[next].there = 0
			}
		}
	default:
		for i := range p.lanes {
			p.lanes[i].there = slices
		}
	}
	for i := range set.lanes {
		x.pump(at, int32(i))
	}
}

// pump sends the next slice of a lane if it may go.
func (x *exec) pump(at, lane int32) {
	p := &x.pipes[at]
	l := &p.lanes[lane]
	if l.busy || l.sent == l.there || (p.acks && l.flying == x.window()) {
		return
	}
	b := l.size
	if (l.sent+1)%p.slices == 0 {
		b = l.final
	}
	l.sent++
	l.busy = true
	if p.acks {
		l.flying++
	}
	x.send(&x.insts[p.inst].set.lanes[lane], b, l.limit, p.slice, evSent, int64(at)<<32|int64(lane))
}

func (x *exec) sliceSent(at, lane int32) {
	p := &x.pipes[at]
	p.lanes[lane].busy = false
	ln := &x.insts[p.inst].set.lanes[lane]
	lat := ln.latency + ln.step(&x.insts[p.inst].plan.Choice.Pace)
	x.eng.Schedule(x.eng.Now().Add(lat), x.me, evGot, int64(at)<<32|int64(lane))
	x.pump(at, lane)
}

func (x *exec) sliceGot(at, lane int32) {
	p := &x.pipes[at]
	ln := &x.insts[p.inst].set.lanes[lane]
	l := &p.lanes[lane]
	l.got++
	if p.acks && l.sent < p.total {
		x.eng.Schedule(x.eng.Now().Add(ln.latency), x.me, evAck, int64(at)<<32|int64(lane))
	}
	set := x.insts[p.inst].set
	if set.succ != nil {
		for _, next := range set.succ[lane] {
			p.lanes[next].there = p.ready(set.lanes[next].stage.after)
			x.pump(at, next)
		}
	}
	if ln.next >= 0 {
		if n := &p.lanes[ln.next]; n.there < p.total {
			n.there++
			x.pump(at, ln.next)
		}
	}
	if l.got < p.total {
		return
	}
	if p.left--; p.left == 0 {
		inst := p.inst
		x.freePip = append(x.freePip, at)
		if late := x.insts[inst].plan.Choice.Pace.Spread; late > 0 {
			x.eng.Schedule(x.eng.Now().Add(late), x.me, evInst, int64(inst))
			return
		}
		x.endInstance(inst)
	}
}

func (x *exec) sliceAcked(at, lane int32) {
	x.pipes[at].lanes[lane].flying--
	x.pump(at, lane)
}
