package replay

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/sim/fluid"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads/collective"
)

// lane is a flow's place on the wires: the classes of resources that it
// loads, each with the sum of the weights of all lanes of its class there.
type lane struct {
	loads   []topology.Load
	latency sim.Time
	limit   sim.Rate
	a, b    int32 // sender and receiver, of the representative
	// next is the lane of the set that forwards this one's messages, or -1.
	next int32
}

// laneSet holds the lanes of one pattern in one group class.
type laneSet struct {
	lanes []lane
	// hops holds the latency of each lane of a merged set, in order.
	hops []sim.Time
	// byRoute says that lanes are not kept: each transfer looks up its route.
	// A million pairs, each used once, are cheaper so.
	byRoute bool
	group   groupID
	shape   shape
}

// layout is what the simulation runs on: lanes by pattern and group class,
// lanes of pairs, and the capacity of each resource class.
type layout struct {
	sets  map[setKey]*laneSet
	pairs map[pair]*lane // by representative sender and its peer
	caps  []sim.Rate
	den   int32

	j     *job
	c     *classes
	dense []int32 // scratch: resource class -> weight
	order []int32
	arena []topology.Load
}

type setKey struct{ pattern, group int32 }

// lay builds the layout from the classes.
func (j *job) lay(c *classes) (*layout, error) {
	l := &layout{sets: map[setKey]*laneSet{}, pairs: map[pair]*lane{}, j: j, c: c, dense: make([]int32, len(c.resRep))}
	for _, r := range c.resRep {
		l.caps = append(l.caps, j.mach.Graph.Capacity(topology.ResourceID(r)))
	}
	l.den = int32(j.wires.den)
	for k := range j.patterns {
		pt := &j.patterns[k]
		err := j.eachGroup(pt, func(g groupID) error {
			key := setKey{int32(k), c.group[g.comm][g.group]}
			if l.sets[key] != nil || pt.count(len(j.ranksOf(g))) == 0 {
				return nil
			}
			set := &laneSet{group: g, shape: pt.shape}
			l.sets[key] = set
			switch {
			case pt.merged:
				return l.layMerged(set, c.groupSize[key.group])
			case pt.lanes == collective.AllPairs && c.identity:
				set.byRoute = true
				return nil
			}
			return l.layLanes(set, int32(k), c.groupSize[key.group])
		})
		if err != nil {
			return nil, err
		}
	}
	return l, l.layPairs()
}

// weight returns what a hop of path p weighs, in parts of the denominator.
func (j *job) weight(p *topology.Path, h topology.Hop) int32 {
	return h.Share * int32(j.wires.den/int64(p.Den))
}

// add puts the hops of a path on the scratch.
func (l *layout) add(p *topology.Path) {
	for _, h := range p.Hops {
		k := l.c.res[h.Resource]
		if l.dense[k] == 0 {
			l.order = append(l.order, k)
		}
		l.dense[k] += l.j.weight(p, h)
	}
}

// loads empties the scratch, which holds the footprint of one lane, and
// returns what all n lanes of its class put on one resource of each class.
//
// The lanes of the class put n times the footprint on the members of a
// resource class together. Members have equal loads, so each carries that
// total divided by their number, which must be whole.
func (l *layout) loads(n int32) ([]topology.Load, error) {
	start := len(l.arena)
	for _, k := range l.order {
		total, members := int64(l.dense[k])*int64(n), int64(l.c.resSize[k])
		if total%members != 0 {
			return nil, fmt.Errorf("symmetry: %d lanes put %d parts on %d equal links: not the same on each", n, total, members)
		}
		l.arena = append(l.arena, topology.Load{Link: fluid.LinkID(k), Weight: int32(total / members)})
		l.dense[k] = 0
	}
	l.order = l.order[:0]
	return l.arena[start:len(l.arena):len(l.arena)], nil
}

// layMerged lays a set whose group is one flow, one of n in its class.
func (l *layout) layMerged(set *laneSet, n int32) error {
	var limit sim.Rate
	err := l.j.eachLane(set.shape, set.group, func(_ int, a, b int32) error {
		p, err := l.j.wires.path(a, b)
		if err != nil {
			return err
		}
		l.add(&p)
		set.hops = append(set.hops, p.Latency)
		if p.Rate > 0 && (limit == 0 || p.Rate < limit) {
			limit = p.Rate
		}
		return nil
	})
	if err != nil {
		return err
	}
	loads, err := l.loads(n)
	first := l.j.ranksOf(set.group)[0]
	set.lanes = []lane{{loads: loads, limit: limit, a: first, b: first, next: -1}}
	return err
}

// layLanes lays a set whose lanes are flows, for one group of n in its class.
func (l *layout) layLanes(set *laneSet, k, n int32) error {
	j, c, g := l.j, l.c, set.group
	byColour := map[uint64]int32{}
	var count []int32 // lanes of the group in each lane class
	var index []int32 // lane of the group -> lane of the set
	note := func(a, b, times int32) error {
		p, err := j.wires.path(a, b)
		if err != nil {
			return err
		}
		at, known := int32(len(set.lanes)), false
		if !c.identity {
			col := c.laneColour(int(k), c.groupCol[g.comm][g.group], a, b, c.pathHash(&p))
			if at, known = byColour[col]; !known {
				at = int32(len(set.lanes))
				byColour[col] = at
			}
		}
		if !known {
			set.lanes = append(set.lanes, lane{latency: p.Latency, limit: p.Rate, a: a, b: b, next: -1})
			count = append(count, 0)
		}
		count[at] += times
		index = append(index, at)
		return nil
	}
	var err error
	if set.shape.lanes == collective.AllPairs {
		err = l.eachSender(g, note)
	} else {
		err = j.eachLane(set.shape, g, func(_ int, a, b int32) error { return note(a, b, 1) })
	}
	if err != nil {
		return err
	}
	for i := range set.lanes {
		ln := &set.lanes[i]
		p, err := j.wires.path(ln.a, ln.b)
		if err != nil {
			return err
		}
		l.add(&p)
		if ln.loads, err = l.loads(count[i] * n); err != nil {
			return err
		}
	}
	for i, at := range index {
		switch {
		case set.shape.lanes == collective.AllPairs, set.shape.lanes == collective.RootToAll, set.shape.lanes == collective.AllToRoot:
		case i+1 < len(index):
			set.lanes[at].next = index[i+1]
		case set.shape.lanes == collective.Cycle:
			set.lanes[at].next = index[0]
		}
	}
	return nil
}

// eachSender calls f for the lanes that leave one rank of each role in group
// g, with the number of ranks in that role. Ranks of one class that use the
// group alike have equal lanes.
func (l *layout) eachSender(g groupID, f func(a, b, times int32) error) error {
	type role struct{ class, slot int32 }
	ranks := l.j.ranksOf(g)
	times := map[role]int32{}
	of := func(r int32) role { return role{l.c.rank[r], l.j.slotOf(l.j.classOf[r], g.comm)} }
	for _, r := range ranks {
		times[of(r)]++
	}
	for _, a := range ranks {
		n := times[of(a)]
		if n == 0 {
			continue
		}
		times[of(a)] = 0
		for _, b := range ranks {
			if a == b {
				continue
			}
			if err := f(a, b, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// layPairs lays the lanes of sends and receives: those that leave a
// representative.
func (l *layout) layPairs() error {
	type key struct {
		class int32
		col   uint64
	}
	byColour := map[key]int32{}
	var lanes []*lane
	var count []int32
	for _, pr := range l.j.pairs {
		class := l.c.rank[pr.a]
		if l.c.rankRep[class] != pr.a {
			continue
		}
		p, err := l.j.wires.path(pr.a, pr.b)
		if err != nil {
			return err
		}
		at, known := int32(len(lanes)), false
		if !l.c.identity {
			kk := key{class, l.c.laneColour(p2pPattern, 0, pr.a, pr.b, l.c.pathHash(&p))}
			if at, known = byColour[kk]; !known {
				at = int32(len(lanes))
				byColour[kk] = at
			}
		}
		if !known {
			lanes = append(lanes, &lane{latency: p.Latency, limit: p.Rate, a: pr.a, b: pr.b, next: -1})
			count = append(count, 0)
		}
		count[at]++
		l.pairs[pr] = lanes[at]
	}
	for i, ln := range lanes {
		p, err := l.j.wires.path(ln.a, ln.b)
		if err != nil {
			return err
		}
		l.add(&p)
		if ln.loads, err = l.loads(count[i] * l.c.rankSize[l.c.rank[ln.a]]); err != nil {
			return err
		}
	}
	return nil
}

// count returns the number of lanes of the pattern among n ranks.
func (pt *pattern) count(n int) int {
	return collective.Plan{Pattern: pt.lanes, Root: pt.root}.Lanes(n)
}
