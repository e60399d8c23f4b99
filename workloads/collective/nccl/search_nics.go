package nccl

import "slices"

// peerLevel is how far GPUs reach each other.
func (w *view) peerLevel() PathType {
	switch {
	case w.env.NoP2P:
		return LOC
	case w.env.P2PLevel != nil:
		return *w.env.P2PLevel
	case w.p.CPU == AMD && len(w.gpus) <= 2:
		return SYS
	}
	return PXB
}

// peers leads GPUs that do not reach each other over the receiver's CPU, and
// finds those that meet over the network only.
func (w *view) peers() {
	n := len(w.gpus)
	level := w.peerLevel()
	w.apart = make([]bool, n*n)
	for g := range w.gpus {
		for p := range w.gpus {
			kind := w.gpuWay(p, g).kind
			direct := kind <= level && !(w.p.NoP2P && kind > NVB)
			if !direct {
				if cpu := w.cpuOf(g); cpu >= 0 {
					w.through(w.gpu(p), cpu, spotGPU, g)
				}
			}
			if p != g && (!direct && w.env.NoSHM || kind != NVB && w.netFaster(p, g)) {
				w.apart[g*n+p], w.apart[p*n+g] = true, true
			}
		}
	}
}

// netFaster reports whether both of two GPUs have a NIC at hand that is faster
// than the way between them.
func (w *view) netFaster(a, b int) bool {
	if w.env.NoNetIntra {
		return false
	}
	between := w.gpuWay(a, b).rate
	for _, g := range []int{a, b} {
		near := int32(0)
		for n := range w.nets {
			if p := w.outWay(g, n); p.kind <= PXB {
				near = max(near, p.rate)
			}
		}
		if near <= between {
			return false
		}
	}
	return true
}

// mayPart rules out, without a look at paths, that GPUs meet over the network:
// NVLink to switches is faster than any NIC.
func (w *view) mayPart() bool {
	if len(w.gpus) == 1 || len(w.nets) == 0 && !w.env.NoSHM {
		return false
	}
	for _, g := range w.kinds[spotGPU] {
		if !slices.ContainsFunc(w.spots[g].edges, func(e int32) bool { return w.spots[w.edges[e].to].kind == spotNVS }) {
			return true
		}
	}
	return w.peerLevel() < NVL
}

// parts are the GPUs that meet without the network.
func (w *view) parts() [][]int {
	n := len(w.gpus)
	domain := make([]int, n)
	for g := range domain {
		domain[g] = g
		for p := range g {
			if !w.apart[g*n+p] {
				domain[g] = min(domain[g], domain[p])
			}
		}
	}
	var parts [][]int
	for d := range n {
		var part []int
		for g := range domain {
			if domain[g] == d {
				part = append(part, g)
			}
		}
		if part != nil {
			parts = append(parts, part)
		}
	}
	return parts
}

// chips names the way to a near NIC that begins with a chip-to-chip link.
func (w *view) chips() {
	for g := range w.gpus {
		cpu := w.cpuOf(g)
		if cpu < 0 {
			continue
		}
		c := int(w.spots[cpu].index)
		for _, n := range w.localTo(w.gpu(g), spotNet) {
			if w.merged(w.to(w.gpu(g), spotCPU, c).kind, w.to(w.net(n), spotCPU, c).kind) == P2C {
				out, back := w.outWay(g, n), w.backWay(n, g)
				out.kind, back.kind = min(P2C, out.kind), min(P2C, back.kind)
			}
		}
	}
}

// direct reports whether a NIC reaches the memory of a GPU (GPUDirect RDMA);
// send says that it reads it.
func (w *view) direct(g, n int, send bool) bool {
	if w.p.NoGDR {
		return false
	}
	if send {
		if read := w.env.GDRRead; read != nil && *read == 0 || read == nil && w.p.SM < 80 && !w.readable(g) {
			return false
		}
	}
	kind := w.outWay(g, n).kind
	if kind == PXN {
		kind = w.outWay(int(w.relayOf(g, n)), n).kind
	}
	return kind <= w.directLevel()
}

// directLevel is how far a NIC may be from a GPU whose memory it reaches.
func (w *view) directLevel() PathType {
	if w.env.GDRLevel != nil {
		return *w.env.GDRLevel
	}
	on := !w.v.before(27)
	if w.env.GDRC2C != nil {
		on = *w.env.GDRC2C == 1
	}
	if on {
		return P2C
	}
	return PXB
}

// readable reports whether NICs read a GPU before Ampere: with NVLink its
// PCIe is free for them.
func (w *view) readable(g int) bool {
	for p := range w.gpus {
		if p != g && w.gpuWay(g, p).kind == NVL {
			return true
		}
	}
	return len(w.gpus) == 1
}

// relayOf returns the GPU that a way from GPU g passes, g itself if none.
func (w *view) relayOf(g, n int) int32 {
	for _, e := range w.outWay(g, n).edges {
		if s := w.spots[w.edges[e].to]; s.kind == spotGPU {
			return s.index
		}
	}
	return int32(g)
}

// relays leads GPUs to a NIC over the GPU beside it where that is better, and
// over the CPU where the NIC does not reach the GPU's memory.
func (w *view) relays() {
	reach := PXB
	if c2c := w.env.PXNC2C; c2c != nil && *c2c == 1 || c2c == nil && !w.v.before(28) {
		reach = P2C
	}
	for n := range w.nets {
		for g := range w.gpus {
			if p := int(w.gpuOfNet(n)); !w.env.NoPXN && p >= 0 && p != g {
				own, theirs := w.outWay(g, n), w.outWay(p, n)
				if theirs.kind <= reach && w.direct(p, n, true) && w.gpuWay(p, g).kind <= NVL &&
					w.spots[w.gpu(p)].tray == w.spots[w.gpu(g)].tray && (theirs.rate > own.rate || own.kind > PXN) {
					w.through(w.gpu(g), w.gpu(p), spotNet, n)
				}
			}
			if w.outWay(g, n).kind < PHB && !w.direct(g, n, false) {
				if cpu := w.cpuOf(g); cpu >= 0 {
					w.through(w.net(n), cpu, spotGPU, g)
					w.through(w.gpu(g), cpu, spotNet, n)
				}
			}
		}
	}
}

// ownNets are the ports that a GPU uses by itself, in the order of channels:
// those nearest to it, from another one on for each GPU that shares them.
func (w *view) ownNets(g int) []int {
	near := w.localTo(w.gpu(g), spotNet)
	if len(near) == 0 {
		return nil
	}
	sharers := len(w.localTo(w.net(near[0]), spotGPU))
	first := int(w.dev[g]) % max(1, sharers)
	if n := len(near); n&(n-1) == 0 {
		mirror := 0
		for b, m := 1, n>>1; b < n; b, m = b<<1, m>>1 {
			if first&b != 0 {
				mirror |= m
			}
		}
		first = mirror
	}
	each := (len(near) + sharers - 1) / max(1, sharers)
	switch policy := w.env.NetsPerGPU; {
	case policy < 0:
		each = len(near)
	case policy > 0:
		each = min(policy, len(near))
	}
	own := make([]int, each)
	for c := range own {
		own[c] = near[(first+c)%len(near)]
	}
	return own
}

// gpuOfNet returns the first of the GPUs beside a port that uses it, -1 if
// none does.
func (w *view) gpuOfNet(n int) int32 {
	near := w.localTo(w.net(n), spotGPU)
	own := make([][]int, len(near))
	most := 0
	for i, g := range near {
		own[i] = w.ownNets(g)
		most = max(most, len(own[i]))
	}
	for c := range most {
		for i, g := range near {
			if len(own[i]) > 0 && own[i][c%len(own[i])] == n {
				return int32(g)
			}
		}
	}
	return -1
}

// order returns the ports to try: those that the GPUs use first, then others
// of ways up to a type. gpu -1 is all GPUs.
func (w *view) order(kind PathType, gpu int) []int {
	var all []int
	var have indexSet
	add := func(n int) {
		if !have.has(n) {
			have.add(n)
			all = append(all, n)
		}
	}
	gpus := []int{gpu}
	if gpu < 0 {
		gpus = gpus[:0]
		for g := range w.gpus {
			gpus = append(gpus, g)
		}
	}
	own := make([][]int, len(gpus))
	rounds := 0
	for i, g := range gpus {
		own[i] = w.ownNets(g)
		rounds = max(rounds, len(own[i]))
	}
	if w.trays > 1 { // over racks, one port of every GPU before the second of any
		for c := range rounds {
			for i := range gpus {
				if c < len(own[i]) {
					add(own[i][c])
				}
			}
		}
	} else {
		for i := range gpus {
			for _, n := range own[i] {
				add(n)
			}
		}
	}
	most := len(w.nets)
	if policy := w.env.NetsPerGPU; policy > 0 {
		most = policy * len(gpus)
	}
	for t := LOC; t <= kind && len(all) < most; t++ {
		for _, g := range gpus {
			for n := range w.nets {
				if len(all) < most && w.outWay(g, n).kind == t {
					add(n)
				}
			}
		}
	}
	return all
}

// indexSet is a set of small numbers.
type indexSet []uint64

func (s *indexSet) add(n int) {
	for len(*s) <= n/64 {
		*s = append(*s, 0)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

func (s indexSet) has(n int) bool { return n/64 < len(s) && s[n/64]>>(n%64)&1 == 1 }
