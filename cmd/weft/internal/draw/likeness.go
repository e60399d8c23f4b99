package draw

import (
	"math"

	"github.com/weft-sim/weft/topology"
)

// mix stirs a value into a hash (splitmix64). It is fixed, so that pictures
// are the same in every process.
func mix(h, v uint64) uint64 {
	h ^= v + 0x9e3779b97f4a7c15 + h<<6 + h>>2
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// rounds is how far the likeness of a node looks: things within a group that
// differ only farther away than that are drawn as equal.
const rounds = 8

// likeness hashes each group of nodes so that groups wired alike have equal
// hashes, by colour refinement. Names do not count, and of the world outside a
// group only what kinds of wires lead there. A node of group -1 is in none.
func (x *index) likeness(group []int32, groups int) []uint64 {
	color, next := make([]uint64, len(group)), make([]uint64, len(group))
	for n := range color {
		color[n] = x.own[n]
	}
	for range rounds {
		for n := range color {
			if group[n] < 0 {
				continue
			}
			var sum uint64
			for _, l := range x.out[n] {
				if to := x.g.Links[l].To; group[to] == group[n] {
					sum += mix(x.wire[l], color[to])
				}
			}
			next[n] = mix(color[n], sum)
		}
		color, next = next, color
	}
	sums := make([]uint64, groups)
	for n, g := range group {
		if g >= 0 {
			sums[g] += mix(1, color[n])
		}
	}
	return sums
}

// index is a graph with what the layouts ask of it again and again.
type index struct {
	g    *topology.Graph
	out  [][]topology.LinkID // that leave a node
	wire []uint64            // a hash of what a link is, apart from its ends
	own  []uint64            // a hash of a node with its wires and the kinds of their far ends
	slow []bool              // links slower or narrower than their like
}

func newIndex(g *topology.Graph) *index {
	x := &index{g: g, out: make([][]topology.LinkID, len(g.Nodes)), wire: make([]uint64, len(g.Links)), own: make([]uint64, len(g.Nodes))}
	degree := make([]int32, len(g.Nodes))
	for _, l := range g.Links {
		degree[l.From]++
	}
	flat := make([]topology.LinkID, len(g.Links))
	at := 0
	for n, d := range degree {
		x.out[n] = flat[at : at : at+int(d)]
		at += int(d)
	}
	for i, l := range g.Links {
		x.out[l.From] = append(x.out[l.From], topology.LinkID(i))
		h := mix(uint64(l.Class), math.Float64bits(float64(l.Rate)))
		h = mix(h, uint64(l.Width))
		if l.Down {
			h = mix(h, 1)
		}
		x.wire[i] = h
	}
	for n, node := range g.Nodes {
		h := mix(3, uint64(node.Kind))
		if node.Down {
			h = mix(h, 1)
		}
		var sum uint64
		for _, l := range x.out[n] {
			sum += mix(x.wire[l], uint64(g.Nodes[g.Links[l].To].Kind))
		}
		x.own[n] = mix(h, sum)
	}
	x.findSlow()
	return x
}

// like is what links are compared by: of the same class between the same kinds
// of nodes, and to the same plane of NVSwitches.
type like struct {
	class    topology.ClassID
	from, to topology.NodeKind
	plane    int32
}

// findSlow marks the links whose rate is below the commonest of their like, and
// which are at most half as many. What runs in parallel is counted singly,
// except to a plane of NVSwitches, where a link that lost some is slow too; a
// plane that is slow as a whole is so beside its sister planes. A wiring of two
// rates by design is not slow.
func (x *index) findSlow() {
	nodes := x.g.Nodes
	of := func(l topology.Link) like {
		return like{class: l.Class, from: nodes[l.From].Kind, to: nodes[l.To].Kind}
	}
	single := func(l topology.Link) float64 { return float64(l.Rate) / float64(max(1, l.Width)) }
	x.slow = make([]bool, len(x.g.Links))
	x.compare(func(l topology.Link) (like, float64) {
		k := of(l)
		switch {
		case k.from == topology.GPU && k.to == topology.NVSwitch:
			k.plane = nodes[l.To].Unit
		case k.from == topology.NVSwitch && k.to == topology.GPU:
			k.plane = nodes[l.From].Unit
		case k.from == k.to:
			return k, single(l)
		}
		return k, float64(l.Rate)
	})
	x.compare(func(l topology.Link) (like, float64) {
		k := of(l)
		if k.from != topology.NVSwitch && k.to != topology.NVSwitch {
			return k, 0
		}
		return k, single(l)
	})
}

// compare marks the links that are slow by one way of comparing them.
func (x *index) compare(each func(topology.Link) (like, float64)) {
	rounded := func(l topology.Link) (like, float64) {
		k, v := each(l)
		return k, math.Round(v/1e3) * 1e3
	}
	counts := map[like]map[float64]int{}
	for _, l := range x.g.Links {
		k, v := rounded(l)
		if counts[k] == nil {
			counts[k] = map[float64]int{}
		}
		counts[k][v]++
	}
	usual := map[like]float64{}
	for k, by := range counts {
		most := 0
		for v, n := range by { // the fastest of the commonest, whatever the order
			if n > most || n == most && v > usual[k] {
				most, usual[k] = n, v
			}
		}
	}
	for i, l := range x.g.Links {
		k, v := rounded(l)
		x.slow[i] = x.slow[i] || v < 0.99*usual[k] && 2*counts[k][v] <= counts[k][usual[k]]
	}
}
