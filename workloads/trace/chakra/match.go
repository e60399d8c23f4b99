package chakra

import (
	"fmt"

	"github.com/weft-sim/weft/workloads"
)

// match checks that the members of each group agree on its k-th collective,
// for all k that two of them have. A member that has fewer is found by
// [workloads.Program.Validate].
func (im *importer) match() error {
	type use struct {
		r   *rank
		ops []int32
	}
	first := make([]use, len(im.groups))
	for _, r := range im.ranks {
		for _, c := range r.colls {
			f := &first[c.group]
			if f.r == nil {
				*f = use{r, c.ops}
				continue
			}
			if f.r.of == r || r.of == f.r || (r.of != nil && r.of == f.r.of) {
				continue // one is a copy of the other
			}
			for k := range min(len(f.ops), len(c.ops)) {
				a, b := &f.r.ops[f.ops[k]], &r.ops[c.ops[k]]
				if a.Coll == b.Coll && a.Bytes == b.Bytes {
					continue
				}
				na, nb := f.r.at(f.ops[k]), r.at(c.ops[k])
				e := importError(r.trace.File, fmt.Sprintf("%s of %d bytes as collective %d of group %s on rank %d", b.Coll, nb.CommSize, k+1, im.groups[c.group].name, r.rank),
					fmt.Sprintf("%s of %d bytes, as on rank %d, node %s of %s", a.Coll, na.CommSize, f.r.rank, na.label(), f.r.trace.File),
					"members of a group must issue its collectives in one order")
				e.Node, e.Record, e.Offset = nb.label(), nb.Record, nb.Offset
				return e
			}
		}
	}
	return nil
}

// at returns the node of an operation.
func (r *rank) at(op int32) *Node { return &r.trace.Nodes[r.node[op]] }

// families folds groups of equal size and equal work that are disjoint into
// communicators. Groups that are used earlier by their members, then of lower
// index, come first; each goes to the first family in which its ranks are
// free. It returns the communicators and that of each group.
func (im *importer) families() ([]workloads.Comm, []int32) {
	type seen struct {
		key   string
		first int
		used  bool
	}
	uses := make([]seen, len(im.groups))
	keys := map[*int32]string{} // by the operations, which copies share
	for _, r := range im.ranks {
		for _, c := range r.colls {
			u := &uses[c.group]
			if u.used {
				u.first = min(u.first, c.first)
				continue
			}
			key, ok := keys[&c.ops[0]]
			if !ok {
				key = r.pattern(c.ops)
				keys[&c.ops[0]] = key
			}
			*u = seen{fmt.Sprintf("%d %v %s", len(im.groups[c.group].Ranks), im.dim(c.group), key), c.first, true}
		}
	}
	return im.fold(func(g int32) (string, int, bool) { return uses[g].key, uses[g].first, uses[g].used })
}
