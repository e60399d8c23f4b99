package nccl

import "math"

// Steps that the search allows itself.
//
// Source: NVIDIA/nccl, src/graph/search.cc, 2.19 to 2.30.7.
const (
	stepsInAll = 1 << 19
	stepsOnce  = 1 << 14
	stepsSame  = 1 << 8
)

// seek finds the channels of a pattern on a view: between least and limit of
// them. Those of in-network reduction (reduce) there may be none of.
//
// Source: NVIDIA/nccl 2.30.7, src/graph/search.cc, ncclTopoCompute, written
// down anew.
func (w *view) seek(pattern Pattern, least, limit int, reduce bool) layout {
	s := seeker{view: w, tried: map[trial]int{}}
	best := &s.best
	*best = layout{pattern: pattern, kindIntra: LOC, kindInter: PIX, same: pattern != NVLSPattern, least: least, limit: limit}
	if pattern == NVLSPattern {
		if len(w.kinds[spotNVS]) == 0 || w.p.SM < 90 || len(w.gpus) == 1 {
			return *best
		}
		best.limit = min(32, len(w.gpus)) // heads that the kernels hold
		if !w.inter {
			best.least = best.limit
		}
	}
	if pattern == DirectPattern {
		best.limit = min(mostDirect, len(w.gpus))
	}
	if len(w.gpus) == 1 && pattern != RingPattern {
		best.pattern = PlainTree
	}
	if pattern == RingPattern && w.split() && best.limit >= 2 && best.least == 1 {
		best.least = 2
	}
	s.bounds()
	for _, r := range speeds(w.v, w.p.SM, w.inter) {
		s.rates = append(s.rates, int32(math.Round(r*1000)))
	}
	s.walk = newWalk(w, best)
	s.first()
	s.double()
	s.second()
	if !reduce {
		s.plain()
	}
	return *best
}

// seeker looks for the channels of one pattern.
type seeker struct {
	*view
	best       layout
	walk       *walk
	rates      []int32
	cross      int
	leastIntra PathType
	mostIntra  PathType
	leastInter PathType
	mostInter  PathType
	intraKinds pathTypes // between GPUs, and NVSwitches
	interKinds pathTypes // between GPUs and ports, both ways
	tried      map[trial]int
}

// bounds are the path types to begin with and to go to.
func (s *seeker) bounds() {
	b := &s.best
	if len(s.nets) > 1 && (b.pattern == RingPattern || b.pattern == BalancedTree || b.pattern == SplitTree) {
		s.cross = 2
		if s.env.CrossNIC != nil {
			s.cross = *s.env.CrossNIC
		}
	}
	if s.cross == 1 {
		b.cross = 1
	}
	s.leastIntra, s.mostIntra, s.leastInter, s.mostInter = LOC, SYS, PIX, SYS
	if len(s.gpus) > 1 {
		s.leastIntra, s.mostIntra = SYS, LOC
		for a := range s.gpus {
			for p := range s.gpus {
				if a != p {
					kind := s.gpuWay(a, p).kind
					s.leastIntra, s.mostIntra = min(s.leastIntra, kind), max(s.mostIntra, kind)
				}
			}
		}
	}
	if len(s.nets) > 0 && s.inter {
		s.leastInter, s.mostInter = SYS, LOC
		for g := range s.gpus {
			for n := range s.nets {
				kind := s.outWay(g, n).kind
				s.leastInter, s.mostInter = min(s.leastInter, kind), max(s.mostInter, kind)
			}
		}
		s.mostIntra = s.mostInter
	}
	if s.p.SM < 90 {
		s.mostInter = SYS // a balanced tree may have to turn round there
	}
	b.kindIntra, b.kindInter = s.leastIntra, s.leastInter
	mark := func(t *pathTypes, from spotKind, to spotKind) {
		for _, at := range s.kinds[from] {
			for i := range s.kinds[to] {
				*t |= 1 << s.to(at, to, i).kind
			}
		}
	}
	mark(&s.intraKinds, spotGPU, spotGPU)
	mark(&s.intraKinds, spotGPU, spotNVS)
	mark(&s.intraKinds, spotNVS, spotGPU)
	mark(&s.interKinds, spotGPU, spotNet)
	mark(&s.interKinds, spotNet, spotGPU)
}

// split reports two groups of GPUs with NVLink inside and none between.
func (w *view) split() bool {
	group := make([]int, len(w.gpus))
	for g := range group {
		group[g] = g
	}
	for g := range group {
		for p := g + 1; p < len(group); p++ {
			if w.gpuWay(g, p).kind == NVL {
				group[p] = group[g]
			}
		}
	}
	sizes := make([]int, len(group))
	groups := 0
	for _, g := range group {
		if sizes[g]++; sizes[g] == 2 {
			groups++
		}
	}
	return groups == 2
}

// attempt lays channels once. One that differs from an earlier one only in
// leave for ways of a type that there is none of lays the same channels, finds
// nothing better and is left with the same steps.
func (s *seeker) attempt(now layout) int {
	steps := stepsOnce
	if now.same {
		steps = stepsSame
	}
	a := trial{
		pattern: now.pattern, cross: now.cross, intra: now.intra, inter: now.inter, same: now.same, least: now.least, limit: now.limit,
		kindIntra: s.intraKinds.atMost(now.kindIntra), kindInter: s.interKinds.atMost(now.kindInter),
	}
	if left, ok := s.tried[a]; ok {
		return left
	}
	left := s.walk.try(now, steps)
	if left != perfect {
		s.tried[a] = left
	}
	return left
}

// trial is what the course of an attempt depends on.
type trial struct {
	pattern              Pattern
	cross                int
	intra, inter         int32
	same                 bool
	least, limit         int
	kindIntra, kindInter PathType
}

// pathTypes are the types of ways that there are, as bits.
type pathTypes uint16

// atMost is the worst of them that is no worse than a type, or the best type.
func (t pathTypes) atMost(kind PathType) PathType {
	for ; kind > LOC && t>>kind&1 == 0; kind-- {
	}
	return kind
}

// first tries rates from the highest down, each with more and more leave.
func (s *seeker) first() {
	b := &s.best
	now := *b
	total := float64(s.total)
	if n := float64(len(s.gpus)); n > 1 && b.pattern != RingPattern {
		total *= n / (n - 1)
	}
	i := 0
	for i < len(s.rates)-1 && (s.rates[i] > s.most || float64(s.rates[i])*float64(b.least) > total) {
		i++
	}
	now.intra, now.inter = s.rates[i], s.rates[i]
	always := b.same
	budget := stepsInAll
	for {
		if now.same {
			budget -= stepsSame
		} else {
			budget -= stepsOnce
		}
		left := s.attempt(now)
		if left == perfect || b.channels*int(b.inter) >= int(s.total) {
			return
		}
		if now.same && !(s.p.CPU == AMD && now.kindIntra == SYS) {
			now.same = false
			continue
		}
		now.same = always
		budget += left
		if budget < 0 && b.channels > 0 {
			return
		}
		if s.p.SM >= 90 && now.pattern == BalancedTree {
			now.pattern = PlainTree
			continue
		}
		now.pattern = b.pattern
		most := s.mostIntra
		if s.inter {
			most = now.kindInter
		}
		if now.kindIntra < most && (b.channels == 0 || now.kindIntra < b.kindIntra) {
			if now.kindIntra++; now.kindIntra < DIS {
				continue
			}
		}
		now.kindIntra = s.leastIntra
		if s.inter && now.kindInter < s.mostInter && (b.channels == 0 || now.kindInter < b.kindInter || now.kindInter < PXN) {
			if now.kindInter++; now.kindInter < DIS {
				continue
			}
		}
		now.kindInter = s.leastInter
		if s.cross == 2 && now.cross == 0 && (b.pattern == RingPattern || b.pattern == BalancedTree) {
			now.cross = 2
			continue
		}
		now.cross = 0
		if s.cross == 1 {
			now.cross = 1
		}
		if i < len(s.rates)-1 && (b.channels == 0 || float64(s.rates[i+1]) > 0.49*float64(b.inter)) {
			i++
			now.intra, now.inter = s.rates[i], s.rates[i]
			continue
		}
		return
	}
}

// double cuts fast channels in two, since one is one thread block.
func (s *seeker) double() {
	b := &s.best
	if b.channels == 0 || b.pattern == NVLSPattern || b.intra < 25_000 || s.p.SM > 80 && b.intra < 50_000 && b.channels > 4 {
		return
	}
	n := min(2*b.channels, b.limit)
	for c := b.channels; c < n; c++ {
		b.order = append(b.order, append([]int32(nil), b.order[c-b.channels]...))
		b.nets = append(b.nets, b.nets[c-b.channels])
	}
	parts := int32((n + b.channels - 1) / b.channels)
	b.intra, b.inter, b.channels = b.intra/parts, b.inter/parts, n
}

// second raises the rate of as many channels: of a ring both, of a tree the one
// within the node, of NVLS the one between nodes.
func (s *seeker) second() {
	b := &s.best
	i := 0
	for i < len(s.rates)-1 && s.rates[i] > b.inter {
		i++
	}
	now := *b
	now.intra, now.inter = s.rates[i], s.rates[i]
	now.least = b.channels
	for left := perfect; left != 0 && i > 0; {
		switch {
		case b.pattern == RingPattern:
			i--
			now.intra, now.inter = s.rates[i], s.rates[i]
		case b.pattern == NVLSPattern && now.inter == b.inter && now.inter < 2*now.intra:
			now.least, now.limit = b.channels, b.channels
			i--
			now.inter = s.rates[i]
		case now.intra == b.intra && now.intra < 2*now.inter:
			i--
			now.intra = s.rates[i]
		default:
			return
		}
		left = s.attempt(now)
	}
}

// plain is what is left where nothing fits: one slow channel in turn.
func (s *seeker) plain() {
	b := &s.best
	if b.channels > 0 || b.pattern == NVLSPattern {
		return
	}
	order := make([]int32, len(s.gpus))
	for g := range order {
		order[g] = int32(g)
	}
	b.channels, b.intra, b.kindIntra = 1, 100, SYS
	b.order = [][]int32{order}
	b.inter, b.kindInter, b.nets = 0, DIS, [][2]int32{{-1, -1}}
	if s.inter && len(s.nets) > 0 {
		b.inter, b.kindInter = 100, SYS
		b.nets[0] = [2]int32{int32(s.ownNets(0)[0]), int32(s.ownNets(len(s.gpus) - 1)[0])}
	}
}
