// Package collective says how a collective operation moves bytes: over which
// pairs of ranks, in how many steps, with how many bytes a step.
//
// The work has three parts, kept apart: a [Chooser] names the algorithm, as
// the library would; [NewPlan] turns the algorithm into a [Plan], which is
// arithmetic on the number of ranks and the size and knows no wire; and
// workloads/replay runs the plan on a network.
//
// With n ranks and a message of S bytes (the size that nccl-tests prints), and
// c = ceil(S/n), the plans are:
//
//	ring all-reduce               2(n-1) steps of c to the next rank
//	ring all-gather, reduce-scatter  n-1 steps of c to the next rank
//	chain broadcast, reduce       S from rank to rank, n-1 hops, in slices
//	direct all-to-all             c from every rank to every other, at once
//	direct gather, scatter        c between the root and every other, at once
//
// The parts of a message that n does not divide differ by a byte; every step
// is charged the largest, as the largest paces the ring.
package collective
