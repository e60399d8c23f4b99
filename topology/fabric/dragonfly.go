package fabric

import (
	"fmt"
	"slices"

	"github.com/weft-sim/weft/topology"
)

// bundle is the cables that join one switch of a group and one of another.
type bundle struct {
	from, to int32 // leaves
	link     topology.LinkID
}

// planGroups lays out a dragonfly: pods are its groups.
func (s *Spec) planGroups(p *plan, hosts, ports int) error {
	if s.Rails > 0 {
		p.rails = s.Rails
	}
	if p.hostsPerLeaf == 0 {
		// Balanced, a switch of 4 p - 1 ports has p to hosts (Kim et al., 2008).
		p.hostsPerLeaf = max(1, (s.Radix+1)/4/max(1, s.down(p, 1, ports)))
	}
	p.hostsPerLeaf = min(p.hostsPerLeaf, hosts)
	sets := (hosts + p.hostsPerLeaf - 1) / p.hostsPerLeaf
	p.leaves = sets * p.rails
	down := s.down(p, p.hostsPerLeaf, ports)
	p.leavesPerPod = s.LeavesPerPod
	if p.leavesPerPod == 0 {
		p.leavesPerPod = 2 * down
	}
	p.leavesPerPod = min(p.leavesPerPod, p.leaves)
	p.pods = (p.leaves + p.leavesPerPod - 1) / p.leavesPerPod
	p.local, p.global = max(1, s.LocalLinks), s.GlobalLinks
	if p.pods == 1 {
		p.global = 0
	} else if p.global == 0 {
		p.global = max(1, up(p.leavesPerPod*down, s.Oversubscription)/(p.pods-1))
	}
	outward := (p.global*(p.pods-1) + p.leavesPerPod - 1) / p.leavesPerPod
	if n := down + p.local*(p.leavesPerPod-1) + outward; s.Radix > 0 && n > s.Radix {
		return fmt.Errorf("fabric: a switch needs %d ports to hosts, %d within its group and %d to other groups, its radix is %d; use smaller groups or fewer hosts per leaf",
			down, p.local*(p.leavesPerPod-1), outward, s.Radix)
	}
	return nil
}

// groups joins all leaves of a group, and every two groups. The cables of a
// group to the others, in their order, are dealt over its switches in turn.
func (b *builder) groups(leaves []topology.NodeID) {
	p, f := &b.f.plan, b.f
	f.local = make([][]topology.LinkID, p.leaves)
	size := func(group int) int { return min(p.leavesPerPod, p.leaves-group*p.leavesPerPod) }
	for x := range leaves {
		f.local[x] = slices.Repeat([]topology.LinkID{none}, size(x/p.leavesPerPod))
	}
	for x := range leaves {
		first := x / p.leavesPerPod * p.leavesPerPod
		for y := x + 1; y < first+len(f.local[x]); y++ {
			f.local[x][y-first], f.local[y][x-first] = b.join(leaves[x], leaves[y], p.local)
		}
	}
	f.global = make([][][]bundle, p.pods)
	for i := range f.global {
		f.global[i] = make([][]bundle, p.pods)
	}
	b.cable = b.s.global()
	for i := range p.pods {
		for j := i + 1; j < p.pods; j++ {
			// j is the (j-1)-th other group of i, i the i-th of j.
			width := map[[2]int32]int{}
			var order [][2]int32
			for k := range p.global {
				ends := [2]int32{
					int32(i*p.leavesPerPod + ((j-1)*p.global+k)%size(i)),
					int32(j*p.leavesPerPod + (i*p.global+k)%size(j)),
				}
				if width[ends] == 0 || b.s.Spread == ECMP {
					order = append(order, ends)
				}
				width[ends]++
			}
			for _, ends := range order {
				n := width[ends]
				if b.s.Spread == ECMP {
					n = 1
				}
				there, back := b.join(leaves[ends[0]], leaves[ends[1]], n)
				f.global[i][j] = append(f.global[i][j], bundle{ends[0], ends[1], there})
				f.global[j][i] = append(f.global[j][i], bundle{ends[1], ends[0], back})
			}
		}
	}
}

// fly appends the ways between two leaves of a dragonfly: within a group the
// link between the two; else minimal, local, global, local, over all cables
// between the groups in proportion. Where these are out of service it takes
// the shortest detour.
func (f *Fabric) fly(r *route, la, lb int32) bool {
	per := int32(f.plan.leavesPerPod)
	ga, gb := la/per, lb/per
	if ga == gb {
		if l := f.local[la][lb%per]; f.live(l) {
			r.add(f, 1, l)
			r.end()
			return true
		}
		return f.detour(r, la, lb)
	}
	usable := func(b bundle) bool {
		return f.live(b.link) && (b.from == la || f.live(f.local[la][b.from%per])) && (b.to == lb || f.live(f.local[b.to][lb%per]))
	}
	var total int32
	for _, b := range f.global[ga][gb] {
		if usable(b) {
			total += f.g.Links[b.link].Width
		}
	}
	if total == 0 {
		return f.detour(r, la, lb)
	}
	take := func(b bundle, share int32) {
		if b.from != la {
			r.add(f, share, f.local[la][b.from%per])
		}
		r.add(f, share, b.link)
		if b.to != lb {
			r.add(f, share, f.local[b.to][lb%per])
		}
		r.end()
	}
	r.den = 1
	if f.ecmp {
		r.den = f.flows
		for flow := range f.flows {
			at := int32(f.hash(r, flow, 0) % uint64(total))
			for _, b := range f.global[ga][gb] {
				if !usable(b) {
					continue
				}
				if at -= f.g.Links[b.link].Width; at < 0 {
					take(b, 1)
					break
				}
			}
		}
		return true
	}
	r.den = total
	for _, b := range f.global[ga][gb] {
		if usable(b) {
			take(b, f.g.Links[b.link].Width)
		}
	}
	return true
}

// detour appends the shortest way between two leaves that is in service, the
// one over the lowest numbers among equals. The way back is the same.
func (f *Fabric) detour(r *route, la, lb int32) bool {
	from, to := min(la, lb), max(la, lb)
	came := make([]struct {
		leaf       int32
		link, back topology.LinkID
	}, f.plan.leaves)
	for i := range came {
		came[i].leaf = -1
	}
	came[from].leaf = from
	queue := []int32{from}
	visit := func(x, y int32, link, back topology.LinkID) {
		if came[y].leaf < 0 && f.live(link) && f.live(back) {
			came[y].leaf, came[y].link, came[y].back = x, link, back
			queue = append(queue, y)
		}
	}
	per := int32(f.plan.leavesPerPod)
	for len(queue) > 0 && came[to].leaf < 0 {
		x := queue[0]
		queue = queue[1:]
		group := x / per
		for i, l := range f.local[x] {
			if y := group*per + int32(i); y != x {
				visit(x, y, l, f.local[y][x%per])
			}
		}
		for other := range f.global[group] {
			for k, b := range f.global[group][other] {
				if b.from == x {
					visit(x, b.to, b.link, f.global[other][group][k].link)
				}
			}
		}
	}
	if came[to].leaf < 0 {
		return false
	}
	for y := to; y != from; y = came[y].leaf {
		l := came[y].link
		if la == to {
			l = came[y].back
		}
		r.add(f, 1, l)
	}
	r.end()
	return true
}
