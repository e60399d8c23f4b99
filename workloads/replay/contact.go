package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-sim/weft/workloads"
)

// contact is what a rank exchanges with one peer.
type contact struct {
	peer         int32
	anchor       int32 // the first operation with this peer, by which alike ranks know it
	match        int32 // index in contacts.matches
	sends, recvs bool
}

// contacts holds the sends and receives of a job: the peers of each rank, and
// which operation there each operation here meets.
type contacts struct {
	at      []int32 // rank -> its first contact; one more entry than ranks
	list    []contact
	matches []match
}

// match pairs the operations of a rank with those of its peer.
type match struct {
	pairs []opPair
	hash  uint64
}

type opPair struct{ op, partner int32 }

// of returns the contacts of a rank, by peer.
func (c *contacts) of(r int32) []contact {
	if c.at == nil {
		return nil
	}
	return c.list[c.at[r]:c.at[r+1]]
}

// slot is the operations of a class that name their peer alike.
type slot struct {
	peerMap, peer int32
	ops           []int32
}

// peerSlots lists the slots of a class, by first use.
func peerSlots(cl *workloads.Class) []slot {
	var slots []slot
	at := map[[2]int32]int{}
	for i := range cl.Ops {
		o := &cl.Ops[i]
		if o.Kind != workloads.Send && o.Kind != workloads.Recv {
			continue
		}
		k := [2]int32{o.PeerMap, o.Peer}
		if o.PeerMap > 0 {
			k[1] = 0
		}
		s, ok := at[k]
		if !ok {
			s = len(slots)
			at[k] = s
			slots = append(slots, slot{peerMap: o.PeerMap, peer: o.Peer})
		}
		slots[s].ops = append(slots[s].ops, int32(i))
	}
	return slots
}

// meet builds the contacts. The k-th send of (from, to, tag) meets the k-th
// receive of the same, in program order. Which operations those are depends
// on the two classes and on the slots that lead from each rank to the other,
// so it is worked out once for each such case.
func (j *job) meet() error {
	slots := make([][]slot, len(j.prog.Classes))
	any := false
	for i := range j.prog.Classes {
		slots[i] = peerSlots(&j.prog.Classes[i])
		any = any || len(slots[i]) > 0
	}
	if !any {
		return nil
	}
	c := &j.contacts
	c.at = make([]int32, j.prog.World+1)
	sets := setNames{}
	set := []int32{} // of each contact: the slots that lead to the peer
	type toPeer struct{ peer, slot int32 }
	var way []toPeer
	for r := range j.prog.World {
		c.at[r] = int32(len(c.list))
		way = way[:0]
		for s, sl := range slots[j.classOf[r]] {
			way = append(way, toPeer{j.prog.Peer(&j.prog.Classes[j.classOf[r]].Ops[sl.ops[0]], r), int32(s)})
		}
		slices.SortStableFunc(way, func(a, b toPeer) int { return cmp.Compare(a.peer, b.peer) })
		for i := 0; i < len(way); {
			var members []int32
			k := i
			for ; k < len(way) && way[k].peer == way[i].peer; k++ {
				members = append(members, way[k].slot)
			}
			c.list = append(c.list, contact{peer: way[i].peer})
			set = append(set, sets.of(members))
			i = k
		}
	}
	c.at[j.prog.World] = int32(len(c.list))

	type meeting struct{ class, set, peerClass, peerSet int32 }
	known := map[meeting]contact{}
	for r := range j.prog.World {
		for i := c.at[r]; i < c.at[r+1]; i++ {
			p := c.list[i].peer
			back, ok := slices.BinarySearchFunc(c.of(p), r, func(k contact, r int32) int { return cmp.Compare(k.peer, r) })
			if !ok {
				return fmt.Errorf("match rank %d with rank %d: messages go one way and nothing expects them", r, p)
			}
			m := meeting{j.classOf[r], set[i], j.classOf[p], set[int(c.at[p])+back]}
			found, ok := known[m]
			if !ok {
				var err error
				a := opsOf(slots[m.class], sets.members(m.set))
				b := opsOf(slots[m.peerClass], sets.members(m.peerSet))
				if found, err = j.matchOps(m.class, m.peerClass, a, b); err != nil {
					return fmt.Errorf("match rank %d with rank %d: %w", r, p, err)
				}
				known[m] = found
			}
			found.peer = p
			c.list[i] = found
		}
	}
	return nil
}

// opsOf merges the operations of slots, in program order.
func opsOf(slots []slot, members []int32) []int32 {
	var ops []int32
	for _, s := range members {
		ops = append(ops, slots[s].ops...)
	}
	slices.Sort(ops)
	return ops
}

// matchOps pairs operations a of one class with operations b of the other.
func (j *job) matchOps(classA, classB int32, a, b []int32) (contact, error) {
	k := contact{anchor: a[0], match: int32(len(j.contacts.matches))}
	there := map[opposite][]int32{} // unmatched operations of the peer
	opsB := j.prog.Classes[classB].Ops
	for _, i := range b {
		key := opposite{opsB[i].Kind, opsB[i].Tag}
		there[key] = append(there[key], i)
	}
	var m match
	for _, i := range a {
		o := &j.prog.Classes[classA].Ops[i]
		want := opposite{workloads.Recv, o.Tag}
		if o.Kind == workloads.Recv {
			want.kind = workloads.Send
			k.recvs = true
		} else {
			k.sends = true
		}
		q := there[want]
		if len(q) == 0 {
			return k, fmt.Errorf("operation %q with tag %d meets nothing", o.Name, o.Tag)
		}
		m.pairs = append(m.pairs, opPair{i, q[0]})
		m.hash = mix2(m.hash, uint64(i)<<32|uint64(uint32(q[0])))
		there[want] = q[1:]
	}
	j.contacts.matches = append(j.contacts.matches, m)
	return k, nil
}

type opposite struct {
	kind workloads.OpKind
	tag  int32
}

// setNames numbers sets of slots.
type setNames struct {
	byKey map[string]int32
	sets  [][]int32
}

func (s *setNames) of(members []int32) int32 {
	if s.byKey == nil {
		s.byKey = map[string]int32{}
	}
	key := make([]byte, 0, 4*len(members))
	for _, m := range members {
		key = append(key, byte(m), byte(m>>8), byte(m>>16), byte(m>>24))
	}
	n, ok := s.byKey[string(key)]
	if !ok {
		n = int32(len(s.sets))
		s.byKey[string(key)] = n
		s.sets = append(s.sets, slices.Clone(members))
	}
	return n
}

func (s *setNames) members(n int32) []int32 { return s.sets[n] }
