package chakra

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// copyMissing makes the ranks that have no file, or refuses.
func (im *importer) copyMissing() error {
	have := len(im.ranks)
	if have == int(im.world) {
		return nil
	}
	var missing []int32
	at := 0
	for r := range im.world {
		if at < have && im.ranks[at].rank == r {
			at++
			continue
		}
		missing = append(missing, r)
	}
	what := fmt.Sprintf("traces of %d of %d ranks (the world: %s); missing: ranks %s", have, im.world, im.worldFrom, spans(missing))
	if im.opt.NoReplicate {
		return importError(im.set.Name, what, "one trace a rank", "give "+im.opt.say("replicate", "true")+", or "+im.opt.say("world", fmt.Sprint(have)))
	}
	for _, r := range im.ranks {
		if r.p2p > 0 {
			return importError(im.set.Name, what, "one trace a rank, because sends and receives name their peers and cannot be copied", "")
		}
	}
	for i, r := range missing {
		c, err := im.copyOf(im.ranks[i%have], r)
		if err != nil {
			return err
		}
		im.ranks = append(im.ranks, c)
		im.copies = append(im.copies, Copy{Rank: r, Of: c.of.rank})
	}
	slices.SortFunc(im.ranks, func(a, b *rank) int { return cmp.Compare(a.rank, b.rank) })
	from := make([]int32, 0, have)
	for _, c := range im.copies {
		if !slices.Contains(from, c.Of) {
			from = append(from, c.Of)
		}
	}
	who, copies := "ranks "+spans(missing)+" have", "they are copies"
	if len(missing) == 1 {
		who, copies = "rank "+spans(missing)+" has", "it is a copy"
	}
	im.warn.add("%s no trace: %s of %s (the world of %d: %s)", who, copies, ranksOf(from), im.world, im.worldFrom)
	return nil
}

// copyOf makes rank r do what t does, in groups of its own.
func (im *importer) copyOf(t *rank, r int32) (*rank, error) {
	c := &rank{rank: r, of: t, trace: t.trace, streams: t.streams, ops: t.ops, node: t.node, colls: make([]coll, len(t.colls))}
	for i, use := range t.colls {
		g, ok := im.shifted(use.group, r)
		if !ok {
			own := im.groups[use.group]
			return nil, importError(im.set.Name, fmt.Sprintf("rank %d without a trace, and group %s of ranks %s, whose like for rank %d cannot be guessed", r, own.name, spans(own.Ranks), r),
				"groups a constant stride apart that tile the world, or a trace of each rank", "")
		}
		c.colls[i] = coll{group: g, ops: use.ops, first: use.first}
	}
	return c, nil
}

// tile is a group as one of those that tile the world: n ranks a stride s
// apart. The tile of rank r begins at r/(n*s)*(n*s) + r mod s.
type tile struct {
	n, s int64
	ok   bool
}

// tiling finds the stride of a group.
func (im *importer) tiling(g []int32) tile {
	t := tile{n: int64(len(g)), s: 1}
	if t.n > 1 {
		t.s = int64(g[1] - g[0])
	}
	if t.s <= 0 || int64(im.world)%(t.n*t.s) != 0 {
		return t
	}
	first := t.first(g[0])
	for i, x := range g {
		if int64(x) != first+int64(i)*t.s {
			return t
		}
	}
	t.ok = true
	return t
}

func (t tile) first(r int32) int64 { return int64(r)/(t.n*t.s)*(t.n*t.s) + int64(r)%t.s }

// shifted returns the group like g that rank r is in. Each is made once.
func (im *importer) shifted(g int32, r int32) (int32, bool) {
	own := im.groups[g]
	if len(own.Ranks) == int(im.world) {
		return g, true
	}
	t, known := im.tiles[g]
	if !known {
		t = im.tiling(own.Ranks)
		im.tiles[g] = t
	}
	var first int64
	switch {
	case own.involved != nil:
		first = int64(corner(im.opt.Dims, own.involved, r))
	case t.ok:
		first = t.first(r)
	default:
		return g, slices.Contains(own.Ranks, r)
	}
	key := [2]int64{int64(g), first}
	if at, ok := im.placed[key]; ok {
		return at, true
	}
	var ranks []int32
	if own.involved != nil {
		ranks = along(im.opt.Dims, own.involved, r)
	} else {
		for i := range t.n {
			ranks = append(ranks, int32(first+i*t.s))
		}
	}
	at := g
	if !slices.Equal(ranks, own.Ranks) {
		at = im.intern(im.like(own, ranks))
	}
	im.placed[key] = at
	return at, true
}

// like returns the group of the group file with these ranks, else one named
// after g.
func (im *importer) like(g group, ranks []int32) group {
	for _, o := range im.set.Groups {
		if slices.Equal(o.Ranks, ranks) {
			return im.filled(o)
		}
	}
	return group{Group: Group{ID: g.ID, Ranks: ranks, Desc: g.Desc}, name: g.name, involved: g.involved}
}

// ranksOf writes "rank 3" or "ranks 0-3".
func ranksOf(ranks []int32) string {
	if len(ranks) == 1 {
		return "rank " + spans(ranks)
	}
	return "ranks " + spans(ranks)
}

// spans writes sorted ranks briefly: "0-3, 7".
func spans(ranks []int32) string {
	var parts []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		if len(parts) == 8 {
			parts = append(parts, fmt.Sprintf("... %d in all", len(ranks)))
			break
		}
		part := strconv.Itoa(int(ranks[i]))
		if j > i {
			part += "-" + strconv.Itoa(int(ranks[j]))
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
