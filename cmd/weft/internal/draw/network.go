package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/topology"
)

const (
	switchWide, switchHigh = 74.0, 30.0
	tierGap                = 74.0
	networkWide            = 1240.0
	mostSwitches           = 16 // of a row, each drawn by itself
	manyLines              = 48 // more are drawn paler
)

// pod is what hangs together below the top tier of switches.
type pod struct {
	part
	hosts []part              // NVLink domains
	tiers [][]topology.NodeID // switches, from those next to the hosts
}

// shape is something drawn in the network panel: a host, a switch, or several
// that are equal.
type shape struct {
	x, y, w, h float64
	nodes      []topology.NodeID
	of         int
}

// fabric lays out the network panel: the top tier of switches above the pods,
// in each pod its tiers above its hosts.
type fabric struct {
	*levels
	s      *scene
	shapes []shape
	of     []int32 // shape of a node, or -1
	rowY   []float64
	hostY  float64
	top    []topology.NodeID
	pods   []pod
}

func (lv *levels) network() *scene {
	f := &fabric{levels: lv, s: &scene{title: lv.networkTitle()}, of: make([]int32, len(lv.g.Nodes))}
	for i := range f.of {
		f.of[i] = -1
	}
	f.findPods()
	f.layRows()
	f.placePods()
	f.placeTop()
	f.join()
	f.annotate()
	return f.s
}

func (lv *levels) networkTitle() string {
	if lv.tiers == 0 {
		return "All " + count(len(lv.domains)) + " parts"
	}
	return fmt.Sprintf("The network: %s and %s in %s", plural(len(lv.domains), lv.noun(lv.domains[0])),
		plural(lv.g.Count()[topology.Switch], "switch"), plural(int(lv.tiers), "tier"))
}

// findPods takes the top tier away and looks at what still hangs together.
func (f *fabric) findPods() {
	top := f.tiers
	if top < 2 {
		top++ // a single tier stands in the one pod that there is
	}
	sets := newSets(len(f.g.Nodes))
	isTop := func(n topology.NodeID) bool { return f.tier[n] == top }
	for n := range f.g.Nodes {
		if id := topology.NodeID(n); isTop(id) {
			f.top = append(f.top, id)
		}
	}
	first := topology.NodeID(-1)
	for n := range f.g.Nodes {
		id := topology.NodeID(n)
		if isTop(id) {
			continue
		}
		if f.tiers < 2 { // all in one pod
			if first < 0 {
				first = id
			}
			sets.join(int32(first), int32(n))
		}
		if d := f.domain[n]; d >= 0 {
			sets.join(int32(f.domains[d].nodes[0]), int32(n))
		}
		for _, l := range f.out[n] {
			if to := f.g.Links[l].To; !isTop(to) {
				sets.join(int32(n), int32(to))
			}
		}
	}
	_, parts := f.parts(sets, func(n topology.NodeID) bool { return !isTop(n) })
	for _, p := range parts {
		q := pod{part: p, tiers: make([][]topology.NodeID, max(0, top-1))}
		for _, n := range p.nodes {
			switch d := f.domain[n]; {
			case d >= 0 && f.domains[d].nodes[0] == n:
				q.hosts = append(q.hosts, f.domains[d])
			case f.tier[n] > 0:
				q.tiers[f.tier[n]-1] = append(q.tiers[f.tier[n]-1], n)
			}
		}
		if len(q.hosts) > 0 || len(p.nodes) > 1 {
			f.pods = append(f.pods, q)
		}
	}
}

// layRows sets the height of each row of switches, from the top.
func (f *fabric) layRows() {
	f.rowY = make([]float64, f.tiers)
	y := 0.0
	for _, l := range f.g.Links {
		if t := f.tier[l.From]; t > 0 && t == f.tier[l.To] {
			y = 56 // arcs within a row
			break
		}
	}
	for t := int(f.tiers) - 1; t >= 0; t-- {
		f.rowY[t] = y
		y += switchHigh + tierGap
		if t == int(f.tiers)-1 && len(f.pods) > 1 {
			y += 10 // the edge of the pods' frames
		}
	}
	f.hostY = y
	if f.tiers == 0 {
		f.hostY = 10
	}
}

// placePods draws the pods side by side, or one of each kind.
func (f *fabric) placePods() {
	all := make([]part, len(f.pods))
	for i, p := range f.pods {
		all[i] = p.part
	}
	odd := f.minority(all)
	// The plans, from the fullest to the sparest: which pods, how much room
	// each has.
	each := make([]alike, len(f.pods))
	for i := range each {
		each[i] = alike{members: []int{i}}
	}
	kinds := classes(len(all), func(i int) uint64 { return all[i].like })
	if f.lay(each, odd, false) {
		return
	}
	f.lay(kinds, odd, true)
}

// lay draws the pods that are named first of each class, unless they do not
// fit; force draws them all the same.
func (f *fabric) lay(plan []alike, odd []bool, force bool) bool {
	const gap = 22.0
	room := (networkWide - gap*float64(len(plan)-1)) / float64(len(plan))
	packed := make([][]block, len(plan))
	widths := make([]float64, len(plan))
	total := -gap
	for i, c := range plan {
		p := f.pods[c.members[0]]
		packed[i] = f.pack(p.hosts, room-24)
		w := rowWidth(packed[i])
		for _, t := range p.tiers {
			n := float64(min(len(t), mostSwitches))
			w = max(w, n*(switchWide+8)-8)
		}
		if len(f.pods) > 1 {
			w += 24
			w = max(w, 120)
		}
		widths[i] = w
		total += w + gap
	}
	if total > networkWide+1 && !force {
		return false
	}
	x := 0.0
	for i, c := range plan {
		f.pod(c, packed[i], x, widths[i], odd[c.members[0]])
		x += widths[i] + gap
	}
	f.s.w = max(f.s.w, x-gap)
	return true
}

func rowWidth(blocks []block) float64 {
	w := -gapOf(blocks)
	for _, b := range blocks {
		bw, _ := b.size()
		w += bw + gapOf(blocks)
	}
	return max(0, w)
}

// gapOf is the room between the blocks of a row.
func gapOf(blocks []block) float64 {
	if len(blocks) > 0 && blocks[0].columns == 0 {
		return 6
	}
	return 10
}

// pod draws a pod, alone or for its like.
func (f *fabric) pod(c alike, blocks []block, x, w float64, odd bool) {
	p := f.pods[c.members[0]]
	high := 0.0
	at := x + (w-rowWidth(blocks))/2
	for _, b := range blocks {
		bw, bh := b.size()
		high = max(high, bh)
		f.write(f.s, b, at, f.hostY)
		sh := shape{x: at, y: f.hostY, w: bw, h: bh, of: 1, nodes: b.nodes}
		if b.stack {
			sh.of, sh.nodes = 0, nil
			for _, h := range p.hosts {
				if h.like == b.like {
					sh.nodes = append(sh.nodes, h.nodes...)
					sh.of++
				}
			}
		}
		f.record(sh)
		at += bw + gapOf(blocks)
	}
	bottom := f.hostY + high + 14
	for t, row := range p.tiers {
		f.row(row, f.together(row), f.rowY[t], x, w)
	}
	f.s.h = max(f.s.h, bottom)
	if len(f.pods) < 2 {
		return
	}
	bottom += 18 // for the title, where no lines run
	y := f.hostY - 14
	if len(p.tiers) > 0 {
		y = f.rowY[len(p.tiers)-1] - 14
	}
	title := f.podTitle(p, len(c.members))
	f.s.frames = append([]frame{{x: x, y: y, w: w, h: bottom - y, title: title, foot: true, stack: len(c.members) > 1, odd: odd}}, f.s.frames...)
	f.s.h = max(f.s.h, bottom+12)
}

func (f *fabric) podTitle(p pod, of int) string {
	gpus := 0
	for _, n := range p.nodes {
		if f.g.Nodes[n].Kind == topology.GPU {
			gpus++
		}
	}
	what := "no GPUs"
	if gpus > 0 {
		what = plural(gpus, "GPU")
	}
	if len(p.hosts) > 1 && len(p.hosts[0].nodes) > 1 {
		what = plural(len(p.hosts), f.noun(p.hosts[0])) + ", " + what
	}
	if of > 1 {
		return fmt.Sprintf("%s equal groups, each of %s", count(of), what)
	}
	return what
}

func (f *fabric) record(s shape) int32 {
	f.shapes = append(f.shapes, s)
	for _, n := range s.nodes {
		f.of[n] = int32(len(f.shapes) - 1)
	}
	return int32(len(f.shapes) - 1)
}

// together puts the switches of a row into sets that are drawn as one: each by
// itself, or where there are many those that are equal and joined to the same.
func (f *fabric) together(switches []topology.NodeID) []alike {
	sets := make([]alike, len(switches))
	for i := range sets {
		sets[i].members = []int{i}
	}
	if len(switches) > mostSwitches {
		sets = classes(len(switches), func(i int) uint64 {
			h := mix(0, f.own[switches[i]])
			var below []int32
			for _, l := range f.out[switches[i]] {
				if s := f.of[f.g.Links[l].To]; s >= 0 && !slices.Contains(below, s) {
					below = append(below, s)
					h += mix(7, uint64(s))
				}
			}
			return h
		})
	}
	if len(sets) > mostSwitches {
		sets = classes(len(switches), func(i int) uint64 { return f.own[switches[i]] })
	}
	return sets[:min(len(sets), mostSwitches)]
}

// row draws sets of switches in a row in the middle of a width.
func (f *fabric) row(switches []topology.NodeID, sets []alike, y, x, w float64) {
	if len(sets) == 0 {
		return
	}
	n := float64(len(sets))
	step := min(w/n, 160)
	wide := min(switchWide, step-6)
	if len(sets) == 1 && len(sets[0].members) > 1 {
		wide = 120
	}
	left := x + w/2 - step*n/2
	for i, c := range sets {
		sh := shape{x: left + step*(float64(i)+0.5) - wide/2, y: y, w: wide, h: switchHigh, of: len(c.members)}
		for _, m := range c.members {
			sh.nodes = append(sh.nodes, switches[m])
		}
		node := f.g.Nodes[sh.nodes[0]]
		text := label(node)
		if sh.of > 1 {
			text = plural(sh.of, f.tierName(int(f.tier[sh.nodes[0]])))
		}
		b := box{x: sh.x, y: y, w: wide, h: switchHigh, paint: paintOf(topology.Switch), label: text, tip: node.Name, stack: sh.of > 1, down: node.Down}
		if textWidth(text, letterSize) > wide-4 {
			b.size = 10
		}
		f.s.boxes = append(f.s.boxes, b)
		f.record(sh)
	}
}

// placeTop draws the top tier over the whole width.
func (f *fabric) placeTop() {
	if len(f.top) == 0 {
		return
	}
	sets := f.together(f.top)
	if wide := float64(len(sets)) * (switchWide + 8); wide > f.s.w { // the pods go to the middle
		f.s.shift((wide - f.s.w) / 2)
		for i := range f.shapes {
			f.shapes[i].x += (wide - f.s.w) / 2
		}
		f.s.w = wide
	}
	f.row(f.top, sets, f.rowY[f.tiers-1], 0, f.s.w)
}

// tierName is what the switches of a tier are called, by the names that they
// have.
func (f *fabric) tierName(tier int) string {
	for n := range f.g.Nodes {
		if int(f.tier[n]) == tier {
			word, _, _ := strings.Cut(label(f.g.Nodes[n]), " ")
			if word == "leaf" || word == "spine" || word == "core" {
				return word
			}
			break
		}
	}
	return "switch"
}
