package nccl

// heads charges a channel of NVLS: its head twice, for what it reduces and for
// its own part, all others once.
func (k *walk) heads(g int) {
	n := len(k.gpus)
	times := func(i int) int32 {
		if i == g {
			return 2
		}
		return 1
	}
	in := 0
	for in < n && k.take(spotNVS, 0, spotGPU, in, times(in), 1) {
		in++
	}
	out := 0
	if in == n {
		for out < n && k.take(spotGPU, out, spotNVS, 0, times(out), 1) {
			out++
		}
		if out == n {
			k.pass(-1, n, goal{net: -1, first: -1})
		}
	}
	for out--; out >= 0; out-- {
		k.give(spotGPU, out, spotNVS, 0, times(out), 1)
	}
	for in--; in >= 0; in-- {
		k.give(spotNVS, 0, spotGPU, in, times(in), 1)
	}
}

// star charges a channel of direct in-network reduction: its head takes a part
// from every GPU, and sends one back.
func (k *walk) star(g int) {
	n := len(k.gpus)
	part := int32(max(1, n-1))
	out, in := 0, 0
	for out < n && k.take(spotGPU, g, spotGPU, out, 0, part) {
		out++
	}
	if out == n {
		for in < n && k.take(spotGPU, in, spotGPU, g, 0, part) {
			in++
		}
		if in == n {
			order := k.now.order[k.now.channels]
			step := 1
			for i := range n {
				if i != g {
					order[step] = int32(i)
					step++
				}
			}
			k.pass(-1, n, goal{net: -1, first: -1})
		}
	}
	for in--; in >= 0; in-- {
		k.give(spotGPU, in, spotGPU, g, 0, part)
	}
	for out--; out >= 0; out-- {
		k.give(spotGPU, g, spotGPU, out, 0, part)
	}
}

// take lays a channel, times over and divided, along a way, if the way is of
// the types allowed and wide enough. Several times, or 0 for a part whatever
// the type, it does not ask for the type.
func (k *walk) take(from spotKind, a int, to spotKind, b int, times, part int32) bool {
	w := k.to(k.kinds[from][a], to, b)
	if w.kind >= DIS {
		return false
	}
	rate, most := k.now.inter, k.now.kindInter
	if from != spotNet && to != spotNet {
		rate, most = k.now.intra, k.now.kindIntra
	}
	if times == 1 {
		if w.kind > most {
			return false
		}
		if p := k.now.pattern; p == BalancedTree || p == PlainTree || p == SplitTree {
			if k.to(k.kinds[to][b], from, a).kind > most {
				return false
			}
		}
	}
	rate = rate * max(times, 1) / part
	if laid := k.lay(w, from, len(w.edges), rate); laid < len(w.edges) {
		k.lay(w, from, laid, -rate)
		return false
	}
	k.now.hops += len(w.edges)
	return true
}

// give takes it back.
func (k *walk) give(from spotKind, a int, to spotKind, b int, times, part int32) {
	w := k.to(k.kinds[from][a], to, b)
	rate := k.now.inter
	if from != spotNet && to != spotNet {
		rate = k.now.intra
	}
	k.lay(w, from, len(w.edges), -rate*max(times, 1)/part)
	k.now.hops -= len(w.edges)
}

// lay takes a rate from the first links of a way and returns from how many it
// could. PCIe between GPUs over an Intel host bridge costs a fifth more;
// whatever a NIC writes into a GPU before Ampere costs an eighth on the way
// back.
func (k *walk) lay(w *way, from spotKind, count int, rate int32) int {
	pci := rate
	if w.host && from == spotGPU {
		pci = rate * 6 / 5
	}
	for i, id := range w.edges[:count] {
		e := &k.edges[id]
		cost := rate
		if e.kind == edgePCI {
			cost = pci
		}
		back := int32(0)
		if k.p.SM < 80 && from != spotGPU && k.spots[e.to].kind == spotGPU {
			back = cost / 8
		}
		if k.left[id] < cost || back != 0 && k.left[e.back] < back {
			return i
		}
		k.left[id] -= cost
		k.left[e.back] -= back
	}
	return count
}
