package replay

// number turns colours into class numbers, in the order of the first member.
func (c *classes) number(j *job) {
	n := numberer{identity: c.identity}
	c.rank = make([]int32, len(c.rankCol))
	for r := range c.rank {
		k, fresh := n.of(c.rankCol[r])
		c.rank[r] = k
		if fresh {
			c.rankRep, c.rankSize = append(c.rankRep, int32(r)), append(c.rankSize, 0)
		}
		c.rankSize[k]++
	}
	c.group = make([][]int32, len(j.prog.Comms))
	n.reset()
	for i := range c.group {
		groups := len(j.prog.Comms[i].Groups)
		c.group[i] = make([]int32, groups)
		for g := range groups {
			var col uint64
			if !c.identity {
				col = c.groupCol[i][g]
			}
			k, fresh := n.of(col)
			c.group[i][g] = k
			if fresh {
				c.groupRep = append(c.groupRep, groupID{int32(i), int32(g)})
				c.groupSize = append(c.groupSize, 0)
			}
			c.groupSize[k]++
		}
	}
	n.reset()
	c.res = make([]int32, len(c.resCol))
	for r := range c.res {
		k, fresh := n.of(c.resCol[r])
		c.res[r] = k
		if fresh {
			c.resRep, c.resSize = append(c.resRep, int32(r)), append(c.resSize, 0)
		}
		c.resSize[k]++
	}
	c.mixAll()
}

// numberer hands out class numbers by colour, or a new one each time.
type numberer struct {
	identity bool
	next     int32
	known    map[uint64]int32
	last     uint64
	lastNum  int32
}

func (n *numberer) reset() { n.next, n.lastNum = 0, 0; clear(n.known) }

func (n *numberer) of(col uint64) (k int32, fresh bool) {
	if n.identity {
		n.next++
		return n.next - 1, true
	}
	if n.next > 0 && col == n.last {
		return n.lastNum, false
	}
	if n.known == nil {
		n.known = map[uint64]int32{}
	}
	k, ok := n.known[col]
	if !ok {
		k = n.next
		n.known[col] = k
		n.next++
	}
	n.last, n.lastNum = col, k
	return k, !ok
}
