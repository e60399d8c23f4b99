package replay

import (
	"math"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads/collective"
)

// layoutHash hashes what decides how long a merged ring travels (see
// laneSet.travel) and what no refinement of colours can see: the order of its
// legs around each ring, how narrow each is for all rings together, and the rate
// of the whole by itself. Rings that are
// rotations of each other hash alike, and chains whatever the order of their legs.
func (j *job) layoutHash(pt *pattern, g groupID, own []float64) (uint64, error) {
	n, ring := len(j.ranksOf(g)), leastRotation
	if pt.lanes != collective.Cycle {
		n, ring = n-1, sumOfAll
	}
	parts := float64(j.partsOf(pt.shape, g))
	var legs []uint64
	rate := math.Inf(1)
	sum := uint64(0)
	for pass := range 3 {
		err := j.eachWay(pt.shape, g, func(_ way, p *topology.Path) error {
			leg := mix2(uint64(p.Latency)<<8|uint64(p.Kind), math.Float64bits(float64(p.Rate)))
			narrow := math.Inf(1)
			for _, h := range p.Hops {
				capacity, share := float64(j.mach.Graph.Capacity(h.Resource)), float64(h.Share)/float64(p.Den)
				switch pass {
				case 0:
					own[h.Resource] += share / parts
				case 1:
					leg += mix(uint64(math.Float32bits(float32(capacity / share))))
					narrow = min(narrow, capacity/own[h.Resource])
				case 2:
					own[h.Resource] = 0
				}
			}
			if pass != 1 {
				return nil
			}
			rate = min(rate, narrow)
			if legs = append(legs, mix2(leg, uint64(math.Float32bits(float32(narrow))))); len(legs) == n {
				sum += ring(legs)
				legs = legs[:0]
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return mix2(sum, uint64(math.Float32bits(float32(rate)))), nil
}

// sumOfAll hashes a multiset.
func sumOfAll(v []uint64) uint64 {
	h := uint64(0)
	for _, x := range v {
		h += mix(x)
	}
	return mix(h)
}

// shapeHash hashes what decides how long a coupled collective travels: how its
// members lie on hosts, and the longest of its ways within them and between.
func (j *job) shapeHash(pt *pattern, g groupID) (uint64, error) {
	var set laneSet
	err := j.eachWay(pt.shape, g, func(_ way, p *topology.Path) error {
		set.see(p)
		return nil
	})
	h := mix2(uint64(set.within), uint64(set.between))
	for _, node := range j.layoutOf(g) {
		h += mix(uint64(len(node)))
	}
	return mix(h), err
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
