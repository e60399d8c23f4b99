package main

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// run is one line of the table.
type run struct {
	test
	size  sim.Bytes // what is sent, and printed
	count int64     // elements
}

// plan lists the lines of the table for an operation, nil for send and
// receive, among so many ranks, and how many sizes are left out because
// nothing is left of them.
func (sw *sweep) plan(tests []test, op *workloads.Coll, ranks int) (runs []run, dropped int) {
	for _, t := range tests {
		for _, s := range sw.sizes() {
			size, count := t.fill(s, ranks, op != nil && parted(*op))
			if count == 0 {
				dropped++
				continue
			}
			runs = append(runs, run{t, size, count})
		}
	}
	return runs, dropped
}

// leastSize returns the smallest size of which something is left.
func leastSize(tests []test, op *workloads.Coll, ranks int) sim.Bytes {
	if op != nil && parted(*op) {
		return alignment * sim.Bytes(ranks)
	}
	low := tests[0].size
	for _, t := range tests {
		low = min(low, t.size)
	}
	return low
}

// once is the program in which ranks run an operation once. Other ranks of the
// machine are idle.
func once(op workloads.Coll, r run, ranks []int32, world int32) *workloads.Program {
	streams := []workloads.Stream{{Name: "comm"}}
	p := &workloads.Program{Name: op.String(), World: world, Comms: []workloads.Comm{{Name: "bench", Groups: [][]int32{ranks}}}}
	p.Classes = []workloads.Class{{Name: "rank", Ranks: ranks, Streams: streams, Ops: []workloads.Op{
		{Name: op.String(), Kind: workloads.Collective, Coll: op, Bytes: r.size, Root: int32(max(r.root, 0))},
	}}}
	if idle := others(ranks, world); idle != nil {
		p.Classes = append(p.Classes, workloads.Class{Name: "idle", Ranks: idle, Streams: streams})
	}
	return p
}

// others lists the ranks of the world that are not among ranks.
func others(ranks []int32, world int32) []int32 {
	if len(ranks) == int(world) {
		return nil
	}
	part := make([]bool, world)
	for _, r := range ranks {
		part[r] = true
	}
	var idle []int32
	for r := range world {
		if !part[r] {
			idle = append(idle, r)
		}
	}
	return idle
}
