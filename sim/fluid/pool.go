package fluid

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/weft-sim/weft/sim"
)

// Pool moves bytes: flows that start at some instant, share links as a
// [Solver] says, leave when their last byte is sent, and then tell a target.
//
// Rates are solved once an instant, when the engine settles, however many
// flows began or ended. Everything is integer arithmetic: a rate is a whole
// number of units, a power-of-two fraction of a byte per second ([Pool.Unit]),
// and what is left of a flow is kept exactly. So a run gives the same times
// whether equal flows are simulated one by one or once for all, in whatever
// order they start.
//
// A flow of b bytes at a constant rate r ends after b/r rounded up to a
// picosecond, as [sim.TransferTime] says. A run is over when its flows have
// told so: the engine may deliver an event of the pool later than that, for an
// end that came sooner than first thought, and its clock goes on to there.
// Faults of the input and of the
// arithmetic stop the engine ([sim.Engine.Fail]); one of a link is a [LinkError].
type Pool struct {
	// Quantum merges completions that are close: when a flow ends, those that
	// would end within Quantum after it wait for each other, end with the last
	// of them, and cost one solve. No flow ends early by it. The default, one
	// picosecond, joins flows that are equal on paper.
	Quantum sim.Time

	e      *sim.Engine
	target int32
	solver *Solver
	den    int32
	shift  uint // a unit is 2^-shift bytes/s

	flows []transfer // by FlowID
	due   dueHeap
	stale bool       // due is not a heap just now
	wakes []sim.Time // of events under way
	group sim.Time   // when completions that wait for each other end
	done  []FlowID
	dirty bool

	notices     noticeStore
	batches     []batch
	freeBatches []int32

	accounts []account // by LinkID
	solves   int64
}

// transfer is a flow with bytes.
type transfer struct {
	// work is what is left at time t plus rate x t, in units x picoseconds: a
	// constant as long as the rate is.
	work   wide
	rate   int64
	arg    int64
	notice int32
	pos    int32 // in the heap of due times, or none
}

// Options are what a flow may have besides links and bytes.
type Options struct {
	// Weight is the fairness weight; 0 is 1.
	Weight int32
	// Limit is a ceiling on the rate; 0 is none.
	Limit sim.Rate
	// Latency passes between the last byte sent and the event.
	Latency sim.Time
	// Target, Kind and Arg are those of the event.
	Target, Kind int32
	Arg          int64
}

// NoFlow is what [Pool.Start] returns for a transfer that needs no flow.
const NoFlow FlowID = -1

const (
	capacityBits = 61  // of the largest capacity in units
	maxShift     = 62  // so that a byte is a number of units, times a second
	maxWeight    = 1e6 // of a flow
	notGrouped   = sim.Time(-1)

	making  = "make fluid pool"
	sharing = "share capacity"
)

// NewPool returns a pool on links with the given capacities. A hop of weight w
// carries w/den bytes on its link for each byte of its flow; den is at least 1.
//
// The unit is chosen so that the largest capacity is a number of 61 bits.
// Levels are rounded down to whole units, so a rate on a link of capacity c
// with weight sum W (in hop weights) is exact to a relative W/(c*den/Unit): for
// a thousand flows of hop weight den=1 on the largest link, 4e-16.
func NewPool(e *sim.Engine, capacities []sim.Rate, den int32) (*Pool, error) {
	if den < 1 {
		return nil, fmt.Errorf(making+": hop weight denominator %d, want 1 or more", den)
	}
	largest := 0.0
	for l, c := range capacities {
		// Not greater than 0 includes NaN.
		if !(c > 0) || math.IsInf(float64(c), 0) {
			return nil, linkError(making, LinkID(l), "capacity %v B/s, want a finite rate above 0", float64(c))
		}
		largest = max(largest, float64(c))
	}
	_, exp := math.Frexp(float64(largest * float64(den)))
	p := &Pool{
		Quantum: sim.Picosecond, e: e, den: den, shift: uint(min(max(0, capacityBits-exp), maxShift)),
		group:    notGrouped,
		accounts: make([]account, len(capacities)),
	}
	scaled := make([]int64, len(capacities))
	for l, c := range capacities {
		var err error
		if scaled[l], err = p.scale(c, den); err != nil {
			return nil, linkError(making, LinkID(l), "%v", err)
		}
	}
	p.solver = NewSolver(scaled)
	p.target = e.Register(p)
	e.OnSettle(p.settle)
	return p, nil
}

// scale returns a rate times den in units.
func (p *Pool) scale(r sim.Rate, den int32) (int64, error) {
	u := math.Ldexp(float64(float64(r)*float64(den)), int(p.shift))
	switch {
	case !(u >= 1):
		return 0, fmt.Errorf("rate %v B/s is less than the unit of %v B/s, which follows from the largest capacity",
			float64(r), p.Unit()/float64(den))
	case u > MaxCapacity:
		return 0, fmt.Errorf("rate %v B/s, want at most %v", float64(r), float64(MaxCapacity)*p.Unit()/float64(den))
	}
	return int64(u), nil
}

// Unit returns the bytes per second that one unit of rate is.
func (p *Pool) Unit() float64 { return math.Ldexp(1, -int(p.shift)) }

// Name is how the pool appears in errors of the engine.
func (p *Pool) Name() string { return "fluid pool" }

// Reserve makes room for a number of flows and hops under way at once, so that
// starting them neither copies nor leaves garbage.
func (p *Pool) Reserve(flows, hops int) {
	p.solver.Reserve(flows, hops)
	p.flows = reserve(p.flows, flows)
	p.due = reserve(p.due, flows)
}

// SetMode says how much is solved again after a change; see [Mode].
func (p *Pool) SetMode(m Mode) { p.solver.Mode = m }

// SetCapacity changes a link's capacity from now on. It may rise to twice that
// of the largest link at the beginning.
func (p *Pool) SetCapacity(l LinkID, r sim.Rate) error {
	if uint(l) >= uint(len(p.accounts)) {
		return fmt.Errorf("set capacity: link %d, want 0 to %d", l, len(p.accounts)-1)
	}
	c, err := p.scale(r, p.den)
	if err != nil {
		return linkError("set capacity", l, "%v", err)
	}
	p.solver.SetCapacity(l, c)
	p.dirty = true
	return nil
}

// Start begins to move bytes over the links of hops (copied; a link given twice
// counts twice). When the last byte is sent, the event (now + Latency, Target,
// Kind, Arg) is scheduled.
//
// Nothing to send, or neither a link nor a limit to send it over, needs no
// flow: the event follows after Latency, and NoFlow is returned. So it is, with
// the engine failed, for arguments that make no sense.
func (p *Pool) Start(hops []Hop, bytes sim.Bytes, o Options) FlowID {
	if o.Weight == 0 {
		o.Weight = 1
	}
	work, ok := p.work(bytes)
	limit := int64(0)
	if o.Limit > 0 {
		// A limit above all capacities is none; one below a unit starves the
		// flow, which the settle reports.
		limit = int64(max(1, min(math.Ldexp(float64(o.Limit), int(p.shift)), MaxCapacity)))
	}
	switch {
	case bytes < 0 || !ok:
		return p.refuse("%d bytes, want 0 to what a link carries before the end of time", bytes)
	case o.Weight < 1 || o.Weight > maxWeight:
		return p.refuse("weight %d, want 1 to %d", o.Weight, int(maxWeight))
	case o.Latency < 0:
		return p.refuse("latency %v, want 0 or more", o.Latency)
	case !(o.Limit >= 0):
		return p.refuse("limit %v B/s, want 0 (none) or more", float64(o.Limit))
	}
	for _, h := range hops {
		if uint(h.Link) >= uint(len(p.accounts)) {
			return p.refuse("link %d, want 0 to %d", h.Link, len(p.accounts)-1)
		}
		if h.Weight < 1 {
			return p.refuse("link %d: hop weight %d, want 1 or more", h.Link, h.Weight)
		}
	}
	if bytes == 0 || len(hops) == 0 && limit == 0 {
		p.e.Schedule(p.e.Now().Add(o.Latency), o.Target, o.Kind, o.Arg)
		return NoFlow
	}
	id := p.solver.Add(hops, o.Weight, limit)
	if int(id) >= len(p.flows) {
		p.flows = extend(p.flows, int(id)+1-len(p.flows))
	}
	p.flows[id] = transfer{work: work, arg: o.Arg, notice: p.notices.intern(o.Latency, o.Target, o.Kind), pos: none}
	for _, h := range hops {
		a := &p.accounts[h.Link]
		a.given = a.given.plus(work.times(int64(h.Weight)))
	}
	p.dirty = true
	return id
}

func (p *Pool) refuse(format string, args ...any) FlowID {
	p.e.Fail(fmt.Errorf("start flow: "+format, args...))
	return NoFlow
}

// work returns bytes in units x picoseconds, if that fits 127 bits. What does
// not would take longer than [sim.MaxTime] over the largest link.
func (p *Pool) work(b sim.Bytes) (wide, bool) {
	w := product(int64(max(b, 0)), int64(sim.Second))
	if w.hi>>(63-p.shift) != 0 {
		return wide{}, false
	}
	return wide{w.hi<<p.shift | w.lo>>(64-p.shift), w.lo << p.shift}, true
}

// Rate returns a flow's rate as of the last settle.
func (p *Pool) Rate(id FlowID) sim.Rate {
	return sim.Rate(math.Ldexp(float64(p.solver.Rate(id)), -int(p.shift)))
}

// Flows returns the number of flows under way.
func (p *Pool) Flows() int { return p.solver.Flows() }

// Solves returns how often rates were solved.
func (p *Pool) Solves() int64 { return p.solves }

// settle solves the rates once all events of an instant have been delivered.
func (p *Pool) settle(e *sim.Engine) {
	if !p.dirty {
		return
	}
	p.dirty = false
	p.solves++
	now := e.Now()
	changed := p.solver.Solve()
	if !p.book(now) {
		return
	}
	// A few entries are moved in the heap; for many it is built anew.
	if !p.stale && len(changed) > len(p.due)/8 {
		p.stale = true
	}
	for _, id := range changed {
		f := &p.flows[id]
		rate := p.solver.Rate(id)
		if rate == 0 {
			p.starved(id)
			return
		}
		if d := rate - f.rate; d >= 0 {
			f.work = f.work.plus(product(d, int64(now)))
		} else {
			f.work = f.work.minus(product(-d, int64(now)))
		}
		f.rate = rate
		at := f.ends(now, p.solver.Level(id))
		if at == sim.MaxTime {
			p.endless(id)
			return
		}
		p.setDue(id, f, at)
	}
	if p.stale {
		p.due.init(p.flows)
		p.stale = false
	}
	p.arm(now)
}

// guard is the fraction of a transfer, in 2^-64, that is dropped before its
// time is rounded up: 4e-15, as in [sim.TransferTime].
const guard = 73787

// ends returns when the flow's last byte is sent: the least whole picosecond t
// with rate x t >= work, less a guard. A time that is a whole picosecond on
// paper must not be pushed to the next because rates are whole units: a level k
// may stand for up to k+1. So the guard is 1/k if that is more than [guard],
// but then at most what 1/64 ps sends.
func (f *transfer) ends(now sim.Time, level int64) sim.Time {
	left := f.work.minus(product(f.rate, int64(now)))
	if !left.positive() {
		return now
	}
	drop := left.part(guard)
	if level < 1<<48 {
		most := wide{lo: uint64(f.rate) >> 6}
		if d := left.part(math.MaxUint64 / uint64(max(level, 1))); d.less(most) {
			most = d
		}
		if drop.less(most) {
			drop = most
		}
	}
	x := f.work.minus(drop)
	if x.hi >= uint64(f.rate) {
		return sim.MaxTime
	}
	q, rem := bits.Div64(x.hi, x.lo, uint64(f.rate))
	if rem > 0 {
		q++
	}
	if q >= uint64(sim.MaxTime) {
		return sim.MaxTime
	}
	return max(sim.Time(q), now+1)
}

func (p *Pool) starved(id FlowID) {
	l, _ := p.solver.tightest(id)
	if l == none {
		p.e.Fail(fmt.Errorf(sharing+": flow %d: its limit is less than the unit of %v B/s", id, p.Unit()))
		return
	}
	lk := &p.solver.links[l]
	p.e.Fail(linkError(sharing, l, "flow %d gets no rate: a capacity of %d units for a weight of %d", id, lk.cap, lk.total))
}

func (p *Pool) endless(id FlowID) {
	const text = "flow %d at %v B/s would end after the end of simulated time"
	l, _ := p.solver.tightest(id)
	if l == none {
		p.e.Fail(fmt.Errorf(sharing+": "+text, id, float64(p.Rate(id))))
		return
	}
	p.e.Fail(linkError(sharing, l, text, id, float64(p.Rate(id))))
}
