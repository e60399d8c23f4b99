// Package topology models wires: what is connected to what, and how bytes get
// from A to B. It knows no collective and no model.
//
// The types to know are [Graph] (nodes, directed links, trunks), [Path] (what
// a transfer occupies on its way), [Machine] (a graph with its GPUs in rank
// order and its routes) and [Network] (the clock: who is done when). Builders
// for concrete wiring are in the folders nvlink, pcie and fabric; machine
// puts them together.
package topology
