// Package msccl runs collective algorithms that a user wrote or a tool found,
// in the XML of MSCCL (Microsoft Collective Communication Library; RCCL and
// TACCL write the same).
//
// [Read] reads a file strictly: what it does not know is an error with its
// line. [Algorithm.Check] runs the algorithm without numbers, following which
// inputs each chunk of each buffer is the sum of, in two opposite orders of the
// thread blocks, and refuses one that hangs, or that does not leave behind what
// its collective promises. [Algorithm.Expand] makes the traffic of one message
// size of it, a [workloads.Program] that package replay runs on any machine.
//
// A message of S bytes in N chunks runs as MSCCL's interpreter does it: a chunk
// of S/N bytes is cut into parts of at most what one chunk of the protocol
// carries (LL 32 KiB, LL128 576,000 B, Simple 2 MiB), and all thread blocks run
// all their steps for one part, then for the next. Within a step a thread block
// hands on what it received in smaller units, a round of its threads' lines or
// a slice. So one send of b data bytes by a thread block that moves r bytes of
// wire a second, with w bytes on the wire for each byte of data, is over after
//
//	b w / r + latency of the wires + step
//
// and a chain of h steps that forward takes one unit longer for each.
//
// It leaves out that a sender waits for its receiver to free a buffer (Check
// says where that would hang), and the rounding of small messages to whole
// lines.
//
// Sources: microsoft/msccl b23e9cd5 (src/graph/xml.cc of the parser,
// src/collectives/device/msccl_interpreter.h, src/enqueue.cc).
package msccl
