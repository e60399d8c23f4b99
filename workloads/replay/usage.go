package replay

import (
	"fmt"
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// findLanes lists the patterns that the program uses, each with its groups.
func (j *job) findLanes() error {
	j.wires = wires{mach: j.mach, den: 1, parts: 1}
	at := map[shape]int{}
	type use struct {
		comm, root int32
		coll       workloads.Coll
		bytes      sim.Bytes
	}
	seen := map[use]bool{}
	for i := range j.prog.Classes {
		cl := &j.prog.Classes[i]
		clear(seen)
		for k := range cl.Ops {
			o := &cl.Ops[k]
			u := use{o.Comm, o.Root, o.Coll, o.Bytes}
			if o.Kind != workloads.Collective || seen[u] {
				continue
			}
			seen[u] = true
			if err := j.addUse(o, cl.Ranks, at); err != nil {
				return err
			}
		}
	}
	return j.splitParts()
}

// addUse enters the groups in which ranks run collective o.
func (j *job) addUse(o *workloads.Op, ranks []int32, at map[shape]int) error {
	last := groupID{-1, -1}
	for _, r := range ranks {
		g := groupID{o.Comm, j.groupOf[o.Comm][r]}
		if g == last {
			continue
		}
		last = g
		p, err := j.plan(o, g)
		if err != nil {
			return err
		}
		if !plansWires(p, len(j.ranksOf(g))) {
			continue
		}
		if p.Choice.Pace != (collective.Pace{}) {
			if j.paces == nil {
				j.paces = map[groupID]uint64{}
			}
			// A sum: groups that lie alike may meet their classes in another order.
			j.paces[g] += paceHash(o, &p.Choice)
		}
		sh := j.shapeOf(p)
		k, known := at[sh]
		if !known {
			k = len(j.patterns)
			at[sh] = k
			j.patterns = append(j.patterns, pattern{shape: sh, uses: map[groupID]bool{}})
		}
		if pt := &j.patterns[k]; !pt.uses[g] {
			pt.uses[g] = true
			pt.groups = append(pt.groups, g)
		}
	}
	return nil
}

// paceHash hashes what the kernels of a collective cost. Groups whose kernels
// differ are not alike, whatever their wires.
func paceHash(o *workloads.Op, c *collective.Choice) uint64 {
	p := &c.Pace
	h := mix2(uint64(o.Coll)<<32|uint64(uint32(o.Root)), uint64(o.Bytes))
	for _, v := range [...]uint64{uint64(p.Start), uint64(p.Step), uint64(p.NetStep), uint64(p.Tail()), uint64(p.Floor), math.Float64bits(float64(p.Limit)), uint64(c.Algorithm)} {
		h = mix2(h, v)
	}
	return h
}

// splitParts makes weights hold the parts into which merged lanes cut a flow.
func (j *job) splitParts() error {
	for k := range j.patterns {
		pt := &j.patterns[k]
		if !pt.merged {
			continue
		}
		err := j.eachGroup(pt, func(g groupID) error {
			j.wires.parts = lcm(j.wires.parts, j.partsOf(pt.shape, g))
			if j.wires.parts > maxDen {
				return &LimitError{fmt.Sprintf("split collectives over rings, trees and members: %d parts: want at most %d (hosts with equal numbers of ranks, or fewer rings, keep this small)", j.wires.parts, maxDen)}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// partsOf returns into how many parts the lanes of a merged shape cut the flow
// of a group.
func (j *job) partsOf(pt shape, g groupID) int64 {
	switch {
	case pt.lanes == collective.Cycle:
		return int64(j.ringsOf(pt, g))
	case pt.lanes.Coupled():
		return pt.lanes.Parts(j.layoutOf(g), pt.orders)
	case pt.orders != nil:
		return int64(len(*pt.orders))
	}
	return 1
}
