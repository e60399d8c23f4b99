package fluid

import (
	"fmt"
	"math"
)

// LinkID numbers the links of a [Solver] from 0, in the order of the
// capacities that it was made with.
type LinkID int32

// FlowID numbers the live flows of a [Solver]. The number of a removed flow is
// given out again.
type FlowID int32

// Hop is a flow's use of one link.
type Hop struct {
	Link LinkID
	// Weight is how many units of the link one unit of the flow's rate
	// consumes; at least 1.
	Weight int32
}

// MaxCapacity is the greatest capacity of a link and the greatest limit of a
// flow, in units per second.
const MaxCapacity = 1 << 62

// Mode says how much of the problem is solved again after a change. All three
// give the same rates, bit for bit.
type Mode uint8

const (
	// Suffix solves the flows at or above the least level that a change can
	// reach, and connected to it through such flows.
	Suffix Mode = iota
	// Part solves all flows connected to a change.
	Part
	// Full solves all flows.
	Full
)

// Solver shares the capacity of links among flows: weighted max-min fairness
// in whole units, as the package comment defines it.
//
// Changes ([Solver.Add], [Solver.Remove], [Solver.SetCapacity]) are noted, and
// all take effect in the next [Solver.Solve]. The rates after it depend on the
// set of flows and on the capacities only, not on the order or the number of
// steps by which they came about.
//
// A Solver is used by one goroutine. Once its slices have grown it allocates
// nothing.
type Solver struct {
	// Mode may be set at any time; the zero value is [Suffix].
	Mode Mode

	links []link
	fills []int64 // by link: the level at which it froze a flow, or never
	flows []flow
	hops  hopStore
	uses  useStore

	free int32 // first of the list of free flows, or none
	live int

	seeds []seed   // links with changes since the last Solve
	bare  []FlowID // flows without hops since the last Solve

	stamp   uint32 // even; marks of this component are stamp, or stamp+1 if frozen
	touched []int32
	lifted  []int32
	changed []FlowID
	pending []int32
	keys    keyHeap
}

// link is one cache line.
type link struct {
	cap    int64
	used   int64 // consumption of flows that are not lifted
	total  int64 // weight of all flows: sum of flow weight x hop weight
	weight int64 // of those that are lifted and not frozen
	pend   int64 // of those that froze at the current level

	head, tail int32 // blocks of uses
	n          int32 // number of uses
	fresh      int32 // of flows that were never solved
	mark       uint32
	seed       int32 // index in seeds, or none
}

type flow struct {
	level  int64 // rate per weight; unsolved before the first solve
	limit  int64 // greatest level that the flow's own limit allows
	mark   uint32
	weight int32 // 0: a free slot
	first  int32 // of its hops; of a free slot: the next free one
	n      int32
}

// seed is a link on which something changed.
type seed struct {
	link int32
	left bool  // a flow left it
	old  int64 // capacity at the last Solve, or none
	v    int64 // the least level that has to be solved again
}

const (
	none     = -1
	unsolved = math.MaxInt64
	noLimit  = math.MaxInt64
	never    = math.MaxInt64
)

// NewSolver returns a solver for links of the given capacities, in units per
// second, each from 0 to [MaxCapacity].
func NewSolver(capacities []int64) *Solver {
	s := &Solver{links: make([]link, len(capacities)), fills: make([]int64, len(capacities)), free: none}
	for i, c := range capacities {
		checkCapacity(LinkID(i), c)
		s.links[i] = link{cap: c, head: none, tail: none, seed: none}
		s.fills[i] = never
	}
	s.hops.init()
	s.uses.init()
	return s
}

func checkCapacity(l LinkID, c int64) {
	if c < 0 || c > MaxCapacity {
		panic(fmt.Sprintf("fluid: link %d: capacity %d, want 0 to 2^62", l, c))
	}
}

// Reserve makes room for a number of flows and hops in all, live ones
// included, so that adding them neither copies nor leaves garbage.
func (s *Solver) Reserve(flows, hops int) {
	s.flows = reserve(s.flows, flows)
	s.lifted = reserve(s.lifted, flows)
	s.changed = reserve(s.changed, flows)
	s.hops.reserve(hops)
	s.uses.reserve(hops + len(s.links)*blockLen)
}

// SetCapacity changes a link's capacity, in units per second.
func (s *Solver) SetCapacity(l LinkID, capacity int64) {
	checkCapacity(l, capacity)
	lk := &s.links[l]
	if lk.cap == capacity {
		return
	}
	sd := s.touch(int32(l))
	if sd.old == none {
		sd.old = lk.cap
	}
	lk.cap = capacity
}

// Capacity returns a link's capacity, in units per second.
func (s *Solver) Capacity(l LinkID) int64 { return s.links[l].cap }

// touch returns the seed of a link, made if need be.
func (s *Solver) touch(l int32) *seed {
	lk := &s.links[l]
	if lk.seed == none {
		lk.seed = int32(len(s.seeds))
		s.seeds = append(s.seeds, seed{link: l, old: none})
	}
	return &s.seeds[lk.seed]
}

// Add puts a flow on the links of hops. Its fairness weight is at least 1. A
// limit above 0 is a ceiling on its rate, in units per second; the rate is then
// at most the greatest multiple of weight within it. A link given twice counts
// with the sum of its hop weights. A flow without hops needs a limit.
//
// The rate is 0 until the next [Solver.Solve]. Add copies hops.
func (s *Solver) Add(hops []Hop, weight int32, limit int64) FlowID {
	if weight < 1 || limit < 0 || limit > MaxCapacity || len(hops) == 0 && limit == 0 {
		panic(fmt.Sprintf("fluid: add flow: weight %d, limit %d, %d hops", weight, limit, len(hops)))
	}
	id := s.free
	if id != none {
		s.free = s.flows[id].first
	} else {
		id = int32(len(s.flows))
		s.flows = append(s.flows, flow{})
	}
	s.live++
	f := &s.flows[id]
	*f = flow{level: unsolved, limit: noLimit, weight: weight, first: s.hops.alloc(len(hops))}
	if limit > 0 {
		f.limit = limit / int64(weight)
	}
	if len(hops) == 0 {
		s.bare = append(s.bare, FlowID(id))
		return FlowID(id)
	}
	first, n := f.first, int32(0)
	for _, h := range hops {
		if h.Weight < 1 {
			panic(fmt.Sprintf("fluid: add flow: hop weight %d on link %d", h.Weight, h.Link))
		}
		lk := &s.links[h.Link]
		c := int64(weight) * int64(h.Weight)
		if lk.total += c; lk.total < 0 {
			panic(fmt.Sprintf("fluid: link %d: the sum of weights passes 2^63", h.Link))
		}
		if u, ok := s.uses.last(lk); ok && u.flow == id {
			// The newest use of this link is ours: given twice.
			own := &s.hops.at[u.hop]
			if own.weight > math.MaxInt32-h.Weight {
				panic(fmt.Sprintf("fluid: link %d: the hop weights of a flow pass 2^31", h.Link))
			}
			own.weight += h.Weight
			continue
		}
		lk.fresh++
		at := first + n
		s.hops.at[at] = hop{link: int32(h.Link), weight: h.Weight, pos: s.uses.push(lk, use{flow: id, hop: at})}
		n++
		if lk.seed == none {
			s.touch(int32(h.Link))
		}
	}
	f.n = n
	if class(int(n)) != class(len(hops)) {
		f.first = s.hops.shrink(first, len(hops), int(n))
		for i := range n {
			h := &s.hops.at[f.first+i]
			s.uses.at[h.pos].hop = f.first + i
		}
	}
	return FlowID(id)
}

// Remove takes a flow away. Its number may be given out by the next Add.
func (s *Solver) Remove(id FlowID) {
	f := &s.flows[id]
	if f.weight == 0 {
		panic(fmt.Sprintf("fluid: remove flow %d: there is none", id))
	}
	w := int64(f.weight)
	for i := range f.n {
		h := s.hops.at[f.first+i]
		lk := &s.links[h.link]
		c := w * int64(h.weight)
		lk.total -= c
		if sd := s.touch(h.link); f.level == unsolved {
			lk.fresh--
		} else {
			lk.used -= f.level * c
			sd.left = true
		}
		if moved, ok := s.uses.remove(lk, h.pos); ok {
			s.hops.at[moved].pos = h.pos
		}
	}
	s.hops.release(f.first, int(f.n))
	*f = flow{first: s.free}
	s.free = int32(id)
	s.live--
}

// Rate returns a flow's rate in units per second, as of the last Solve.
func (s *Solver) Rate(id FlowID) int64 {
	f := &s.flows[id]
	if f.level == unsolved {
		return 0
	}
	return f.level * int64(f.weight)
}

// Level returns a flow's rate per fairness weight, as of the last Solve.
func (s *Solver) Level(id FlowID) int64 {
	if l := s.flows[id].level; l != unsolved {
		return l
	}
	return 0
}

// Used returns how much of a link its flows consume, in units per second, as of
// the last Solve and without flows removed since.
func (s *Solver) Used(l LinkID) int64 { return s.links[l].used }

// Flows returns the number of live flows.
func (s *Solver) Flows() int { return s.live }

// tightest returns the link of a flow's path that has the least capacity per
// weight, or none if it has no hops.
func (s *Solver) tightest(id FlowID) (l LinkID, key int64) {
	f := &s.flows[id]
	l, key = none, math.MaxInt64
	for i := range f.n {
		h := s.hops.at[f.first+i]
		lk := &s.links[h.link]
		if k := lk.cap / lk.total; k < key {
			l, key = LinkID(h.link), k
		}
	}
	return l, key
}
