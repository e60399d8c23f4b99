package fabric

import (
	"github.com/weft-sim/weft/topology"
)

// Reroute returns the network on a graph where links are slower, later,
// narrower or out of service; f must be as it was built. Slower links keep
// their shares. Where links between switches are missing, the shares follow
// what is left, for each pair of leaves: in a network of two tiers whose
// leaves all lost the same spine new trunks are added to g, else all ways are
// listed one by one. coarse rounds these to [topology.CoarseParts].
func (f *Fabric) Reroute(g *topology.Graph, coarse bool) *Fabric {
	n := *f
	n.g, n.coarse = g, coarse
	look := func(l topology.LinkID) {
		if l != none {
			was, is := f.g.Links[l], g.Links[l]
			n.missing = n.missing || is.Down || is.Width != was.Width
			n.late = n.late || is.Latency != was.Latency
		}
	}
	for _, sets := range [][][]topology.LinkID{f.toSpines, f.toLeaf, f.toCores, f.toPod, f.local} {
		for _, links := range sets {
			for _, l := range links {
				look(l)
			}
		}
	}
	for _, groups := range f.global {
		for _, bundles := range groups {
			for _, b := range bundles {
				look(b.link)
			}
		}
	}
	switch {
	case !f.trunks, !n.missing && !n.late:
	case !n.late && f.plan.cores == 0 && n.sameSpines():
		n.AddTrunks(g)
	default:
		n.trunks = false
		n.spineTrunks()
	}
	return &n
}

// sameSpines reports whether all leaves have the same links to the same
// spines.
func (f *Fabric) sameSpines() bool {
	for i, links := range f.toSpines {
		for s, l := range links {
			if f.both(l, f.toLeaf[i][s]) != f.both(f.toSpines[0][s], f.toLeaf[0][s]) {
				return false
			}
		}
	}
	return f.count(f.plan.spines, func(s int) int32 { return f.both(f.toSpines[0][s], f.toLeaf[0][s]) }) > 0
}

// spineTrunks adds a trunk from each spine to its cores and back, except in
// planes where a link is missing, narrower or late: there pairs of pods differ.
func (f *Fabric) spineTrunks() {
	p := &f.plan
	for pod := range f.toCores {
		f.spineUp = append(f.spineUp, make([]topology.ResourceID, p.spines))
		f.spineDown = append(f.spineDown, make([]topology.ResourceID, p.spines))
		for s := range p.spines {
			f.spineUp[pod][s], f.spineDown[pod][s] = -1, -1
		}
	}
	for s := range p.spines {
		if !f.evenPlane(s) {
			continue
		}
		for pod := range f.toCores {
			f.spineUp[pod][s] = f.trunk(f.g, f.toCores[pod][s*p.cores:(s+1)*p.cores])
			f.spineDown[pod][s] = f.trunk(f.g, f.toPod[pod][s*p.cores:(s+1)*p.cores])
		}
	}
}

func (f *Fabric) evenPlane(s int) bool {
	if f.plan.cores == 0 {
		return false
	}
	first := f.g.Links[f.toCores[0][s*f.plan.cores]]
	for pod := range f.toCores {
		for c := s * f.plan.cores; c < (s+1)*f.plan.cores; c++ {
			for _, id := range [...]topology.LinkID{f.toCores[pod][c], f.toPod[pod][c]} {
				if l := f.g.Links[id]; l.Down || l.Width != first.Width || l.Latency != first.Latency {
					return false
				}
			}
		}
	}
	return true
}

// Denominator returns the least common denominator of the paths between all
// leaves, or more than limit.
func (f *Fabric) Denominator(limit int64) int64 {
	if !f.missing && !f.late || f.trunks || f.ecmp {
		return 1
	}
	of := make([]int32, len(f.switches))
	for port, leaf := range f.leaf {
		of[leaf] = int32(port)
	}
	den := int64(1)
	var buf []topology.Hop
	for i, a := range of {
		for _, b := range of[i+1:] {
			hops, d, _, ok := f.Route(a, b, buf[:0])
			if buf = hops; ok && den%int64(d) != 0 {
				if den *= int64(d) / int64(gcd(int32(den%int64(d)), d)); den > limit {
					return den
				}
			}
		}
	}
	return den
}

// Port returns the links of a port to its leaf and back.
func (f *Fabric) Port(i int32) (up, down topology.LinkID) { return f.up[i], f.down[i] }

// Leaf returns the number of the switch that a port is cabled to.
func (f *Fabric) Leaf(port int32) int32 { return f.leaf[port] }

// Leaves returns how many switches have ports of hosts.
func (f *Fabric) Leaves() int { return len(f.switches) }

// Missing reports whether links between switches are out of service or
// narrower than as built.
func (f *Fabric) Missing() bool { return f.missing }

// Apart returns two ports in service that nothing joins any more, if there
// are any on leaves between which need says that traffic passes: one for each
// leaf is looked at.
func (f *Fabric) Apart(need func(x, y int32) bool) (a, b int32, apart bool) {
	if !f.missing {
		return 0, 0, false
	}
	of := make([]int32, len(f.switches))
	for i := range of {
		of[i] = -1
	}
	for port, l := range f.leaf {
		if of[l] < 0 && f.live(f.up[port]) && f.live(f.down[port]) {
			of[l] = int32(port)
		}
	}
	var buf []topology.Hop
	for x, a := range of {
		for y := x + 1; a >= 0 && y < len(of); y++ {
			b := of[y]
			if b < 0 || !need(int32(x), int32(y)) {
				continue
			}
			hops, _, _, ok := f.Route(a, b, buf[:0])
			if !ok {
				return a, b, true
			}
			buf = hops
		}
	}
	return 0, 0, false
}
