package draw

import (
	"fmt"
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

const (
	trunkGap  = 58.0
	barHigh   = 46.0
	panelWide = 1320.0 // the most that a row of blocks takes
	mostHubs  = 40     // chips in a bar of NVSwitches
)

// hubs is a group of NVSwitches with the units that they join.
type hubs struct {
	switches []topology.NodeID
	units    []part
}

// around lays out an NVLink domain of several units: the NVSwitches in a bar,
// the units above and below it, a trunk from each. Two bars that are joined
// stand between their units. It is nil for a domain of one unit.
func (lv *levels) around(domain int, title string) *scene {
	groups := lv.hubs(domain)
	units := 0
	for _, g := range groups {
		units += len(g.units)
	}
	if units < 2 {
		return nil
	}
	s := &scene{title: title}
	if len(groups) == 1 {
		// Half of the units stand below.
		g := groups[0]
		all := lv.pack(g.units, 2*panelWide)
		upper, lower := all[:(len(all)+1)/2], all[(len(all)+1)/2:]
		s.w = max(barWidth(g), rowWidth(upper), rowWidth(lower))
		y := lv.bar(s, g, lv.row(s, upper, g, 0, true))
		lv.row(s, lower, g, y, false)
	} else {
		a, b := groups[0], groups[1]
		upper, lower := lv.pack(a.units, panelWide), lv.pack(b.units, panelWide)
		s.w = max(barWidth(a), barWidth(b), rowWidth(upper), rowWidth(lower))
		barA := lv.row(s, upper, a, 0, true)
		barB := lv.bar(s, a, barA) + trunkGap
		lv.row(s, lower, b, lv.bar(s, b, barB), false)
		lv.joinBars(s, a, b, (barA+barHigh+barB)/2)
		if len(groups) > 2 {
			s.notes = append(s.notes, margin{y: barB - trunkGap/2, lines: wrap(fmt.Sprintf("2 of %d groups are drawn; all are joined like these", len(groups)), noteLetters)})
		}
	}
	s.spread()
	return s
}

// hubs finds the groups of a domain: NVSwitches and units that are joined
// directly.
func (lv *levels) hubs(domain int) []hubs {
	sets := newSets(len(lv.g.Nodes))
	nodes := lv.domains[domain].nodes
	for _, n := range nodes {
		if u := lv.unit[n]; u >= 0 {
			sets.join(int32(n), int32(lv.units[u].nodes[0]))
			continue
		}
		for _, l := range lv.out[n] {
			if to := lv.g.Links[l].To; lv.unit[to] >= 0 {
				sets.join(int32(n), int32(to))
			}
		}
	}
	var out []hubs
	at := map[int32]int{}
	for _, n := range nodes {
		r := sets.root(int32(n))
		i, ok := at[r]
		if !ok {
			i = len(out)
			at[r] = i
			out = append(out, hubs{})
		}
		switch u := lv.unit[n]; {
		case u < 0:
			out[i].switches = append(out[i].switches, n)
		case lv.units[u].nodes[0] == n:
			out[i].units = append(out[i].units, lv.units[u])
		}
	}
	return out
}

// row draws units in a row with a trunk from each to the bar, above it or
// below, and returns where the row and its trunks end.
func (lv *levels) row(s *scene, blocks []block, g hubs, y float64, above bool) float64 {
	if len(blocks) == 0 {
		return y
	}
	total, high := 0.0, 0.0
	for _, b := range blocks {
		w, h := b.size()
		total, high = total+w, max(high, h)
	}
	// The row is spread over the bar, unless that tears it apart.
	gap := gapOf(blocks)
	if n := len(blocks); n > 1 {
		gap = min(3*gap, (s.w-total)/float64(n-1))
	}
	x := (s.w - total - gap*float64(len(blocks)-1)) / 2
	if !above {
		y += trunkGap
	}
	for _, b := range blocks {
		w, h := b.size()
		top := y
		if above {
			top = y + high - h
		}
		lv.write(s, b, x, top)
		up := lv.uplink(b.part, g.switches)
		if len(g.switches) > 0 && (up.rate > 0 || up.lost > 0) {
			l := line{family: up.family, rate: up.rate, odd: up.slow || up.lost > 0, tip: fmt.Sprintf("%s to the NVSwitches: %s each way", b.title, rate(up.rate))}
			if l.points = []point{{x + w/2, y + high}, {x + w/2, y + high + trunkGap}}; !above {
				l.points = []point{{x + w/2, y}, {x + w/2, y - trunkGap}}
			}
			if text := lv.trunkText(b); l.odd || w+gap > textWidth(text, 11)+8 {
				l.label = text
			}
			s.lines = append(s.lines, l)
		}
		x += w + gap
	}
	mid := y + high + trunkGap/2
	if !above {
		mid = y - trunkGap/2
	}
	if above && len(g.switches) > 0 {
		s.notes = append(s.notes, lv.trunkNote(blocks[0], g, mid))
	}
	s.rows = append(s.rows, margin{y: y + high/2, lines: wrap(lv.rowName(blocks), 15)})
	if above {
		return y + high + trunkGap
	}
	s.h = max(s.h, y+high+10)
	return y + high
}

func (lv *levels) rowName(blocks []block) string {
	b := blocks[0]
	if b.columns == 0 {
		return plural(len(blocks), lv.g.Nodes[b.nodes[0]].Kind.String())
	}
	if b.stack {
		return b.title
	}
	return plural(len(blocks), lv.noun(b.part))
}

// uplink is what a part has to some switches.
func (lv *levels) uplink(p part, switches []topology.NodeID) bundle {
	in := map[topology.NodeID]bool{}
	for _, n := range switches {
		in[n] = true
	}
	var b bundle
	for _, n := range p.nodes {
		for _, l := range lv.out[n] {
			if in[lv.g.Links[l].To] {
				b.add(lv.index, l)
			}
		}
	}
	return b
}

// outward lists, for the first node of a unit that leaves it by NVLink, the
// links out, and how many such nodes there are.
func (lv *levels) outward(p part) (links []topology.Link, nodes int, kind topology.NodeKind) {
	for _, n := range p.nodes {
		var mine []topology.Link
		for _, id := range lv.out[n] {
			if l := lv.g.Links[id]; lv.unit[l.To] < 0 && lv.g.Nodes[l.To].Kind == topology.NVSwitch && !l.Down {
				mine = append(mine, l)
			}
		}
		if len(mine) > 0 {
			nodes++
			if links == nil {
				links, kind = mine, lv.g.Nodes[n].Kind
			}
		}
	}
	return links, nodes, kind
}

// each is the number of physical links in a list and the rate of one, if they
// are all equal.
func each(links []topology.Link) (n int, r sim.Rate, sum sim.Rate) {
	for _, l := range links {
		n += int(l.Width)
		sum += l.Rate
	}
	return n, sum / sim.Rate(max(1, n)), sum
}

// trunkText is the label of a trunk: "4 × 18 × 41.5 GB/s".
func (lv *levels) trunkText(b block) string {
	links, nodes, _ := lv.outward(b.part)
	n, r, _ := each(links)
	text := times(n, r)
	if nodes > 1 {
		text = count(nodes) + " × " + text
	}
	return text
}

func (lv *levels) trunkNote(b block, g hubs, y float64) margin {
	links, nodes, kind := lv.outward(b.part)
	if len(links) == 0 {
		return margin{y: y}
	}
	n, r, sum := each(links)
	m := margin{y: y, family: nvlink, line: true}
	m.lines = append(m.lines, fmt.Sprintf("%s: %s", lv.g.Classes[links[0].Class].Name, times(n, r)))
	m.lines = append(m.lines, wrap(fmt.Sprintf("= %s each way for each %s, over %s", rate(sum), kind, plural(len(links), "NVSwitch")), noteLetters)...)
	if nodes > 1 {
		all := lv.uplink(b.part, g.switches)
		m.lines = append(m.lines, wrap(fmt.Sprintf("each %s: %s together", lv.noun(b.part), rate(all.rate)), noteLetters)...)
	}
	return m
}

// barWidth is what a bar needs for its chips.
func barWidth(g hubs) float64 { return min(panelWide, max(160, 34*float64(len(g.switches)))) }

// bar draws the NVSwitches of a group in a frame and returns where it ends.
func (lv *levels) bar(s *scene, g hubs, y float64) float64 {
	if len(g.switches) == 0 {
		return y
	}
	s.frames = append(s.frames, frame{x: 0, y: y, w: s.w, h: barHigh})
	if n := len(g.switches); n <= mostHubs {
		wide := (s.w-20)/float64(n) - 4
		x := (s.w - (wide+4)*float64(n) + 4) / 2
		for _, sw := range g.switches {
			node := lv.g.Nodes[sw]
			text := label(node)
			if textWidth(text, 11) > wide-4 {
				text = short(node)
			}
			s.boxes = append(s.boxes, box{x: x, y: y + 10, w: wide, h: 26, paint: paintOf(topology.NVSwitch), label: text, size: 11, tip: node.Name, down: node.Down})
			x += wide + 4
		}
	} else {
		s.boxes = append(s.boxes, box{x: 10, y: y + 10, w: s.w - 20, h: 26, paint: paintOf(topology.NVSwitch), label: plural(n, "NVSwitch")})
	}
	s.rows = append(s.rows, margin{y: y + barHigh/2, lines: wrap(plural(len(g.switches), "NVSwitch"), 15)})
	s.h = max(s.h, y+barHigh)
	return y + barHigh
}

// joinBars draws what leads from one bar to another, switch by switch.
func (lv *levels) joinBars(s *scene, a, b hubs, y float64) {
	at := map[topology.NodeID]box{}
	names := map[string]topology.NodeID{}
	for _, n := range slices.Concat(a.switches, b.switches) {
		names[lv.g.Nodes[n].Name] = n
	}
	for _, x := range s.boxes {
		if n, ok := names[x.tip]; ok {
			at[n] = x
		}
	}
	var first []topology.Link
	var sum sim.Rate
	for _, n := range a.switches {
		for _, id := range lv.out[n] {
			l := lv.g.Links[id]
			to, ok := at[l.To]
			from, drawn := at[n]
			if !ok || !drawn || !slices.Contains(b.switches, l.To) {
				continue
			}
			ln := lv.line(n, l.To)
			ln.label = ""
			ln.points = []point{{from.x + from.w/2, from.y + from.h}, {to.x + to.w/2, to.y}}
			s.lines = append(s.lines, ln)
			sum += l.Rate
			if first == nil {
				first = []topology.Link{l}
			}
		}
	}
	if first != nil {
		n, r, each := each(first)
		m := margin{y: y, family: nvlink, line: true, lines: []string{fmt.Sprintf("%s: %s", lv.g.Classes[first[0].Class].Name, times(n, r))}}
		m.lines = append(m.lines, wrap(fmt.Sprintf("= %s for each pair of NVSwitches, %s between the groups", rate(each), rate(sum)), noteLetters)...)
		s.notes = append(s.notes, m)
	}
}
