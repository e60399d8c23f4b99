package chakra

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// pattern writes what a rank does in a group: how many collectives of which
// kind and size.
func (r *rank) pattern(ops []int32) string {
	type kind struct {
		coll  workloads.Coll
		bytes sim.Bytes
	}
	count := map[kind]int{}
	for _, o := range ops {
		count[kind{r.ops[o].Coll, r.ops[o].Bytes}]++
	}
	parts := make([]string, 0, len(count))
	for k, n := range count {
		parts = append(parts, fmt.Sprintf("%s %d x%d", k.coll, k.bytes, n))
	}
	sort.Strings(parts)
	return strings.Join(parts, ",")
}

// fold makes communicators of the used groups.
func (im *importer) fold(use func(int32) (key string, first int, used bool)) ([]workloads.Comm, []int32) {
	var order []int32
	for g := range im.groups {
		if _, _, used := use(int32(g)); used {
			order = append(order, int32(g))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		_, x, _ := use(a)
		_, y, _ := use(b)
		return cmp.Or(cmp.Compare(x, y), compareNames(im.groups[a].ID, im.groups[b].ID))
	})
	type family struct {
		taken  map[int32]bool
		groups []int32
	}
	var families []*family
	byKey := map[string][]*family{}
	for _, g := range order {
		key, _, _ := use(g)
		ranks := im.groups[g].Ranks
		free := func(f *family) bool {
			return !slices.ContainsFunc(ranks, func(r int32) bool { return f.taken[r] })
		}
		at := slices.IndexFunc(byKey[key], free)
		if at < 0 {
			f := &family{taken: map[int32]bool{}}
			families = append(families, f)
			at = len(byKey[key])
			byKey[key] = append(byKey[key], f)
		}
		f := byKey[key][at]
		f.groups = append(f.groups, g)
		for _, r := range ranks {
			f.taken[r] = true
		}
	}
	comms := make([]workloads.Comm, len(families))
	of := make([]int32, len(im.groups))
	for i, f := range families {
		slices.SortStableFunc(f.groups, func(a, b int32) int {
			return cmp.Or(compareNames(im.groups[a].ID, im.groups[b].ID), slices.Compare(im.groups[a].Ranks, im.groups[b].Ranks))
		})
		c := workloads.Comm{Name: im.familyName(f.groups), Dim: im.dim(f.groups[0])}
		for _, g := range f.groups {
			c.Groups = append(c.Groups, im.groups[g].Ranks)
			of[g] = int32(i)
		}
		comms[i] = c
	}
	return comms, of
}

// familyName names a communicator by its groups: "pg 5", "pg 5-8", or by what
// PyTorch calls them.
func (im *importer) familyName(groups []int32) string {
	g := im.groups[groups[0]]
	if g.Desc != "" {
		return strings.ToLower(g.Desc)
	}
	if g.ID == "" {
		return g.name
	}
	ids := []string{}
	for _, i := range groups {
		if id := im.groups[i].ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) > 4 {
		return fmt.Sprintf("pg %s,%s,...,%s", ids[0], ids[1], ids[len(ids)-1])
	}
	return "pg " + strings.Join(ids, ",")
}

// program folds ranks of equal work into classes.
func (im *importer) program() *workloads.Program {
	p := &workloads.Program{Name: im.set.Name, World: im.world}
	comms, commOf := im.families()
	p.Comms = comms
	type class struct {
		r     *rank
		comm  []int32 // communicator of each use in r.colls
		ranks []*rank
	}
	var classes []*class
	byHash := map[uint64][]*class{}
	seed := maphash.MakeSeed() // only buckets; the result does not depend on it
	hashes := map[*rank]uint64{}
	for _, r := range im.ranks {
		src := r
		if r.of != nil {
			src = r.of
		}
		if _, ok := hashes[src]; !ok {
			hashes[src] = src.hash(seed)
		}
		comm := make([]int32, len(r.colls))
		for i, c := range r.colls {
			comm[i] = commOf[c.group]
		}
		same := func(c *class) bool {
			return slices.Equal(c.comm, comm) && (c.r.of == src || c.r == src || (c.r.of != nil && c.r.of == r.of) || c.r.equal(src))
		}
		list := byHash[hashes[src]]
		at := slices.IndexFunc(list, same)
		if at < 0 {
			c := &class{r: src, comm: comm}
			classes = append(classes, c)
			at = len(list)
			byHash[hashes[src]] = append(list, c)
		}
		c := byHash[hashes[src]][at]
		c.ranks = append(c.ranks, r)
	}
	maps := map[string]int32{}
	shared := map[*rank]bool{}
	for _, c := range classes {
		ops := c.r.ops
		if shared[c.r] { // another class of the same trace, in other families
			ops = slices.Clone(ops)
		}
		shared[c.r] = true
		for i, use := range c.r.colls {
			for _, o := range use.ops {
				ops[o].Comm = c.comm[i]
			}
		}
		ranks := make([]int32, len(c.ranks))
		for i, r := range c.ranks {
			ranks[i] = r.rank
		}
		if len(c.ranks) > 1 && c.r.p2p > 0 {
			im.peers(p, ops, c.ranks, maps)
		}
		p.Classes = append(p.Classes, workloads.Class{Name: ranksOf(ranks), Ranks: ranks, Streams: c.r.streams, Ops: ops})
	}
	return p
}

// peers writes the peers of the sends and receives of a class: one number
// where all its ranks have the same, else a map. None of them is a copy.
func (im *importer) peers(p *workloads.Program, ops []workloads.Op, ranks []*rank, maps map[string]int32) {
	m := make([]int32, im.world)
	key := make([]byte, 0, 4*im.world)
	for i := range ops {
		if k := ops[i].Kind; k != workloads.Send && k != workloads.Recv {
			continue
		}
		for r := range m {
			m[r] = -1
		}
		equal := true
		for _, r := range ranks {
			m[r.rank] = r.ops[i].Peer
			equal = equal && r.ops[i].Peer == ops[i].Peer
		}
		if equal {
			continue
		}
		key = key[:0]
		for _, x := range m {
			key = binary.LittleEndian.AppendUint32(key, uint32(x))
		}
		at, ok := maps[string(key)]
		if !ok {
			p.PeerMaps = append(p.PeerMaps, slices.Clone(m))
			at = int32(len(p.PeerMaps))
			maps[string(key)] = at
		}
		ops[i].PeerMap = at
	}
	// The first rank's peers were needed until here.
	for i := range ops {
		if ops[i].PeerMap > 0 {
			ops[i].Peer = 0
		}
	}
}

// hash summarises the work of a rank, but for its groups and peers.
func (r *rank) hash(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var b []byte
	for i := range r.ops {
		o := &r.ops[i]
		b = append(b[:0], byte(o.Kind), byte(o.Coll), byte(o.Stream), byte(len(o.Deps)))
		b = binary.LittleEndian.AppendUint64(b, uint64(o.Bytes))
		b = binary.LittleEndian.AppendUint64(b, uint64(o.Duration))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(o.FLOPs))
		b = binary.LittleEndian.AppendUint64(b, uint64(o.MemBytes))
		b = binary.LittleEndian.AppendUint32(b, uint32(o.Tag))
		for _, d := range o.Deps {
			b = binary.LittleEndian.AppendUint32(b, uint32(d))
		}
		h.Write(b)
		h.WriteString(o.Name)
	}
	return h.Sum64()
}

// equal reports whether two ranks do the same, but for groups and peers; that
// their groups are of the same families is compared apart.
func (r *rank) equal(q *rank) bool {
	return slices.Equal(r.streams, q.streams) &&
		slices.EqualFunc(r.colls, q.colls, func(a, b coll) bool { return slices.Equal(a.ops, b.ops) }) &&
		slices.EqualFunc(r.ops, q.ops, func(a, b workloads.Op) bool {
			return a.Name == b.Name && a.Kind == b.Kind && a.Stream == b.Stream && slices.Equal(a.Deps, b.Deps) &&
				a.Duration == b.Duration && a.FLOPs == b.FLOPs && a.MemBytes == b.MemBytes && a.Coll == b.Coll &&
				a.Root == b.Root && a.Bytes == b.Bytes && a.Tag == b.Tag
		})
}
