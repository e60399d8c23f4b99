package replay

import (
	"math"
)

// layoutHash hashes what decides how long a merged ring travels (see
// laneSet.travel) and what no refinement of colours can see: the order of its
// legs around each ring, and the rate of the whole by itself. Rings that are
// rotations of each other hash alike.
func (j *job) layoutHash(pt *pattern, g groupID, own []float64) (uint64, error) {
	n := len(j.ranksOf(g))
	parts := float64(j.ringsOf(g))
	var legs []uint64
	rate := math.Inf(1)
	sum := uint64(0)
	for pass := range 2 {
		err := j.eachLane(pt.shape, g, func(i int, a, b int32) error {
			p, err := j.wires.path(a, b)
			if err != nil {
				return err
			}
			if pass == 0 {
				leg := mix2(uint64(p.Latency), math.Float64bits(float64(p.Rate)))
				for _, h := range p.Hops {
					share := float64(h.Share) / float64(p.Den)
					leg += mix(uint64(math.Float32bits(float32(float64(j.mach.Graph.Capacity(h.Resource)) / share))))
					own[h.Resource] += share / parts
				}
				if legs = append(legs, leg); len(legs) == n {
					sum += leastRotation(legs)
					legs = legs[:0]
				}
				return nil
			}
			for _, h := range p.Hops {
				if own[h.Resource] > 0 {
					rate = min(rate, float64(j.mach.Graph.Capacity(h.Resource))/own[h.Resource])
					own[h.Resource] = 0
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return mix2(sum, uint64(math.Float32bits(float32(rate)))), nil
}

// leastRotation hashes a cyclic sequence from the start at which it is least
// in lexical order, so that the hash does not depend on where it was cut.
//
// Source of the two-pointer method: Duval, Factorizing words over an ordered
// alphabet, J. Algorithms 4 (1983).
func leastRotation(v []uint64) uint64 {
	n := len(v)
	a, b, k := 0, 1, 0
	for a < n && b < n && k < n {
		x, y := v[(a+k)%n], v[(b+k)%n]
		switch {
		case x == y:
			k++
			continue
		case x > y:
			a += k + 1
		default:
			b += k + 1
		}
		if a == b {
			b++
		}
		k = 0
	}
	start := min(a, b)
	h := uint64(n)
	for i := range n {
		h = mix2(h, v[(start+i)%n])
	}
	return h
}
