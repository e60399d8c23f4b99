// Package fabric builds the network between hosts: a single switch,
// rail-optimised leaves, fat trees of two or three tiers.
//
// Describe it with a [Spec], add it to a graph with [Build], and ask the
// [Fabric] for the hops from port to port, which it computes from
// coordinates. Several links upwards are taken as ideally balanced: the links
// of a leaf to its spines are one trunk over which every transfer is spread
// in fixed proportion. Collisions of hashed flows (ECMP) are not modelled.
package fabric
