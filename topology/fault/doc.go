// Package fault describes what is wrong with a machine: links, planes,
// switches, NICs and GPUs that are slower or missing.
//
// A [Fault] is a target and an effect. [Parse] reads it as a person writes it,
//
//	n0.gpu3 down                     a GPU, with all its links
//	n*.nvswitch1 down                a plane of every host
//	n0.gpu0>n0.nvswitch* x0.5        links by their ends, in that direction
//	leaf2<>spine* 25GB/s +2us        both directions; rate and added latency
//	n0.gpu4<>n0.pcie-sw2 x8          8 lanes, or links, are left
//	class:*ndr* x0.9                 links by class
//
// and [Apply] makes the machine that has it. Slower links keep their routes
// and shares: hardware spreads by a hash that knows nothing of rates, so that
// the slowest of a trunk limits. Where something is missing the router finds
// new routes for the hosts that it is missing from; others stay alike.
package fault
