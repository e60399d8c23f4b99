// Package report turns answers into pages for people and documents for
// programs: text with aligned columns, JSON, CSV, and the table of nccl-tests.
//
// The types to know are [Table], which fits a terminal, and the answers: [Run],
// [Bench], [Topo], [Trace], [Check], [Listing]. Numbers are printed with three
// significant digits and units; the words of a page can be read aloud. The
// keys of JSON and the columns of CSV are an API: they are listed in
// docs/reference and only ever extended.
//
// What it leaves out: deciding anything. It prints what it is given.
package report
