// Package catalog holds what is known of real hardware: GPUs, links,
// switches, NICs, CPUs, whole systems and the fabrics between them, and the
// source of each figure.
//
// The data are YAML files of one form, embedded in the binary; a user's file
// of the same form is laid over them with [Catalog.Merge]. The types to know
// are [Catalog], its records ([GPU], [Link], [System], ...) and [Figure]: a
// number that cannot be loaded without a source and a status. A
// [System] turns itself into the specification of a machine with
// [Catalog.Machine], and returns with it the [Provenance] of every figure that
// the machine was made of.
//
// The usable rate of a link is a product of factors, each a figure with a
// meaning of its own, never one unexplained constant:
//
//	usable = raw x line code x payload/(payload + overhead) x calibration
//
// with raw x line code = the nominal rate where no raw rate is known. All rates
// are of one direction, and all FLOP/s are dense.
//
// Adding a system is adding one record to a file of systems that names its
// parts; the comment at the top of each file says what its keys mean. A record
// with the key like takes over, whole, every key that it does not have from
// another record, each with its source:
//
//	systems:
//	  ours:
//	    like: dgx-h200
//	    title: DGX H200 with half of the NICs plugged
//	    origin: {source: user, status: assumed, note: "as we ordered it"}
//	    nics: 4
//
// Some figures serve reports alone and change no path: power, memory, prices,
// energy. They are there where a source has them.
//
// Records are decoded when they are first asked for: a run needs about ten of
// them, and the command must start in a blink.
package catalog
