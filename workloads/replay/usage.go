package replay

import (
	"fmt"

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
	return j.splitRings()
}

// addUse enters the groups in which ranks run collective o.
func (j *job) addUse(o *workloads.Op, ranks []int32, at map[shape]int) error {
	size, k := -1, -1 // of the last group looked at, and its pattern
	for _, r := range ranks {
		g := groupID{o.Comm, j.groupOf[o.Comm][r]}
		if n := len(j.ranksOf(g)); n != size {
			p, _, err := j.plan(o, n)
			if err != nil {
				return err
			}
			size, k = n, -1
			if plansWires(p, n) {
				sh := j.shapeOf(p)
				known := false
				if k, known = at[sh]; !known {
					k = len(j.patterns)
					at[sh] = k
					j.patterns = append(j.patterns, pattern{shape: sh, uses: map[groupID]bool{}})
				}
			}
		}
		if k < 0 {
			continue
		}
		if pt := &j.patterns[k]; !pt.uses[g] {
			pt.uses[g] = true
			pt.groups = append(pt.groups, g)
		}
	}
	return nil
}

// splitRings makes weights hold the parts of several rings.
func (j *job) splitRings() error {
	for k := range j.patterns {
		pt := &j.patterns[k]
		if pt.lanes != collective.Cycle || !pt.merged {
			continue
		}
		err := j.eachGroup(pt, func(g groupID) error {
			if n := int64(j.ringsOf(g)); n > 1 {
				j.wires.parts = lcm(j.wires.parts, n)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if j.wires.parts > maxDen {
		return &LimitError{fmt.Sprintf("split collectives over rings: %d parts: want at most %d (hosts with equal numbers of ranks, or fewer rings, keep this small)", j.wires.parts, maxDen)}
	}
	return nil
}
