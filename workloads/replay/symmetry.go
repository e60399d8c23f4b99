package replay

import (
	"math"
	"slices"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads/collective"
)

// classes says which ranks, groups and resources behave alike, so that one of
// each kind can stand for all.
//
// The partition is found by colour refinement. Everything starts with the
// colour of what is plain about it: a rank with its work, a resource with its
// capacity, a group with its size. Then each takes the colours of what it
// touches into its own: a rank those of its groups and peers, a group those of
// its ranks and of the wires of its lanes, a wire those of the lanes on it,
// each as a multiset. When a round splits no colour, equal colours see equal
// surroundings, in equal numbers. The state of a member then obeys the same
// equations as that of any other of its class, from the same start: they stay
// equal at all times, and one representative with the class's counts as
// weights is the whole class.
//
// Colours are 64-bit hashes, so that two different surroundings are taken for
// equal with a chance of about n^2/2^65 for n things: under 1e-8 for a million.
type classes struct {
	identity bool // nothing was looked for: each is a class of its own

	rankCol  []uint64
	groupCol [][]uint64
	resCol   []uint64

	rank     []int32 // rank -> class
	rankRep  []int32 // class -> first rank
	rankSize []int32

	group     [][]int32 // comm, group -> class
	groupRep  []groupID
	groupSize []int32

	res     []int32 // resource -> class
	resRep  []int32
	resSize []int32

	// Scratch of a round: mixed colours.
	resMix, fromMix, toMix []uint64
}

type groupID struct{ comm, group int32 }

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func mix2(a, b uint64) uint64 { return mix(mix(a) ^ b) }

// refine returns the classes of the job, or the identity if collapse is off
// or would not be exact.
func (j *job) refine() (*classes, error) {
	c := &classes{identity: j.opt.Collapse == Off || j.meetsItself() || slices.ContainsFunc(j.patterns, func(pt pattern) bool { return pt.staged() })}
	if err := c.start(j); err != nil {
		return nil, err
	}
	if !c.identity {
		for known := c.count(); ; {
			if err := c.round(j); err != nil {
				return nil, err
			}
			n := c.count()
			if n == known {
				break
			}
			known = n
		}
	}
	c.number(j)
	return c, nil
}

// start gives the first colours.
func (c *classes) start(j *job) error {
	g := j.mach.Graph
	c.resCol = make([]uint64, g.Resources())
	c.rankCol = make([]uint64, j.prog.World)
	c.groupCol = make([][]uint64, len(j.prog.Comms))
	if c.identity {
		return nil
	}
	for r := range c.resCol {
		c.resCol[r] = mix(uint64(g.Capacity(topology.ResourceID(r))))
	}
	for i := range j.prog.Comms {
		cm := &j.prog.Comms[i]
		c.groupCol[i] = make([]uint64, len(cm.Groups))
		for k := range cm.Groups {
			// The name too: a report tells communicators apart by it.
			c.groupCol[i][k] = mix2(mixText(cm.Name)^uint64(cm.Dim), uint64(len(cm.Groups[k])))
			if j.paces != nil {
				c.groupCol[i][k] += mix(j.paces[groupID{int32(i), int32(k)}])
			}
		}
	}
	for r := range c.rankCol {
		cl := j.classOf[r]
		// The GPU's port too: bounds are computed from it.
		port := j.portOf(int32(r))
		c.rankCol[r] = mix2(j.work[cl].content, mix(math.Float64bits(float64(port.out)))+math.Float64bits(float64(port.in)))
		for _, comm := range j.work[cl].uneven {
			// Parts by position: only equal positions can be alike.
			c.rankCol[r] = mix2(c.rankCol[r], uint64(j.posOf[comm][r]))
		}
	}
	own := make([]float64, g.Resources())
	for k := range j.patterns {
		pt := &j.patterns[k]
		hash := func(g groupID) (uint64, error) { return j.layoutHash(pt, g, own) }
		switch {
		case pt.lanes.Coupled():
			hash = func(g groupID) (uint64, error) { return j.shapeHash(pt, g) }
		case !pt.merged:
			continue
		}
		err := j.eachGroup(pt, func(g groupID) error {
			h, err := hash(g)
			c.groupCol[g.comm][g.group] = mix2(c.groupCol[g.comm][g.group], h)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mixText hashes a name.
func mixText(s string) uint64 {
	h := uint64(len(s))
	for i := range len(s) {
		h = mix2(h, uint64(s[i]))
	}
	return h
}

// mixAll prepares the colours of the round for hashing, so that a lane costs
// one mix. A sum of mixed values, each times an odd number, hashes a multiset.
func (c *classes) mixAll() {
	c.resMix = mixed(c.resMix, c.resCol, 1)
	c.fromMix = mixed(c.fromMix, c.rankCol, 2)
	c.toMix = mixed(c.toMix, c.rankCol, 3)
}

func mixed(dst, src []uint64, salt uint64) []uint64 {
	dst = append(dst[:0], src...)
	for i := range dst {
		dst[i] = mix(dst[i] ^ salt)
	}
	return dst
}

// part makes an odd factor of the share that a hop carries. It must not be
// linear in it: two parts of three, twice, are not one part of four and three
// of two.
func part(h topology.Hop, den int32) uint64 {
	if h.Share == 1 && den == 1 {
		return 1
	}
	return mix(uint64(h.Share)<<32|uint64(uint32(den))) | 1
}

// pathHash hashes what a path crosses, with the colours of the wires.
func (c *classes) pathHash(p *topology.Path) uint64 {
	h := uint64(p.Latency)*0xd6e8feb86659fd93 + uint64(p.Rate)
	for _, hop := range p.Hops {
		h += c.resMix[hop.Resource] * part(hop, p.Den)
	}
	return h
}

// laneColour is the colour of one lane of a pattern whose lanes are flows of
// their own.
func (c *classes) laneColour(pt int, gcol uint64, a, b int32, path uint64) uint64 {
	return mix(gcol ^ uint64(pt) + c.fromMix[a] + c.toMix[b] + path)
}

// contactColour is the colour of the lane from rank r to the peer of one of its
// contacts.
func (c *classes) contactColour(r int32, k *contact, path uint64) uint64 {
	return mix(mix(uint64(k.anchor)^contactSalt) + c.fromMix[r] + c.toMix[k.peer] + path)
}

const contactSalt = 1 << 40 // keeps contacts apart from patterns

// ringPattern keeps the rings of a pattern apart: a lane forwards what came on
// the same ring, so that lanes are alike only if the rings before and after
// them are.
func ringPattern(k, ring int) int { return k | ring<<32 }

// round lets every colour take in its surroundings once.
func (c *classes) round(j *job) error {
	c.mixAll()
	accRank := make([]uint64, len(c.rankCol))
	accRes := make([]uint64, len(c.resCol))
	accGroup := make([][]uint64, len(c.groupCol))
	for i := range accGroup {
		accGroup[i] = make([]uint64, len(c.groupCol[i]))
		for g, ranks := range j.prog.Comms[i].Groups {
			for _, r := range ranks {
				accGroup[i][g] += mix2(c.rankCol[r], uint64(j.slotOf(j.classOf[r], int32(i))))
			}
		}
	}
	for k := range j.patterns {
		pt := &j.patterns[k]
		if err := j.eachGroup(pt, func(g groupID) error {
			gcol := c.groupCol[g.comm][g.group]
			flow := mix2(gcol, uint64(k))
			cycle := pt.lanes == collective.Cycle || pt.orders != nil
			acc := &accGroup[g.comm][g.group]
			if pt.lanes == collective.AllPairs {
				return c.roundPairs(j, k, g, acc, accRank, accRes)
			}
			if pt.merged {
				return j.eachWay(pt.shape, g, func(w way, p *topology.Path) error {
					*acc += mix2(c.pathHash(p)+mix(uint64(w.weight)), uint64(k))
					lane := flow
					if w.weight != 1 {
						lane = mix2(flow, uint64(w.weight))
					}
					for _, h := range p.Hops {
						accRes[h.Resource] += lane * part(h, p.Den)
					}
					return nil
				})
			}
			lanes := len(j.ranksOf(g)) // of a ring
			if pt.lanes != collective.Cycle {
				lanes--
			}
			return j.eachLane(pt.shape, g, func(i int, a, b int32) error {
				p, err := j.wires.path(a, b)
				if err != nil {
					return err
				}
				pt := k
				if cycle {
					pt = ringPattern(k, i/lanes)
				}
				lane := c.laneColour(pt, gcol, a, b, c.pathHash(&p))
				*acc += lane
				accRank[a] += lane * 3
				accRank[b] += lane * 5
				for _, h := range p.Hops {
					accRes[h.Resource] += lane * part(h, p.Den)
				}
				return nil
			})
		}); err != nil {
			return err
		}
	}
	err := j.eachContact(func(r int32, k *contact) error {
		// One term for all that belongs together: which operations, with whom,
		// over which wires there and back. Apart, a rank with NVLink to the
		// right and a NIC to the left would look like its mirror image.
		term := mix2(uint64(k.anchor), j.contacts.matches[k.match].hash) + c.toMix[k.peer]
		if k.sends && k.peer != r {
			p, err := j.wires.path(r, k.peer)
			if err != nil {
				return err
			}
			lane := c.contactColour(r, k, c.pathHash(&p))
			for _, h := range p.Hops {
				accRes[h.Resource] += lane * part(h, p.Den)
			}
			term = mix(term ^ lane)
		}
		if k.recvs && k.peer != r {
			p, err := j.wires.path(k.peer, r)
			if err != nil {
				return err
			}
			term = mix2(term, c.pathHash(&p))
		}
		accRank[r] += mix(term)
		return nil
	})
	if err != nil {
		return err
	}
	for i := range j.prog.Classes {
		slots := j.slots(int32(i))
		cl := &j.prog.Classes[i]
		for _, r := range cl.Ranks {
			for s, comm := range slots {
				accRank[r] += mix2(uint64(s)<<1|1, c.groupCol[comm][j.groupOf[comm][r]])
			}
		}
	}
	for r := range c.rankCol {
		c.rankCol[r] = mix2(c.rankCol[r], accRank[r])
	}
	for r := range c.resCol {
		c.resCol[r] = mix2(c.resCol[r], accRes[r])
	}
	for i := range c.groupCol {
		for g := range c.groupCol[i] {
			c.groupCol[i][g] = mix2(c.groupCol[i][g], accGroup[i][g])
		}
	}
	return nil
}

// roundPairs is the part of a round for the lanes of all pairs of a group. Of
// them there are n^2, so it is written out: a closure and a call for each lane
// cost a third more (44 against 33 ns a lane).
func (c *classes) roundPairs(j *job, k int, g groupID, accGroup *uint64, accRank, accRes []uint64) error {
	ranks := j.ranksOf(g)
	salt := c.groupCol[g.comm][g.group] ^ uint64(k)
	w := &j.wires
	for _, a := range ranks {
		from, sum := salt+c.fromMix[a], uint64(0)
		for _, b := range ranks {
			if a == b {
				continue
			}
			p, err := w.mach.Route(a, b, w.buf[:0])
			if err != nil {
				return err
			}
			if p.Den != 1 || len(p.Held) > 0 || cap(p.Hops) > cap(w.buf) {
				if p, err = w.path(a, b); err != nil {
					return err
				}
			}
			lane := mix(from + c.toMix[b] + c.pathHash(&p)) // laneColour
			sum += lane
			accRank[b] += lane * 5
			for i := range p.Hops {
				accRes[p.Hops[i].Resource] += lane * part(p.Hops[i], p.Den)
			}
		}
		accRank[a] += sum * 3
		*accGroup += sum
	}
	return nil
}

// count returns the number of different colours: of ranks, of resources, and of
// groups, those of all communicators together.
func (c *classes) count() int {
	seen := map[uint64]struct{}{}
	add := func(cols []uint64) {
		for i, col := range cols {
			if i == 0 || col != cols[i-1] {
				seen[col] = struct{}{}
			}
		}
	}
	add(c.rankCol)
	n := len(seen)
	clear(seen)
	add(c.resCol)
	n += len(seen)
	clear(seen)
	for i := range c.groupCol {
		add(c.groupCol[i])
	}
	return n + len(seen)
}
