package nccl

import (
	"cmp"
	"slices"
)

// turn is all GPUs in the order in which the search goes to them from one,
// without regard to those that a channel has passed.
type turn struct {
	gpus  []int32
	equal []int32 // the same number for GPUs that are reached alike
}

// on goes on to the GPUs that may come next.
func (k *walk) on(g, step int, to goal) {
	switch to.by {
	case inTurn:
		k.enter(spotGPU, g, step+1, to, step+1)
		return
	case repeat:
		k.enter(spotGPU, g, step+1, to, int(k.now.order[k.now.channels-1][step+1]))
		return
	}
	bit := uint64(1) << k.now.channels
	if len(k.kinds[spotNVS]) > 0 {
		try, n := k.neighbours(g, bit)
		for _, p := range try[:n] {
			k.enter(spotGPU, g, step+1, to, p)
		}
		return
	}
	t := k.turn(g, to.net != -1)
	back := to.net != -1 && to.net != step+1 && k.alike(t, bit)
	for i := range t.gpus {
		if back {
			i = len(t.gpus) - 1 - i
		}
		if p := t.gpus[i]; k.used[p]&bit == 0 {
			k.enter(spotGPU, g, step+1, to, int(p))
		}
	}
}

// alike reports whether all GPUs that are left are reached alike.
func (k *walk) alike(t *turn, bit uint64) bool {
	first := int32(-1)
	for i, p := range t.gpus {
		switch {
		case k.used[p]&bit != 0:
		case first < 0:
			first = t.equal[i]
		case t.equal[i] != first:
			return false
		}
	}
	return true
}

// turn returns the order of trials from a GPU: by the way back to the port
// that the channel came by, if that counts, and then by the way to the GPU.
func (k *walk) turn(g int, byNet bool) *turn {
	net := -1
	if byNet {
		net = int(k.now.nets[k.now.channels][0])
	}
	t := &k.turns[(net+1)*len(k.gpus)+g]
	if t.gpus != nil || len(k.gpus) < 2 {
		return t
	}
	type score struct{ gpu, turn, hops, rate, netHops, netSlot, netRate int }
	var scores []score
	for i := 1; i < len(k.gpus); i++ {
		p := (g + i) % len(k.gpus)
		way := k.gpuWay(g, p)
		if len(way.edges) == 0 {
			continue
		}
		s := score{gpu: p, turn: i, hops: len(way.edges), rate: int(way.rate / 1000)} // in whole GB/s, as NCCL compares
		if byNet {
			back := k.backWay(net, p)
			s.netHops, s.netSlot, s.netRate = len(back.edges), int(k.slotOf[p]/1000), int(back.rate/1000)
		}
		scores = append(scores, s)
	}
	slices.SortFunc(scores, func(a, b score) int {
		return cmp.Or(
			cmp.Compare(b.netRate, a.netRate), cmp.Compare(b.netSlot, a.netSlot), cmp.Compare(a.netHops, b.netHops),
			cmp.Compare(b.rate, a.rate), cmp.Compare(a.hops, b.hops), cmp.Compare(a.turn, b.turn),
		)
	})
	for _, s := range scores {
		t.gpus = append(t.gpus, int32(s.gpu))
		t.equal = append(t.equal, int32(s.rate<<8|s.hops&255))
	}
	return t
}

// neighbours are the GPUs to try where NVSwitches join all: those next by
// number.
func (k *walk) neighbours(g int, bit uint64) (try [2]int, n int) {
	all := len(k.gpus)
	up, down := (g+1)%all, (g+all-1)%all
	first, second := up, down
	switch k.now.pattern {
	case RingPattern:
		first, second = down, up
	case PlainTree:
		second = up
	}
	if k.used[first]&bit == 0 {
		try[n] = first
		n++
	}
	if second != first && k.used[second]&bit == 0 {
		try[n] = second
		n++
	}
	return try, n
}
