package nccl

// hostKind numbers hosts by what is in them and wired to them: equal ones share
// a number. A fault makes a host of its own kind.
func (l *Library) hostKind(host int32) int32 {
	if l.kinds == nil {
		l.findKinds()
	}
	if host < 0 || int(host) >= len(l.kinds) {
		return -1
	}
	return l.kinds[host]
}

// findKinds hashes every host: its nodes and links, whatever their order.
func (l *Library) findKinds() {
	g := l.machine.Graph
	sums := make([]uint64, l.machine.Hosts)
	add := func(host int32, h uint64) {
		if host >= 0 && int(host) < len(sums) {
			sums[host] += stir(h)
		}
	}
	place := func(n int) uint64 {
		node := &g.Nodes[n]
		h := uint64(node.Kind)<<32 | uint64(uint32(node.Unit))
		if node.Down {
			h |= 1 << 63
		}
		return h
	}
	for i := range g.Nodes {
		add(g.Nodes[i].Host, place(i))
	}
	for i := range g.Links {
		k := &g.Links[i]
		h := stir(stir(place(int(k.From)))+place(int(k.To))) + uint64(k.Rate)
		h = stir(h+uint64(k.Latency)) + uint64(k.Class)<<32 + uint64(uint32(k.Width))
		if k.Down {
			h = ^h
		}
		from, to := g.Nodes[k.From].Host, g.Nodes[k.To].Host
		if from < 0 || to < 0 { // the number of a leaf's port tells nothing of a host
			h = stir(uint64(k.Rate)+1) + uint64(k.Class)<<32 + uint64(uint32(k.Width))
			if k.Down {
				h = ^h
			}
			if from >= 0 {
				h += stir(place(int(k.From)))
			} else {
				h += stir(place(int(k.To)) + 1)
			}
		}
		add(from, h)
		if to != from {
			add(to, h)
		}
	}
	seen := map[uint64]int32{}
	l.kinds = make([]int32, len(sums))
	for i, s := range sums {
		k, ok := seen[s]
		if !ok {
			k = int32(len(seen))
			seen[s] = k
		}
		l.kinds[i] = k
	}
}

// stir is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func stir(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
