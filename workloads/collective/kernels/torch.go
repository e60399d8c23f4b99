package kernels

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// torchOneShot and torchTwoShot are up to which size PyTorch sends the whole
// message, and reduces in two steps.
// Source: pytorch/pytorch, torch/csrc/distributed/c10d/symm_mem/intra_node_comm.cpp.
const (
	torchOneShot = 256 * sim.KiB
	torchTwoShot = 10 * sim.MiB
)

// pickTorch chooses as PyTorch's own heuristic, with the multicast kernel
// where the switches allow it: a user who allocates symmetric memory calls it
// by name.
func pickTorch(l *Library, op workloads.Coll, size sim.Bytes, n int, _ bool) (*kernel, string) {
	switch {
	case op != workloads.AllReduce:
		return nil, "all_reduce only"
	case size%4 != 0:
		return nil, "not a multiple of 4 B"
	case size <= torchOneShot && n <= 8:
		return named("torch-1shot"), fmt.Sprintf("up to %v", torchOneShot)
	case l.Machine.Multicast && n > 2 && l.Setting.element() <= 4:
		return named("torch-multimem"), "switches that reduce"
	case size <= torchTwoShot && n <= 8:
		return named("torch-2shot"), fmt.Sprintf("up to %v", torchTwoShot)
	}
	return nil, fmt.Sprintf("above %v, or more than 8 ranks without switches that reduce", torchTwoShot)
}
