package nccl

// NetCosts are what NCCL's kernels and proxies take where a step leaves the
// node, beyond the wires, with GPUs of one generation. Times are microseconds,
// rates GB/s (10^9) one way. What a network and its plugin add on top is a
// [Plugin].
type NetCosts struct {
	// Step is the latency of a crossing: the proxy sees what the kernel wrote
	// and posts it, and the other side's proxy sees the completion and tells
	// its kernel; by protocol.
	Step [protocols]float64
	// Post is what a connection across the network spends on each chunk beside
	// sending it, before it takes the next; by protocol. All chunks of a ring
	// cross it, one after the other.
	Post [protocols]float64
	// Child is what a connection of a tree spends on each chunk beside sending
	// it, by protocol.
	Child [protocols]float64
	// Ring is what one thread block of a ring or chain sends while nothing holds
	// it up, in bytes on the wire, by protocol.
	Ring [protocols]float64
	// Tree is the same of a tree, whose thread blocks reduce and pass results
	// down at once, and serve two children each.
	Tree [protocols]float64
	// NVLSTree are those of the kernels that reduce in the switch and send the
	// sums along trees.
	NVLSTree NVLSTreeCosts
}

// NVLSTreeCosts are those of NVLSTree, in the units of [NetCosts].
type NVLSTreeCosts struct {
	Step float64 // as NetCosts.Step
	// Pair and Many are what a thread block moves of the message, between two
	// nodes and among more, where inner nodes pass on what two others send.
	Pair, Many float64
	// Fill and Level are how many rounds of chunks fill the pipeline: of a
	// node, and of each level of the tree. They start on Costs.NVLS.
	Fill, Level float64
}
