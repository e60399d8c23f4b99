package nccl

// peersOf finds how the members reach one another, for sends and receives: the
// fewest NVLinks of two GPUs of a node, and the NICs of the GPU with the least.
func (s *searcher) peersOf() Peers {
	p := Peers{Links: -1}
	each := mega(LinkRate(s.v, s.p.SM))
	for i, w := range s.views {
		if w.like != nil && i > 0 {
			continue
		}
		users := make([]int, len(w.nets)) // GPUs that send by each port
		if w.inter {
			for g := range w.gpus {
				for _, n := range w.ownNets(g) {
					users[n]++
				}
			}
		}
		for g := range w.gpus {
			for k := range w.gpus {
				if k == g {
					continue
				}
				links := 0
				if path := w.gpuWay(k, g); path.kind == NVL {
					links = max(1, int(path.rate/each))
				}
				if p.Links < 0 || links < p.Links {
					p.Links = links
				}
			}
			if !w.inter {
				continue
			}
			nets, rate := w.ownNets(g), 0.
			for _, n := range nets {
				rate += float64(w.outWay(g, n).rate) / 1000 / float64(max(1, users[n]))
			}
			if p.NICs == 0 || rate < p.NICRate {
				p.NICs, p.NICRate = len(nets), rate
			}
		}
	}
	p.Links = max(p.Links, 0)
	return p
}
