package replay

import (
	"fmt"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads/collective"
)

// wires answers what a lane occupies. It numbers the machine's resources and
// keeps the common denominator of all shares.
type wires struct {
	mach  *topology.Machine
	den   int64 // lcm of the denominators of the paths met
	parts int64 // lcm of the numbers of rings that share a flow
	final bool  // all paths have been seen
	buf   []topology.Hop
}

// maxDen bounds the common denominator of weights: capacities are scaled by it
// and must still fit the solver's integers with a resolution below 1 B/s.
const maxDen = 1 << 20

// whole is the weight of a hop that carries all of a flow.
func (w *wires) whole() int64 { return w.den * w.parts }

// path returns the path of a lane from rank a to rank b. The hops are valid
// until the next call.
func (w *wires) path(a, b int32) (topology.Path, error) {
	p, err := w.mach.Route(a, b, w.buf[:0])
	if err != nil {
		return p, err
	}
	for _, h := range p.Held { // to the network, to hold a wire is to use it
		p.Hops = topology.AppendHop(p.Hops, h)
	}
	if cap(p.Hops) > cap(w.buf) {
		w.buf = p.Hops
	}
	if p.Den != 1 && w.den%int64(p.Den) != 0 {
		if w.final {
			return p, fmt.Errorf("route rank %d to rank %d: split in %d parts, and no path was before: routes must not change during a run", a, b, p.Den)
		}
		w.den = lcm(w.den, int64(p.Den))
		if w.whole() > maxDen {
			return p, &LimitError{fmt.Sprintf("route rank %d to rank %d: transfers are split in %d parts at least: want at most %d (equal planes, and hosts with equal numbers of ranks, keep this small)", a, b, w.whole(), maxDen)}
		}
	}
	return p, nil
}

func lcm(a, b int64) int64 {
	product := a
	for r := b; r != 0; {
		a, r = r, a%r
	}
	return product / a * b
}

// eachGroup calls f for every group that uses pattern pt, in order.
func (j *job) eachGroup(pt *pattern, f func(g groupID) error) error {
	for _, g := range pt.groups {
		if err := f(g); err != nil {
			return err
		}
	}
	return nil
}

// eachLane calls f for every lane of shape pt in group g, in order.
func (j *job) eachLane(pt shape, g groupID, f func(lane int, a, b int32) error) error {
	ranks := j.ranksOf(g)
	plan := collective.Plan{Pattern: pt.lanes, Root: pt.root}
	n := len(ranks)
	switch {
	case pt.lanes == collective.Cycle:
		return j.eachRing(pt, g, f)
	case pt.orders != nil:
		return eachChain(pt, ranks, f)
	}
	if pt.lanes == collective.AllPairs { // the long loop: without a division a lane
		lane := 0
		for i, a := range ranks {
			for k, b := range ranks {
				if i == k {
					continue
				}
				if err := f(lane, a, b); err != nil {
					return err
				}
				lane++
			}
		}
		return nil
	}
	for i := range plan.Lanes(n) {
		from, to := plan.Lane(i, n)
		if err := f(i, ranks[from], ranks[to]); err != nil {
			return err
		}
	}
	return nil
}

// way is a lane of a merged shape: from rank a to rank b, with weight parts of
// the flow (see partsOf).
type way struct {
	lane   int
	a, b   int32
	weight int64
	part   collective.Part
}

// eachWay calls f for every lane of a merged shape in group g, in order, with
// the path that it takes. The path is valid until the next.
func (j *job) eachWay(pt shape, g groupID, f func(w way, p *topology.Path) error) error {
	go1 := func(w way) error {
		p, err := j.wires.path(w.a, w.b)
		if err != nil {
			return err
		}
		if w.part != collective.Through {
			if err := j.cut(&p, w); err != nil {
				return err
			}
		}
		return f(w, &p)
	}
	if pt.lanes.Coupled() {
		ranks, lane := j.ranksOf(g), -1
		return pt.lanes.EachLane(j.layoutOf(g), pt.orders, func(l collective.Lane) error {
			lane++
			return go1(way{lane, ranks[l.From], ranks[l.To], l.Weight, l.Part})
		})
	}
	return j.eachLane(pt, g, func(lane int, a, b int32) error { return go1(way{lane, a, b, 1, collective.Through}) })
}

// cut leaves of a path what goes into the switch between two GPUs, or what
// comes out of it.
func (j *job) cut(p *topology.Path, w way) error {
	j.findPorts()
	to := j.mach.Ranks[w.b]
	kept := p.Hops[:0]
	for _, h := range p.Hops {
		if (j.gpuIn[h.Resource] == to) == (w.part == collective.In) {
			kept = append(kept, h)
		}
	}
	if p.Kind != topology.NVL || len(kept) == 0 {
		return &LimitError{fmt.Sprintf("reduce in the switch between rank %d and rank %d: their path is %v and has no NVSwitch in it: want GPUs that meet in NVSwitches", w.a, w.b, p.Kind)}
	}
	p.Hops = kept
	return nil
}

// findPorts notes which resources leave and which enter a GPU.
func (j *job) findPorts() {
	if j.gpuOut != nil {
		return
	}
	g := j.mach.Graph
	j.gpuOut, j.gpuIn = make([]topology.NodeID, g.Resources()), make([]topology.NodeID, g.Resources())
	for r := range j.gpuOut {
		j.gpuOut[r], j.gpuIn[r] = -1, -1
		links, _ := g.Members(topology.ResourceID(r))
		l := g.Links[links[0]]
		if g.Nodes[l.From].Kind == topology.GPU {
			j.gpuOut[r] = l.From
		}
		if g.Nodes[l.To].Kind == topology.GPU {
			j.gpuIn[r] = l.To
		}
	}
}

// ranksOf returns the ranks of a group.
func (j *job) ranksOf(g groupID) []int32 { return j.prog.Comms[g.comm].Groups[g.group] }

// survey walks all paths once, so that the common denominator is known before
// any weight is written down.
func (j *job) survey() error {
	see := func(_ int, a, b int32) error {
		_, err := j.wires.path(a, b)
		return err
	}
	for k := range j.patterns {
		pt := &j.patterns[k]
		if err := j.eachGroup(pt, func(g groupID) error {
			if pt.lanes.Coupled() {
				return j.eachWay(pt.shape, g, func(way, *topology.Path) error { return nil })
			}
			return j.eachLane(pt.shape, g, see)
		}); err != nil {
			return err
		}
	}
	return j.eachContact(func(r int32, k *contact) error {
		if !k.sends || k.peer == r {
			return nil
		}
		return see(0, r, k.peer)
	})
}

// eachContact calls f for every contact of every rank.
func (j *job) eachContact(f func(r int32, k *contact) error) error {
	for r := range j.prog.World {
		for i := range j.contacts.of(r) {
			if err := f(r, &j.contacts.of(r)[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
