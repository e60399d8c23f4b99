// Package nvlink builds NVLink wiring: GPUs on the planes of an NVSwitch
// fabric, and GPUs wired directly to each other.
//
// Describe it with a [Spec], add it to a graph with [Build], and ask the
// [Wiring] for routes. In a switched domain the hardware spreads each
// transfer over all planes in proportion to the links that a GPU has to them,
// so the links of a GPU to the planes are one trunk, and a path is two hops:
//
//	rate    = links x rate of a link
//	latency = 2 x latency of a link + latency of the switch
//
// Where groups of GPUs have planes of their own ([Tier]), a path to another
// group crosses two switches if twin planes are joined directly (DGX-2,
// NVL36x2), three if upper switches join them (the NVLink network of 256
// H100), and shares what leaves its group:
//
//	rate    = least over planes of uplinks x rate / (part of a GPU's links there)
//	latency = 2 x link + 2 x switch + link of the tier           (twins)
//	latency = 2 x link + 2 x switch + 2 x link of the tier + upper switch
//
// In a mesh a pair uses only the links between the two: a third of a GPU's
// links on a board of four. A pair without a link goes through one peer GPU
// (NVB), as NCCL does on a hybrid cube mesh; never through two.
package nvlink
