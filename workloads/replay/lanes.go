package replay

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads/collective"
)

// wires answers what a lane occupies. It numbers the machine's resources and
// keeps the common denominator of all shares.
type wires struct {
	mach *topology.Machine
	den  int64 // lcm of the denominators of the paths met
	buf  []topology.Hop
}

// maxDen bounds the common denominator: capacities are scaled by it and must
// still fit the solver's integers.
const maxDen = 1 << 16

// path returns the path of a lane from rank a to rank b. The hops are valid
// until the next call.
func (w *wires) path(a, b int32) (topology.Path, error) {
	p, err := w.mach.Route(a, b, w.buf[:0])
	if err != nil {
		return p, err
	}
	w.buf = p.Hops
	if p.Den != 1 && w.den%int64(p.Den) != 0 {
		w.den = w.den / gcd(w.den, int64(p.Den)) * int64(p.Den)
		if w.den > maxDen {
			return p, fmt.Errorf("route rank %d to rank %d: paths are split in %d parts at least: want at most %d (equal planes keep this small)", a, b, w.den, maxDen)
		}
	}
	return p, nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// eachGroup calls f for every group that uses pattern pt, in order.
func (j *job) eachGroup(pt *pattern, f func(g groupID) error) error {
	for _, c := range pt.comms {
		for g := range j.prog.Comms[c].Groups {
			if err := f(groupID{c, int32(g)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachLane calls f for every lane of shape pt in group g, in order.
func (j *job) eachLane(pt shape, g groupID, f func(lane int, a, b int32) error) error {
	ranks := j.ranksOf(g)
	plan := collective.Plan{Pattern: pt.lanes, Root: pt.root}
	n := len(ranks)
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

// travel returns the latency of a merged plan: the sum over the longest run of
// consecutive lanes that one byte takes. lat holds each lane's latency.
//
// On a cycle of n lanes a message goes steps lanes far, which is less than
// twice around: from every start in turn, take the lanes that follow.
func travel(p collective.Pattern, steps int, lat []sim.Time) sim.Time {
	n := len(lat)
	var sum sim.Time
	for _, l := range lat {
		sum += l
	}
	if p != collective.Cycle || n == 0 {
		return sum
	}
	total := sim.Time(steps/n) * sum
	rest := steps % n
	var run, best sim.Time
	for i := range rest {
		run += lat[i]
	}
	best = run
	for i := range n - 1 {
		run += lat[(i+rest)%n] - lat[i]
		best = max(best, run)
	}
	return total + best
}

// ranksOf returns the ranks of a group.
func (j *job) ranksOf(g groupID) []int32 { return j.prog.Comms[g.comm].Groups[g.group] }
