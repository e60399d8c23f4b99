// Package pcie builds the PCIe side of a server: sockets with their memory,
// host bridges, switches, GPUs and NICs.
//
// Describe it with a [Spec], add it to a graph with [Build], and ask the
// [Tree] for the path between two devices. A path climbs from one device to
// where the two branches meet and descends to the other; its kind is that of
// the highest point (PIX, PXB, PHB, NODE, SYS). Where direct access is not
// allowed the bytes bounce: up to the memory of the receiver's socket and
// down again.
package pcie
