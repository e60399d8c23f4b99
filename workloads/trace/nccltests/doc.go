// Package nccltests reads what nccl-tests print: which collective ran among
// which GPUs, and for each size the time and the bandwidths.
//
// [Read] takes a log as it lies about: the tables of old and new releases and
// of rccl-tests, the JSON of -J, the table, CSV and JSON of `weft bench`;
// several tables in one file, the lines of many ranks with the prefixes that
// mpirun, srun or pdsh put in front, rows that a line of NCCL_DEBUG cut in two,
// and any other noise around. It returns a [Log] of [Table]s of [Row]s.
//
// [Table.Check] says what is odd about the numbers themselves: values that were
// wrong, bandwidths that contradict the times, rows that took longer than
// larger ones. [Table.Usable] leaves those rows out.
//
// In the log, as here, bandwidth is
//
//	algbw = size / time        busbw = algbw * factor(operation, ranks)
//
// with factor 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter,
// alltoall, gather and scatter, and 1 for the rest. Where the log does not say
// the operation or the number of ranks, the ratio of the two does.
//
// What it leaves out: what the numbers should have been.
//
// Source of the formats: NVIDIA/nccl-tests, src/common.cu and src/util.cu, at
// v2.10 to v2.17.
package nccltests
