package fabric

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Route appends the hops from port a to port b (indices into the ports that
// Build was given) and returns their shares' denominator and the latency. ok
// is false if nothing joins them: different rails of a network of one tier, or
// links out of service.
func (f *Fabric) Route(a, b int32, buf []topology.Hop) (hops []topology.Hop, den int32, latency sim.Time, ok bool) {
	la, lb := f.leaf[a], f.leaf[b]
	up, down := f.up[a], f.down[b]
	r := route{hops: buf, start: len(buf), den: 1, a: a, b: b}
	// The ways between leaves come first, since only they know the shares.
	switch {
	case la == lb:
		ok = true
	case f.local != nil:
		ok = f.fly(&r, la, lb)
	case f.plan.spines == 0:
	case f.trunks:
		r.hops = append(r.hops, topology.Hop{Resource: topology.ResourceID(up), Share: 1}, topology.Hop{Resource: f.leafUp[la], Share: 1})
		r.latency = f.leafSpine
		if f.podUp != nil {
			if pa, pb := la/int32(f.plan.leavesPerPod), lb/int32(f.plan.leavesPerPod); pa != pb {
				r.latency += f.podCore
				r.hops = append(r.hops, topology.Hop{Resource: f.podUp[pa], Share: 1}, topology.Hop{Resource: f.podDown[pb], Share: 1})
			}
		}
		r.hops = append(r.hops, topology.Hop{Resource: f.leafDown[lb], Share: 1}, topology.Hop{Resource: topology.ResourceID(down), Share: 1})
		return r.hops, 1, r.latency + f.g.Links[up].Latency + f.g.Links[down].Latency, f.live(up) && f.live(down)
	case f.ecmp:
		ok = f.hashed(&r, la, lb)
	default:
		ok = f.sprayed(&r, la, lb)
	}
	if !ok || !f.live(up) || !f.live(down) {
		return buf, 1, 0, false
	}
	r.hops = append(r.hops, topology.Hop{Resource: topology.ResourceID(up), Share: r.den}, topology.Hop{Resource: topology.ResourceID(down), Share: r.den})
	// In order of travel for a reader.
	copy(r.hops[r.start+1:len(r.hops)-1], r.hops[r.start:len(r.hops)-2])
	r.hops[r.start] = topology.Hop{Resource: topology.ResourceID(up), Share: r.den}
	r.reduce()
	return r.hops, r.den, r.latency + f.g.Links[up].Latency + f.g.Links[down].Latency, true
}

// route is a way between two ports as it is put together.
type route struct {
	hops         []topology.Hop
	start        int // where the fabric's hops begin
	den          int32
	latency, way sim.Time // of the slowest way; of the one at hand
	a, b         int32
}

// add appends a link that carries share parts to the way at hand.
func (r *route) add(f *Fabric, share int32, l topology.LinkID) {
	r.put(share, topology.ResourceID(l))
	r.way += f.g.Links[l].Latency
}

func (r *route) put(share int32, res topology.ResourceID) {
	if share == 0 {
		return
	}
	for i := r.start; i < len(r.hops); i++ {
		if r.hops[i].Resource == res {
			r.hops[i].Share += share
			return
		}
	}
	r.hops = append(r.hops, topology.Hop{Resource: res, Share: share})
}

// lay is put for a link that no other way of the route takes: the ways of a
// Clos network, one for each spine and core, part at the leaf.
func (r *route) lay(share int32, res topology.ResourceID) {
	if share != 0 {
		r.hops = append(r.hops, topology.Hop{Resource: res, Share: share})
	}
}

// end closes a way.
func (r *route) end() { r.latency, r.way = max(r.latency, r.way), 0 }

func (r *route) reduce() {
	p := topology.Path{Hops: r.hops[r.start:], Den: r.den}
	p.Reduce()
	r.den = p.Den
}

func (f *Fabric) live(l topology.LinkID) bool { return !f.g.Links[l].Down }

// hash returns a number that is the same for both directions of a pair of
// ports (SplitMix64).
func (f *Fabric) hash(r *route, flow, salt int32) uint64 {
	x := f.seed
	for _, v := range [...]uint64{uint64(min(r.a, r.b))<<32 | uint64(max(r.a, r.b)), uint64(flow)<<32 | uint64(uint32(salt))} {
		x ^= v
		x += 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

// sprayed appends all ways between two leaves of a Clos network, by the links
// that both ends have to each spine. What enters a plane of cores is spread
// over those in service there.
func (f *Fabric) sprayed(r *route, la, lb int32) bool {
	p := &f.plan
	pa, pb := int(la)/p.leavesPerPod, int(lb)/p.leavesPerPod
	usable := func(s int) (width, cores int32) {
		width, cores = f.spineWidth(la, lb, s), 1
		if width > 0 && pa != pb && f.spineUp[pa][s] < 0 {
			if cores = f.coresWidth(pa, pb, s); cores == 0 {
				width = 0
			}
		}
		return width, cores
	}
	sum, parts := int32(0), int32(1)
	for s := range p.spines {
		if w, cores := usable(s); w > 0 {
			sum, parts = sum+w, lcm(parts, cores)
		}
	}
	if sum == 0 {
		return false
	}
	if r.den = sum * parts; f.coarse && topology.CoarseParts%r.den != 0 {
		r.den = topology.CoarseParts
	}
	spines := topology.Parts{Whole: r.den, Sum: sum}
	for s := range p.spines {
		w, cores := usable(s)
		if w == 0 {
			continue
		}
		share := spines.Next(w)
		r.way = 0
		if pa != pb {
			f.throughCores(r, pa, pb, s, share, cores)
		}
		r.way += f.g.Links[f.toSpines[la][s]].Latency + f.g.Links[f.toLeaf[lb][s]].Latency
		r.lay(share, topology.ResourceID(f.toSpines[la][s]))
		r.lay(share, topology.ResourceID(f.toLeaf[lb][s]))
		r.end()
	}
	return true
}

// spineWidth returns the cables that both leaves have to spine s of their
// pods.
func (f *Fabric) spineWidth(la, lb int32, s int) int32 {
	return f.both(f.toSpines[la][s], f.toLeaf[lb][s])
}

// coresWidth returns the cables that both pods have to the cores of plane s.
func (f *Fabric) coresWidth(pa, pb, s int) int32 {
	var n int32
	for c := s * f.plan.cores; c < (s+1)*f.plan.cores; c++ {
		n += f.both(f.toCores[pa][c], f.toPod[pb][c])
	}
	return n
}

// both returns the cables in service of the poorer of two links.
func (f *Fabric) both(x, y topology.LinkID) int32 {
	if !f.live(x) || !f.live(y) {
		return 0
	}
	return min(f.g.Links[x].Width, f.g.Links[y].Width)
}

// throughCores appends the ways of plane s, which carry share in all over so
// many cables, and leaves the latency of the slowest in r.way.
func (f *Fabric) throughCores(r *route, pa, pb, s int, share, cables int32) {
	first := s * f.plan.cores
	if f.spineUp[pa][s] >= 0 {
		r.lay(share, f.spineUp[pa][s])
		r.lay(share, f.spineDown[pb][s])
		r.way = f.g.Links[f.toCores[pa][first]].Latency + f.g.Links[f.toPod[pb][first]].Latency
		return
	}
	parts := topology.Parts{Whole: share, Sum: cables}
	for c := first; c < first+f.plan.cores; c++ {
		up, down := f.toCores[pa][c], f.toPod[pb][c]
		if w := f.both(up, down); w > 0 {
			part := parts.Next(w)
			r.lay(part, topology.ResourceID(up))
			r.lay(part, topology.ResourceID(down))
			r.way = max(r.way, f.g.Links[up].Latency+f.g.Links[down].Latency)
		}
	}
}

// hashed appends, for each flow of a pair of ports, the one way that its hash
// picks among those in service.
func (f *Fabric) hashed(r *route, la, lb int32) bool {
	p := &f.plan
	pa, pb := int(la)/p.leavesPerPod, int(lb)/p.leavesPerPod
	spine := func(s int) int32 {
		w := min(f.cables(f.toSpines[la], s, f.spineCables), f.cables(f.toLeaf[lb], s, f.spineCables))
		if w > 0 && pa != pb && f.count(p.cores, func(c int) int32 { return f.core(pa, pb, s, c) }) == 0 {
			return 0
		}
		return w
	}
	total := f.count(p.spines, spine)
	if total == 0 {
		return false
	}
	r.den = f.flows
	for flow := range f.flows {
		s := pick(p.spines, spine, f.hash(r, flow, -1)%uint64(total))
		r.add(f, 1, f.cable(r, flow, la, f.toSpines[la], s, f.spineCables))
		if pa != pb {
			core := func(c int) int32 { return f.core(pa, pb, s, c) }
			c := s*p.cores + pick(p.cores, core, f.hash(r, flow, -2)%uint64(f.count(p.cores, core)))
			r.add(f, 1, f.cable(r, flow, int32(p.leaves+pa), f.toCores[pa], c, f.coreCables))
			r.add(f, 1, f.cable(r, flow, int32(p.leaves+pb), f.toPod[pb], c, f.coreCables))
		}
		r.add(f, 1, f.cable(r, flow, lb, f.toLeaf[lb], s, f.spineCables))
		r.end()
	}
	return true
}

// core returns the cables that both pods have to core c of plane s.
func (f *Fabric) core(pa, pb, s, c int) int32 {
	c += s * f.plan.cores
	return min(f.cables(f.toCores[pa], c, f.coreCables), f.cables(f.toPod[pb], c, f.coreCables))
}

// cables returns how many of the parallel links to switch k are in service.
func (f *Fabric) cables(links []topology.LinkID, k, parallel int) int32 {
	var n int32
	for _, l := range links[k*parallel : (k+1)*parallel] {
		if f.live(l) {
			n++
		}
	}
	return n
}

// cable picks one of the parallel links to switch k; both directions of a
// pair pick the same one at each end.
func (f *Fabric) cable(r *route, flow, end int32, links []topology.LinkID, k, parallel int) topology.LinkID {
	at := f.hash(r, flow, end) % uint64(f.cables(links, k, parallel))
	for _, l := range links[k*parallel : (k+1)*parallel] {
		if !f.live(l) {
			continue
		}
		if at == 0 {
			return l
		}
		at--
	}
	return none
}

func (f *Fabric) count(n int, weight func(int) int32) int32 {
	var sum int32
	for i := range n {
		sum += weight(i)
	}
	return sum
}

// pick returns the first i with more than at of the weights up to it.
func pick(n int, weight func(int) int32, at uint64) int {
	for i := range n {
		w := uint64(weight(i))
		if at < w {
			return i
		}
		at -= w
	}
	return n - 1
}

func lcm(a, b int32) int32 { return a / gcd(a, b) * b }

func gcd(a, b int32) int32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
