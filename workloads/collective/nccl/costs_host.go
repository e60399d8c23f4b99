package nccl

// HostCosts are what NCCL's kernels take between GPUs of one generation that
// meet over PCIe, beyond the wires. Times are microseconds, rates GB/s (10^9)
// one way, in bytes on the wire.
type HostCosts struct {
	// Start is from the launch of a kernel to its first byte, Peer the same of
	// sends and receives, by protocol.
	Start, Peer [protocols]float64
	// Step is a receiver's notice and turn-round at each dependent step, beside
	// the latency of the wire, by protocol: one for GPUs that reach each other
	// and one by way of host memory, which the receiver polls across PCIe.
	Step, StagedStep [protocols]float64
	// CTA is what one thread block of 512 threads sends, by protocol.
	CTA [protocols]float64
	// Staged is the most that all thread blocks of a GPU read from host memory:
	// loads that are under way at once, over the time of one. Direct is the most
	// that they store into a peer.
	Staged, Direct float64
	// Own is what one thread block copies or reduces within its GPU: a rank's
	// own part of an all_gather or a reduce_scatter crosses no wire.
	Own float64
	// Jitter is as in [Costs].
	Jitter float64
}

// PeerCosts are what the kernels of NCCL's send and receive take with GPUs of
// one generation, in the units of [HostCosts].
type PeerCosts struct {
	// Start is from the launch to the first byte, over NVLink, by protocol;
	// Block adds to it for each thread block that takes part.
	Start [protocols]float64
	Block float64
	// CTA is what one thread block sends over NVLink, by protocol.
	CTA [protocols]float64
	// OneWay is how many times that it is while the thread block receives
	// nothing, since all its threads send.
	OneWay float64
	// Own is the part of that rate that is lost for a rank's own part of an
	// alltoall, which is copied at the same time: by its part of all bytes.
	Own float64
	// Drain is the part of the time of sending the last chunk that it takes to
	// copy it out of the buffer.
	Drain float64
	// Uneven is the part of a GPU's links that is left unused: with one peer, and
	// with several, whose messages meet in the switches, while each thread block
	// serves one of them.
	Uneven [2]float64
}

// PeerNetCosts are what messages to other nodes take, whatever the GPUs: it is
// proxies and NICs that send them.
type PeerNetCosts struct {
	Start float64 // launch, proxies of both sides and the doorbell, Simple
	CTA   float64 // what one channel sends
	// NIC is the part of a NIC's rate that messages to many peers reach, Pair
	// that of messages to one.
	NIC, Pair float64
	// Fill is how many times the time of a chunk each peer costs beside its
	// bytes: a connection starts empty and ends with what is under way.
	Fill float64
}

// callCost is what the host takes for the send and receive of one peer, in
// microseconds.
//
// Source: derived from 8 A100 driven by one thread, alltoall of 32 B: 87 us
// where an all_reduce takes 34 (microsoft/superbenchmark, tests/data, 700d6501f1),
// and 2 RTX 4090, 11.9 us (tinygrad/open-gpu-kernel-modules issue 17).
const callCost = 0.77
