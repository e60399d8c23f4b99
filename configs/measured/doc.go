// Package measured holds what others measured on real machines, the scenario
// that each measurement is of, and the score of a prediction against them.
//
// [Load] returns the [Series] that come with weft: the points of a published
// table for one operation on one set of GPUs, and the [Case] that says which
// machine of the catalogue that was and how the library was run. A [Predictor]
// says how long each size takes; [Simulator] is the one that builds the
// scenario and replays it. [Compare] puts the two together, and [Score] turns
// the result into medians, 90th percentiles and bias for each class of size and
// kind of system.
//
// # The rule of scoring
//
// The error of a point is predicted / measured - 1, of times. Sizes are small
// below 1 MiB, large from 64 MiB, medium between. A score is taken over the
// points of a class; the points of one series (table, ranks, nodes, operation)
// share a weight of one, so that a table with a hundred rows counts as much as
// one with three. The median and the 90th percentile are those of the weighted
// absolute errors, the bias is the weighted median of the signed ones, and the
// worst is the largest, with its sign. Out of place and in place are samples of
// their own, and so are the versions and element types of a table.
//
// Left out, and counted with the reason: what a case says must not be used; the
// first row of a sweep, which warms up; a row above twice both its neighbours;
// a row above 1.3 times its larger neighbour, unless another sample of the same
// row agrees; and times that stand in the source as a rate of a digit or two,
// where the last digit is worth more than 5 %.
//
// # Sources
//
// data/tables.csv names the repository or document, the commit, the conditions
// and how far a table can be trusted; data/points.csv has the figures. Both are
// written by a test from the collected tables (see the file convert_test.go).
package measured
