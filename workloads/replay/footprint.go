package replay

import (
	"fmt"
	"math"

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
	alone   sim.Rate // with nobody else on its wires
	// beyond is what leaves GPUs for each byte sent, over the byte itself: what
	// GPUs relay and what is held. members counts the lanes of the class.
	beyond  float64
	members int32
	a, b    int32 // sender and receiver, of the representative
	net     bool  // it crosses the network
	stage   stagePart
	// next is the lane of the set that forwards this one's messages, or -1.
	next int32
}

// laneSet holds the lanes of one pattern in one group class.
type laneSet struct {
	lanes []lane
	// Of a merged set: its lanes in order, the rate of the whole with nobody
	// else on its wires, and what travel has found.
	legs []leg
	rate sim.Rate
	// Of a coupled one: the longest latency within a host and between.
	within, between sim.Time
	known           map[travelKey]sim.Time
	// byRoute says that lanes are not kept: each transfer looks up its route.
	// A million pairs, each used once, are cheaper so.
	byRoute bool
	rings   int // rings or chains, each with its part of the message; 1 otherwise
	// Of a staged set: how many parts its lanes cut the message in, and what waits
	// for each of them.
	parts int64
	succ  [][]int32
	group groupID
	shape shape
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
	dense []int64 // scratch: resource class -> weight
	own   []int64 // scratch: resource -> weight
	order []int32
	arena []topology.Load
}

type setKey struct{ pattern, group int32 }

// lay builds the layout from the classes.
func (j *job) lay(c *classes) (*layout, error) {
	l := &layout{sets: map[setKey]*laneSet{}, pairs: map[pair]*lane{}, j: j, c: c, dense: make([]int64, len(c.resRep)), own: make([]int64, len(c.res))}
	for _, r := range c.resRep {
		l.caps = append(l.caps, j.mach.Graph.Capacity(topology.ResourceID(r)))
	}
	l.den = int32(j.wires.whole())
	for k := range j.patterns {
		pt := &j.patterns[k]
		err := j.eachGroup(pt, func(g groupID) error {
			key := setKey{int32(k), c.group[g.comm][g.group]}
			if l.sets[key] != nil || !pt.lanes.Coupled() && pt.count(len(j.ranksOf(g))) == 0 {
				return nil
			}
			set := &laneSet{group: g, shape: pt.shape, rings: 1}
			switch {
			case pt.lanes == collective.Cycle:
				set.rings = j.ringsOf(pt.shape, g)
			case pt.orders != nil && !pt.lanes.Coupled():
				set.rings = len(*pt.orders)
			}
			l.sets[key] = set
			switch {
			case pt.merged:
				return l.layMerged(set, c.groupSize[key.group])
			case pt.staged():
				return l.layStages(set)
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

// weight returns what a hop of path p weighs, in parts of the denominator,
// for a flow of which the path takes weight parts in parts.
func (j *job) weight(p *topology.Path, h topology.Hop, weight, parts int64) int64 {
	return int64(h.Share) * weight * (j.wires.whole() / (int64(p.Den) * parts))
}

// add puts the hops of a path on the scratch, for a flow of which the path
// takes weight parts in parts.
func (l *layout) add(p *topology.Path, weight, parts int64) {
	for _, h := range p.Hops {
		k := l.c.res[h.Resource]
		if l.dense[k] == 0 {
			l.order = append(l.order, k)
		}
		l.dense[k] += l.j.weight(p, h, weight, parts)
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
		total, members := l.dense[k]*int64(n), int64(l.c.resSize[k])
		if total%members != 0 {
			return nil, fmt.Errorf("%w: %d lanes put %d parts on %d links", errUnlike, n, total, members)
		}
		if total/members > math.MaxInt32 {
			return nil, fmt.Errorf("lay lanes on wires: %d lanes weigh %d on one link: want at most %d", n, total/members, math.MaxInt32)
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
	beyond := 0.0
	parts := l.j.partsOf(set.shape, set.group)
	err := l.j.eachWay(set.shape, set.group, func(w way, p *topology.Path) error {
		l.add(p, w.weight, parts)
		part := float64(w.weight) / float64(parts)
		beyond += l.j.beyond(p, w.a) * part
		set.see(p)
		set.legs = append(set.legs, leg{latency: p.Latency, rate: l.alone(p), net: p.Kind == topology.NET})
		for _, h := range p.Hops {
			l.own[h.Resource] += l.j.weight(p, h, w.weight, parts)
		}
		if r := p.Rate / sim.Rate(part); p.Rate > 0 && (limit == 0 || r < limit) {
			limit = r
		}
		return nil
	})
	if err != nil {
		return err
	}
	if set.rate, err = l.ownRate(set); err != nil {
		return err
	}
	loads, err := l.loads(n)
	first := l.j.ranksOf(set.group)[0]
	set.lanes = []lane{{loads: loads, limit: limit, alone: set.rate, beyond: beyond, members: n, a: first, b: first, next: -1}}
	return err
}

// alone returns the rate of a path with nobody else on it.
func (l *layout) alone(p *topology.Path) sim.Rate {
	rate := p.Rate
	for _, h := range p.Hops {
		r := l.j.mach.Graph.Capacity(h.Resource) * sim.Rate(float64(p.Den)/float64(h.Share))
		if rate == 0 || r < rate {
			rate = r
		}
	}
	return rate
}

// ownRate returns the rate of a merged set with nobody else on its wires, marks
// the legs over the wire that sets it, and empties the scratch that holds what
// the set puts on each resource.
func (l *layout) ownRate(set *laneSet) (sim.Rate, error) {
	var rate sim.Rate
	share := func(r topology.ResourceID) sim.Rate {
		return l.j.mach.Graph.Capacity(r) * sim.Rate(float64(l.den)/float64(l.own[r]))
	}
	for pass := range 3 {
		err := l.j.eachWay(set.shape, set.group, func(w way, p *topology.Path) error {
			for _, h := range p.Hops {
				switch pass {
				case 0:
					if r := share(h.Resource); rate == 0 || r < rate {
						rate = r
					}
				case 1:
					set.legs[w.lane].tight = set.legs[w.lane].tight || share(h.Resource) == rate
				case 2:
					l.own[h.Resource] = 0
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return rate, nil
}

// layLanes lays a set whose lanes are flows, for one of so many groups in its
// class.
func (l *layout) layLanes(set *laneSet, k, groups int32) error {
	j, c, g := l.j, l.c, set.group
	n := len(j.ranksOf(g))
	byColour := map[uint64]int32{}
	var count []int32 // lanes of the group in each lane class
	var index []int32 // lane of the group -> lane of the set
	note := func(ring int, a, b, times int32) error {
		p, err := j.wires.path(a, b)
		if err != nil {
			return err
		}
		at, known := int32(len(set.lanes)), false
		if !c.identity {
			col := c.laneColour(ringPattern(int(k), ring), c.groupCol[g.comm][g.group], a, b, c.pathHash(&p))
			if at, known = byColour[col]; !known {
				at = int32(len(set.lanes))
				byColour[col] = at
			}
		}
		if !known {
			set.lanes = append(set.lanes, lane{latency: p.Latency, limit: p.Rate, alone: l.alone(&p), beyond: l.j.beyond(&p, a), a: a, b: b, next: -1, net: p.Kind == topology.NET})
			count = append(count, 0)
		}
		count[at] += times
		index = append(index, at)
		return nil
	}
	var err error
	if set.shape.lanes == collective.AllPairs {
		err = l.eachSender(g, func(a, b, times int32) error { return note(0, a, b, times) })
	} else {
		err = j.eachLane(set.shape, g, func(i int, a, b int32) error { return note(i/set.ringLanes(n), a, b, 1) })
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
		l.add(&p, 1, 1)
		ln.members = count[i] * groups
		if ln.loads, err = l.loads(ln.members); err != nil {
			return err
		}
	}
	for i, at := range index {
		switch {
		case set.shape.lanes == collective.AllPairs, set.shape.lanes == collective.RootToAll, set.shape.lanes == collective.AllToRoot:
		case set.shape.lanes == collective.Cycle:
			set.lanes[at].next = index[i/n*n+(i+1)%n]
		case (i+1)%(n-1) > 0: // a chain, which others may follow
			set.lanes[at].next = index[i+1]
		}
	}
	return nil
}

// ringLanes is how many lanes of n members make one ring or chain.
func (s *laneSet) ringLanes(n int) int {
	if s.shape.lanes == collective.Cycle {
		return n
	}
	return n - 1
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

// layPairs lays the lanes on which representatives send: one for each contact.
// Every rank of the class has the like contact, with a lane of its own.
func (l *layout) layPairs() error {
	for class, r := range l.c.rankRep {
		for _, k := range l.j.contacts.of(r) {
			if !k.sends || k.peer == r {
				continue
			}
			p, err := l.j.wires.path(r, k.peer)
			if err != nil {
				return err
			}
			ln := &lane{latency: p.Latency, limit: p.Rate, alone: l.alone(&p), beyond: l.j.beyond(&p, r), members: l.c.rankSize[class], a: r, b: k.peer, next: -1, net: p.Kind == topology.NET}
			l.add(&p, 1, 1)
			if ln.loads, err = l.loads(l.c.rankSize[class]); err != nil {
				return err
			}
			l.pairs[pair{r, k.peer}] = ln
		}
	}
	return nil
}

// pair is an ordered pair of ranks, a sender and its receiver.
type pair struct{ a, b int32 }

// count returns the number of lanes of the pattern among n ranks.
func (pt *pattern) count(n int) int {
	return collective.Plan{Pattern: pt.lanes, Root: pt.root}.Lanes(n)
}
