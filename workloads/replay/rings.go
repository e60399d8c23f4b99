package replay

import "github.com/weft-sim/weft/workloads/collective"

// A ring over several hosts enters and leaves each host through one GPU, and
// so through one NIC. Libraries therefore run several rings at once, each with
// its part of the message, that go through every host from another GPU: ring q
// visits a host's ranks rotated by q. With as many rings as ranks on a host
// every NIC works. (NCCL does this with its channels; NVIDIA/nccl 2.30.7,
// src/graph/search.cc and connect.cc.)

// rings returns how many rings a ring algorithm runs in group g: one on a
// single host, else one for each rank that the least of the hosts has. A group
// that comes back to a host it has left is not laid out by hosts; it gets one.
func (j *job) rings(g groupID) int {
	runs := j.hostRuns(g)
	if len(runs) < 2 {
		return 1
	}
	seen := map[int32]bool{}
	n := runs[0].n
	ranks := j.ranksOf(g)
	for _, r := range runs {
		host := j.hostOf(ranks[r.at])
		if seen[host] {
			return 1
		}
		seen[host] = true
		n = min(n, r.n)
	}
	if j.opt.Rings > 0 {
		n = min(n, j.opt.Rings)
	}
	return n
}

// hostRun is a stretch of a group's ranks on one host.
type hostRun struct{ at, n int }

func (j *job) hostOf(rank int32) int32 { return j.mach.Graph.Nodes[j.mach.Ranks[rank]].Host }

// hostRuns cuts a group into stretches of ranks on one host.
func (j *job) hostRuns(g groupID) []hostRun {
	var runs []hostRun
	last := int32(-2)
	for i, r := range j.ranksOf(g) {
		if h := j.hostOf(r); len(runs) == 0 || h != last {
			runs = append(runs, hostRun{at: i})
			last = h
		}
		runs[len(runs)-1].n++
	}
	return runs
}

// eachRing calls f for every lane of the rings of group g: ring after ring.
func (j *job) eachRing(pt shape, g groupID, f func(lane int, a, b int32) error) error {
	ranks := j.ranksOf(g)
	n := len(ranks)
	if n < 2 {
		return nil
	}
	if pt.orders != nil {
		for q, ring := range *pt.orders {
			for i, at := range ring {
				if err := f(q*n+i, ranks[at], ranks[ring[(i+1)%n]]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	rings := j.ringsOf(pt, g)
	order := ranks
	var runs []hostRun
	if rings > 1 {
		order = make([]int32, n)
		runs = j.hostRuns(g)
	}
	for q := range rings {
		for _, r := range runs {
			for i := range r.n {
				order[r.at+i] = ranks[r.at+(i+q*r.n/rings)%r.n]
			}
		}
		for i := range n {
			if err := f(q*n+i, order[i], order[(i+1)%n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachChain calls f for every lane of the chains of a broadcast or reduce, chain
// after chain: each ring from the root on, or to it.
func eachChain(pt shape, ranks []int32, f func(lane int, a, b int32) error) error {
	n := len(ranks)
	for q, ring := range *pt.orders {
		first := 0
		for ring[first] != pt.root {
			first++
		}
		if pt.lanes == collective.ToRoot {
			first++
		}
		for i := range n - 1 {
			if err := f(q*(n-1)+i, ranks[ring[(first+i)%n]], ranks[ring[(first+i+1)%n]]); err != nil {
				return err
			}
		}
	}
	return nil
}

// ringsOf returns how many rings a shape runs in group g.
func (j *job) ringsOf(pt shape, g groupID) int {
	if pt.orders != nil {
		return len(*pt.orders)
	}
	if j.ringCount == nil {
		j.ringCount = make([][]int32, len(j.prog.Comms))
	}
	if j.ringCount[g.comm] == nil {
		j.ringCount[g.comm] = make([]int32, len(j.prog.Comms[g.comm].Groups))
	}
	c := &j.ringCount[g.comm][g.group]
	if *c == 0 {
		*c = int32(j.rings(g))
	}
	return int(*c)
}
