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
		return importError(im.set.Name, what, "one trace a rank", "allow copies (NoReplicate unset), or give a smaller World")
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
	im.warn.add("ranks %s have no trace: they are copies of ranks %s (the world of %d: %s)", spans(missing), spans(from), im.world, im.worldFrom)
	return nil
}

// copyOf makes rank r do what t does, in groups of its own: a group of n ranks
// a stride s apart is taken as one tile of a world tiled by it, so that the
// group of rank r is r/(n*s)*(n*s) + r mod s + 0, s, 2s...
func (im *importer) copyOf(t *rank, r int32) (*rank, error) {
	c := &rank{rank: r, of: t, trace: t.trace, streams: t.streams, ops: t.ops, node: t.node, groupOf: map[int32]int32{}}
	for _, use := range t.colls {
		g := im.groups[use.group]
		own, ok := tile(g.Ranks, r, im.world)
		if !ok {
			return nil, importError(im.set.Name, fmt.Sprintf("rank %d without a trace, and group %s of ranks %s, whose like for rank %d cannot be guessed", r, g.name, spans(g.Ranks), r),
				"groups a constant stride apart that tile the world, or a trace of each rank", "")
		}
		mine := use.group
		if !slices.Equal(own, g.Ranks) {
			mine = im.intern(im.like(g, own))
		}
		c.groupOf[use.group] = mine
		c.colls = append(c.colls, coll{group: mine, ops: use.ops, first: use.first})
	}
	return c, nil
}

// like returns the group of the group file with these ranks, else one named
// after g.
func (im *importer) like(g group, ranks []int32) group {
	for _, o := range im.set.Groups {
		if slices.Equal(o.Ranks, ranks) {
			return im.filled(o)
		}
	}
	return group{Group: Group{ID: g.ID, Ranks: ranks, Desc: g.Desc}, name: g.name}
}

// tile returns the group with the pattern of g that rank r is in.
func tile(g []int32, r, world int32) ([]int32, bool) {
	n := int64(len(g))
	if slices.Contains(g, r) {
		return g, true
	}
	if n == 1 {
		return []int32{r}, true
	}
	s := int64(g[1] - g[0])
	if s <= 0 || int64(world)%(n*s) != 0 {
		return nil, false
	}
	first := int64(g[0])/(n*s)*(n*s) + int64(g[0])%s
	for i, x := range g {
		if int64(x) != first+int64(i)*s {
			return nil, false
		}
	}
	first = int64(r)/(n*s)*(n*s) + int64(r)%s
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(first + int64(i)*s)
	}
	return out, true
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
