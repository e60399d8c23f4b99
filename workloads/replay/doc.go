// Package replay runs a [workloads.Program] on a [topology.Machine] and says
// how long the step takes, and why.
//
// The way of a program through this package:
//
//	expand    which ranks meet in which collective, which send meets which receive
//	lanes     which wires each of them uses
//	symmetry  which ranks, groups and wires behave alike; one of each is run
//	exec      streams, rendezvous, transfers: the simulation itself
//	result    where the time went, along the critical path and by rank and link
//
// Rules of the replay: an operation becomes ready when its dependencies have
// finished; its stream then decides when it runs. A collective begins when
// all members have reached it. A send begins without waiting for the receive
// and is done when its last byte has left; a receive is done when the last
// byte is there.
package replay
