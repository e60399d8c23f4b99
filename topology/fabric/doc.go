// Package fabric builds the network between hosts: a single switch,
// rail-optimised leaves (joined by spines or not at all), fat trees of two or
// three tiers, dragonflies.
//
// Describe it with a [Spec], add it to a graph with [Build], and ask the
// [Fabric] for the hops from port to port, which it computes from
// coordinates. Several links upwards are taken as ideally balanced: the links
// of a leaf to its spines are one trunk over which every transfer is spread
// in fixed proportion. [ECMP] instead gives each flow one cable by a hash, so
// that flows collide as they do without adaptive routing.
//
// A dragonfly (Kim, Dally, Scott, Abts, ISCA 2008) routes minimally: within a
// group by the one link between two switches, to another group by at most a
// local, a global and a local link, over all global cables between the two
// groups in proportion. Adaptive detours by a third group are left out, except
// where cables are out of service.
//
//	rate    = what the narrowest layer leaves: ports / oversubscription
//	latency = 2 x (NIC + port) + switches on the way + cables between them
package fabric
