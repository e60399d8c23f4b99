// Package machine puts hosts and a network together into a
// [topology.Machine].
//
// Describe the machine with a [Spec] and call [Build]. Ranks run host by
// host: GPU g of host h is rank h x GPUs + g. Routes are found once on one
// host and shifted for the others, so a route costs no search.
package machine
