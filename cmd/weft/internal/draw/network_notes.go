package draw

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// annotate says beside each row what it is, and beside each gap what one thing
// of the row below has upwards.
func (f *fabric) annotate() {
	number := make([]int, f.tiers+1)
	for n := range f.g.Nodes {
		if t := f.tier[n]; t > 0 {
			number[t]++
		}
	}
	below := 30.0
	for t := int32(1); t <= f.tiers; t++ {
		y := f.rowY[t-1] + switchHigh/2
		f.s.rows = append(f.s.rows, margin{y: y, lines: wrap(plural(number[t], f.tierName(int(t))), 15)})
		for n := range f.g.Nodes {
			if f.tier[n] == t {
				f.gap(topology.NodeID(n), t, y)
				break
			}
		}
	}
	f.s.rows = append(f.s.rows, margin{y: f.hostY + below, lines: wrap(plural(len(f.domains), f.noun(f.domains[0])), 15)})
	if f.tiers > 0 {
		f.hostGap()
	}
	if n := len(f.orphans); n > 0 {
		f.s.notes = append(f.s.notes, margin{y: f.s.h - 12, lines: wrap(plural(n, "switch")+" that no host reaches: not drawn", noteLetters)})
	}
	f.s.spread()
}

// hostGap says what a host has to the network.
func (f *fabric) hostGap() {
	var links []topology.Link
	for _, n := range f.domains[0].nodes {
		for _, id := range f.out[n] {
			if l := f.g.Links[id]; f.tier[l.To] > 0 && !l.Down {
				links = append(links, l)
			}
		}
	}
	if len(links) == 0 {
		return
	}
	n, r, sum := each(links)
	m := margin{y: f.hostY - tierGap/2, family: network, line: true}
	m.lines = append(m.lines, fmt.Sprintf("%s: %s", f.g.Classes[links[0].Class].Name, times(n, r)))
	m.lines = append(m.lines, wrap(fmt.Sprintf("= %s each way for each %s", rate(sum), f.noun(f.domains[0])), noteLetters)...)
	f.s.notes = append(f.s.notes, m)
}

// gap says what a switch has upwards, and to its own tier.
func (f *fabric) gap(n topology.NodeID, tier int32, y float64) {
	var up, same []topology.Link
	var down sim.Rate
	for _, id := range f.out[n] {
		l := f.g.Links[id]
		switch t := f.tier[l.To]; {
		case l.Down:
		case t == tier:
			same = append(same, l)
		case t > tier:
			up = append(up, l)
		default:
			down += l.Rate
		}
	}
	say := func(links []topology.Link, y float64, where string, taper bool) {
		if len(links) == 0 {
			return
		}
		cables, r, sum := each(links)
		m := margin{y: y, family: network, line: true}
		m.lines = append(m.lines, fmt.Sprintf("%s: %s", f.g.Classes[links[0].Class].Name, times(cables, r)))
		m.lines = append(m.lines, wrap(fmt.Sprintf("= %s each way for each %s, to %s", rate(sum), f.tierName(int(tier)), where), noteLetters)...)
		if ratio := float64(down / sum); taper && ratio > 1.01 {
			m.lines = append(m.lines, fmt.Sprintf("oversubscribed %.3g : 1", ratio))
		}
		f.s.notes = append(f.s.notes, m)
	}
	if tier < f.tiers {
		say(up, (f.rowY[tier-1]+f.rowY[tier]+switchHigh)/2, plural(len(up), f.tierName(int(tier)+1)), true)
	}
	say(same, y, plural(len(same), "other")+" of its tier", false)
}
