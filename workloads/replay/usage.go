package replay

import (
	"fmt"
	"slices"

	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// findLanes lists the patterns and the pairs of ranks that the program uses.
func (j *job) findLanes() error {
	j.wires = wires{mach: j.mach, den: 1, parts: 1}
	type use struct {
		comm, root int32
		coll       workloads.Coll
		n          int
		bytes      int64
	}
	seenUse := map[use]bool{}
	at := map[shape]int{}
	add := func(o *workloads.Op, r int32) error {
		n := len(j.prog.Comms[o.Comm].Groups[j.groupOf[o.Comm][r]])
		u := use{o.Comm, o.Root, o.Coll, n, int64(o.Bytes)}
		if seenUse[u] {
			return nil
		}
		seenUse[u] = true
		p, _, err := j.plan(o, n)
		if err != nil {
			return err
		}
		if !plansWires(p, n) {
			return nil
		}
		sh := j.shapeOf(p)
		k, ok := at[sh]
		if !ok {
			k = len(j.patterns)
			at[sh] = k
			j.patterns = append(j.patterns, pattern{shape: sh})
		}
		if pt := &j.patterns[k]; !slices.Contains(pt.comms, o.Comm) {
			pt.comms = append(pt.comms, o.Comm)
		}
		return nil
	}
	even := make([]bool, len(j.prog.Comms))
	for i, c := range j.prog.Comms {
		even[i] = true
		for _, g := range c.Groups {
			even[i] = even[i] && len(g) == len(c.Groups[0])
		}
	}
	pairs := map[[2]int32]bool{}
	for i := range j.prog.Classes {
		cl := &j.prog.Classes[i]
		for k := range cl.Ops {
			o := &cl.Ops[k]
			switch o.Kind {
			case workloads.Collective:
				for _, r := range cl.Ranks {
					if err := add(o, r); err != nil {
						return err
					}
					if even[o.Comm] {
						break
					}
				}
			case workloads.Send:
				for _, r := range cl.Ranks {
					pr := [2]int32{r, j.prog.Peer(o, r)}
					if pr[0] != pr[1] && !pairs[pr] {
						pairs[pr] = true
						j.pairs = append(j.pairs, pair{pr[0], pr[1]})
					}
				}
			}
		}
	}
	return j.splitRings()
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
		return fmt.Errorf("split collectives over rings: %d parts: want at most %d (hosts with equal numbers of ranks keep this small)", j.wires.parts, maxDen)
	}
	return nil
}

// pair is an ordered pair of ranks that exchange messages.
type pair struct{ a, b int32 }
