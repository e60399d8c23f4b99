// Package mscclpp runs execution plans of MSCCL++: the JSON in which its
// compiler writes algorithms of a user's own, as one-sided operations of thread
// blocks.
//
// [Read] reads a plan strictly, with the line of what it does not know, and
// refuses by name the operations that are not modelled (pipeline, gstore,
// gstorepkt). [Plan.Check] runs it without numbers in two opposite orders of the
// thread blocks, as package msccl does, and refuses one that hangs or does not
// leave behind what its collective promises. [Plan.Expand] makes the traffic of
// one message.
//
// A put is a message to memory that nobody there waits for; a signal is eight
// bytes behind it, for which the wait on the other side waits. A get is a
// request of eight bytes and the answer. Packets are twice their data, and who
// reads them waits for them. So a put of b bytes with its signal is noticed after
//
//	b / rate of the block + latency + step
//
// A load-reduce-store by the switch (glres) is an all-reduce of the parts of all
// ranks of the switch channel, for which they wait for each other.
//
// It leaves out that a flush takes time and that reads stall a block beyond the
// round trip.
//
// Sources: microsoft/mscclpp 1f5f065d (src/core/executor, include/mscclpp).
package mscclpp
