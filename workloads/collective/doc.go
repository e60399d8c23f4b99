// Package collective says how a collective operation moves bytes: over which
// pairs of ranks, in how many steps, with how many bytes a step, and what its
// kernels cost beside the wires.
//
// The work has three parts, kept apart: a [Chooser] returns a [Choice], as the
// library would make it (packages nccl and kernels; algorithms of a user's own
// are in msccl and mscclpp); [NewPlan] turns the choice into a [Plan] for a
// [Layout] of ranks on nodes, which is arithmetic and knows no wire; and
// workloads/replay runs the plan on a network.
//
// With n ranks, k of them on each node, and a message of S bytes (the size that
// nccl-tests prints), a rank sends, and receives as much:
//
//	ring all-reduce                2(n-1)/n S, in 2(n-1) steps
//	ring all-gather, reduce-scatter  (n-1)/n S, in n-1 steps
//	chain broadcast, reduce        S from rank to rank, n-1 hops, in slices
//	tree all-reduce                up to S up and S down each edge, two trees of half each
//	switch (NVLS) all-reduce       S (1 + 1/n)
//	switch tree                    S (1 + 1/k) within a node, about S/k between nodes
//	one-shot, two-shot             (n-1) S, 2(n-1)/n S, every pair at once
//	powers of two (PAT)            (n-1)/n S, in log2 n steps
//	direct all-to-all              (n-1)/n S, every pair at once
//
// The parts of a message that n does not divide differ by a byte; every step
// is charged the largest, as the largest paces the ring. What a protocol adds
// in flags is [Choice.Overhead]; what launches, steps, slices and thread blocks
// cost is [Pace].
//
// At grain [Stream] the lanes of a plan are one flow over all their wires. At
// grain [Chunk] every slice is a transfer of its own, under flow control:
// [Pattern.Stages] says which slice waits for which.
package collective
