// Package record keeps what happened during a run: spans (an operation on a
// stream, from start to end) and counters (the load of a link over time), each
// on a named track.
//
// A model asks a [Recorder] for its tracks and names once, and then records
// with their numbers. A nil Recorder is valid and keeps nothing, so a call site
// needs no test. What was recorded is written as CSV, or as a trace that opens
// at ui.perfetto.dev ([Recorder.WriteTrace], in the JSON Trace Event Format).
//
// The order of all output follows the order in which tracks were added, then
// time, then the order of recording: it does not depend on anything else.
//
// Left out: arrows between spans, and any limit; a span takes 32 bytes.
package record
