package shortest

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// scratch is the working memory of one search or route.
type scratch struct {
	// Of a search.
	best        []cost
	state       []uint8
	layer, next []int32

	// Of a route. Values by node are of this route where mark says so.
	mark  []uint32
	round uint32
	nodes []int32           // on the way, the destination first, by distance
	links []topology.LinkID // into nodes[i]: links[span[i]:span[i+1]]
	span  []int32
	width []sim.Rate // by node: the fastest physical link at the narrowest point
	parts []int32    // by node: of the transfer
	ways  []int32    // by node: how many links it may still be split over
	ahead []topology.LinkID
	tree  *tree
	least sim.Rate // of a physical link that is used
}

func newScratch(r *router) *scratch {
	n := r.nodes
	return &scratch{
		best: make([]cost, n), state: make([]uint8, n),
		mark: make([]uint32, n), width: make([]sim.Rate, n), parts: make([]int32, n), ways: make([]int32, n),
	}
}

// Route returns the path from rank a to rank b. It allocates nothing once a
// has sent before and buf is long enough.
func (r *router) Route(a, b int32, buf []topology.Hop) (topology.Path, error) {
	if n := len(r.ranks); uint32(a) >= uint32(n) || uint32(b) >= uint32(n) {
		return topology.Path{}, fmt.Errorf("route from rank %d to rank %d of %s: the ranks are 0 to %d", a, b, r.o.name(), n-1)
	}
	if a == b {
		return topology.Path{Hops: buf[:0], Den: 1}, nil
	}
	t := r.tree(a)
	w := r.take()
	defer r.give(w)
	src, dst := int32(r.ranks[a]), int32(r.ranks[b])
	if !r.walkBack(w, t, src, dst, 0) {
		return topology.Path{}, fmt.Errorf("route in %s: %w", r.o.name(), r.noRoute(a, b))
	}
	if least := r.widest(w, src, dst); least > 0 {
		r.walkBack(w, t, src, dst, least)
	}
	p := topology.Path{Hops: buf[:0], Den: parts}
	if r.o.OnePath {
		p.Den = 1
	}
	p.Hops = r.spread(w, src, dst, mix(mix(r.o.Seed, uint64(a)), uint64(b)), p.Hops, p.Den)
	reduce(&p)
	r.describe(w, &p, src, dst)
	return p, nil
}

// walkBack collects the links that lie on a shortest path from src to dst and
// whose physical links have at least a rate, and reports whether src is
// reached. Nodes come by their distance from dst.
func (r *router) walkBack(w *scratch, t *tree, src, dst int32, least sim.Rate) bool {
	if w.round++; w.round == 0 { // wrapped
		clear(w.mark)
		w.round = 1
	}
	w.tree, w.least = t, least
	w.nodes, w.links, w.span = append(w.nodes[:0], dst), w.links[:0], w.span[:0]
	w.mark[dst] = w.round
	for i := 0; i < len(w.nodes); i++ {
		w.span = append(w.span, int32(len(w.links)))
		for _, l := range r.in.at(w.nodes[i]) {
			if !t.has(l) || r.unit[l] < least {
				continue
			}
			w.links = append(w.links, l)
			if from := r.from[l]; w.mark[from] != w.round {
				w.mark[from] = w.round
				w.nodes = append(w.nodes, from)
			}
		}
	}
	w.span = append(w.span, int32(len(w.links)))
	return w.mark[src] == w.round
}

// widest returns the rate of the slowest physical link on the best of the
// paths, or zero if all links are that fast.
func (r *router) widest(w *scratch, src, dst int32) sim.Rate {
	slowest, fastest := r.unit[w.links[0]], r.unit[w.links[0]]
	for _, l := range w.links {
		slowest, fastest = min(slowest, r.unit[l]), max(fastest, r.unit[l])
	}
	if slowest == fastest {
		return 0
	}
	for i := len(w.nodes) - 1; i >= 0; i-- {
		n := w.nodes[i]
		w.width[n] = 0
		if n == src {
			w.width[n] = fastest
		}
		for _, l := range w.links[w.span[i]:w.span[i+1]] {
			w.width[n] = max(w.width[n], min(w.width[r.from[l]], r.unit[l]))
		}
	}
	if w.width[dst] == slowest {
		return 0
	}
	return w.width[dst]
}

// spread appends the hops from src to dst, each with its parts of den.
func (r *router) spread(w *scratch, src, dst int32, hash uint64, hops []topology.Hop, den int32) []topology.Hop {
	for _, n := range w.nodes {
		w.parts[n], w.ways[n] = 0, 0
	}
	w.parts[src], w.ways[src] = den, int32(r.o.Ways)
	for i := len(w.nodes) - 1; i >= 0; i-- {
		n := w.nodes[i]
		if n == dst || w.parts[n] == 0 {
			continue
		}
		lead := r.leading(w, n)
		first, k := 0, len(lead)
		if bound := min(w.ways[n], w.parts[n]); k > int(bound) {
			first, k = r.pick(lead, mix(hash, uint64(n))), int(bound)
		}
		hops = r.split(w, n, lead, first, k, hash, hops)
	}
	return hops
}

// pick returns the place of one of the links by a hash, a wide one more often.
func (r *router) pick(lead []topology.LinkID, hash uint64) int {
	var total uint64
	for _, l := range lead {
		total += uint64(r.graph.Links[l].Width)
	}
	at := hash % total
	for i, l := range lead {
		width := uint64(r.graph.Links[l].Width)
		if at < width {
			return i
		}
		at -= width
	}
	return 0
}

// leading lists the links from a node that lie on the way, in their order.
func (r *router) leading(w *scratch, n int32) []topology.LinkID {
	w.ahead = w.ahead[:0]
	for _, l := range r.out.at(n) {
		if w.mark[r.to[l]] == w.round && w.tree.has(l) && r.unit[l] >= w.least {
			w.ahead = append(w.ahead, l)
		}
	}
	return w.ahead
}

// split shares what is at node n among k of the links that lead on, from the
// first in turn, in proportion to their widths. What does not divide goes to
// links by hash, so that over many pairs it evens out.
func (r *router) split(w *scratch, n int32, lead []topology.LinkID, first, k int, hash uint64, hops []topology.Hop) []topology.Hop {
	links := r.graph.Links
	at := func(i int) topology.LinkID { return lead[(first+i)%len(lead)] }
	var total int64
	for i := range k {
		total += int64(links[at(i)].Width)
	}
	// The cut points are moved by an offset, so that the roundings fall on
	// different links for different pairs; on whole results it has no effect.
	offset := int64(mix(hash, uint64(n)^1<<40) % uint64(total))
	have := int64(w.parts[n])
	var before, sent int64
	for i := range k {
		l := at(i)
		before += int64(links[l].Width)
		upTo := (have*before + offset) / total
		if i == k-1 {
			upTo = have
		}
		share := int32(upTo - sent)
		if share == 0 {
			continue
		}
		sent = upTo
		hops = append(hops, topology.Hop{Resource: topology.ResourceID(l), Share: share})
		to := r.to[l]
		w.parts[to] += share
		w.ways[to] += max(1, w.ways[n]/int32(k))
	}
	return hops
}

// reduce divides shares and denominator by what they have in common.
func reduce(p *topology.Path) {
	d := p.Den
	for _, h := range p.Hops {
		for a := h.Share; a != 0; {
			d, a = a, d%a
		}
	}
	if d == 1 {
		return
	}
	p.Den /= d
	for i := range p.Hops {
		p.Hops[i].Share /= d
	}
}

// mix returns a hash of two numbers (the finaliser of splitmix64).
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
