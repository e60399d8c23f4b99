package fluid

import (
	"fmt"
	"slices"

	"github.com/weft-sim/weft/sim"
)

// account is what a link carried, in units x picoseconds: one cache line.
type account struct {
	// carried is the integral of the link's use over time, up to since.
	carried wide
	// given is what flows that started will have sent over the link, and over
	// how much more their rates came to when they ended: a flow's last
	// picosecond is sent whole.
	given, over wide
	used        int64
	since       sim.Time
}

// book brings the accounts of links whose use has changed up to now.
func (p *Pool) book(now sim.Time) bool {
	for _, l := range p.solver.touched {
		lk, a := &p.solver.links[l], &p.accounts[l]
		a.carried = a.carried.plus(product(a.used, int64(now-a.since)))
		a.used, a.since = lk.used, now
		if lk.used > lk.cap || lk.used < 0 {
			p.e.Fail(linkError(sharing, LinkID(l), "%d units are used of %d", lk.used, lk.cap))
			return false
		}
	}
	return true
}

// order sorts done by number.
func (p *Pool) order(bound sim.Time) {
	if len(p.done) < len(p.flows)/16 {
		slices.Sort(p.done)
		return
	}
	n := len(p.done)
	done := p.done[:0]
	for id := range p.flows {
		if f := &p.flows[id]; f.pos != none && f.rate > 0 && p.due[f.pos].at <= bound {
			done = append(done, FlowID(id))
		}
	}
	if p.done = done; len(done) != n {
		panic(fmt.Sprintf("fluid: %d flows end, and %d are due", n, len(done)))
	}
}

// drop takes the flows of done out of the heap.
func (p *Pool) drop() {
	few := len(p.done) < len(p.due)/8
	for _, id := range p.done {
		f := &p.flows[id]
		i := int(f.pos)
		f.pos = none
		if !few {
			continue
		}
		n := len(p.due) - 1
		p.due[i] = p.due[n]
		p.due = p.due[:n]
		if i < n {
			p.due.fix(i, p.flows)
		}
	}
	if few {
		return
	}
	keep := p.due[:0]
	for _, d := range p.due {
		if f := &p.flows[d.id]; f.pos != none {
			f.pos = int32(len(keep))
			keep = append(keep, d)
		}
	}
	p.due = keep
	p.stale = true
}

// complete takes a flow that has ended off its links.
func (p *Pool) complete(id FlowID, now sim.Time) {
	f := &p.flows[id]
	over := product(f.rate, int64(now)).minus(f.work)
	if over != (wide{}) {
		sf := &p.solver.flows[id]
		for _, h := range p.solver.hops.at[sf.first : sf.first+sf.n] {
			a := &p.accounts[h.link]
			a.over = a.over.plus(over.times(int64(h.weight)))
		}
	}
	p.solver.Remove(id)
	*f = transfer{pos: none}
}

// Carried returns the bytes that a link has carried up to now: the integral of
// its use over time, less what the last picosecond of each flow came to too
// much. For flows that have ended these are their bytes x weight / den.
func (p *Pool) Carried(l LinkID) float64 {
	return p.upToNow(l).minus(p.accounts[l].over).float() / float64(sim.Second) / float64(p.den) * p.Unit()
}

func (p *Pool) upToNow(l LinkID) wide {
	a := &p.accounts[l]
	return a.carried.plus(product(a.used, int64(p.e.Now()-a.since)))
}

// Used returns what a link carries now.
func (p *Pool) Used(l LinkID) sim.Rate {
	return sim.Rate(float64(p.accounts[l].used) / float64(p.den) * p.Unit())
}

// Check returns an error unless the books balance, exactly: for every link, the
// integral of its use over time, which knows nothing of flows, is what the flows
// on it have sent. When no flow is under way, that is all their bytes.
func (p *Pool) Check() error {
	now := p.e.Now()
	for l := range p.accounts {
		a := &p.accounts[l]
		sent := a.given.plus(a.over)
		lk := &p.solver.links[l]
		for blk, n := lk.head, lk.n; n > 0; blk, n = p.solver.uses.next[blk], n-blockLen {
			for _, u := range p.solver.uses.at[blk<<blockBits:][:min(n, blockLen)] {
				f := &p.flows[u.flow]
				left := f.work.minus(product(f.rate, int64(now)))
				sent = sent.minus(left.times(int64(p.solver.hops.at[u.hop].weight)))
			}
		}
		if got := p.upToNow(LinkID(l)); got != sent {
			scale := p.Unit() / float64(sim.Second) / float64(p.den)
			return linkError("check conservation", LinkID(l), "it carried %v bytes and its flows sent %v, %v apart",
				got.float()*scale, sent.float()*scale, got.minus(sent).float()*scale)
		}
	}
	return nil
}
