package chakra

import (
	"fmt"
	"strings"
)

// order chooses the dependencies that order a trace's execution, as the
// package comment says, and returns them without self-references, with the
// topological order of the nodes that takes the smallest id first.
func (im *importer) order(t *Trace) (*edges, []int32, error) {
	g := t.graph()
	var e *edges
	switch {
	case len(g.data.to)+g.data.dangling > 0:
		e = g.data
		if len(g.ctrl.to)+g.ctrl.dangling > 0 {
			im.repaired.add("control dependency", "not an ordering where data dependencies exist", len(g.ctrl.to)+g.ctrl.dangling, 0, 0)
		}
		im.repaired.add("data dependency", "on an id that is not in the file", g.data.dangling, 0, 0)
	case len(g.ctrl.to)+g.ctrl.dangling == 0:
		e = g.data
	default:
		e = g.ctrl.withoutSelf()
		_, stuck := blocked(e)
		if g.ctrl.dangling > 0 || stuck > 0 {
			im.warn.add("%s: there are no data dependencies, and the control dependencies are no order (%d on ids that are not in the file, %d nodes on or after a cycle): nodes run one after the other, as they stand in the file",
				t.File, g.ctrl.dangling, stuck)
			im.repaired.add("control dependency", "incomplete or cyclic, replaced by the order of the file", len(g.ctrl.to)+g.ctrl.dangling, 0, 0)
			e = sequence(len(t.Nodes))
		}
	}
	if e.self > 0 {
		im.repaired.add("dependency", "on the node itself", e.self, 0, 0)
		e = e.withoutSelf()
	}
	order, ok := t.topological(e)
	if !ok {
		return nil, nil, t.cycleError(e)
	}
	return e, order, nil
}

// withoutSelf returns the edges but for those from a node to itself.
func (e *edges) withoutSelf() *edges {
	if e.self == 0 {
		return e
	}
	out := &edges{start: make([]int32, len(e.start)), dangling: e.dangling}
	for i := range len(e.start) - 1 {
		for _, w := range e.of(i) {
			if int(w) != i {
				out.to = append(out.to, w)
			}
		}
		out.start[i+1] = int32(len(out.to))
	}
	return out
}

// sequence makes each node depend on the one before it.
func sequence(n int) *edges {
	e := &edges{start: make([]int32, n+1)}
	for i := range n {
		if i > 0 {
			e.to = append(e.to, int32(i-1))
		}
		e.start[i+1] = int32(len(e.to))
	}
	return e
}

// topological returns the nodes so that each follows its dependencies, of
// those that could be next the one with the smallest id; false if there is a
// cycle.
func (t *Trace) topological(e *edges) ([]int32, bool) {
	byID := t.byID()
	n := len(byID)
	place := make([]int32, n) // of a node in byID
	for p, i := range byID {
		place[i] = int32(p)
	}
	inOrder := true
	wait := make([]int32, n)
	start := make([]int32, n+1)
	for i := range n {
		wait[i] = int32(len(e.of(i)))
		for _, w := range e.of(i) {
			inOrder = inOrder && place[w] < place[i]
			start[w+1]++
		}
	}
	if inOrder { // the common case: ids already are an order
		return byID, true
	}
	for i := range n {
		start[i+1] += start[i]
	}
	next := make([]int32, len(e.to))
	fill := append([]int32(nil), start...)
	for i := range n {
		for _, w := range e.of(i) {
			next[fill[w]] = int32(i)
			fill[w]++
		}
	}
	var ready places
	for p, i := range byID {
		if wait[i] == 0 {
			ready.push(int32(p))
		}
	}
	order := make([]int32, 0, n)
	for len(ready) > 0 {
		i := byID[ready.pop()]
		order = append(order, i)
		for _, w := range next[start[i]:start[i+1]] {
			if wait[w]--; wait[w] == 0 {
				ready.push(place[w])
			}
		}
	}
	return order, len(order) == n
}

// places is a heap, the smallest first.
type places []int32

func (h *places) push(v int32) {
	a := append(*h, v)
	i := len(a) - 1
	for i > 0 && a[(i-1)/2] > v {
		a[i] = a[(i-1)/2]
		i = (i - 1) / 2
	}
	a[i] = v
	*h = a
}

func (h *places) pop() int32 {
	a := *h
	top, v := a[0], a[len(a)-1]
	a = a[:len(a)-1]
	i := 0
	for {
		c := 2*i + 1
		if c >= len(a) {
			break
		}
		if c+1 < len(a) && a[c+1] < a[c] {
			c++
		}
		if a[c] >= v {
			break
		}
		a[i] = a[c]
		i = c
	}
	if len(a) > 0 {
		a[i] = v
	}
	*h = a
	return top
}

// cycleError names the nodes of one cycle.
func (t *Trace) cycleError(e *edges) error {
	cycle := e.cycle()
	const show = 12
	var parts []string
	for k, i := range cycle {
		if k == show-1 && len(cycle) > show {
			parts = append(parts, fmt.Sprintf("... %d more", len(cycle)-show), t.Nodes[cycle[len(cycle)-1]].label())
			break
		}
		parts = append(parts, t.Nodes[i].label())
	}
	err := importError(t.File, "a cycle of dependencies: "+strings.Join(parts, " needs "), "dependencies without a cycle", "")
	err.Record, err.Offset = t.Nodes[cycle[0]].Record, t.Nodes[cycle[0]].Offset
	return err
}
