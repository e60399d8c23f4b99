// Package netfile reads descriptions of networks that users already have, and
// writes weft's own.
//
// [Read] finds the format by the content and returns a [Net]: a valid graph,
// its GPUs in rank order, what was counted, and notes of all that was assumed.
// [Net.Machine] makes a machine of it. Read are
//
//   - topologies of SimAI and of ASTRA-sim's ns-3 backend (link tables),
//
//   - networks of ASTRA-sim's analytical backend, 2.x (YAML) and 1.0 (JSON),
//
//   - fat trees of htsim (.topo),
//
//   - ibnetdiscover output: switches, adapters, servers; no GPUs, so say how
//     many each server has with [Net.AttachGPUs],
//
//   - models of topograph (a tree of switches and servers, without speeds),
//
//   - weft's edge list, a line a link:
//
//     n0.gpu0  n0.nvswitch0  25GB/s   500ns  x18
//     n0.gpu0  leaf0         400Gbps  1us
//
//   - weft's own graph, JSON or YAML, which [Write] writes.
//
// Files that are known and describe no wires (ASTRA-sim's system, memory and
// logical-dims files, connection matrices of htsim, ibstat) are refused with
// an [Error] that says what they are. Rates are taken as what payload reaches;
// a graph that knows better must say so itself.
package netfile
