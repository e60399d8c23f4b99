package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// useKey groups collectives for the report.
type useKey struct {
	coll  workloads.Coll
	comm  string
	ranks int
	bytes sim.Bytes
}

// use gathers the runs of equal collectives.
type use struct {
	CollectiveUse
	coll  workloads.Coll
	runs  int64 // of all groups
	total sumOf
	group map[int32]bool // group classes counted
}

// useFor returns the row of the report that a collective belongs to.
func (x *exec) useFor(o *workloads.Op, n int, bytes sim.Bytes, wire float64, ch collective.Choice) int32 {
	comm := &x.j.prog.Comms[o.Comm]
	k := useKey{o.Coll, comm.Name, n, bytes}
	if at, ok := x.useOf[k]; ok {
		return at
	}
	at := int32(len(x.uses))
	x.useOf[k] = at
	x.uses = append(x.uses, use{coll: o.Coll, group: map[int32]bool{}, CollectiveUse: CollectiveUse{
		Op: o.Coll.String(), Comm: comm.Name, Dim: comm.Dim.String(), Ranks: n, Bytes: bytes,
		Algo: ch.Label(), Proto: ch.Protocol, Channels: ch.Channels, Why: ch.Why, Min: sim.MaxTime, WireBytes: wire,
	}})
	return at
}

// tallyInstance books a finished collective, and holds it against the least
// time that the wires of its ranks allow.
func (x *exec) tallyInstance(in *instance, now sim.Time) error {
	u := &x.uses[in.use]
	t := now - in.start
	bound := sim.Time(0)
	if x.j.opt.Model != Ideal { // which lets a rank send to all at once
		bound = x.bound(in)
	}
	// One picosecond for each step: steps round up, the bound does not.
	if t+sim.Time(max(in.plan.Steps, 1)) < bound {
		return &LawError{fmt.Errorf("%v of %d bytes among %d ranks of %s took %v, and its bytes need %v at the rate of the ranks' links",
			in.op.Coll, in.op.Bytes, in.ranks, x.j.prog.Comms[in.comm].Name, t, bound)}
	}
	n := int(x.c.groupSize[in.group])
	u.runs += int64(n)
	u.total.add(t, n)
	u.Min, u.Max, u.Bound = min(u.Min, t), max(u.Max, t), max(u.Bound, bound)
	if !u.group[in.group] {
		u.group[in.group] = true
		u.Groups += n
	}
	return nil
}

// result puts the findings together.
func (x *exec) result() (*Result, error) {
	res := &Result{}
	last := int32(-1)
	for op := range x.ops {
		if x.ops[op].end > res.StepTime || last < 0 {
			res.StepTime, last = x.ops[op].end, int32(op)
		}
	}
	x.breakdown(res, last)
	x.rankTimes(res)
	x.linkUse(res)
	for i := range x.uses {
		u := &x.uses[i]
		if u.runs == 0 {
			continue
		}
		c := u.CollectiveUse
		c.Count = int(u.runs) / max(u.Groups, 1)
		c.Time = u.total.over(u.runs)
		if c.Time > 0 {
			c.BusBW = sim.Rate(float64(c.Bytes) / c.Time.Seconds() * collective.BusFactor(u.coll, c.Ranks))
		}
		res.Colls = append(res.Colls, c)
	}
	slices.SortStableFunc(res.Colls, func(a, b CollectiveUse) int {
		return cmp.Compare(float64(b.Time)*float64(b.Count), float64(a.Time)*float64(a.Count))
	})
	res.Stats = Stats{
		Events: x.eng.Events(), Transfers: x.transfers,
		Ranks: int(x.j.prog.World), Simulated: len(x.reps),
	}
	if x.j.opt.Digest {
		res.Stats.EventDigest = x.eng.Sum64()
	}
	res.Warnings = append(res.Warnings, x.j.mach.Notes...)
	return res, nil
}

// breakdown walks the critical path back from the operation that ended last.
// Each operation began when its cause ended, so the parts are an exact
// partition of the step.
func (x *exec) breakdown(res *Result, last int32) {
	type key struct{ dim, comm string }
	var order []key
	exposed := map[key]sim.Time{}
	at := res.StepTime
	for op := last; op >= 0 && at > 0; op = x.ops[op].cause {
		st := &x.ops[op]
		res.Breakdown.Wait += at - min(st.end, at)
		d := min(st.end, at) - st.begin
		o := x.opOf(op)
		switch o.Kind {
		case workloads.Compute, workloads.Copy:
			res.Breakdown.Compute += d
		case workloads.Delay:
			res.Breakdown.Wait += d
		default:
			k := key{o.Dim.String(), "send/recv"}
			if o.Kind == workloads.Collective {
				c := &x.j.prog.Comms[o.Comm]
				k = key{c.Dim.String(), c.Name}
			}
			if _, ok := exposed[k]; !ok {
				order = append(order, k)
			}
			exposed[k] += d
		}
		at = st.begin
	}
	res.Breakdown.Wait += at
	for _, k := range order {
		if exposed[k] == 0 {
			continue
		}
		res.Breakdown.Exposed = append(res.Breakdown.Exposed, Exposed{Dim: k.dim, Comm: k.comm, Time: exposed[k]})
	}
	slices.SortStableFunc(res.Breakdown.Exposed, func(a, b Exposed) int { return cmp.Compare(b.Time, a.Time) })
}

// rankTimes averages where the ranks' time went.
func (x *exec) rankTimes(res *Result) {
	var comp, exposed, hidden sumOf
	for i := range x.reps {
		a := &x.reps[i].account
		a.upTo(res.StepTime)
		n := int(x.c.rankSize[i])
		comp.add(a.computed, n)
		exposed.add(a.exposed, n)
		hidden.add(a.hidden, n)
	}
	w := int64(x.j.prog.World)
	res.Ranks.Compute = comp.over(w)
	res.Ranks.ExposedComm = exposed.over(w)
	res.Ranks.HiddenComm = hidden.over(w)
	res.Ranks.Wait = res.StepTime - res.Ranks.Compute - res.Ranks.ExposedComm
}

// linkUse adds up what the links carried, by class and for the busiest.
func (x *exec) linkUse(res *Result) {
	g := x.j.mach.Graph
	carried := make([]float64, len(g.Links))
	for r, k := range x.c.res {
		b := x.net.Carried(k)
		if b == 0 {
			continue
		}
		links, shares := g.Members(topology.ResourceID(r))
		sum := int32(0)
		for _, s := range shares {
			sum += s
		}
		for i, l := range links {
			carried[l] += b * float64(shares[i]) / float64(sum)
		}
	}
	step := res.StepTime.Seconds()
	classes := make([]LinkUse, len(g.Classes))
	for i, l := range g.Links {
		if l.Down {
			continue
		}
		c := &classes[l.Class]
		u := 0.0
		if step > 0 {
			u = carried[i] / (float64(l.Rate) * step)
		}
		width := g.PhysicalLinks(topology.LinkID(i))
		c.Class = g.Classes[l.Class].Name
		c.Links += width
		c.Bytes += carried[i]
		c.Utilisation += u * float64(width)
		c.Peak = max(c.Peak, u)
		c.Rate = l.Rate / sim.Rate(width)
		if carried[i] > 0 {
			res.Busiest = append(res.Busiest, LinkUse{
				Class: c.Class, Name: g.Nodes[l.From].Name + " > " + g.Nodes[l.To].Name,
				Links: width, Bytes: carried[i], Rate: l.Rate, Utilisation: u, Peak: u,
			})
		}
	}
	for _, c := range classes {
		if c.Links > 0 {
			c.Utilisation /= float64(c.Links)
			c.Links /= 2 // both directions of a link are one link
			res.Links = append(res.Links, c)
		}
	}
	slices.SortStableFunc(res.Links, func(a, b LinkUse) int { return cmp.Compare(b.Utilisation, a.Utilisation) })
	slices.SortStableFunc(res.Busiest, func(a, b LinkUse) int { return cmp.Compare(b.Utilisation, a.Utilisation) })
	res.Busiest = slices.Clip(res.Busiest[:min(len(res.Busiest), busiest)])
}

// busiest is how many single links a result keeps.
const busiest = 10
