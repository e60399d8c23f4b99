package fault

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/topology"
)

// nearest names the nodes whose names are most like a pattern that matches
// none.
func (a *applier) nearest(pattern string) string {
	const most = 3
	type found struct {
		name string
		d    int
	}
	var best []found
	for _, n := range a.g.Nodes {
		d := distance(pattern, n.Name)
		if len(best) == most && d >= best[most-1].d {
			continue
		}
		best = append(best, found{n.Name, d})
		slices.SortStableFunc(best, func(x, y found) int { return x.d - y.d })
		best = best[:min(most, len(best))]
	}
	var names []string
	for _, f := range best {
		names = append(names, f.name)
	}
	return "the nearest names are " + strings.Join(names, ", ")
}

// neighbours says what the first of a set of nodes is joined to.
func (a *applier) neighbours(set []bool) string {
	first := topology.NodeID(slices.Index(set, true))
	var names []string
	for _, l := range a.g.Links {
		if l.From == first {
			names = append(names, a.g.Nodes[l.To].Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	const most = 6
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	return fmt.Sprintf("%s has links to %s%s", a.g.Nodes[first].Name, strings.Join(names, ", "), more)
}

// distance is the number of characters to change, add or leave out to come
// from one name to the other.
func distance(a, b string) int {
	var room [64]int
	row := room[:0]
	for j := range len(b) + 1 {
		row = append(row, j)
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
