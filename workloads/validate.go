package workloads

import (
	"fmt"
	"math"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// MaxBytes is the most that one operation may move or touch, 1 PiB: sums of
// amounts within it do not overflow, and no buffer of a GPU is near it.
const MaxBytes sim.Bytes = 1 << 50

// maxProblems is how many problems an error of [Program.Validate] spells out.
const maxProblems = 20

// InvalidError is what [Program.Validate] finds wrong with a program: indices
// out of range, ranks without or with two classes, cycles, members of a group
// that disagree.
type InvalidError struct {
	Program  string
	Problems []string // the first of them, in order of the program
	More     int      // problems not listed
}

func (e *InvalidError) Error() string {
	return listed("validate program "+e.Program, e.Problems, e.More)
}

// UnmatchedError is a program that would wait forever: a send without its
// receive or the reverse, or a collective that a member of the group never
// joins.
type UnmatchedError struct {
	Program string
	Waits   []Wait // the first of them, in order of the program
	More    int    // waits not listed
}

// Wait is ranks that wait for others that never come.
type Wait struct {
	Ranks []int32 // that wait
	For   []int32 // that never come
	Op    string  // what the first of Ranks waits in
	What  string  // the wait in words
}

func (e *UnmatchedError) Error() string {
	words := make([]string, len(e.Waits))
	for i, w := range e.Waits {
		words[i] = w.What
	}
	return listed("validate program "+e.Program+": it would wait forever", words, e.More)
}

// listed writes a head and problems, one a line if there are several.
func listed(head string, problems []string, more int) string {
	if len(problems) == 1 && more == 0 {
		return head + ": " + problems[0]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d problems", head, len(problems)+more)
	for _, p := range problems {
		b.WriteString("\n  " + p)
	}
	if more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

// Validate checks that the program can be replayed: each rank is in one
// class; indices of streams, dependencies, communicators, roots and peers are
// in range; dependencies, with the order of in-order streams, have no cycle;
// no amount is negative or above [MaxBytes]; the k-th collective of a group is the same on all its
// members; the k-th send of (from, to, tag) has a receive of its size. All
// problems are collected. The error is an [*InvalidError], or, when only
// partners are missing, an [*UnmatchedError].
//
// It takes time linear in the program, and in ranks times the different peers
// of each, but for the words about problems.
func (p *Program) Validate() error {
	c := &checker{p: p}
	c.ranks()
	c.comms()
	c.peerMaps()
	for i := range p.Classes {
		c.class(int32(i))
	}
	if c.bad == 0 { // the rest trusts the indices
		c.collectives()
		c.messages()
	}
	if c.bad > 0 {
		return &InvalidError{Program: p.Name, Problems: c.problems, More: c.bad - len(c.problems)}
	}
	if c.unmatched > 0 {
		return &UnmatchedError{Program: p.Name, Waits: c.waits, More: c.unmatched - len(c.waits)}
	}
	return nil
}

// checker is the state of one validation.
type checker struct {
	p         *Program
	classOf   []int32 // of each rank, -1
	problems  []string
	bad       int
	waits     []Wait
	unmatched int
	uses      [][]use  // of each communicator, by class
	slots     [][]slot // of each class
}

// use is the collectives of a class on a communicator.
type use struct {
	class  int32
	ops    []int32
	digest uint64 // of kinds, sizes and roots in order
	splits int    // length of the splits of its alltoallvs, -1 when it has none
}

func (c *checker) problem(format string, args ...any) {
	if c.bad++; len(c.problems) < maxProblems {
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	}
}

func (c *checker) wait(w func() Wait) {
	if c.unmatched++; len(c.waits) < maxProblems {
		c.waits = append(c.waits, w())
	}
}

// ranks checks that the classes cover the ranks once each.
func (c *checker) ranks() {
	p := c.p
	if p.World < 1 {
		c.problem("a world of %d ranks; expected at least 1", p.World)
		return
	}
	c.classOf = make([]int32, p.World)
	for i := range c.classOf {
		c.classOf[i] = -1
	}
	for i := range p.Classes {
		cl := &p.Classes[i]
		if len(cl.Ranks) == 0 {
			c.problem("class %q has no ranks", cl.Name)
		}
		for _, r := range cl.Ranks {
			switch {
			case r < 0 || r >= p.World:
				c.problem("class %q: rank %d; expected 0 to %d", cl.Name, r, p.World-1)
			case c.classOf[r] >= 0:
				c.problem("class %q: rank %d, which is in class %q already", cl.Name, r, p.Classes[c.classOf[r]].Name)
			default:
				c.classOf[r] = int32(i)
			}
		}
	}
	for r, cl := range c.classOf {
		if cl < 0 {
			c.problem("rank %d is in no class", r)
		}
	}
}

// comms checks the communicators' ranks.
func (c *checker) comms() {
	c.uses = make([][]use, len(c.p.Comms))
	stamp := make([]int32, max(c.p.World, 0))
	for i := range c.p.Comms {
		cm := &c.p.Comms[i]
		if cm.Dim > EP {
			c.problem("communicator %q: dimension %d; expected 0 to %d", cm.Name, cm.Dim, EP)
		}
		for g, ranks := range cm.Groups {
			if len(ranks) == 0 {
				c.problem("communicator %q: group %d has no ranks", cm.Name, g)
			}
			for _, r := range ranks {
				switch {
				case r < 0 || r >= c.p.World:
					c.problem("communicator %q: group %d has rank %d; expected 0 to %d", cm.Name, g, r, c.p.World-1)
				case stamp[r] == int32(i)+1:
					c.problem("communicator %q: rank %d twice; its groups must be disjoint", cm.Name, r)
				default:
					stamp[r] = int32(i) + 1
				}
			}
		}
	}
}

func (c *checker) peerMaps() {
	for i, m := range c.p.PeerMaps {
		if len(m) != int(c.p.World) {
			c.problem("peer map %d has %d ranks; expected %d, the world", i+1, len(m), c.p.World)
		}
	}
}

// class checks the operations of a class by themselves and sorts them for the
// matching.
func (c *checker) class(i int32) {
	cl := &c.p.Classes[i]
	for s, st := range cl.Streams {
		if st.Order > Concurrent {
			c.problem("class %q: stream %d (%q) has order %d; expected 0 to %d", cl.Name, s, st.Name, st.Order, Concurrent)
		}
	}
	sorted := true
	before := c.bad
	useOf := map[int32]int{}  // communicator to position in c.uses[communicator]
	slotOf := map[slot1]int{} // send or receive to position in slots
	var slots []slot
	for j := range cl.Ops {
		o := &cl.Ops[j]
		bad := func(format string, args ...any) {
			c.problem("class %q: op %d (%.60q): %s", cl.Name, j, o.Name, fmt.Sprintf(format, args...))
		}
		if o.Stream < 0 || int(o.Stream) >= len(cl.Streams) {
			bad("stream %d; the class has %d", o.Stream, len(cl.Streams))
		}
		for _, d := range o.Deps {
			if d < 0 || int(d) >= len(cl.Ops) {
				bad("depends on op %d; the class has %d", d, len(cl.Ops))
			} else if int(d) >= j {
				sorted = false
			}
		}
		if o.Bytes > MaxBytes || o.MemBytes > MaxBytes {
			bad("%d bytes, %d bytes of memory; expected at most %d (1 PiB) of each", o.Bytes, o.MemBytes, MaxBytes)
		}
		if o.Bytes < 0 || o.MemBytes < 0 || o.FLOPs < 0 || math.IsNaN(o.FLOPs) || math.IsInf(o.FLOPs, 0) {
			bad("%d bytes, %d bytes of memory, %g FLOPs; expected numbers of zero or more", o.Bytes, o.MemBytes, o.FLOPs)
		}
		switch o.Kind {
		case Compute, Copy:
		case Delay:
			if o.Duration < 0 {
				bad("a delay of %s; expected zero or more", o.Duration)
			}
		case Collective:
			if o.Coll > Barrier {
				bad("collective %d; expected 0 to %d", o.Coll, Barrier)
			} else if o.Comm < 0 || int(o.Comm) >= len(c.p.Comms) {
				bad("communicator %d; the program has %d", o.Comm, len(c.p.Comms))
			} else {
				c.collective(i, int32(j), o, useOf, bad)
			}
		case Send, Recv:
			if o.PeerMap < 0 || int(o.PeerMap) > len(c.p.PeerMaps) {
				bad("peer map %d; the program has %d", o.PeerMap, len(c.p.PeerMaps))
				break
			}
			key := slot1{o.Kind, o.PeerMap, o.Peer, o.Tag}
			if key.peerMap > 0 {
				key.peer = 0
			}
			at, ok := slotOf[key]
			if !ok {
				at = len(slots)
				slotOf[key] = at
				slots = append(slots, slot{slot1: key})
				c.peers(cl, o, bad)
			}
			slots[at].ops = append(slots[at].ops, int32(j))
		default:
			bad("kind %d; expected 0 to %d", o.Kind, Delay)
		}
	}
	c.slots = append(c.slots, slots)
	if !sorted && c.bad == before {
		if cycle := cl.cycle(); cycle != nil {
			c.problem("class %q: a cycle of dependencies: %s", cl.Name, cl.words(cycle))
		}
	}
}

// collective adds one to its use.
func (c *checker) collective(class, j int32, o *Op, useOf map[int32]int, bad func(string, ...any)) {
	at, ok := useOf[o.Comm]
	if !ok {
		at = len(c.uses[o.Comm])
		useOf[o.Comm] = at
		c.uses[o.Comm] = append(c.uses[o.Comm], use{class: class, digest: 14695981039346656037, splits: -1})
	}
	u := &c.uses[o.Comm][at]
	u.ops = append(u.ops, j)
	k := signature(o)
	for _, v := range [...]uint64{uint64(k.coll), uint64(k.bytes), uint64(k.root)} {
		u.digest = (u.digest ^ v) * 1099511628211
		u.digest ^= u.digest >> 29
	}
	switch {
	case o.Coll == AllToAllV:
		if u.splits >= 0 && u.splits != len(o.Splits) {
			bad("%d splits, but an earlier alltoallv of the group has %d", len(o.Splits), u.splits)
		}
		u.splits = len(o.Splits)
		for _, s := range o.Splits {
			if s < 0 || s > MaxBytes {
				bad("a split of %d bytes; expected 0 to %d (1 PiB)", s, MaxBytes)
			}
		}
	case len(o.Splits) > 0:
		bad("splits on %s; only alltoallv has them", o.Coll)
	}
	if o.Root < 0 {
		bad("root %d; expected a position in the group", o.Root)
	}
}

// peers checks the peers of one send or receive on all ranks of the class.
func (c *checker) peers(cl *Class, o *Op, bad func(string, ...any)) {
	for _, r := range cl.Ranks {
		if r < 0 || r >= c.p.World || (o.PeerMap > 0 && len(c.p.PeerMaps[o.PeerMap-1]) != int(c.p.World)) {
			continue // reported already
		}
		if peer := c.p.Peer(o, r); peer < 0 || peer >= c.p.World {
			bad("peer %d of rank %d; expected 0 to %d", peer, r, c.p.World-1)
			return
		}
	}
}
