package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weft-sim/weft/workloads/trace/chakra"
)

// mostFates is how many reasons a summary names.
const mostFates = 3

// imported says in a sentence what the import of a trace made of it: what is
// not in the answer must not be silent.
func imported(r *chakra.Report) string {
	s := "Import: kept " + Plural(total(r.Kept), "node")
	if n := total(r.Dropped); n > 0 {
		s += ", dropped " + Count(int64(n)) + " (" + largest(r.Dropped) + ")"
	}
	if n := total(r.Repaired); n > 0 {
		s += ", repaired " + Plural(n, "dependency") + " (" + largest(r.Repaired) + ")"
	}
	return s
}

func total(items []chakra.Item) int {
	n := 0
	for _, i := range items {
		n += i.Count
	}
	return n
}

// largest gives the reasons of most items, the first clause of each.
func largest(items []chakra.Item) string {
	var all []chakra.Item
	for _, i := range items {
		i.Why, _, _ = strings.Cut(cmp.Or(i.Why, i.What), ",")
		at := slices.IndexFunc(all, func(o chakra.Item) bool { return o.Why == i.Why })
		if at < 0 {
			all = append(all, i)
			continue
		}
		all[at].Count += i.Count
	}
	slices.SortStableFunc(all, func(a, b chakra.Item) int { return cmp.Compare(b.Count, a.Count) })
	var parts []string
	for i, item := range all {
		if i == mostFates {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, Count(int64(item.Count))+": "+item.Why)
	}
	return strings.Join(parts, "; ")
}
