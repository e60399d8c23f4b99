package kernels

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// sglangPush and sglangPull are up to which size, by ranks, SGLang's own
// kernels send the whole message, in one push or one pull; 2 ranks always do.
// Source: sgl-project/sglang, custom_all_reduce_v2.py at 08d6c016, measured by
// its authors on H200 and B200.
var sglangPush = map[bool]map[int]sim.Bytes{ // Blackwell or not
	false: {2: 2 * sim.MiB, 3: 512 * sim.KiB, 4: 384 * sim.KiB, 5: 256 * sim.KiB, 6: 192 * sim.KiB, 7: 192 * sim.KiB, 8: 160 * sim.KiB},
	true:  {2: 4 * sim.MiB, 3: 4 * sim.MiB, 4: 2 * sim.MiB, 5: 2 * sim.MiB, 6: 1 * sim.MiB, 7: 896 * sim.KiB, 8: 720 * sim.KiB},
}

// sglangMost is what the buffers of its own kernels hold; same source.
const sglangMost = 16 * sim.MiB

func pickSGLang(l *Library, op workloads.Coll, size sim.Bytes, n int, _ bool) (*kernel, string) {
	// Up to 0.5.11 the kernels are those of vLLM, of whose limit the size
	// itself is still allowed. Source: tables of ai-dynamo/aiconfigurator 095f58a5.
	if l.version.before(0, 5, 12) || !l.Machine.NVLink || n > 8 || l.Machine.SM < 80 {
		if why := customRefuses(l, op, size, n); why != "" {
			return nil, why
		}
		if size > vllmMost {
			return nil, fmt.Sprintf("above %v NCCL is faster", vllmMost)
		}
		return customKernel(size, n)
	}
	push := sglangPush[l.Machine.SM >= 100][n]
	switch {
	case op != workloads.AllReduce:
		return nil, "all_reduce only"
	case size%16 != 0:
		return nil, "not a multiple of 16 B"
	case size > sglangMost:
		return nil, fmt.Sprintf("above %v NCCL is faster", sglangMost)
	case size <= push:
		return named("sglang-push"), fmt.Sprintf("up to %v among %d ranks", push, n)
	case n == 2:
		return named("sglang-pull"), fmt.Sprintf("above %v between two ranks", push)
	}
	return named("sglang-2shot"), fmt.Sprintf("above %v among %d ranks", push, n)
}
