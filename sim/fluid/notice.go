package fluid

import (
	"slices"

	"github.com/weft-sim/weft/sim"
)

// Kinds of the pool's own events.
const (
	kindDue   int32 = iota // a flow ends
	kindBatch              // a batch is to be told
)

// notice is what a flow's end leads to, save for the argument. Flows share
// notices, of which there are few: it saves them 12 bytes each.
type notice struct {
	latency      sim.Time
	target, kind int32
	flows        int32 // that have it; 0: a free slot
	count        int32 // of those that end now
	batch        int32 // open for them, or none
}

// recentNotices are looked at for one that fits before a new one is made.
const recentNotices = 8

type noticeStore struct {
	at     []notice
	free   []int32
	recent [recentNotices]int32
	turn   int
}

// intern returns the number of a notice that one more flow has.
func (s *noticeStore) intern(latency sim.Time, target, kind int32) int32 {
	for i := range recentNotices {
		// From the last one backwards.
		id := s.recent[(s.turn-i)&(recentNotices-1)]
		if int(id) >= len(s.at) {
			continue
		}
		if n := &s.at[id]; n.flows > 0 && n.latency == latency && n.target == target && n.kind == kind {
			n.flows++
			return id
		}
	}
	var id int32
	if k := len(s.free); k > 0 {
		id = s.free[k-1]
		s.free = s.free[:k-1]
	} else {
		id = int32(len(s.at))
		s.at = append(s.at, notice{})
	}
	s.at[id] = notice{latency: latency, target: target, kind: kind, flows: 1, batch: none}
	s.turn = (s.turn + 1) & (recentNotices - 1)
	s.recent[s.turn] = id
	return id
}

// release takes a notice back from one flow.
func (s *noticeStore) release(id int32) {
	if s.at[id].flows--; s.at[id].flows == 0 {
		s.free = append(s.free, id)
	}
}

// batch is what many flows that ended together have still to tell. Handing it
// to the engine piece by piece keeps the engine's queue small: a million events
// of one instant would take more room than the flows' own records.
type batch struct {
	target, kind int32
	args         []int64
	told         int
}

// bulk is how many flows must end together to be told as a batch, and the size
// of a piece.
const bulk = 4096

// tell schedules the events of the flows of done, and ends them.
func (p *Pool) tell(now sim.Time) {
	if len(p.done) < bulk {
		for _, id := range p.done {
			f := &p.flows[id]
			n, arg := f.notice, f.arg
			p.complete(id, now)
			w := &p.notices.at[n]
			p.e.Schedule(now.Add(w.latency), w.target, w.kind, arg)
			p.notices.release(n)
		}
		return
	}
	for _, id := range p.done {
		p.notices.at[p.flows[id].notice].count++
	}
	for _, id := range p.done {
		f := &p.flows[id]
		n, arg := f.notice, f.arg
		p.complete(id, now)
		w := &p.notices.at[n]
		if w.batch == none {
			w.batch = p.openBatch(w.target, w.kind, int(w.count))
			p.e.Schedule(now.Add(w.latency), p.target, kindBatch, int64(w.batch))
		}
		b := &p.batches[w.batch]
		b.args = append(b.args, arg)
		if w.count--; w.count == 0 {
			w.batch = none
		}
		p.notices.release(n)
	}
}

func (p *Pool) openBatch(target, kind int32, n int) int32 {
	var id int32
	if k := len(p.freeBatches); k > 0 {
		id = p.freeBatches[k-1]
		p.freeBatches = p.freeBatches[:k-1]
	} else {
		id = int32(len(p.batches))
		p.batches = append(p.batches, batch{})
	}
	b := &p.batches[id]
	*b = batch{target: target, kind: kind, args: slices.Grow(b.args[:0], n)}
	return id
}

// tellBatch schedules the next piece of a batch, and itself behind it.
func (p *Pool) tellBatch(id int32, now sim.Time) {
	b := &p.batches[id]
	end := min(b.told+bulk, len(b.args))
	for _, arg := range b.args[b.told:end] {
		p.e.Schedule(now, b.target, b.kind, arg)
	}
	if b.told = end; end < len(b.args) {
		p.e.Schedule(now, p.target, kindBatch, int64(id))
		return
	}
	p.freeBatches = append(p.freeBatches, id)
}
