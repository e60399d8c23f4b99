package fluid

import (
	"github.com/weft-sim/weft/sim"
)

// due is when a flow's last byte is sent.
type due struct {
	at sim.Time
	id int32
}

// dueHeap is a binary heap by time. Each flow knows its position. Equal times
// need no order: flows that end together are taken in order of their number.
type dueHeap []due

// init makes a heap of entries in any order.
func (h dueHeap) init(flows []transfer) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		x := h[i]
		j := i
		for {
			c := 2*j + 1
			if c >= len(h) {
				break
			}
			if c+1 < len(h) && h[c+1].at < h[c].at {
				c++
			}
			if h[c].at >= x.at {
				break
			}
			h[j] = h[c]
			j = c
		}
		h[j] = x
	}
	for i := range h {
		flows[h[i].id].pos = int32(i)
	}
}

// fix restores the heap after the entry at i changed.
func (h dueHeap) fix(i int, flows []transfer) {
	x := h[i]
	j := i
	for j > 0 {
		up := (j - 1) / 2
		if h[up].at <= x.at {
			break
		}
		h[j] = h[up]
		flows[h[j].id].pos = int32(j)
		j = up
	}
	for j >= i {
		c := 2*j + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].at < h[c].at {
			c++
		}
		if h[c].at >= x.at {
			break
		}
		h[j] = h[c]
		flows[h[j].id].pos = int32(j)
		j = c
	}
	h[j] = x
	flows[x.id].pos = int32(j)
}

// setDue enters or moves a flow in the heap.
func (p *Pool) setDue(id FlowID, f *transfer, at sim.Time) {
	if f.pos == none {
		f.pos = int32(len(p.due))
		p.due = append(p.due, due{at, int32(id)})
	} else {
		p.due[f.pos].at = at
	}
	if !p.stale {
		p.due.fix(int(f.pos), p.flows)
	}
}

// arm sees to it that an event wakes the pool when the next flow ends, or
// earlier: an event that comes too soon arms the next. The times of events under
// way are a stack with the earliest on top, since only an earlier one is added.
func (p *Pool) arm(now sim.Time) {
	next := p.group
	if next == notGrouped {
		if len(p.due) == 0 {
			return
		}
		next = max(p.due[0].at, now)
	}
	if k := len(p.wakes); k == 0 || next < p.wakes[k-1] {
		p.wakes = append(p.wakes, next)
		p.e.Schedule(next, p.target, kindDue, 0)
	}
}

// Handle is called by the engine when flows end.
func (p *Pool) Handle(e *sim.Engine, ev sim.Event) {
	now := e.Now()
	if ev.Kind == kindBatch {
		p.tellBatch(int32(ev.Arg), now)
		return
	}
	p.wakes = p.wakes[:len(p.wakes)-1]
	var bound sim.Time
	switch {
	case p.group != notGrouped:
		bound = now
		if now < p.group {
			p.arm(now)
			return
		}
	case len(p.due) == 0 || p.due[0].at > now:
		p.arm(now) // rates have fallen since
		return
	default:
		bound = now.Add(p.Quantum)
	}
	p.group = notGrouped
	if last := p.collect(bound); last > now {
		p.group = last
		p.arm(now)
		return
	}
	if len(p.done) == 0 {
		p.arm(now)
		return
	}
	p.drop()
	p.tell(now)
	p.dirty = true
}

// collect puts the flows that end until bound into done, in order of their
// numbers, and returns the latest of their times.
func (p *Pool) collect(bound sim.Time) sim.Time {
	// The solver's list is not in use while no rates are being changed.
	done := p.solver.changed[:0]
	last := sim.Time(-1)
	// They are the top of the heap: a tree that holds its own list of nodes
	// to visit.
	if len(p.due) > 0 && p.due[0].at <= bound {
		done = append(done, 0)
	}
	for i := 0; i < len(done); i++ {
		at := int(done[i])
		last = max(last, p.due[at].at)
		done[i] = FlowID(p.due[at].id)
		for c := 2*at + 1; c <= 2*at+2 && c < len(p.due); c++ {
			if p.due[c].at <= bound {
				done = append(done, FlowID(c))
			}
		}
	}
	p.done = done
	p.order(bound)
	return last
}
