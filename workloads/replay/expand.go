package replay

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// job is a program made ready for a machine: everything about its ranks that
// does not depend on time.
type job struct {
	prog *workloads.Program
	mach *topology.Machine
	opt  Options

	classOf []int32   // rank -> index in prog.Classes
	groupOf [][]int32 // comm, rank -> index of the group, -1 for none
	posOf   [][]int32 // comm, rank -> position in the group

	contacts contacts

	work     []work // by program class
	patterns []pattern

	layouts   [][]collective.Layout // comm, group -> see layoutOf
	plans     map[planKey]collective.Plan
	paces     map[groupID]uint64 // hashes of what the kernels of a group's collectives cost
	ringCount [][]int32          // comm, group -> see ringsOf
	gpuOut    []topology.NodeID  // resource -> the GPU it leaves, or -1
	gpuIn     []topology.NodeID  // resource -> the GPU it enters, or -1
	ports     []ports            // by node
	slot      [][]int32          // program class, comm -> see slotOf
	wires     wires
}

// pattern is a way to join the ranks of a group by lanes, and the groups that
// use it. With merged set, the lanes of a group form one flow.
type pattern struct {
	shape
	groups []groupID
	uses   map[groupID]bool
}

type shape struct {
	lanes  collective.Pattern
	root   int32
	merged bool
	orders *collective.Orders
}

// expand builds the job. The program must have passed Validate.
func expand(p *workloads.Program, m *topology.Machine, o Options) (*job, error) {
	if int(p.World) > len(m.Ranks) {
		return nil, &SizeError{Ranks: int(p.World), GPUs: len(m.Ranks), Machine: m.Name, Hosts: int(m.Hosts)}
	}
	j := &job{prog: p, mach: m, opt: o, classOf: make([]int32, p.World)}
	for c := range p.Classes {
		for _, r := range p.Classes[c].Ranks {
			j.classOf[r] = int32(c)
		}
	}
	for _, c := range p.Comms {
		group, pos := make([]int32, p.World), make([]int32, p.World)
		for r := range group {
			group[r] = -1
		}
		for g, ranks := range c.Groups {
			for i, r := range ranks {
				group[r], pos[r] = int32(g), int32(i)
			}
		}
		j.groupOf, j.posOf = append(j.groupOf, group), append(j.posOf, pos)
	}
	if err := j.meet(); err != nil {
		return nil, err
	}
	for c := range p.Classes {
		w, err := j.prepare(int32(c))
		if err != nil {
			return nil, err
		}
		j.work = append(j.work, w)
	}
	return j, nil
}

// planKey is what a plan depends on.
type planKey struct {
	coll  workloads.Coll
	bytes sim.Bytes
	root  int32
	group groupID
}

// plan returns how operation o runs in group g.
func (j *job) plan(o *workloads.Op, g groupID) (collective.Plan, error) {
	k := planKey{o.Coll, o.Bytes, o.Root, g}
	if p, ok := j.plans[k]; ok {
		return p, nil
	}
	choose := j.opt.Choose
	if choose == nil {
		choose = collective.Default
	}
	ranks := j.ranksOf(g)
	ch, err := choose(o.Coll, o.Bytes, ranks)
	if err != nil {
		return collective.Plan{}, fmt.Errorf("operation %q: %w", o.Name, err)
	}
	p, err := collective.NewPlan(o.Coll, ch, o.Bytes, j.layoutOf(g), o.Root)
	if err != nil {
		return p, fmt.Errorf("operation %q: %w", o.Name, err)
	}
	if ch.Orders != nil {
		if err := ch.Orders.Validate(len(ranks)); err != nil {
			return p, fmt.Errorf("operation %q: %w", o.Name, err)
		}
	}
	if j.plans == nil {
		j.plans = map[planKey]collective.Plan{}
	}
	j.plans[k] = p
	return p, nil
}

// layoutOf returns how the members of a group lie on hosts.
func (j *job) layoutOf(g groupID) collective.Layout {
	if j.layouts == nil {
		j.layouts = make([][]collective.Layout, len(j.prog.Comms))
	}
	if j.layouts[g.comm] == nil {
		j.layouts[g.comm] = make([]collective.Layout, len(j.prog.Comms[g.comm].Groups))
	}
	l := &j.layouts[g.comm][g.group]
	if *l == nil {
		at := map[int32]int{}
		for i, r := range j.ranksOf(g) {
			host := j.hostOf(r)
			k, ok := at[host]
			if !ok {
				k = len(*l)
				at[host] = k
				*l = append(*l, nil)
			}
			(*l)[k] = append((*l)[k], int32(i))
		}
	}
	return *l
}

// shapeOf returns how plan p joins its ranks.
func (j *job) shapeOf(p collective.Plan) shape {
	pt := shape{lanes: p.Pattern, merged: p.Pattern.Coupled() && j.opt.Grain == collective.Stream}
	switch p.Pattern {
	case collective.DoubleTree:
		pt.orders = p.Choice.Orders
	case collective.Cycle:
		pt.merged = j.opt.Grain == collective.Stream
		pt.orders = p.Choice.Orders
	case collective.FromRoot, collective.ToRoot:
		pt.merged = j.opt.Grain == collective.Stream
		pt.root, pt.orders = p.Root, p.Choice.Orders
	case collective.RootToAll, collective.AllToRoot:
		pt.root = p.Root
	}
	return pt
}

// plansWires says that operation o moves bytes between the n ranks of its
// group.
func plansWires(p collective.Plan, n int) bool { return n > 1 && p.Steps > 0 }

// duration returns how long a compute, copy or delay operation takes.
func (j *job) duration(o *workloads.Op) (sim.Time, error) {
	switch {
	case o.Kind == workloads.Delay, o.Kind == workloads.Compute && o.Duration >= 0:
		return max(o.Duration, 0), nil
	case o.Kind == workloads.Copy && o.Duration >= 0 && (o.Duration > 0 || o.Bytes == 0):
		return o.Duration, nil
	case j.opt.Compute == nil:
		return 0, fmt.Errorf("operation %q has no recorded duration, and no GPU model was given to time %g FLOP and %d bytes", o.Name, o.FLOPs, o.MemBytes)
	case o.Kind == workloads.Copy:
		return j.opt.Compute.CopyTime(o.Bytes), nil
	}
	return j.opt.Compute.Time(o.FLOPs, o.MemBytes), nil
}

// SizeError says that a program has more ranks than the machine has GPUs.
type SizeError struct {
	Ranks, GPUs, Hosts int
	Machine            string
}

func (e *SizeError) Error() string {
	per := max(e.GPUs/max(e.Hosts, 1), 1)
	return fmt.Sprintf("place %d ranks on %s: it has %d GPUs in %d node(s): want at least %d nodes (nodes: %d), or a program of at most %d ranks",
		e.Ranks, e.Machine, e.GPUs, e.Hosts, (e.Ranks+per-1)/per, (e.Ranks+per-1)/per, e.GPUs)
}
