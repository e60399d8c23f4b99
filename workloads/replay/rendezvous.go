package replay

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/sim/fluid"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// instance is one run of a collective by one group.
type instance struct {
	op     *workloads.Op // as the first member describes it
	comm   int32
	group  int32 // class
	ranks  int32 // group size
	seq    int32 // how many the group ran before
	plan   collective.Plan
	set    *laneSet
	merged bool
	begun  bool
	use    int32
	first  int32 // list of member operations, through opState.next
	last   int32
	need   int32 // members that have not arrived
	cause  int32

	start     sim.Time
	lanesLeft int32
}

// joinCollectives makes the instances: the k-th collective of each group.
func (x *exec) joinCollectives() error {
	j := x.j
	byGroup := make([][]int32, len(x.c.groupRep))
	count := make([]int32, len(j.prog.Comms))
	for i := range x.reps {
		r := &x.reps[i]
		clear(count)
		cl := &j.prog.Classes[r.class]
		for k := range cl.Ops {
			o := &cl.Ops[k]
			if o.Kind != workloads.Collective {
				continue
			}
			group := j.groupOf[o.Comm][r.rank]
			g := x.c.group[o.Comm][group]
			seq := count[o.Comm]
			count[o.Comm]++
			if int(seq) == len(byGroup[g]) {
				n := len(j.prog.Comms[o.Comm].Groups[group])
				plan, err := j.plan(o, groupID{o.Comm, group})
				if err != nil {
					return err
				}
				set, merged := x.lanesOf(plan, g, n)
				bytes, wire := o.Bytes, 0.0
				switch {
				case o.Coll == workloads.AllToAllV:
					// Every member has its own parts. Members of a class have equal
					// ones, so the group of this representative speaks for all.
					var holds float64
					holds, wire = j.splitBounds(&plan, groupID{o.Comm, group}, func(r int32) *workloads.Op { return j.nth(r, o.Comm, seq) })
					bytes = sim.Bytes(holds)
				case n > 1:
					wire = plan.Sent(j.layoutOf(groupID{o.Comm, group})) / float64(n)
				}
				byGroup[g] = append(byGroup[g], int32(len(x.insts)))
				x.insts = append(x.insts, instance{
					op: o, comm: o.Comm, group: g, ranks: int32(n), seq: seq, plan: plan, set: set, merged: merged,
					first: -1, last: -1, cause: -1, use: x.useFor(o, n, bytes, wire, plan.Choice),
				})
			}
			id := byGroup[g][seq]
			in := &x.insts[id]
			op := r.base + int32(k)
			x.ops[op].slot = id
			if in.first < 0 {
				in.first = op
			} else {
				x.ops[in.last].next = op
			}
			in.last = op
			in.need++
		}
	}
	return nil
}

// nth returns the operation of rank r that is its collective number k on a
// communicator.
func (j *job) nth(r, comm, k int32) *workloads.Op {
	ops := j.prog.Classes[j.classOf[r]].Ops
	for i := range ops {
		if ops[i].Kind == workloads.Collective && ops[i].Comm == comm {
			if k == 0 {
				return &ops[i]
			}
			k--
		}
	}
	panic(fmt.Sprintf("replay: rank %d has no such collective on communicator %d", r, comm))
}

// arrive counts a member that has reached its collective.
func (x *exec) arrive(id int32) {
	in := &x.insts[id]
	if in.need--; in.need > 0 {
		return
	}
	free := true
	for op := in.first; op >= 0; op = x.ops[op].next {
		if s, ok := x.picking(op); ok {
			x.stream(s).armed.push(op)
			x.touch(s)
			free = false
		}
	}
	if free {
		x.begin(id)
	}
}

// blame finds the member that a collective has waited for: the last to arrive
// or to have its stream free. Of several, the choice must not depend on how
// ranks are numbered within a class, or collapsed and expanded runs would
// explain the same time differently: it is the first by what its rank
// does, place in the program, and cause.
func (x *exec) blame(in *instance) int32 {
	var at sim.Time = -1
	cause, bestClass, bestK := int32(-1), uint64(0), int32(0)
	for op := in.first; op >= 0; op = x.ops[op].next {
		st := &x.ops[op]
		t, why := st.begin, st.cause
		if id, ok := x.picking(op); ok {
			if s := x.stream(id); s.freedAt > t {
				t, why = s.freedAt, s.freedBy
			}
		}
		r := &x.reps[x.opRep[op]]
		class, k := x.work[r.class].content, op-r.base
		if t > at || t == at && (class < bestClass || class == bestClass && (k < bestK || k == bestK && x.causeHash(why) < x.causeHash(cause))) {
			at, cause, bestClass, bestK = t, why, class, k
		}
	}
	return cause
}

// causeHash hashes what an operation is to a report, whatever its rank.
func (x *exec) causeHash(op int32) uint64 {
	if op < 0 {
		return 0
	}
	o := x.opOf(op)
	h := mix2(uint64(o.Kind), uint64(o.Dim))
	if o.Kind == workloads.Collective {
		c := &x.j.prog.Comms[o.Comm]
		h = mix2(h, mixText(c.Name)^uint64(c.Dim))
	}
	r := &x.reps[x.opRep[op]]
	return mix2(mix2(h, x.work[r.class].content), uint64(op-r.base))
}

// begin moves the bytes of a collective that all members have reached.
func (x *exec) begin(id int32) {
	in := &x.insts[id]
	now := x.eng.Now()
	in.begun, in.start, in.cause = true, now, x.blame(in)
	for op := in.first; op >= 0; op = x.ops[op].next {
		if id, ok := x.picking(op); ok {
			x.stream(id).running = op
		}
		x.reps[x.opRep[op]].account.comm(now, 1)
	}
	switch {
	case in.set == nil:
		x.eng.Schedule(now, x.me, evInst, int64(id))
	case in.plan.Choice.Pace.Start > 0:
		x.eng.Schedule(now.Add(in.plan.Choice.Pace.Start), x.me, evMove, int64(id))
	default:
		x.move(id)
	}
}

// move starts the transfers of a collective whose kernels run.
func (x *exec) move(id int32) {
	in := &x.insts[id]
	pace := &in.plan.Choice.Pace
	switch {
	case in.merged:
		in.lanesLeft = 1
		ln := &in.set.lanes[0]
		x.send(ln, in.plan.Message*sim.Bytes(in.plan.Steps), pace.Limit, in.set.travel(in.plan, int(in.ranks)), evLane, int64(id))
	case in.plan.Pattern == collective.Cycle || in.plan.Pipelined || in.set.shape.staged():
		x.beginPipe(id)
	case in.set.byRoute:
		x.sendAll(id)
	default:
		in.lanesLeft = int32(len(in.set.lanes))
		for i := range in.set.lanes {
			ln := &in.set.lanes[i]
			b := in.plan.Message
			if in.op.Coll == workloads.AllToAllV {
				b = x.split(in, ln)
			}
			x.send(ln, b, pace.Limit, ln.latency+ln.step(pace)+pace.Tail(), evLane, int64(id))
		}
	}
}

// send starts one transfer on a lane, which limit bounds besides (0 does not).
func (x *exec) send(ln *lane, b sim.Bytes, limit sim.Rate, latency sim.Time, kind int32, arg int64) {
	x.transfers++
	x.beyond += float64(b) * ln.beyond * float64(ln.members)
	if limit == 0 || ln.limit > 0 && ln.limit < limit {
		limit = ln.limit
	}
	x.net.Start(topology.Transfer{Loads: ln.loads, Bytes: b, Latency: latency, Cap: limit, Alone: ln.alone, Target: x.me, Kind: kind, Arg: arg})
}

// step is what a kernel adds to the latency of a lane.
func (ln *lane) step(p *collective.Pace) sim.Time {
	if ln.net {
		return p.NetStep
	}
	return p.Step
}

// sendAll starts the transfers of an instance whose lanes are not kept.
func (x *exec) sendAll(id int32) {
	in := &x.insts[id]
	pace := &in.plan.Choice.Pace
	n := len(x.j.ranksOf(in.set.group))
	in.lanesLeft = int32(n * (n - 1))
	x.net.Reserve(n*(n-1), 2*n*(n-1))
	var scratch []topology.Load
	err := x.j.eachLane(in.set.shape, in.set.group, func(_ int, a, b int32) error {
		p, err := x.j.wires.path(a, b)
		if err != nil {
			return err
		}
		scratch = scratch[:0]
		for _, h := range p.Hops {
			scratch = append(scratch, topology.Load{Link: fluid.LinkID(x.c.res[h.Resource]), Weight: int32(x.j.weight(&p, h, 1, 1))})
		}
		ln := lane{loads: scratch, limit: p.Rate, alone: x.l.alone(&p), beyond: x.j.beyond(&p, a), members: 1, a: a, b: b, net: p.Kind == topology.NET}
		bytes := in.plan.Message
		if in.op.Coll == workloads.AllToAllV {
			bytes = x.split(in, &ln)
		}
		x.send(&ln, bytes, pace.Limit, p.Latency+ln.step(pace)+pace.Tail(), evLane, int64(id))
		return nil
	})
	if err != nil {
		x.eng.Fail(err)
	}
}

// split returns what the sender of lane ln has for its receiver.
func (x *exec) split(in *instance, ln *lane) sim.Bytes {
	class := x.c.rank[ln.a]
	for op := in.first; op >= 0; op = x.ops[op].next {
		if x.opRep[op] == class {
			return x.opOf(op).Splits[x.j.posOf[in.comm][ln.b]]
		}
	}
	panic(fmt.Sprintf("replay: rank %d is in no member class of its own group", ln.a))
}

// endInstance ends a collective for all its members.
func (x *exec) endInstance(id int32) {
	in := &x.insts[id]
	now := x.eng.Now()
	if least := in.start.Add(in.plan.Choice.Pace.Floor); in.set != nil && now < least {
		x.eng.Schedule(least, x.me, evInst, int64(id)) // the host is still launching
		return
	}
	if err := x.tallyInstance(in, now); err != nil {
		x.eng.Fail(err)
		return
	}
	for op := in.first; op >= 0; {
		next := x.ops[op].next
		st := &x.ops[op]
		st.begin, st.cause = in.start, in.cause
		x.reps[x.opRep[op]].account.comm(now, -1)
		x.finish(op)
		op = next
	}
}
