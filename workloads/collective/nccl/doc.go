// Package nccl chooses as NVIDIA's library does: for an operation and a size,
// the algorithm and the protocol, by the closed formula of the release.
//
// The work has two parts, kept apart. [Search] finds the channels that NCCL's
// search finds for a group of ranks on any machine, with the order of the ranks
// on them; [New] takes channels from there or from a graph file of a real job,
// and predicts with them. [ParseEnv] and [ReadTuner] read what a user sets.
//
// Every latency and bandwidth here is NCCL's own estimate, made to compare
// algorithms with one another: at small sizes it is off by tens of percent, and
// it is never a measurement. Microseconds and GB/s (1e9 bytes) are its units.
//
// The formulas are those of NVIDIA/nccl, src/graph/{tuning,search,connect}.cc,
// releases 2.18.5 to 2.30.7, written down anew.
package nccl
