package kernels

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// kernel is one implementation: who wrote it matters, as two one-shot kernels
// differ by a factor of two in their barriers alone.
type kernel struct {
	name     string // in costs.csv
	label    string // in reports
	protocol string
	way      way
	overhead float64 // bytes on the wire for one of data
	most     int     // thread blocks
	grain    sim.Bytes
	copies   int // copies of the whole message within a GPU's memory, in and out of registered buffers
	library  string
}

// way is how the bytes go.
type way uint8

const (
	oneShot  way = iota // everybody's message to everybody
	twoShot             // reduce-scatter, then all-gather
	switched            // the NVSwitch reduces and multicasts
	alone               // the NVSwitch reduces the whole message for everybody
	engines             // copy engines, every pair by itself
)

// kernels are all of them. Blocks and bytes a block are those of the sources
// named in the files of the libraries.
var kernels = []kernel{
	{"vllm-1shot", "one-shot", "pull", oneShot, 1, 36, 8 * sim.KiB, 0, "vllm sglang"},
	{"vllm-2shot", "two-shot", "pull", twoShot, 1, 36, 8 * sim.KiB, 0, "vllm sglang"},
	{"torch-1shot", "symm one-shot", "pull", oneShot, 1, 24, 8 * sim.KiB, 0, "pytorch-symm"},
	{"torch-2shot", "symm two-shot", "pull", twoShot, 1, 24, 16 * sim.KiB, 0, "pytorch-symm"},
	{"torch-multimem", "multimem", "multimem", switched, 1, 8, 16 * sim.KiB, 0, "pytorch-symm"},
	{"torch-multimem-1shot", "multimem one-shot", "multimem", alone, 1, 8, 16 * sim.KiB, 0, "pytorch-symm"},
	{"vllm-symm-2shot", "symm two-shot", "pull", twoShot, 1, 24, 16 * sim.KiB, 2, "vllm"},
	{"vllm-multimem", "multimem", "multimem", switched, 1, 8, 16 * sim.KiB, 2, "vllm"},
	{"trtllm-1shot", "one-shot", "lamport", oneShot, 1, 24, 8 * sim.KiB, 0, "trtllm"},
	{"trtllm-2shot", "two-shot", "pull", twoShot, 1, 24, 8 * sim.KiB, 0, "trtllm"},
	{"trtllm-mnnvl", "mnnvl two-shot", "lamport", twoShot, 1, 24, 8 * sim.KiB, 0, "trtllm"},
	{"sglang-push", "one-shot push", "push", oneShot, 1, 132, 8 * sim.KiB, 0, "sglang"},
	{"sglang-pull", "one-shot pull", "pull", oneShot, 1, 64, 8 * sim.KiB, 0, "sglang"},
	{"sglang-2shot", "two-shot", "pull", twoShot, 1, 64, 8 * sim.KiB, 0, "sglang"},
	{"mscclpp-allpair", "all-pair packet", "ll", oneShot, 2, 56, 4 * sim.KiB, 0, "mscclpp"},
	{"mscclpp-nvls-packet", "nvls packet", "ll", oneShot, 2, 16, 8 * sim.KiB, 0, "mscclpp"},
	{"mscclpp-packet", "packet", "ll", twoShot, 2, 56, 8 * sim.KiB, 0, "mscclpp"},
	{"mscclpp-nvls", "nvls zero-copy", "multimem", switched, 1, 32, 16 * sim.KiB, 0, "mscclpp"},
	{"mscclpp-nvls-copy", "nvls with copy", "multimem", switched, 1, 32, 16 * sim.KiB, 2, "mscclpp"},
	{"mscclpp-rsag", "rsag", "simple", twoShot, 1, 32, 16 * sim.KiB, 0, "mscclpp"},
	{"mscclpp-fullmesh", "full mesh", "simple", oneShot, 1, 56, 16 * sim.KiB, 0, "mscclpp"},
	{"nccl-ll", "AGxLL_R", "ll", oneShot, 2, 64, 8 * sim.KiB, 0, "nccl-symm"},
	{"nccl-llmc", "AGxLLMC_R", "ll", oneShot, 2, 64, 8 * sim.KiB, 0, "nccl-symm"},
	{"nccl-ld", "RSxLD_AGxST", "simple", twoShot, 1, 64, 8 * sim.KiB, 0, "nccl-symm"},
	{"nccl-ldmc", "RSxLDMC_AGxSTMC", "multimem", switched, 1, 64, 8 * sim.KiB, 0, "nccl-symm"},
	{"nccl-ce", "copy engines", "ce", engines, 1, 0, 0, 0, "nccl-symm"},
}

// named returns a kernel that is known to exist.
func named(name string) *kernel {
	for i := range kernels {
		if kernels[i].name == name {
			return &kernels[i]
		}
	}
	panic("no kernel " + name)
}

// kernelNamed returns a kernel of a library by what a user calls it.
func kernelNamed(library, name string) (*kernel, error) {
	var all []string
	for i := range kernels {
		k := &kernels[i]
		if !strings.Contains(" "+k.library+" ", " "+library+" ") {
			continue
		}
		if k.label == name || k.name == name {
			return k, nil
		}
		all = append(all, k.label)
	}
	return nil, fmt.Errorf("read kernel %q, expected %s", name, strings.Join(all, ", "))
}

// runs reports whether the kernel has a form for an operation.
func (k *kernel) runs(op workloads.Coll) bool {
	switch op {
	case workloads.AllReduce:
		return k.way != engines && k.name != "mscclpp-fullmesh"
	case workloads.AllGather:
		return k.library == "nccl-symm" || k.name == "mscclpp-fullmesh"
	case workloads.ReduceScatter:
		return k.library == "nccl-symm" && k.way != engines
	case workloads.AllToAll:
		return k.way == engines
	}
	return false
}

// multicast reports whether the kernel needs NVSwitches that multicast.
func (k *kernel) multicast() bool {
	return k.way == switched || k.way == alone || k.name == "nccl-llmc" || k.name == "mscclpp-nvls-packet"
}

func (k *kernel) algorithm(op workloads.Coll) collective.Algorithm {
	switch {
	case k.way == switched:
		return collective.Switch
	case k.way == alone:
		return collective.SwitchShot
	case op != workloads.AllReduce:
		return collective.Direct
	case k.way == twoShot:
		return collective.TwoShot
	}
	return collective.OneShot
}

// blocks returns the thread blocks for a message: enough that each thread has
// 16 bytes at a time, up to the kernel's most.
func (k *kernel) blocks(size sim.Bytes, n int) int {
	if k.most == 0 {
		return 0
	}
	if k.way != oneShot && k.way != alone {
		size = (size + sim.Bytes(n) - 1) / sim.Bytes(n)
	}
	return int(min(sim.Bytes(k.most), max(1, (size+k.grain-1)/k.grain)))
}

// pace returns what the kernel costs beyond the wires, for n ranks.
//
// Start is launch, barriers and dependent trips, more for every further peer;
// copies within the GPU's memory come before and after.
func (k *kernel) pace(m Machine, s Setting, op workloads.Coll, size sim.Bytes, n int) (collective.Pace, error) {
	g := generationOf(m)
	c, err := costOf(k.name, g)
	if err != nil {
		return collective.Pace{}, err
	}
	return k.paceAt(c, g, s, op, size, n), nil
}

func (k *kernel) paceAt(c cost, g generation, s Setting, op workloads.Coll, size sim.Bytes, n int) collective.Pace {
	copies := k.copies
	p := collective.Pace{Start: c.start + sim.Time(n-2)*c.peer}
	if s.Launch == Eager {
		extra := 1 // into the registered buffer
		if strings.HasPrefix(k.name, "sglang") {
			extra = 2 // and out of it again: eager rows of 0.5.14 have both
		}
		copies += extra
		p.Start += sim.Time(extra) * eagerCopy
		p.Floor = s.host(1 + copies)
	}
	if op == workloads.AllGather {
		size /= sim.Bytes(n) // a rank's own part is what is copied
	}
	p.Start += sim.Time(float64(copies) * float64(size) / float64(copyRates[g]) * float64(sim.Second))
	if k.way == twoShot && c.wave > 0 && k.most > 0 {
		turn := sim.Bytes(k.most) * k.grain * sim.Bytes(n)
		p.Slice, p.Slices = sim.Time(n-1)*c.wave, int64((size+turn-1)/turn)
	}
	switch k.way {
	case switched, alone:
		p.Limit = c.rank
	default:
		p.Limit = min(c.lane, c.rank/sim.Rate(n-1))
	}
	return p
}
