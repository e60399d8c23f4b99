package kernels

import (
	"fmt"
	"math/bits"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// trtllmWorkspace is the largest message of its kernels before 1.3.
// Source: NVIDIA/TensorRT-LLM, customAllReduceUtils.h at 005b299b.
func trtllmWorkspace(n int) sim.Bytes {
	if n <= 2 {
		return 16 * sim.MB
	}
	return 8 * sim.MB
}

// trtllmTable is what AUTO takes without fusion, of releases before 1.3: '4' is
// one-shot, '5' two-shot, '0' NCCL. By Blackwell or not, by ranks 2, 4, 8, by
// the logarithm of a token's elements from 128, by that of the tokens from 1.
// Source: NVIDIA/TensorRT-LLM, customAllReduceUtils.h at 005b299b.
var trtllmTable = [2][3][7]string{
	{{
		"444445555544000", "444444544444400", "445445554544400", "444454544444000", "444445555445000", "454544444440000", "445544444400000",
	}, {
		"444454454544000", "444445555540000", "444454555445000", "444445545455000", "444444454550000", "444555545500000", "444445455000000",
	}, {
		"444444444440000", "444444444455000", "444444444555500", "444444444555000", "444444455550000", "444444555500000", "444445555000000",
	}},
	{{
		"444444445444000", "444454444444000", "444544444444440", "444544444444400", "444444444444000", "444444444440000", "445444444400000",
	}, {
		"444444444444000", "444444444444000", "444444444444000", "444444444444000", "444444444450000", "444444444500000", "444444445000000",
	}, {
		"444444444444000", "444444444444000", "444444444440000", "444444444455000", "444444444550000", "444444445500000", "444444455000000",
	}},
}

// trtllmOneShot is up to which size 1.0, and 1.3 and later, take the one-shot
// kernel, by Blackwell or not and by ranks 2, 4, 8.
// Status: measured, where the time leaves the line of the kernel for NCCL's in
// the tables of ai-dynamo/aiconfigurator 095f58a5; 1.3 tunes itself at start.
var trtllmOneShot = map[string][2][3]sim.Bytes{
	"1.0": {{1 * sim.MiB, 1 * sim.MiB, 512 * sim.KiB}, {8 * sim.MiB, 8 * sim.MiB, 2 * sim.MiB}},
	"1.3": {{8 * sim.MiB, 1 * sim.MiB, 512 * sim.KiB}, {8 * sim.MiB, 8 * sim.MiB, 2 * sim.MiB}},
}

func pickTRTLLM(l *Library, op workloads.Coll, size sim.Bytes, n int, across bool) (*kernel, string) {
	tp, blackwell := bits.Len(uint(n))-2, 0
	if l.Machine.SM >= 100 {
		blackwell = 1
	}
	release := "1.3"
	if l.version.before(1, 1, 0) {
		release = "1.0"
	}
	switch {
	case op != workloads.AllReduce:
		return nil, "all_reduce only"
	case across:
		return named("trtllm-mnnvl"), "several hosts of one NVLink domain"
	case tp > 2:
		return nil, fmt.Sprintf("%d ranks: its kernels are for up to 8 on one host", n)
	case !l.version.before(1, 1, 0) && l.version.before(1, 3, 0):
		return l.trtllmAuto(size, n, tp, blackwell)
	}
	if most := trtllmOneShot[release][blackwell][tp]; size > most {
		return nil, fmt.Sprintf("above %v among %d ranks NCCL is faster", most, n)
	}
	return named("trtllm-1shot"), fmt.Sprintf("small enough among %d ranks", n)
}

// trtllmAuto looks the strategy up as the engine does.
func (l *Library) trtllmAuto(size sim.Bytes, n, tp, blackwell int) (*kernel, string) {
	if most := trtllmWorkspace(n); size > most {
		return nil, fmt.Sprintf("above its workspace of %v", most)
	}
	elements := max(1, int64(size)/int64(l.Setting.element()))
	hidden := int64(l.Setting.Hidden)
	if hidden == 0 {
		hidden = 4096
	}
	hidden = min(hidden, elements)
	token, width := bits.Len64(uint64(elements/hidden))-1, bits.Len64(uint64(hidden))-8
	if width < 0 {
		width = 0 // tokens narrower than the table's: its first row
	}
	strategy := byte('0')
	if width < 7 && token < 15 {
		strategy = trtllmTable[blackwell][tp][width][token]
	}
	where := fmt.Sprintf("its table for %d tokens of %d elements", elements/hidden, hidden)
	switch strategy {
	case '4':
		return named("trtllm-1shot"), where
	case '5':
		return named("trtllm-2shot"), where
	}
	return nil, where
}
