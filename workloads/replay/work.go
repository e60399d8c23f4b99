package replay

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// work is what all ranks of a program class share.
type work struct {
	succ      [][]int32 // operation -> those that depend on it
	indeg     []int32
	streams   []workloads.Order
	streamOf  []int16
	queue     [][]int32 // stream -> its operations in program order
	durations []sim.Time

	// content hashes all of it; classes with equal work have equal content.
	content uint64
	uneven  []int32 // communicators with an all-to-all of unequal parts
}

// prepare builds what the ranks of program class cl share.
func (j *job) prepare(cl int32) (work, error) {
	c := &j.prog.Classes[cl]
	w := work{
		succ: make([][]int32, len(c.Ops)), indeg: make([]int32, len(c.Ops)),
		streamOf: make([]int16, len(c.Ops)), durations: make([]sim.Time, len(c.Ops)),
	}
	if j.opt.OneAtATime {
		w.streams = []workloads.Order{workloads.AnyReady, workloads.AnyReady, workloads.Concurrent}
	} else {
		for _, s := range c.Streams {
			w.streams = append(w.streams, s.Order)
		}
	}
	w.queue = make([][]int32, len(w.streams))
	count := make([]int32, len(c.Ops))
	total := 0
	for i := range c.Ops {
		total += len(c.Ops[i].Deps)
		for _, d := range c.Ops[i].Deps {
			count[d]++
		}
	}
	edges := make([]int32, total)
	for i := range c.Ops {
		w.succ[i], edges = edges[:0:count[i]], edges[count[i]:]
	}
	for i := range c.Ops {
		o := &c.Ops[i]
		w.indeg[i] = int32(len(o.Deps))
		for _, d := range o.Deps {
			w.succ[d] = append(w.succ[d], int32(i))
		}
		w.streamOf[i] = o.Stream
		if j.opt.OneAtATime {
			switch o.Kind {
			case workloads.Compute, workloads.Copy:
				w.streamOf[i] = 0
			case workloads.Collective, workloads.Send:
				w.streamOf[i] = 1
			default: // a receive that waits must not keep a send from leaving
				w.streamOf[i] = 2
			}
		}
		w.queue[w.streamOf[i]] = append(w.queue[w.streamOf[i]], int32(i))
		switch o.Kind {
		case workloads.Compute, workloads.Copy, workloads.Delay:
			d, err := j.duration(o)
			if err != nil {
				return w, err
			}
			w.durations[i] = d
		}
	}
	j.content(cl, &w)
	return w, nil
}

// meetsItself says that two operations of one rank's freely picking streams
// could stand for two sides of one collective: two groups that look alike,
// one joined in one place of the program and the other in another. Which of
// the two a rank runs first is then decided by rank numbers, and no
// representative can decide it for its class.
func (j *job) meetsItself() bool {
	for i := range j.prog.Classes {
		w := &j.work[i]
		picks := false
		for _, s := range w.streams {
			picks = picks || s == workloads.AnyReady
		}
		if !picks {
			continue
		}
		for s, comm := range j.slots(int32(i)) {
			for _, r := range j.prog.Classes[i].Ranks {
				for _, peer := range j.prog.Comms[comm].Groups[j.groupOf[comm][r]] {
					if t := j.slotOf(j.classOf[peer], comm); t >= 0 && t != int32(s) && j.work[j.classOf[peer]].content == w.content {
						return true
					}
				}
				if len(j.prog.Classes[i].Ranks) == int(j.prog.World) {
					break // one class: all its ranks have equal slots
				}
			}
		}
	}
	return false
}

// content hashes what the ranks of a program class do, with communicators
// named by the order of their first use, and lists the communicators on which
// it runs an all-to-all with unequal parts.
func (j *job) content(class int32, w *work) {
	cl := &j.prog.Classes[class]
	h := uint64(0)
	for _, s := range cl.Streams {
		h = mix2(h, uint64(s.Order))
	}
	for i := range cl.Ops {
		o := &cl.Ops[i]
		h = mix2(h, uint64(o.Kind)<<32|uint64(uint16(o.Stream)))
		for _, d := range o.Deps {
			h = mix2(h, uint64(d))
		}
		switch o.Kind {
		case workloads.Collective:
			h = mix2(h, uint64(o.Coll)<<48|uint64(j.slotOf(class, o.Comm))<<32|uint64(uint32(o.Root)))
			for _, b := range o.Splits {
				h = mix2(h, uint64(b))
			}
			if !equal(o.Splits) {
				w.uneven = append(w.uneven, o.Comm)
			}
		case workloads.Send, workloads.Recv:
			h = mix2(h, uint64(uint32(o.Tag)))
		default:
			h = mix2(h, uint64(w.durations[i]))
		}
		h = mix2(h, uint64(o.Bytes))
	}
	w.content = h
}

func equal[T comparable](s []T) bool {
	for _, v := range s {
		if v != s[0] {
			return false
		}
	}
	return true
}

// slotOf returns the place of a communicator in the slots of a program class,
// or -1 if the class does not use it.
func (j *job) slotOf(class, comm int32) int32 {
	if j.slot == nil {
		j.slot = make([][]int32, len(j.prog.Classes))
		for i := range j.slot {
			of := make([]int32, len(j.prog.Comms))
			for k := range of {
				of[k] = -1
			}
			for s, c := range j.slots(int32(i)) {
				of[c] = int32(s)
			}
			j.slot[i] = of
		}
	}
	return j.slot[class][comm]
}

// slots lists the communicators of a program class in the order of first use.
func (j *job) slots(class int32) []int32 {
	var slots []int32
	seen := make([]bool, len(j.prog.Comms))
	for i := range j.prog.Classes[class].Ops {
		o := &j.prog.Classes[class].Ops[i]
		if o.Kind == workloads.Collective && !seen[o.Comm] {
			seen[o.Comm] = true
			slots = append(slots, o.Comm)
		}
	}
	return slots
}
