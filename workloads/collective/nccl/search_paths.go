package nccl

import "slices"

// way is a path from one spot to another.
type way struct {
	edges []int32
	kind  PathType
	rate  int32
	host  bool // over the host bridge of an Intel CPU, from one PCIe slot to another
}

// local is the rate of a spot to itself.
const local = 5_000_000

// paths finds the best ways between all that matter, and then bends those that
// NCCL does not take straight.
//
// Source: NVIDIA/nccl 2.30.7, src/graph/paths.cc, written down anew.
func (w *view) paths() {
	for _, k := range []spotKind{spotCPU, spotGPU, spotNet, spotNVS} {
		for _, base := range w.kinds[k] {
			w.reach(base)
		}
	}
	w.rates()
	w.peers()
	w.chips()
	w.relays()
	w.netGPU = make([]int32, len(w.nets))
	for n := range w.netGPU {
		w.netGPU[n] = w.gpuOfNet(n)
	}
	w.hosts()
}

// hosts marks ways between GPUs and NICs that cross an Intel host bridge.
func (w *view) hosts() {
	if w.p.CPU != Intel {
		return
	}
	for _, g := range w.kinds[spotGPU] {
		for _, k := range []spotKind{spotGPU, spotNet} {
			for i := range w.spots[g].ways[k] {
				p := &w.spots[g].ways[k][i]
				p.host = p.kind == PHB && slices.ContainsFunc(p.edges, func(e int32) bool { return w.spots[w.edges[e].to].kind == spotCPU })
			}
		}
	}
}

// to returns the way from a spot to the one of a kind and index.
func (w *view) to(from int32, k spotKind, index int) *way {
	if w.spots[from].ways[k] == nil {
		all := make([]way, len(w.kinds[k]))
		for i := range all {
			all[i].kind = DIS
		}
		w.spots[from].ways[k] = all
	}
	return &w.spots[from].ways[k][index]
}

func (w *view) gpu(g int) int32 { return w.kinds[spotGPU][g] }
func (w *view) net(n int) int32 { return w.kinds[spotNet][n] }

// gpuWay and the others are ways between GPUs, and between them and ports.
func (w *view) gpuWay(a, b int) *way  { return w.to(w.gpu(a), spotGPU, b) }
func (w *view) outWay(g, n int) *way  { return w.to(w.gpu(g), spotNet, n) }
func (w *view) backWay(n, g int) *way { return w.to(w.net(n), spotGPU, g) }

// reach finds the ways from everywhere to a base: the better type first, then
// the higher rate, then fewer links. A way passes a GPU only from NVLink to
// NVLink, and one at most.
func (w *view) reach(base int32) {
	k, index := w.spots[base].kind, int(w.spots[base].index)
	*w.to(base, k, index) = way{kind: LOC, rate: local}
	for now := []int32{base}; len(now) > 0; {
		var next []int32
		for _, at := range now {
			for _, e := range w.spots[at].edges {
				if w.step(at, base, k, index, w.edges[e]) {
					if to := w.edges[e].to; !slices.Contains(next, to) {
						next = append(next, to)
					}
				}
			}
		}
		now = next
	}
}

// step offers the far end of an edge the way of its near end.
func (w *view) step(at, base int32, k spotKind, index int, e edge) bool {
	here, there := &w.spots[at], &w.spots[e.to]
	path := *w.to(at, k, index)
	throughGPU := at != base && here.kind == spotGPU
	if throughGPU && (e.kind != edgeNVL || there.kind != spotGPU || len(path.edges) > 1 || w.env.NoNVB) {
		return false
	}
	kind := path.kind
	switch {
	case e.kind == edgeNVL && throughGPU && path.kind == NVL:
		kind = max(kind, NVB)
	case e.kind == edgeNVL:
		kind = max(kind, NVL)
	case e.kind == edgeC2C:
		kind = max(kind, C2C)
	case e.kind == edgeSYS:
		kind = max(kind, SYS)
	case e.kind == edgePCI && (here.kind == spotCPU || there.kind == spotCPU):
		kind = max(kind, PHB)
	case e.kind == edgePCI && here.kind == spotPCI && there.kind == spotPCI:
		kind = max(kind, PXB)
	case e.kind == edgePCI:
		kind = max(kind, PIX)
	}
	rate := min(path.rate, e.rate)
	have := w.to(e.to, k, index)
	better := kind < have.kind || kind == have.kind && (rate > have.rate || rate == have.rate && len(have.edges) > len(path.edges)+1)
	if !better {
		return false
	}
	edges := make([]int32, 1, len(path.edges)+1)
	edges[0] = e.back
	*have = way{edges: append(edges, path.edges...), kind: kind, rate: rate}
	return true
}

// rates notes the fastest way of a GPU outwards, and the sum of its links.
func (w *view) rates() {
	if !w.inter && len(w.gpus) == 1 {
		w.most, w.total = local, local
		return
	}
	for g := range w.gpus {
		if w.inter {
			for n := range w.nets {
				w.most = max(w.most, w.outWay(g, n).rate)
			}
		} else {
			for p := range w.gpus {
				if p != g {
					w.most = max(w.most, w.gpuWay(g, p).rate)
				}
			}
		}
		nvl, pci := int32(0), int32(0)
		for _, e := range w.spots[w.gpu(g)].edges {
			switch w.edges[e].kind {
			case edgeNVL:
				nvl += w.edges[e].rate
			case edgePCI:
				pci = w.edges[e].rate
			}
		}
		w.total = max(w.total, nvl, pci)
	}
}

// through replaces the way from a to the index-th spot of a kind by one that
// passes a spot between.
func (w *view) through(a, between int32, k spotKind, index int) {
	s := w.spots[between]
	first, second := *w.to(a, s.kind, int(s.index)), *w.to(between, k, index)
	kind := w.merged(first.kind, second.kind)
	if s.kind == spotGPU {
		kind = PXN
	}
	edges := append(append(make([]int32, 0, len(first.edges)+len(second.edges)), first.edges...), second.edges...)
	*w.to(a, k, index) = way{edges: edges, kind: kind, rate: min(first.rate, second.rate)}
}

// merged is the type of two ways one after the other: C2C to the CPU and PCIe
// from there on are a type of their own since 2.27.
func (w *view) merged(a, b PathType) PathType {
	if max(a, b) == PHB && min(a, b) == C2C && !w.v.before(27) {
		return P2C
	}
	return max(a, b)
}

// localTo returns which spots of a kind are nearest: the highest rate, and
// then the best type.
func (w *view) localTo(from int32, k spotKind) []int {
	var all []int
	rate, kind := int32(0), DIS
	for i := range w.kinds[k] {
		p := w.to(from, k, i)
		if p.rate > rate || p.rate == rate && p.kind < kind {
			rate, kind, all = p.rate, p.kind, all[:0]
		}
		if p.rate == rate && p.kind == kind {
			all = append(all, i)
		}
	}
	if rate == 0 {
		return nil
	}
	return all
}

// cpuOf returns the CPU that a GPU is nearest to.
func (w *view) cpuOf(g int) int32 {
	near := w.localTo(w.gpu(g), spotCPU)
	if len(near) == 0 {
		return -1
	}
	best := near[0]
	for _, c := range near[1:] {
		if len(w.to(w.gpu(g), spotCPU, c).edges) < len(w.to(w.gpu(g), spotCPU, best).edges) {
			best = c
		}
	}
	return w.kinds[spotCPU][best]
}
