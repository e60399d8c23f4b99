package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// benchOps are the operations of nccl-tests that are collectives.
var benchOps = []workloads.Coll{
	workloads.AllReduce, workloads.AllGather, workloads.ReduceScatter, workloads.Broadcast, workloads.Reduce,
	workloads.AllToAll, workloads.Gather, workloads.Scatter,
}

// The operations of a bench that are not collectives.
const (
	sendRecv = "sendrecv"
	copying  = "copy"
)

// benchNames lists what a bench runs.
func benchNames() []string {
	var names []string
	for _, op := range benchOps {
		names = append(names, op.String())
	}
	return append(names, sendRecv, copying)
}

// benchOp reads the name of a collective.
func benchOp(cmd *cobra.Command, name string) (workloads.Coll, error) {
	word := strings.TrimSuffix(name, "_perf")
	if word == "all_to_all" {
		word = workloads.AllToAll.String()
	}
	for _, op := range benchOps {
		if op.String() == word {
			return op, nil
		}
	}
	names := benchNames()
	if word == "hypercube" {
		return 0, usage(cmd, "hypercube of nccl-tests is an all_gather that no library runs, and weft has none; expected %s", strings.Join(names, ", "))
	}
	return 0, usage(cmd, "there is no operation %q, expected %s%s", name, strings.Join(names, ", "), didYouMean(word, names))
}

// element is a type of nccl-tests.
type element struct {
	name string
	size sim.Bytes
}

// elements are the types of nccl-tests, in its order (NVIDIA/nccl-tests,
// src/common.cu).
var elements = []element{
	{"int8", 1}, {"uint8", 1}, {"int32", 4}, {"uint32", 4}, {"int64", 8}, {"uint64", 8},
	{"half", 2}, {"float", 4}, {"double", 8}, {"bfloat16", 2}, {"fp8_e4m3", 1}, {"fp8_e5m2", 1},
}

func typeNames() []string {
	var names []string
	for _, e := range elements {
		names = append(names, e.name)
	}
	return names
}

// redOps are the reductions of nccl-tests, in its order.
var redOps = [...]string{"sum", "prod", "max", "min", "avg", "mulsum"}

// reduces reports whether an operation adds up.
func reduces(op workloads.Coll) bool {
	return op == workloads.AllReduce || op == workloads.ReduceScatter || op == workloads.Reduce
}

// rooted reports whether an operation has a root.
func rooted(op workloads.Coll) bool {
	return op == workloads.Broadcast || op == workloads.Reduce || op == workloads.Gather || op == workloads.Scatter
}

// parted reports whether each rank has a part of the size.
func parted(op workloads.Coll) bool {
	switch op {
	case workloads.AllGather, workloads.ReduceScatter, workloads.AllToAll, workloads.Gather, workloads.Scatter:
		return true
	}
	return false
}

// test is one of the runs of nccl-tests over all sizes.
type test struct {
	element
	redOp string // "none" where nothing is reduced
	root  int    // -1 where there is none
}

// tests lists what -d, -o and -r ask of an operation among so many ranks; op is
// nil for send and receive.
func (sw *sweep) tests(cmd *cobra.Command, op *workloads.Coll, name string, ranks int) ([]test, error) {
	ops, roots := []string{"none"}, []int{-1}
	switch {
	case op != nil && reduces(*op):
		if ops = redOps[:]; sw.ops.value != all {
			ops = []string{sw.ops.value}
		}
	case sw.ops.value != redOps[0]:
		return nil, usage(cmd, "-o %s: %s reduces nothing", sw.ops.value, name)
	}
	switch {
	case op != nil && rooted(*op):
		if roots = []int{sw.root.at}; sw.root.every {
			roots = roots[:0]
			for r := range ranks {
				roots = append(roots, r)
			}
		}
		if sw.root.at >= ranks {
			return nil, usage(cmd, "-r: read %d, but there are %d ranks; expected 0 to %d", sw.root.at, ranks, ranks-1)
		}
	case sw.root != rank{}:
		return nil, usage(cmd, "-r %s: %s has no root", sw.root.String(), name)
	}
	var tests []test
	for _, e := range elements {
		if sw.types.value != all && sw.types.value != e.name {
			continue
		}
		for _, o := range ops {
			for _, r := range roots {
				tests = append(tests, test{e, o, r})
			}
		}
	}
	return tests, nil
}

// alignment is that of the part of a rank in nccl-tests.
const alignment = 16

// fill returns the size that nccl-tests runs and prints where s is asked for,
// and the elements that it counts: whole elements, and of the operations that
// give each rank a part, parts that are multiples of 16 bytes. Both are zero
// where nothing is left.
//
// Source: NVIDIA/nccl-tests a0b82b22, the getCollByteCount of each src/*.cu.
func (e element) fill(s sim.Bytes, parts int, parted bool) (sim.Bytes, int64) {
	n := int64(s / e.size)
	if !parted {
		return sim.Bytes(n) * e.size, n
	}
	step := int64(alignment / e.size)
	n = n / int64(parts) / step * step
	return sim.Bytes(n) * e.size * sim.Bytes(parts), n
}

// reducedBySwitch reports whether NVSwitch adds up elements of a type as a
// reduction wants it, which NCCL asks before it considers NVLS.
//
// Source: NVIDIA/nccl 2.30.7, src/include/device.h, ncclNvlsSupported; avg and
// mulsum are multiplications first.
func (t test) reducedBySwitch() bool {
	switch t.redOp {
	case "none":
		return true
	case "sum":
		return !slices.Contains([]string{"int8", "uint8", "fp8_e4m3", "fp8_e5m2"}, t.name)
	case "min", "max":
		return slices.Contains([]string{"int32", "uint32", "int64", "uint64", "half", "bfloat16"}, t.name)
	}
	return false
}
