package chakra

import (
	"cmp"
	"slices"
)

// edges are dependencies between nodes by position: node i depends on
// to[start[i]:start[i+1]].
type edges struct {
	start    []int32
	to       []int32
	self     int // dependencies of a node on itself
	dangling int // dependencies on ids that are not in the file, not in to
}

func (e *edges) of(i int) []int32 { return e.to[e.start[i]:e.start[i+1]] }

// graph holds both kinds of dependencies of a trace.
type graph struct {
	ctrl, data *edges
}

// graph resolves the ids of dependencies to positions.
func (t *Trace) graph() graph {
	find := t.finder()
	resolve := func(deps func(*Node) []uint64) *edges {
		total := 0
		for i := range t.Nodes {
			total += len(deps(&t.Nodes[i]))
		}
		e := &edges{start: make([]int32, len(t.Nodes)+1), to: make([]int32, 0, total)}
		for i := range t.Nodes {
			for _, id := range deps(&t.Nodes[i]) {
				p := find(id)
				if p < 0 {
					e.dangling++
					continue
				}
				if int(p) == i {
					e.self++
				}
				e.to = append(e.to, p)
			}
			e.start[i+1] = int32(len(e.to))
		}
		return e
	}
	return graph{
		ctrl: resolve(func(n *Node) []uint64 { return n.CtrlDeps }),
		data: resolve(func(n *Node) []uint64 { return n.DataDeps }),
	}
}

// finder returns a function from id to position, -1 when there is none. Ids
// that are nearly dense get a table, others a search.
func (t *Trace) finder() func(uint64) int32 {
	var top uint64
	for i := range t.Nodes {
		top = max(top, t.Nodes[i].ID)
	}
	if top < uint64(8*len(t.Nodes)+1024) {
		table := make([]int32, top+1)
		for i := range t.Nodes {
			table[t.Nodes[i].ID] = int32(i) + 1
		}
		return func(id uint64) int32 {
			if id > top {
				return -1
			}
			return table[id] - 1
		}
	}
	order := t.byID()
	return func(id uint64) int32 {
		at, ok := slices.BinarySearchFunc(order, id, func(p int32, id uint64) int { return cmp.Compare(t.Nodes[p].ID, id) })
		if !ok {
			return -1
		}
		return order[at]
	}
}

// blocked marks the nodes that can never start: those on a cycle of the edges
// and those that depend on one that is. It returns how many.
func blocked(sets ...*edges) (marks []bool, count int) {
	n := len(sets[0].start) - 1
	wait := make([]int32, n) // dependencies not met
	start := make([]int32, n+1)
	total := 0
	for _, e := range sets {
		total += len(e.to)
		for i := range n {
			wait[i] += e.start[i+1] - e.start[i]
		}
		for _, w := range e.to {
			start[w+1]++
		}
	}
	for i := range n {
		start[i+1] += start[i]
	}
	next := make([]int32, total) // those that depend on node i: next[start[i]:start[i+1]]
	fill := slices.Clone(start)
	for _, e := range sets {
		for i := range n {
			for _, w := range e.of(i) {
				next[fill[w]] = int32(i)
				fill[w]++
			}
		}
	}
	marks = make([]bool, n)
	var ready []int32
	for i := range n {
		marks[i] = true
		if wait[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	count = n
	for len(ready) > 0 {
		v := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		marks[v] = false
		count--
		for _, w := range next[start[v]:start[v+1]] {
			if wait[w]--; wait[w] == 0 {
				ready = append(ready, w)
			}
		}
	}
	return marks, count
}

// cycle returns one cycle of the edges in the direction of the dependencies,
// the first node repeated at the end, or nil when there is none.
func (e *edges) cycle() []int32 {
	marks, count := blocked(e)
	if count == 0 {
		return nil
	}
	// Each blocked node has a dependency that is blocked: walking along those
	// must come back to a node seen before.
	seen := map[int32]int{}
	var walk []int32
	for v := int32(slices.Index(marks, true)); ; {
		if at, ok := seen[v]; ok {
			return append(walk[at:], v)
		}
		seen[v] = len(walk)
		walk = append(walk, v)
		for _, w := range e.of(int(v)) {
			if marks[w] {
				v = w
				break
			}
		}
	}
}
