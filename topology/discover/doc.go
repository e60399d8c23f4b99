// Package discover reads what machines print about themselves: the matrix of
// `nvidia-smi topo -m`, the XML of `nvidia-smi -q -x`, of NCCL and RCCL, and
// of hwloc's lstopo.
//
// [Read] finds the format by the content and returns a [Dump]: the hosts with
// their GPUs, NICs, wires and words, and a [Note] for everything that was
// mended, that is missing, or that is broken in the machine itself. A dump
// holds no opinion of ours. What it leaves open (the rate of an NVLink, the
// planes of a switched board) is asked of a [Completer] by [Dump.Spec], which
// makes a machine of it. [Infer] finds a PCIe tree that has exactly the words
// of a [Matrix], or says which cells contradict each other; [Relations] goes
// the other way and [Matrix.Write] prints the result as nvidia-smi does.
//
// Descriptions of networks (ibnetdiscover, SimAI, ASTRA-sim, htsim, edge
// lists) are read by package netfile.
package discover
