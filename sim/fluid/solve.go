package fluid

import (
	"cmp"
	"slices"
)

// Solve brings all rates up to date with the changes since the last call, and
// returns the flows whose rate differs from what it was then, new flows among
// them. The order is a function of the sequence of
// calls made on the solver, and means nothing more. The slice is valid until
// the next call.
func (s *Solver) Solve() []FlowID {
	s.changed = s.changed[:0]
	s.touched = s.touched[:0]
	s.nextStamp()
	for _, id := range s.bare {
		if f := &s.flows[id]; f.weight > 0 && f.n == 0 && f.level == unsolved {
			s.settle(int32(id), f, f.limit)
		}
	}
	s.bare = s.bare[:0]
	if s.Mode == Full {
		for l := range s.links {
			if s.links[l].n > 0 {
				s.touch(int32(l))
			}
		}
	}
	if len(s.seeds) > 0 {
		s.solveSeeds()
	}
	return s.changed
}

// nextStamp makes all marks stale.
func (s *Solver) nextStamp() {
	if s.stamp += 2; s.stamp != 0 {
		return
	}
	for i := range s.links {
		s.links[i].mark = 0
	}
	for i := range s.flows {
		s.flows[i].mark = 0
	}
	s.stamp = 2
}

// solveSeeds fills the parts that the seeds reach. Lone flows and links that
// became empty, the bulk of what a ring step leaves, are dealt with on the
// way; the rest goes in order of level, so that a part is found at the least
// level of all seeds in it.
func (s *Solver) solveSeeds() {
	rest := 0
	sorted := true
	for _, sd := range s.seeds {
		lk := &s.links[sd.link]
		lk.seed = none
		if lk.mark >= s.stamp {
			continue
		}
		if lk.n == 0 {
			lk.mark = s.stamp
			s.touched = append(s.touched, sd.link)
			continue
		}
		if lk.n == 1 && s.lone(lk) {
			continue
		}
		sd.v = 0
		if s.Mode == Suffix {
			sd.v = s.bound(lk, sd)
		}
		lk.fresh = 0
		sorted = sorted && (rest == 0 || s.seeds[rest-1].v <= sd.v)
		s.seeds[rest] = sd
		rest++
	}
	if !sorted {
		slices.SortFunc(s.seeds[:rest], func(a, b seed) int {
			if c := cmp.Compare(a.v, b.v); c != 0 {
				return c
			}
			return cmp.Compare(a.link, b.link)
		})
	}
	for _, sd := range s.seeds[:rest] {
		if s.links[sd.link].mark < s.stamp {
			start := len(s.touched)
			if sd.v == never {
				// It has not filled and does not, or what came went again.
				s.links[sd.link].mark = s.stamp
				s.touched = append(s.touched, sd.link)
				continue
			}
			s.gather(sd.link, sd.v)
			s.fill(s.touched[start:])
		}
	}
	s.seeds = s.seeds[:0]
}

// lone solves the only flow of a link if it is the only one on all of its
// links: the level is the least capacity per weight.
func (s *Solver) lone(lk *link) bool {
	id := s.uses.at[lk.head<<blockBits].flow
	f := &s.flows[id]
	hops := s.hops.at[f.first : f.first+f.n]
	k := f.limit
	for i := range hops {
		l := &s.links[hops[i].link]
		if l.n != 1 {
			return false
		}
		k = min(k, l.cap/l.total)
	}
	for i := range hops {
		l := &s.links[hops[i].link]
		l.mark = s.stamp
		l.used = k * l.total
		l.fresh = 0
		s.fills[hops[i].link] = never
		if l.cap-l.used < l.total {
			s.fills[hops[i].link] = k
		}
		s.touched = append(s.touched, hops[i].link)
	}
	s.settle(id, f, k)
	return true
}

// settle freezes a flow at a level.
func (s *Solver) settle(id int32, f *flow, k int64) {
	f.mark = s.stamp + 1
	if f.level != k {
		s.changed = append(s.changed, FlowID(id))
		f.level = k
	}
}

// bound returns a level below which no change on this link shows.
func (s *Solver) bound(lk *link, sd seed) int64 {
	v := int64(never)
	if sd.left || sd.old != none {
		v = s.fills[sd.link]
	}
	if lk.fresh == 0 && lk.cap >= sd.old {
		return v
	}
	c := lk.cap
	// All flows at the same level, at first; then those known to be lower at
	// their own. Each pass raises the bound, and each is a valid bound.
	b := c / lk.total
	for b < v && lk.fresh < lk.n {
		base, w := int64(0), lk.total
		for blk, left := lk.head, lk.n; left > 0; blk, left = s.uses.next[blk], left-blockLen {
			for _, u := range s.uses.at[blk<<blockBits:][:min(left, blockLen)] {
				if f := &s.flows[u.flow]; f.level < b {
					cw := int64(f.weight) * int64(s.hops.at[u.hop].weight)
					base += f.level * cw
					w -= cw
				}
			}
		}
		if w == 0 {
			return v // the link never fills
		}
		higher := (c - base) / w
		if higher <= b {
			break
		}
		b = higher
	}
	return min(b, v)
}

// gather lifts all flows of level v or more that are connected to a link
// through such flows: they consume nothing, and their weight stands on their
// links. The links are appended to touched, the flows are lifted.
func (s *Solver) gather(from int32, v int64) {
	stamp := s.stamp
	first := len(s.touched)
	touched := append(s.touched, from)
	lifted := s.lifted[:0]
	s.links[from].mark = stamp
	s.fills[from] = never
	for i := first; i < len(touched); i++ {
		lk := &s.links[touched[i]]
		for blk, left := lk.head, lk.n; left > 0; blk, left = s.uses.next[blk], left-blockLen {
			for _, u := range s.uses.at[blk<<blockBits:][:min(left, blockLen)] {
				f := &s.flows[u.flow]
				if f.mark >= stamp || f.level < v {
					continue
				}
				f.mark = stamp
				lifted = append(lifted, u.flow)
				level, w := f.level, int64(f.weight)
				if level == unsolved {
					level = 0
				}
				hops := s.hops.at[f.first : f.first+f.n]
				for j := range hops {
					h := &hops[j]
					l := &s.links[h.link]
					c := w * int64(h.weight)
					l.used -= level * c
					l.weight += c
					if l.mark < stamp {
						l.mark = stamp
						s.fills[h.link] = never
						touched = append(touched, h.link)
					}
				}
			}
		}
	}
	s.touched, s.lifted = touched, lifted
}

// fill raises the level of the lifted flows until each is frozen. The links
// are theirs.
func (s *Solver) fill(links []int32) {
	left := len(s.lifted)
	if left == 0 {
		return
	}
	keys := s.keys[:0]
	for _, l := range links {
		if lk := &s.links[l]; lk.weight > 0 {
			keys = append(keys, key{level: (lk.cap - lk.used) / lk.weight, id: l})
		}
	}
	for _, id := range s.lifted {
		if f := &s.flows[id]; f.limit != noLimit {
			keys = append(keys, key{level: f.limit, id: ^id})
		}
	}
	s.keys = keys
	keys.init()
	for left > 0 {
		// The keys of links only rise, so what the heap holds is a lower
		// bound: bring the least one up to date until it stays the least.
		level := s.least()
		for len(s.keys) > 0 && s.keys[0].level == level {
			id := s.keys[0].id
			if id < 0 {
				s.keys.pop()
				if f := &s.flows[^id]; f.mark == s.stamp {
					s.freeze(^id, f, level)
					left--
				}
				continue
			}
			lk := &s.links[id]
			if lk.weight == 0 {
				s.keys.pop()
				continue
			}
			// As of before this level: what froze at it is still pending.
			if k := (lk.cap - lk.used) / lk.weight; k > level {
				s.keys.raise(k)
				continue
			}
			s.keys.pop()
			before := left
			for blk, n := lk.head, lk.n; n > 0; blk, n = s.uses.next[blk], n-blockLen {
				for _, u := range s.uses.at[blk<<blockBits:][:min(n, blockLen)] {
					if f := &s.flows[u.flow]; f.mark == s.stamp {
						s.freeze(u.flow, f, level)
						left--
					}
				}
			}
			if left < before {
				s.fills[id] = level
			}
		}
		for _, l := range s.pending {
			lk := &s.links[l]
			lk.used += level * lk.pend
			lk.weight -= lk.pend
			lk.pend = 0
		}
		s.pending = s.pending[:0]
	}
}

// least returns the least level at which a link or a flow's own limit is
// full, and leaves its key at the top.
func (s *Solver) least() int64 {
	for len(s.keys) > 0 {
		top := s.keys[0]
		if top.id < 0 {
			if s.flows[^top.id].mark == s.stamp {
				return top.level
			}
			s.keys.pop()
			continue
		}
		lk := &s.links[top.id]
		if lk.weight == 0 {
			s.keys.pop()
			continue
		}
		k := (lk.cap - lk.used) / lk.weight
		if k == top.level {
			return k
		}
		s.keys.raise(k)
	}
	panic("fluid: flows are left to fill, and no link of theirs")
}

// freeze settles a lifted flow and notes its weight on its links.
func (s *Solver) freeze(id int32, f *flow, level int64) {
	s.settle(id, f, level)
	w := int64(f.weight)
	hops := s.hops.at[f.first : f.first+f.n]
	for j := range hops {
		h := &hops[j]
		lk := &s.links[h.link]
		if lk.pend == 0 {
			s.pending = append(s.pending, h.link)
		}
		lk.pend += w * int64(h.weight)
	}
}
