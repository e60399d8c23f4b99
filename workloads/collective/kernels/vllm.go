package kernels

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// vllmMost is what the custom kernels' buffers hold.
// Source: vllm-project/vllm, custom_all_reduce.py at 00d618aa, max_size.
const vllmMost = 8 * sim.MiB

// vllmLimits are, by compute capability and ranks, from which size vLLM leaves
// its custom kernels for PyTorch's symmetric memory, and that for NCCL.
// Source: vllm-project/vllm, all_reduce_utils.py at 00d618aa.
var vllmLimits = map[int]struct{ custom, symmetric map[int]sim.Bytes }{
	90: {
		custom:    map[int]sim.Bytes{2: 64 * sim.MiB, 4: 32 * sim.MiB, 6: 512 * sim.KiB, 8: 256 * sim.KiB},
		symmetric: map[int]sim.Bytes{2: 64 * sim.MiB, 4: 32 * sim.MiB, 6: 64 * sim.MiB, 8: 64 * sim.MiB},
	},
	100: {
		custom:    map[int]sim.Bytes{2: 2 * sim.MiB, 4: 2 * sim.MiB, 6: 1 * sim.MiB, 8: 1 * sim.MiB},
		symmetric: map[int]sim.Bytes{2: 8 * sim.MiB, 4: 32 * sim.MiB, 6: 128 * sim.MiB, 8: 128 * sim.MiB},
	},
	103: {
		custom:    map[int]sim.Bytes{2: 4 * sim.MiB, 4: 4 * sim.MiB, 6: 8 * sim.MiB, 8: 4 * sim.MiB},
		symmetric: map[int]sim.Bytes{2: 4 * sim.MiB, 4: 32 * sim.MiB, 6: 32 * sim.MiB, 8: 64 * sim.MiB},
	},
}

// oneShotBelow is from which size vLLM's kernels, and SGLang's that descend
// from them, take two steps where GPUs are joined by NVLink.
// Source: vllm-project/vllm, csrc/custom_all_reduce.cuh at 036bb685.
func oneShotBelow(n int) sim.Bytes {
	if n <= 4 {
		return 512 * sim.KiB
	}
	return 256 * sim.KiB
}

// customKernel picks between vLLM's own two kernels.
func customKernel(size sim.Bytes, n int) (*kernel, string) {
	switch at := oneShotBelow(n); {
	case n == 2:
		return named("vllm-1shot"), "two ranks"
	case size < at:
		return named("vllm-1shot"), fmt.Sprintf("below %v among %d ranks", at, n)
	default:
		return named("vllm-2shot"), fmt.Sprintf("from %v among %d ranks", at, n)
	}
}

// customRefuses says why vLLM's own kernels cannot run at all, or "".
func customRefuses(l *Library, op workloads.Coll, size sim.Bytes, n int) string {
	switch {
	case op != workloads.AllReduce:
		return "all_reduce only"
	case n > 8 || n%2 != 0:
		return fmt.Sprintf("%d ranks: its kernels are for 2, 4, 6 or 8", n)
	case !l.Machine.NVLink && n > 2:
		return "more than two GPUs without NVLink"
	case size%16 != 0:
		return "not a multiple of 16 B"
	}
	return ""
}

// pickVLLM picks as vLLM does. Over several hosts of an NVLink domain symmetric
// memory is all that it has: its own kernels open each other's buffers by CUDA IPC.
func pickVLLM(l *Library, op workloads.Coll, size sim.Bytes, n int, across bool) (*kernel, string) {
	if why := customRefuses(l, op, size, n); why != "" {
		return nil, why
	}
	most, symmetric := vllmMost, sim.Bytes(0)
	// Before 0.15 weft knows of no default use of symmetric memory; from the
	// tables of ai-dynamo/aiconfigurator 095f58a5: 0.14 does not, 0.18 does.
	limits, known := vllmLimits[l.Machine.SM]
	if known && l.Machine.NVLink && !(l.version.before(0, 15, 0) && l.Machine.SM > 100) {
		most = min(most, limits.custom[n])
		if !l.Setting.NoSymmetric && !l.version.before(0, 15, 0) && l.Setting.element() == 2 {
			symmetric = limits.symmetric[n]
		}
	}
	switch {
	case across && size >= symmetric:
		return nil, "the ranks lie on several hosts"
	case across:
		most = 0
	case size < most:
		return customKernel(size, n)
	}
	switch {
	case size < symmetric && l.Machine.Multicast && (n >= 6 || n == 4 && l.Machine.SM == 90):
		return named("vllm-multimem"), fmt.Sprintf("symmetric memory from %v to %v", most, symmetric)
	case size < symmetric:
		return named("vllm-symm-2shot"), fmt.Sprintf("symmetric memory from %v to %v", most, symmetric)
	}
	return nil, fmt.Sprintf("from %v NCCL is faster", max(most, symmetric))
}
