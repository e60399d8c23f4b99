package mscclpp

import (
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

const (
	signalBytes = 8 // a semaphore, and the request of a read
	packetWire  = 2 // bytes of packets for one of data: 16 with 8 of data
	// mostUnits is in how many units what is read goes on elsewhere, if they are
	// not smaller than leastUnit: 1024 threads with 16 bytes each.
	mostUnits = 8
	leastUnit = 16 << 10
)

// local is the time of an operation within a GPU's memory: what the thread block
// reads and writes, of which a copy is one of each.
func (x *expansion) local(g int, b sim.Bytes, sources int) sim.Time {
	return x.costs.LocalTime(b*sim.Bytes(sources+1)/2, 2, len(x.p.GPUs[g].Blocks))
}

// push is an operation that reads what is at hand. What goes to other GPUs hides
// what happens at home meanwhile.
func (x *expansion) push(at ref, op *Op, k kind) {
	g, away := at.gpu, false
	for d, dst := range op.Dst {
		if dst.Rank == g {
			continue
		}
		away = true
		b := x.p.bytes(x.size, dst, op.Part)
		if op.packetsTo(d, g) {
			b *= packetWire
		}
		_, x.came[arrival{at, d}] = x.message(op.Name, g, at.block, dst.Rank, x.memory(dst.Rank), b)
	}
	if away {
		return
	}
	var t sim.Time
	if k.adds {
		t = x.local(g, x.p.bytes(x.size, op.Dst[0], op.Part), len(op.Src))
	} else {
		for _, dst := range op.Dst {
			t += x.local(g, x.p.bytes(x.size, dst, op.Part), 1)
		}
	}
	x.add(g, at.block, workloads.Op{Name: op.Name, Kind: workloads.Compute, Duration: t})
}

// pull is an operation that reads from other GPUs: it asks, and what comes goes
// on in units.
func (x *expansion) pull(at ref, op *Op) {
	g := at.gpu
	var from []Range
	for _, s := range op.Src {
		if s.Rank != g {
			from = append(from, s)
		}
	}
	var to []Range
	for _, d := range op.Dst {
		if d.Rank != g {
			to = append(to, d)
		}
	}
	whole := x.p.bytes(x.size, op.Src[0], op.Part)
	units := int(max(1, min(mostUnits, whole/leastUnit)))
	if len(to) == 0 {
		units = 1
	}
	before := make([]int32, len(from)) // what each source waits for next
	for i, s := range from {
		_, before[i] = x.message("ask", g, at.block, s.Rank, x.memory(s.Rank), signalBytes)
	}
	left := whole
	for ; units > 0; units-- {
		b := (left + sim.Bytes(units) - 1) / sim.Bytes(units)
		left -= b
		for i, s := range from {
			before[i], _ = x.message(op.Name, s.Rank, x.memory(s.Rank), g, at.block, b, before[i])
		}
		for _, d := range to {
			x.message(op.Name, g, at.block, d.Rank, x.memory(d.Rank), b)
		}
	}
	if len(to) == 0 && known[op.Name].adds {
		x.add(g, at.block, workloads.Op{Name: op.Name, Kind: workloads.Compute, Duration: x.local(g, whole, len(op.Src))})
	}
}

// sum is a part of what the switch adds up.
func (x *expansion) sum(at ref, op *Op) {
	comm := 0
	var group []int32
	for _, m := range op.Src[0].Switch {
		group = append(group, x.ranks[m])
	}
	for i := range x.comms {
		if slices.Equal(x.comms[i].Groups[0], group) {
			comm = i
		}
	}
	nth := x.at[at.gpu][comm]
	x.at[at.gpu][comm]++
	all := x.sizes[comm][nth]
	x.add(at.gpu, at.block, workloads.Op{Name: op.Name, Kind: workloads.Collective, Coll: workloads.AllReduce, Comm: int32(comm), Bytes: all})
	n := float64(len(group))
	x.sent += float64(all) * (1 + 1/n) * (1 / n)
}
