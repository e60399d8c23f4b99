package nccl

import "fmt"

// Costs are what NCCL's kernels take on the GPUs of one generation, beyond the
// wires. Times are microseconds, rates GB/s (10^9) one way. All are fitted, see
// [CostsOf], and hold for every system with such GPUs.
type Costs struct {
	// Launch is what the hosts of that time take to launch a kernel, where one
	// thread launches for all GPUs in turn.
	Launch float64
	// Start is from the launch of a kernel to its first byte: the GPU's front
	// end, reading the work, by protocol.
	Start [protocols]float64
	// Step is a receiver's notice and turn-round at each dependent step, beside
	// the latency of the wire, by protocol.
	Step [protocols]float64
	// CTA is what one thread block sends, in bytes on the wire, by protocol.
	CTA [protocols]float64
	// Pass is what the first pass of a thread block's threads over a chunk of LL
	// takes beyond its first line: it is under way while the block waits.
	Pass float64
	// Slice is the fence, the flag and the barriers of a thread block at each
	// slice of Simple.
	Slice float64
	// Own is how many chunks' worth of time a rank's own chunk takes: it is
	// copied or reduced by the same thread blocks and crosses no wire.
	// For all_gather, reduce_scatter, all_reduce.
	Own [3]float64
	// Jitter is by how much the time of copying 32 KiB varies in one thread
	// block, as a standard deviation: the others wait for the slowest.
	Jitter float64
	// NVLS are the same of the kernels that reduce and multicast in the switch:
	// a slice is a chunk of one head.
	NVLS NVLSCosts
}

// NVLSCosts are those of NVLS, in the units of [Costs].
type NVLSCosts struct {
	Start  float64
	Loop   float64 // fences and flags of a loop over the heads
	Head   float64 // what a chunk of one head takes beyond the copying of its bytes
	CTA    float64
	Skew   float64 // by how much of a copy the last GPU is later, each time the GPUs double
	Depth  float64 // loops that the pipeline holds before the first is done
	Jitter float64
}

// turns is what the fences and flags of a loop over so many heads take, with
// chunks of at least the smallest size.
func (k NVLSCosts) turns(heads float64) float64 { return k.Loop + heads*k.Head }

// Generation is a generation of GPUs: its kernels cost alike.
type Generation uint8

// The generations.
const (
	Pascal Generation = iota
	Volta
	Ampere
	Hopper
	Blackwell

	generations = int(Blackwell) + 1
)

func (g Generation) String() string {
	return [...]string{"Pascal", "Volta", "Ampere", "Hopper", "Blackwell"}[g]
}

// GenerationOf returns the generation of a compute capability times ten.
func GenerationOf(sm int) Generation {
	switch {
	case sm < 70:
		return Pascal
	case sm < 80:
		return Volta
	case sm < 90:
		return Ampere
	case sm < 100:
		return Hopper
	}
	return Blackwell
}

// Launches of the host, in microseconds. Source: fitted with the costs.
type hostCosts struct {
	// OneProcess is a launch by a thread that launches for all GPUs in turn, where
	// the generation of the GPUs does not tell what the host is.
	OneProcess float64
	// PyTorch is a call of torch.distributed, and Python what comes before each
	// kernel besides: its stream waits for another.
	PyTorch, Python float64
	// Thread is what a kernel starts later in a process with a thread for each
	// GPU than in a process of its own.
	Thread float64
}

// CostsOf returns the costs of a generation.
func CostsOf(g Generation) (Costs, error) {
	if int(g) >= generations {
		return Costs{}, fmt.Errorf("look up costs of kernels: generation %d, expected 0 to %d (Pascal to Blackwell)", g, generations-1)
	}
	return costs[g], nil
}
