// Package shortest routes any graph by its shortest paths.
//
// [Build] makes a [topology.Machine] of a graph and its GPUs in rank order.
// Use it where no builder knows the shape: for wiring that was read from a
// file. It promises, for each pair of ranks:
//
//   - of all paths, those with the fewest links of the least preferred class,
//     then of the next one (see [Options.Prefer]; without it: the fewest
//     links), then the lowest latency, then the fastest physical link at the
//     narrowest point;
//   - the bytes are spread over all of these, at each node evenly over the
//     physical links that lead on (a link of width 4 takes four times the
//     part of one of width 1), or follow one of them, by hash;
//   - GPUs do not forward what is for others unless asked, host memory and a
//     NIC between two switches never do.
//
// What a rank can reach is found when it first sends and kept as a bit per
// link. It leaves out congestion: the spread does not depend on the load.
package shortest
