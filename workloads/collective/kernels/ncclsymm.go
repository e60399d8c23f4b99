package kernels

import (
	"fmt"
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// NCCL's own model of its symmetric kernels, by which it chooses; it is not a
// time, as it exceeds the links at large sizes.
// Source: NVIDIA/nccl 2.30.7, src/sym_kernels.cc.
const (
	symGB        = 1073.741824 // bytes a us in its GB/s
	symBlocks    = 64          // most thread blocks
	symLL        = 9           // bytes on the bus that LL counts for one
	symTolerance = 1.025       // how much slower fewer blocks may be
	symPenalty   = 0.025       // what a block costs, as part of the time
)

// symModel returns the time in us that NCCL expects, and its thread blocks.
// n ranks, size as NCCL counts: the message, or a rank's part of it.
func symModel(k *kernel, op workloads.Coll, size sim.Bytes, n, sm int) (float64, int) {
	bytes, ranks := float64(size), float64(n)
	reduceAll := op == workloads.AllReduce
	base, per, peak, factor, most := 7.8, 44.0, 320.0, 1.0, symBlocks
	if reduceAll {
		per = 65
	}
	ll := k.name == "nccl-ll" || k.name == "nccl-llmc"
	mc := k.name == "nccl-ldmc"
	switch {
	case sm >= 100 && ll && op == workloads.AllGather:
		base, per, peak = 8.5, 55, 600
	case sm >= 100 && ll:
		base, per, peak = 11, 55, 600
	case sm >= 100 && reduceAll:
		base, per, peak = 19.5, 55, 600
	case sm >= 100:
		base, per, peak = 13, 55, 600
	case ll:
		base = 4.5
	}
	bus := bytes * (ranks - 1)
	switch {
	case ll:
		bus = bytes * ranks * symLL
		if k.name == "nccl-llmc" {
			factor = 1.1
		}
	case mc:
		most = (16 + n - 1) / n
		if sm >= 100 {
			most = (32 + n - 1) / n
		}
		factor = 0.55 * ranks
		if reduceAll {
			bus, factor, peak = bytes/ranks+bytes, ranks, 480
			if sm >= 100 {
				peak = 1000
			}
		}
	case reduceAll:
		bus = 2 * bytes * (ranks - 1) / ranks
	}
	at := func(blocks int) float64 {
		x := float64(blocks) * per * factor
		rate := peak - per*math.Log1p(math.Expm1(peak/per)*math.Exp(-x/per))
		z := bus/(rate*symGB) - 1
		if z < 100 {
			z = math.Log1p(math.Exp(z))
		}
		return base + z
	}
	best := at(most)
	for b := 1; b < most; b++ {
		if t := at(b); t <= symTolerance*best {
			return t, b
		}
	}
	return best, most
}

func pickNCCL(l *Library, op workloads.Coll, size sim.Bytes, n int, _ bool) (*kernel, string) {
	part := size
	if op != workloads.AllReduce {
		part = size / sim.Bytes(n)
	}
	copied := op == workloads.AllGather || op == workloads.AllToAll || op == workloads.Gather || op == workloads.Scatter
	switch {
	case l.version.before(2, 27, 0):
		return nil, "not before NCCL 2.27"
	case l.Setting.NoSymmetric:
		return nil, "the buffers are not in a symmetric window"
	case copied && l.Setting.ZeroCTA && !l.version.before(2, 28, 0):
		return named("nccl-ce"), "CTA policy ZERO"
	case op == workloads.AllGather && l.Machine.SM >= 100 && !l.version.before(2, 28, 0) &&
		int64(part)/int64(l.Setting.element()) > 8<<20:
		return named("nccl-ce"), "more than 8 Mi elements on Blackwell"
	case op != workloads.AllReduce && op != workloads.AllGather && op != workloads.ReduceScatter:
		return nil, "all_reduce, all_gather and reduce_scatter only"
	}
	var best *kernel
	least, blocks := math.Inf(1), 0
	bestTime := 0.0
	for _, name := range []string{"nccl-ll", "nccl-llmc", "nccl-ld", "nccl-ldmc"} {
		k := named(name)
		ll := name == "nccl-ll" || name == "nccl-llmc"
		switch {
		case k.multicast() && (!l.Machine.Multicast || n <= 2):
			continue
		case ll && size >= 2*sim.GiB:
			continue
		case name == "nccl-ldmc" && op == workloads.AllGather && !l.Machine.Multicast:
			continue
		case name == "nccl-llmc" && op == workloads.ReduceScatter:
			continue
		}
		t, b := symModel(k, op, part, n, l.Machine.SM)
		if cost := t * (1 + symPenalty*float64(b)); cost < least {
			best, least, blocks, bestTime = k, cost, b, t
		}
	}
	chosen := *best
	chosen.most, chosen.grain = blocks, 1
	if op != workloads.AllReduce {
		chosen.label = symLabels[op][best.name]
	}
	return &chosen, fmt.Sprintf("its model says %.1f us on %d thread blocks", bestTime, blocks)
}

// symLabels are NCCL's names of the kernels that are no all-reduce.
var symLabels = map[workloads.Coll]map[string]string{
	workloads.AllGather:     {"nccl-ll": "LL", "nccl-llmc": "LLMC", "nccl-ld": "ST", "nccl-ldmc": "STMC"},
	workloads.ReduceScatter: {"nccl-ll": "LL", "nccl-ld": "LD", "nccl-ldmc": "LDMC"},
}
