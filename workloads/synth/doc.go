// Package synth makes programs from a short description: groups of ranks,
// blocks of operations that repeat, and what depends on what. It knows no
// model of a network and no transformer, only work and traffic.
//
// The type to know is [Program], the description, as a scenario file writes it
// (kind: program); [Program.Build] turns it into a [workloads.Program].
// [Collective] and [Program] agree: the first is the shortest program, one
// collective repeated.
//
// # What follows what
//
// Operations of a rank form a chain: each waits for the one before it. Three
// things leave the chain:
//
//   - background: true. The operation waits for the one before it and holds up
//     nothing: a gradient all-reduce under the backward pass. A send is in the
//     background by itself, as an isend is.
//   - after: [label, ...]. The operation waits for those labels in place of
//     the one before it. Inside a block a label means its latest operation; from
//     a later block it means all of them.
//   - stream: name. Operations of one stream also queue for it, by its order.
//     Without a name, compute is on "compute", collectives are on "comm", those
//     in the background on "background" (all three in order, as CUDA streams
//     are), and sends and receives on "p2p" (concurrent).
//
// An operation is skipped by ranks that it does not concern: those outside
// "at", those in no group of its communicator, those whose peer would be beyond
// the end of a pipeline. What would have waited for it waits for what it waited
// for.
//
// # Equal ranks
//
// Ranks that run the same operations are one class. A straggler is a class of
// its own. With jitter each rank is: its compute times are multiplied by
// uniform(1-j, 1+j), drawn from a PCG seeded with the seed and the rank, in the
// order of its program.
package synth
