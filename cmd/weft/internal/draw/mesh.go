package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// A unit of more GPUs than mostDetail is not drawn in a row. If it is a mesh of
// nothing but GPUs it is drawn as a circle, up to mostRound; anything larger by
// what one GPU sees of it.
const (
	mostDetail = 32
	mostRound  = 96
	mostPeers  = 16
)

// made returns the number of GPUs of a unit, and whether it has nothing else.
func (lv *levels) made(unit int) (gpus int, mesh bool) {
	for _, n := range lv.units[unit].nodes {
		if lv.g.Nodes[n].Kind == topology.GPU {
			gpus++
		}
	}
	return gpus, gpus == len(lv.units[unit].nodes)
}

// round draws a mesh as a circle of GPUs in their order, with a chord for each
// pair that is joined.
func (lv *levels) round(unit int, title string) *scene {
	s := &scene{title: title}
	nodes := lv.units[unit].nodes
	const wide, high = 34.0, 22.0
	radius := max(160, float64(len(nodes))*(wide+6)/(2*math.Pi))
	s.w, s.h = 2*radius+wide+8, 2*radius+high+16
	at := make(map[topology.NodeID]point, len(nodes))
	for i, n := range nodes {
		turn := 2*math.Pi*float64(i)/float64(len(nodes)) - math.Pi/2
		at[n] = point{s.w/2 + float64(radius*math.Cos(turn)), s.h/2 + float64(radius*math.Sin(turn))}
	}
	var all tallies
	for _, a := range nodes {
		var seen []topology.NodeID
		for _, id := range lv.out[a] {
			l := lv.g.Links[id]
			if p, ok := at[l.To]; ok && l.To > a && !slices.Contains(seen, l.To) {
				seen = append(seen, l.To)
				chord := lv.line(a, l.To)
				chord.points = []point{at[a], p}
				chord.faint = len(nodes) > 16
				s.lines = append(s.lines, chord)
			}
			if !l.Down {
				all.of(familyOf(topology.GPU, lv.g.Nodes[l.To].Kind), l.Class).add(l.Rate, "GPU\u00a0–\u00a0"+lv.g.Nodes[l.To].Kind.String(), s.h/2)
			}
		}
		node := lv.g.Nodes[a]
		text := label(node)
		if textWidth(text, 10) > wide-2 {
			text = fmt.Sprint(node.Unit)
		}
		s.boxes = append(s.boxes, box{x: at[a].x - wide/2, y: at[a].y - high/2, w: wide, h: high, paint: paintOf(topology.GPU), label: text, size: 10, tip: node.Name, down: node.Down})
	}
	for _, t := range all {
		s.notes = append(s.notes, t.margin(lv.index))
	}
	s.rows = append(s.rows, margin{y: s.h / 2, lines: wrap(plural(len(nodes), "GPU"), 15)})
	s.spread()
	return s
}

// ego draws one GPU of each kind, of the three commonest, above what it is
// joined to.
func (lv *levels) ego(unit int, title string) *scene {
	s := &scene{title: title + ", by what one GPU is joined to"}
	var gpus []topology.NodeID
	for _, n := range lv.units[unit].nodes {
		if lv.g.Nodes[n].Kind == topology.GPU {
			gpus = append(gpus, n)
		}
	}
	kinds := classes(len(gpus), func(i int) uint64 { return lv.own[gpus[i]] })
	slices.SortStableFunc(kinds, func(a, b alike) int { return cmp.Compare(len(b.members), len(a.members)) })
	y := 8.0
	for i, c := range kinds {
		if i == mostPanels {
			s.rows = append(s.rows, margin{y: y, lines: wrap(fmt.Sprintf("and %d kinds more", len(kinds)-i), 15)})
			y += 30
			break
		}
		y = lv.star(s, gpus[c.members[0]], len(c.members), y) + 26
	}
	s.h = y
	s.spread()
	return s
}

// star draws a node that stands for so many, and its peers below it.
func (lv *levels) star(s *scene, n topology.NodeID, of int, y float64) float64 {
	const wide, high, step = 74.0, 30.0, 82.0
	var peers []topology.NodeID
	var sum sim.Rate
	for _, id := range lv.out[n] {
		l := lv.g.Links[id]
		if !slices.Contains(peers, l.To) {
			peers = append(peers, l.To)
		}
		if !l.Down {
			sum += l.Rate
		}
	}
	all := len(peers)
	peers = peers[:min(all, mostPeers)]
	s.w = max(s.w, step*float64(max(4, len(peers)))-8)
	node := lv.g.Nodes[n]
	text := label(node)
	if of > 1 {
		text = "each of " + plural(of, node.Kind.String())
	}
	top := box{x: s.w/2 - 90, y: y, w: 180, h: high, paint: paintOf(node.Kind), label: text, tip: node.Name, stack: of > 1, down: node.Down}
	s.boxes = append(s.boxes, top)
	x := s.w/2 - (step*float64(len(peers))-8)/2
	for i, p := range peers {
		peer := lv.g.Nodes[p]
		l := lv.line(n, p)
		if l.label == "" {
			l.label = rate(l.rate)
		}
		from := top.x + top.w*(float64(i)+0.5)/float64(len(peers))
		l.points = []point{{from, y + high}, {x + wide/2, y + high + 64}}
		s.lines = append(s.lines, l)
		s.boxes = append(s.boxes, box{x: x, y: y + high + 64, w: wide, h: high, paint: paintOf(peer.Kind), label: label(peer), tip: peer.Name, down: peer.Down})
		x += step
	}
	m := margin{y: y + high + 32, line: true, family: nvlink, lines: wrap(fmt.Sprintf("%s in all, to %s", rate(sum), plural(all, "peer")), noteLetters)}
	if all > len(peers) {
		m.lines = append(m.lines, fmt.Sprintf("%d of them are drawn", len(peers)))
	}
	s.notes = append(s.notes, m)
	return y + 2*high + 64
}
