// Package machine puts hosts and a network together into a
// [topology.Machine].
//
// Describe the machine with a [Spec] and call [Build]. Ranks run host by
// host: GPU g of host h is rank h x GPUs + g. Routes are found once on one
// host and shifted for the others, so a route costs no search. Where the
// faults of package fault take something away from a host, that host finds
// routes of its own and the others keep theirs.
//
// Traffic within a host takes NVLink if it joins the two, else PCIe, else, as
// with a GPU of a rack that lost its NVLink, the network. Traffic between
// hosts leaves and arrives by the NICs nearest to the GPUs ([Relay] says when
// over a peer's).
package machine
