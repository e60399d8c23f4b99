// Package kernels holds the libraries of inference engines that choose how a
// collective runs by themselves: vLLM, SGLang, TensorRT-LLM, PyTorch's
// symmetric memory, MSCCL++ and NCCL's symmetric kernels; and the all-to-all
// of expert parallelism: DeepEP and the one over NVLink in a rack.
//
// A [Library] is a collective.Chooser: it says whether its kernels run a
// collective among these ranks, which of them does, and leaves the rest to a
// fallback, usually NCCL. Thresholds are those of the libraries' sources, named
// beside them.
//
// A kernel alone takes
//
//	start + (n-2) peer + waves x (n-1) wave + latency + bytes / rate
//
// among n ranks: start is the launch within a CUDA graph, the barriers and the
// dependent trips; peer the flags of one rank more; a wave is a turn of the
// thread blocks of a two-step kernel, which reads its peers one after the
// other; and rate is what the thread blocks keep in flight, between a pair of
// ranks and from one rank altogether, or what the wires grant where that is
// less. The constants belong to an implementation on a generation of GPUs;
// costs.csv has them, with their source and whether they are measured, derived
// or assumed, and TestFit -update fits the measured ones again.
//
// An [Exchange] is a phase of the all-to-all of expert parallelism: its bytes
// between ranks, with one copy of a token for each expert (low latency) or for
// each node (normal); its [workloads.Program]; and, as the libraries "deepep"
// and "nvlink-a2a", its kernels. A thread block spends a turn on a token beside
// copying it, so that few blocks, or few experts, send less than the wires
// carry; exchange.csv has the constants. Over several nodes the normal kernels
// copy a token once more for each node that it goes to, or twice to combine. On
// two and four nodes that is within 10 % of published large messages, within 15 %
// below; eight nodes of H100 take twice as long, for reasons that the table does
// not tell: their NICs carry 22 GB/s there, whatever the number of blocks.
//
// Left out: the prepare step of TensorRT-LLM's two-sided exchange, its combine
// of low precision, the quantised all-reduce of ROCm, fused residual and
// normalisation, and all-reduce kernels over several NVLink domains.
package kernels
