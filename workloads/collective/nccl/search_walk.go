package nccl

// layout is a set of channels that fits on a node: what the search is after.
type layout struct {
	pattern      Pattern
	cross        int // may channels leave by another NIC: 0 no, 1 yes, 2 in pairs
	channels     int
	intra, inter int32 // MB/s of a channel
	kindIntra    PathType
	kindInter    PathType
	same         bool // every channel repeats the first
	hops         int
	least, limit int        // channels
	order        [][]int32  // GPUs of each channel
	nets         [][2]int32 // ports by which each comes and goes
}

// keep copies what was found, with all that is only lent to the walk.
func (l *layout) keep(from *layout) {
	order, nets := l.order, l.nets
	*l = *from
	l.order, l.nets = order[:0], append(nets[:0], from.nets[:from.channels]...)
	for c := range from.channels {
		var old []int32
		if c < cap(order) {
			old = order[:c+1][c]
		}
		l.order = append(l.order, append(old[:0], from.order[c]...))
	}
}

// walk is one attempt: it lays channel after channel over what is left of the
// links, and keeps the best set. It gives up when its steps are used up.
//
// Source: NVIDIA/nccl 2.30.7, src/graph/search.cc, written down anew. Which of
// equally good sets is found depends on the order of trials and on the steps
// allowed, so both are NCCL's.
type walk struct {
	*view
	now     layout
	best    *layout
	left    []int32      // MB/s of each edge
	netLeft []int32      // of each port
	used    []uint64     // channels that pass a GPU, as bits
	steps   int          // left; perfect is that nothing better can come
	ports   [DIS][][]int // to try, by type of way and GPU (0 is all of them)
	near    [][]int      // GPUs next to each port
	turns   []turn       // see next
	slotOf  []int32      // MB/s of a GPU's slot, -1 without one
}

const perfect = -1

func newWalk(w *view, best *layout) *walk {
	k := &walk{view: w, best: best, left: make([]int32, len(w.edges)), netLeft: append([]int32(nil), w.netRate...), used: make([]uint64, len(w.gpus)), turns: make([]turn, len(w.gpus)*(len(w.nets)+1))}
	for i, e := range w.edges {
		k.left[i] = e.rate
	}
	for _, n := range w.kinds[spotNet] {
		k.near = append(k.near, w.localTo(n, spotGPU))
	}
	for g := range w.gpus {
		slot := int32(-1)
		for _, e := range w.spots[w.gpu(g)].edges {
			if w.edges[e].kind == edgePCI {
				slot = min(w.edges[e].rate, w.edges[w.edges[e].back].rate)
				break
			}
		}
		k.slotOf = append(k.slotOf, slot)
	}
	return k
}

// try runs one attempt within so many steps and returns how many are left.
func (k *walk) try(now layout, steps int) int {
	order := k.now.order
	if order == nil {
		order = make([][]int32, now.limit+1)
		for c := range order {
			order[c] = make([]int32, len(k.gpus))
		}
		k.now.nets = make([][2]int32, now.limit+1)
	}
	nets := k.now.nets
	k.now = now
	k.now.order, k.now.nets = order, nets
	k.now.channels, k.now.hops = 0, 0
	k.steps = steps
	k.channel()
	return k.steps
}

// forced says which GPUs come next.
type forced uint8

const (
	free   forced = iota
	inTurn        // by their numbers
	repeat        // as in the channel before
)

// goal is where the walk of a channel still has to pass.
type goal struct {
	net   int // the step after which it is back at a port; -1 never
	first int // the step after which it is back at its first GPU; -1 never
	by    forced
}

// channel begins one more channel.
func (k *walk) channel() {
	to := goal{net: -1, first: -1}
	last := len(k.gpus) - 1
	switch {
	case k.inter && k.now.pattern == RingPattern:
		to.net = last
	case k.inter && k.now.pattern == SplitTree:
		to.net = 1
	case k.inter:
		to.net = 0
	case k.now.pattern == RingPattern:
		to.first = last
	}
	if k.inter {
		k.fromNet(to)
		return
	}
	c := k.now.channels
	switch {
	case k.now.pattern == NVLSPattern:
		k.enter(nowhere, 0, 0, to, c)
		return
	case c == 0:
		to.by = inTurn
		k.enter(nowhere, 0, 0, to, 0)
	default:
		to.by = repeat
		k.enter(nowhere, 0, 0, to, int(k.now.order[c-1][0]))
	}
	if !k.now.same || c == 0 {
		to.by = free
		for g := range k.gpus {
			k.enter(nowhere, 0, 0, to, g)
		}
	}
}

// fromNet begins a channel at each port in turn.
func (k *walk) fromNet(to goal) {
	heads := k.now.pattern == NVLSPattern || k.now.pattern == DirectPattern
	rate := k.now.inter / 1000 * 1000 // NCCL reckons ports in whole GB/s
	ports := k.portsOf(k.now.kindInter, -1)
	c := k.now.channels
	done := false
	for i := range ports {
		if heads && done {
			break
		}
		n := ports[(c+i)%len(ports)]
		if k.netLeft[n] < rate {
			continue
		}
		if k.now.pattern == RingPattern && k.now.cross == 2 && c&1 == 1 && int32(n) != k.now.nets[c-1][1] {
			continue
		}
		k.now.nets[c][0] = int32(n)
		k.netLeft[n] -= rate
		gpu := int(k.netGPU[n])
		switch {
		case heads:
			if c < len(ports) && gpu >= 0 && !k.headed(int32(gpu)) {
				k.enter(spotNet, n, 0, to, gpu)
				done = true
			}
		case c > 0 && k.now.same:
			to.by = repeat
			k.enter(spotNet, n, 0, to, int(k.now.order[c-1][0]))
		default:
			k.beside(n, gpu, to)
		}
		k.netLeft[n] += rate
	}
}

// headed reports whether a GPU is the head of a channel already.
func (k *walk) headed(g int32) bool {
	for _, order := range k.now.order[:k.now.channels] {
		if order[0] == g {
			return true
		}
	}
	return false
}

// beside begins a channel at the GPUs next to a port, after GPU 0 with all in
// turn, for which it is given a few steps more.
func (k *walk) beside(n, gpu int, to goal) {
	if k.now.channels == 0 && len(k.kinds[spotNVS]) == 0 {
		steps := k.steps
		k.steps = 1 << 10
		to.by = inTurn
		k.enter(spotNet, n, 0, to, 0)
		if k.steps != perfect {
			k.steps = steps
		}
	}
	to.by = free
	if gpu >= 0 {
		k.enter(spotNet, n, 0, to, gpu)
	}
	for _, g := range k.near[n] {
		if g != gpu {
			k.enter(spotNet, n, 0, to, g)
		}
	}
}

// enter steps onto a GPU, from a GPU or a port or out of nowhere.
func (k *walk) enter(from spotKind, index, step int, to goal, g int) {
	if from != nowhere && !k.take(from, index, spotGPU, g, 1, 1) {
		return
	}
	bit := uint64(1) << k.now.channels
	k.used[g] ^= bit
	k.pass(g, step, to)
	k.used[g] ^= bit
	if from != nowhere {
		k.give(from, index, spotGPU, g, 1, 1)
	}
}

// pass goes on from GPU g, the step-th of its channel.
func (k *walk) pass(g, step int, to goal) {
	if k.steps <= 0 {
		return
	}
	k.steps--
	n := len(k.gpus)
	if step == n {
		k.complete()
		return
	}
	order := k.now.order[k.now.channels]
	order[step] = int32(g)
	switch {
	case step == to.net:
		k.toNet(g, step, to)
	case k.now.pattern == NVLSPattern:
		k.heads(g)
	case k.now.pattern == DirectPattern:
		k.star(g)
	case step < n-1:
		k.on(g, step, to)
	case step == to.first:
		first := int(order[0])
		if k.take(spotGPU, g, spotGPU, first, 1, 1) {
			to.first = -1
			k.pass(first, step+1, to)
			k.give(spotGPU, g, spotGPU, first, 1, 1)
		}
	default:
		k.pass(g, n, goal{net: -1, first: -1, by: to.by})
	}
}

// complete counts a channel, and goes on to the next.
func (k *walk) complete() {
	k.now.channels++
	if k.better() {
		k.best.keep(&k.now)
		if k.now.channels == k.now.limit {
			k.steps = perfect
		}
	}
	if k.now.channels < k.now.limit {
		k.channel()
	}
	k.now.channels--
}

// better compares what is laid with the best so far.
func (k *walk) better() bool {
	a, b := &k.now, k.best
	if a.channels < a.least {
		return false
	}
	if a.pattern == NVLSPattern {
		return a.channels > b.channels && a.channels <= len(k.gpus) || a.channels*int(a.inter) > b.channels*int(b.inter)
	}
	mine, theirs := a.channels*int(a.intra), b.channels*int(b.intra)
	return mine > theirs || mine == theirs && a.pattern == b.pattern && a.cross == b.cross && a.hops < b.hops
}

// toNet leaves by a port. A balanced tree leaves by its first two GPUs, with
// half of its rate each.
func (k *walk) toNet(g, step int, to goal) {
	c := k.now.channels
	balanced := k.now.pattern == BalancedTree
	start := k.now.nets[c][0]
	after := -1
	if balanced && step == 0 {
		after = 1
	}
	part := int32(1)
	if balanced {
		part = 2
	}
	for _, n := range k.portsOf(k.now.kindInter, g) {
		if !k.leaves(int32(n), start, step) || !k.take(spotGPU, g, spotNet, n, 1, part) {
			continue
		}
		k.now.nets[c][1] = int32(n)
		on := to
		on.net = after
		k.pass(g, step, on)
		k.give(spotGPU, g, spotNet, n, 1, part)
	}
}

// leaves reports whether a channel that came by one port may leave by another.
func (k *walk) leaves(n, start int32, step int) bool {
	c := k.now.channels
	switch {
	case k.now.pattern == PlainTree && n != start:
		return false
	case k.now.pattern == RingPattern && k.now.cross == 2:
		if c&1 == 1 && n != k.now.nets[c-1][0] {
			return false
		}
	case k.now.cross == 0 && n != start:
		return false
	}
	return k.now.pattern != BalancedTree || step == 0 || n == k.now.nets[c][1]
}

// portsOf remembers the order of ports.
func (k *walk) portsOf(kind PathType, gpu int) []int {
	lists := &k.ports[kind]
	if *lists == nil {
		*lists = make([][]int, len(k.gpus)+1)
	}
	list := &(*lists)[gpu+1]
	if *list == nil {
		*list = k.order(kind, gpu)
	}
	return *list
}
