package shortest

import (
	"container/heap"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// cost orders paths: links of each level, the least preferred first, then
// latency. It is a sum over links and never falls along a path, so Dijkstra's
// algorithm finds its minimum. Equal costs have equally many links, on which
// the walk back from a destination relies.
type cost struct {
	links   [maxPrefer + 1]int32
	latency sim.Time
}

func (c cost) less(d cost) bool {
	for i := range c.links {
		if c.links[i] != d.links[i] {
			return c.links[i] < d.links[i]
		}
	}
	return c.latency < d.latency
}

// tree is what a rank reaches: the links that lie on a shortest path from it.
type tree struct {
	on []uint64 // a bit per link
}

func (t *tree) has(l topology.LinkID) bool { return t.on[l>>6]>>(uint(l)&63)&1 != 0 }

// tree returns the tree of a rank, and grows it the first time. Two that
// grow it at once find the same.
func (r *router) tree(rank int32) *tree {
	if t := r.trees[rank].Load(); t != nil {
		return t
	}
	t := r.grow(int32(r.ranks[rank]))
	r.trees[rank].Store(t)
	return t
}

// grow finds the tree of a node.
func (r *router) grow(root int32) *tree {
	w := r.take()
	defer r.give(w)
	clear(w.state)
	if len(r.o.Prefer) == 0 {
		r.byLayers(w, root)
	} else {
		r.byCost(w, root)
	}
	t := &tree{on: make([]uint64, (len(r.from)+63)/64)}
	for l, from := range r.from {
		if from == none || w.state[from] == unseen || from != root && !r.forwards[from] {
			continue
		}
		if to := r.to[l]; to != root && r.step(w.best[from], topology.LinkID(l)) == w.best[to] {
			t.on[l>>6] |= 1 << (uint(l) & 63)
		}
	}
	return t
}

// What is known of the way to a node.
const (
	unseen uint8 = iota
	seen
	final
)

// step returns the cost of a path that goes on over a link.
func (r *router) step(c cost, l topology.LinkID) cost {
	c.links[r.level[l]]++
	c.latency = c.latency.Add(r.graph.Links[l].Latency)
	return c
}

// byLayers finds the best cost to each node where the number of links comes
// first: layer by layer, without a queue by cost, which takes ten times as long.
func (r *router) byLayers(w *scratch, root int32) {
	w.best[root] = cost{}
	w.state[root] = final
	layer, next := append(w.layer[:0], root), w.next[:0]
	for len(layer) > 0 {
		next = next[:0]
		for _, n := range layer {
			if n != root && !r.forwards[n] {
				continue
			}
			for _, l := range r.out.at(n) {
				to := r.to[l]
				if w.state[to] == final {
					continue
				}
				c := r.step(w.best[n], l)
				if w.state[to] == unseen {
					w.state[to] = seen
					next = append(next, to)
				} else if !c.less(w.best[to]) {
					continue
				}
				w.best[to] = c
			}
		}
		for _, n := range next {
			w.state[n] = final
		}
		layer, next = next, layer
	}
	w.layer, w.next = layer, next
}

// byCost finds the best cost to each node by Dijkstra's algorithm.
func (r *router) byCost(w *scratch, root int32) {
	w.best[root] = cost{}
	w.state[root] = seen
	q := queue{{node: root}}
	for len(q) > 0 {
		n := heap.Pop(&q).(entry).node
		if w.state[n] == final {
			continue
		}
		w.state[n] = final
		if n != root && !r.forwards[n] {
			continue
		}
		for _, l := range r.out.at(n) {
			c, to := r.step(w.best[n], l), r.to[l]
			if w.state[to] == unseen || w.state[to] == seen && c.less(w.best[to]) {
				w.state[to], w.best[to] = seen, c
				heap.Push(&q, entry{to, c})
			}
		}
	}
}

// queue is a heap of nodes by cost.
type queue []entry

type entry struct {
	node int32
	cost cost
}

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].cost.less(q[j].cost) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(entry)) }
func (q *queue) Pop() any {
	x := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return x
}
