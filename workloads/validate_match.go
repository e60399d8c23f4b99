package workloads

import (
	"fmt"
	"slices"

	"github.com/weft-sim/weft/sim"
)

// sig is what members of a group must agree on.
type sig struct {
	coll  Coll
	bytes sim.Bytes
	root  int32
}

// rooted reports whether a collective has a root.
func (c Coll) rooted() bool {
	return c == Broadcast || c == Reduce || c == Gather || c == Scatter
}

// signature returns the sig of a collective. The sizes of an alltoallv are in
// its splits and each member's own.
func signature(o *Op) sig {
	s := sig{coll: o.Coll, bytes: o.Bytes}
	if o.Coll.rooted() {
		s.root = o.Root
	}
	if o.Coll == AllToAllV {
		s.bytes = 0
	}
	return s
}

func (s sig) String() string {
	if s.coll.rooted() {
		return fmt.Sprintf("%s of %d bytes from position %d", s.coll, s.bytes, s.root)
	}
	return fmt.Sprintf("%s of %d bytes", s.coll, s.bytes)
}

// collectives compares the members of each group.
func (c *checker) collectives() {
	groupOf := make([]int32, c.p.World)     // of a rank in this communicator, -1
	useOf := make([]*use, len(c.p.Classes)) // of a class on this communicator
	for i := range c.p.Comms {
		cm := &c.p.Comms[i]
		if len(c.uses[i]) == 0 {
			continue
		}
		for r := range groupOf {
			groupOf[r] = -1
		}
		for g, ranks := range cm.Groups {
			for _, r := range ranks {
				groupOf[r] = int32(g)
			}
		}
		clear(useOf)
		for u := range c.uses[i] {
			us := &c.uses[i][u]
			useOf[us.class] = us
			c.members(cm, us, groupOf)
		}
		for _, ranks := range cm.Groups {
			c.group(cm, ranks, useOf)
		}
	}
}

// members checks that the ranks of a class are in the communicator, and the
// roots and splits against the sizes of their groups.
func (c *checker) members(cm *Comm, u *use, groupOf []int32) {
	cl := &c.p.Classes[u.class]
	least := -1
	for _, r := range cl.Ranks {
		g := groupOf[r]
		if g < 0 {
			c.problem("class %q: op %d (%.60q) is a collective of communicator %q, which rank %d is not in", cl.Name, u.ops[0], cl.Ops[u.ops[0]].Name, cm.Name, r)
			return
		}
		n := len(cm.Groups[g])
		if u.splits >= 0 && u.splits != n {
			c.problem("class %q: alltoallv with %d splits on communicator %q; expected %d, the members of rank %d's group", cl.Name, u.splits, cm.Name, n, r)
			return
		}
		if least < 0 || n < least {
			least = n
		}
	}
	for _, j := range u.ops {
		if o := &cl.Ops[j]; o.Coll.rooted() && int(o.Root) >= least {
			c.problem("class %q: op %d (%.60q): root %d; expected 0 to %d, a position in the group", cl.Name, j, o.Name, o.Root, least-1)
		}
	}
}

// group compares what the members of one group do.
func (c *checker) group(cm *Comm, ranks []int32, useOf []*use) {
	of := func(r int32) *use { return useOf[c.classOf[r]] }
	first := of(ranks[0])
	equal := true
	for _, r := range ranks[1:] {
		u := of(r)
		equal = equal && (u == first || (u != nil && first != nil && u.digest == first.digest && len(u.ops) == len(first.ops)))
	}
	if equal {
		return
	}
	// The member that does most is the measure of the others.
	most, count := ranks[0], -1
	ops := func(r int32) []int32 {
		if u := of(r); u != nil {
			return u.ops
		}
		return nil
	}
	for _, r := range ranks {
		if n := len(ops(r)); n > count {
			most, count = r, n
		}
	}
	a := &c.p.Classes[c.classOf[most]]
	short := -1 // the first collective that a member misses
	for _, r := range ranks {
		b := &c.p.Classes[c.classOf[r]]
		mine := ops(r)
		for k, j := range mine {
			x, y := signature(&a.Ops[ops(most)[k]]), signature(&b.Ops[j])
			if x != y {
				c.problem("communicator %q: collective %d of rank %d, op %d (%.60q), is %s; expected %s, as on rank %d, op %d (%.60q)",
					cm.Name, k+1, r, j, b.Ops[j].Name, y, x, most, ops(most)[k], a.Ops[ops(most)[k]].Name)
				break
			}
		}
		if len(mine) < count && (short < 0 || len(mine) < short) {
			short = len(mine)
		}
	}
	if short < 0 {
		return
	}
	c.wait(func() Wait {
		o := &a.Ops[ops(most)[short]]
		w := Wait{Op: o.Name}
		for _, r := range ranks {
			if len(ops(r)) > short {
				w.Ranks = append(w.Ranks, r)
			} else {
				w.For = append(w.For, r)
			}
		}
		w.What = fmt.Sprintf("%s in collective %d of communicator %q, %s (%.60q), for %s, which joins %d of %d",
			waits(w.Ranks), short+1, cm.Name, signature(o), o.Name, some(w.For), short, count)
		return w
	})
}

// some writes ranks: "rank 3", "ranks 3, 4, ... (9)".
func some(ranks []int32) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	s := "ranks "
	for i, r := range ranks {
		if i == 6 {
			return s + fmt.Sprintf(", ... (%d)", len(ranks))
		}
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprint(r)
	}
	return s
}

func waits(ranks []int32) string {
	if len(ranks) == 1 {
		return some(ranks) + " waits"
	}
	return some(ranks) + " wait"
}

// slot1 is what tells the sends and receives of a class apart.
type slot1 struct {
	kind    OpKind
	peerMap int32
	peer    int32
	tag     int32
}

// slot is the sends, or receives, of a class to one peer with one tag.
type slot struct {
	slot1
	ops []int32
}

// end is one side of messages.
type end struct {
	class int32
	ops   []int32
}

// route is a queue of messages.
type route struct{ from, to, tag int32 }

// messages matches sends with receives.
func (c *checker) messages() {
	var routes []route // in order of the program
	sends, recvs := map[route]end{}, map[route]end{}
	for i := range c.p.Classes {
		cl := &c.p.Classes[i]
		for _, r := range cl.Ranks {
			for _, s := range c.slots[i] {
				k := route{r, c.p.Peer(&cl.Ops[s.ops[0]], r), s.tag}
				side := sends
				if s.kind == Recv {
					k.from, k.to = k.to, k.from
					side = recvs
				}
				e, again := side[k]
				if again { // two maps that give this rank the same peer
					ops := append(slices.Clone(e.ops), s.ops...)
					slices.Sort(ops)
					side[k] = end{int32(i), ops}
					continue
				}
				if _, known := sends[k]; !known {
					if _, known = recvs[k]; !known {
						routes = append(routes, k)
					}
				}
				side[k] = end{int32(i), s.ops}
			}
		}
	}
	good := map[[2]*int32]bool{} // pairs of operation lists that match
	for _, k := range routes {
		c.route(k, sends[k], recvs[k], good)
	}
}

// route matches one queue.
func (c *checker) route(k route, s, r end, good map[[2]*int32]bool) {
	if len(s.ops) == len(r.ops) && good[[2]*int32{&s.ops[0], &r.ops[0]}] {
		return
	}
	op := func(e end, i int) *Op { return &c.p.Classes[e.class].Ops[e.ops[i]] }
	both := min(len(s.ops), len(r.ops))
	for i := range both {
		if a, b := op(s, i), op(r, i); a.Bytes != b.Bytes {
			c.problem("message %d from rank %d to rank %d with tag %d: %d bytes sent by op %d (%.60q), %d expected by op %d (%.60q)",
				i+1, k.from, k.to, k.tag, a.Bytes, s.ops[i], a.Name, b.Bytes, r.ops[i], b.Name)
			return
		}
	}
	switch {
	case len(s.ops) > both:
		c.wait(func() Wait {
			o := op(s, both)
			return Wait{Ranks: []int32{k.from}, For: []int32{k.to}, Op: o.Name,
				What: fmt.Sprintf("rank %d waits in send %d with tag %d, op %d (%.60q), for rank %d, which receives %d of %d",
					k.from, both+1, k.tag, s.ops[both], o.Name, k.to, both, len(s.ops))}
		})
	case len(r.ops) > both:
		c.wait(func() Wait {
			o := op(r, both)
			return Wait{Ranks: []int32{k.to}, For: []int32{k.from}, Op: o.Name,
				What: fmt.Sprintf("rank %d waits in receive %d with tag %d, op %d (%.60q), for rank %d, which sends %d of %d",
					k.to, both+1, k.tag, r.ops[both], o.Name, k.from, both, len(r.ops))}
		})
	default:
		good[[2]*int32{&s.ops[0], &r.ops[0]}] = true
	}
}
