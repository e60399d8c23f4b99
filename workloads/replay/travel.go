package replay

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads/collective"
)

// leg is what one lane of a merged set is by itself.
type leg struct {
	latency sim.Time
	net     bool     // it crosses the network
	rate    sim.Rate // of the lane's path with nobody else on it
	tight   bool     // it crosses the wire that sets the rate of the whole
}

// travel returns what a merged collective takes beyond its bytes at the rate
// of its tightest wire.
//
// On a ring of n lanes, message s of a lane leaves when message s-1 has come
// from the lane before and the lane is free. Of the ways through these
// conditions two decide: to stay on the slowest lane for all steps, which is
// steps x t with t the time of a message there, and to follow one message from
// lane to lane, which is the sum of t_i + latency_i over the lanes it passes.
// The flow of the whole ring takes steps x t; what comes on top is
//
//	max over all starts of the sum over steps lanes of latency_i - (t - t_i)
//
// and at least the longest latency, of the last message. On equal lanes that
// is steps x latency. Lanes of several rings over the tightest wire are busy
// with it together and in step, whatever one of them would take alone: there
// t_i is t. Along a chain every byte passes every lane: the sum of
// the latencies. A coupled plan knows how many steps its longest way has, each of
// which is charged the longest latency of its kind.
//
// What kernels add is in it: a step for each lane passed, and the slices.
func (s *laneSet) travel(p collective.Plan, n int) sim.Time {
	pace := &p.Choice.Pace
	k := travelKey{p.Steps, p.Hops, p.NetHops, p.Message, pace.Step, pace.NetStep, pace.Limit}
	if t, ok := s.known[k]; ok {
		return t + pace.Tail()
	}
	t := s.follow(p, n)
	if s.known == nil {
		s.known = map[travelKey]sim.Time{}
	}
	s.known[k] = t
	return t + pace.Tail()
}

type travelKey struct {
	steps, hops, netHops int
	message              sim.Bytes
	step, netStep        sim.Time
	limit                sim.Rate
}

// see notes the latency of a lane of a coupled set.
func (s *laneSet) see(p *topology.Path) {
	if p.Kind == topology.NET {
		s.between = max(s.between, p.Latency)
	} else {
		s.within = max(s.within, p.Latency)
	}
}

func (s *laneSet) follow(p collective.Plan, n int) sim.Time {
	pace := &p.Choice.Pace
	step := func(l leg) sim.Time {
		if l.net {
			return l.latency + pace.NetStep
		}
		return l.latency + pace.Step
	}
	switch {
	case p.Pattern.Coupled():
		return sim.Time(p.Hops)*(s.within+pace.Step) + sim.Time(p.NetHops)*(s.between+pace.NetStep)
	case p.Pattern != collective.Cycle:
		var longest sim.Time
		for legs := s.legs; len(legs) > 0; legs = legs[n-1:] {
			var sum sim.Time
			for _, l := range legs[:n-1] {
				sum += step(l)
			}
			longest = max(longest, sum)
		}
		return longest
	}
	part := p.Message / sim.Bytes(s.rings)
	if p.Message%sim.Bytes(s.rings) != 0 {
		part++
	}
	// Where thread blocks are slower than the wires, every lane is as slow.
	bounded := pace.Limit > 0 && pace.Limit < s.rate
	rate := s.rate
	if bounded {
		rate = pace.Limit
	}
	slowest := sim.TransferTime(p.Message, rate)
	var best sim.Time
	gain := make([]sim.Time, n)
	for legs := s.legs; len(legs) > 0; legs = legs[n:] {
		for i, l := range legs[:n] {
			gain[i] = step(l)
			if !l.tight && !bounded {
				gain[i] -= max(slowest-sim.TransferTime(part, l.rate), 0)
			}
			best = max(best, step(l))
		}
		best = max(best, longestRun(gain, p.Steps))
	}
	return best
}

// longestRun returns the greatest sum of steps consecutive values of a cycle.
func longestRun(v []sim.Time, steps int) sim.Time {
	n := len(v)
	var sum sim.Time
	for _, x := range v {
		sum += x
	}
	rest := steps % n
	var run sim.Time
	for i := range rest {
		run += v[i]
	}
	best := run
	for i := range n - 1 {
		run += v[(i+rest)%n] - v[i]
		best = max(best, run)
	}
	return sim.Time(steps/n)*sum + best
}
