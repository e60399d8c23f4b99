// Package chakra reads Chakra execution traces (MLCommons): the files that
// ASTRA-sim, STAGE, the PyTorch converter and the collective API write.
//
// [Decode] reads one file as stored, [Trace.Summary] counts it, [Read] reads
// a folder of one file a rank with its group file, and [Import] makes a
// [workloads.Program] of it with a [Report] of what was kept, dropped and
// repaired. [Load] is Read and Import.
//
// # What the import decides
//
// Dependencies. Data dependencies order execution where the file has any;
// control dependencies, which the PyTorch converter uses for the calling
// parent, only where there are no others and they are complete and acyclic;
// else nodes run in the order of the file, with a warning. References to
// nodes that are not in the file and to oneself are dropped and counted.
//
// Order. Operations stand in topological order, of those that are ready the
// smallest id first. That is the order in which ASTRA-sim issues nodes, and
// it matches the k-th collective of a group on one member with the k-th on
// every other. Matching is static: a disagreement is an error that names the
// nodes.
//
// Streams. Kernels with a recorded stream (attribute stream, or tid on the
// device) run in order on it. All others run on "compute", "comm" and "copy",
// each one operation at a time, whichever is ready; this is the rule of
// ASTRA-sim. Sends and receives are on "p2p", where all that are ready run
// together: one at a time, a receive whose sender is late would hold up the
// sends behind it, and with them the sender.
//
// Host operators take no time on the GPU and are dropped; what they order is
// kept, because dependencies pass through them. A recorded trace of PyTorch
// does not say that a collective waits for the kernels launched before it,
// which ProcessGroupNCCL makes it do with an event; the import adds that
// unless [Options.RecordedOnly] is set, and reports it.
//
// Durations. duration_micros stands where it is above zero, exact to the
// picosecond where it is a fraction; otherwise num_ops and tensor_size go to
// the program for a model of the GPU to price. The report counts both: recorded
// times are those of the GPU that recorded them, and are not scaled. Recorded
// times of collectives include the wait for other ranks and only go into the
// report.
//
// Ranks without a file are copies of one that has, with groups shifted
// accordingly, and a warning; a trace with sends and receives cannot be
// copied.
//
// A file that ends inside a record is decoded as far as it goes, and refused by
// the import unless [Options.AcceptTruncated] is set: what is left of a step
// looks like a shorter step.
//
// # What it leaves out
//
// Point-to-point kernels of PyTorch-converter traces name no peer and cannot
// be replayed: they are dropped and counted. Generations G2 and G3 of the
// schema (July and August 2023) are refused. The field layouts are those of
// mlcommons/chakra, et_def.proto, at the commits named by each [Schema].
package chakra
