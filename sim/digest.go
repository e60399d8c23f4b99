package sim

import "math/bits"

// Digest switches the digest of the event log on or off. It is off in a new
// engine.
func (e *Engine) Digest(on bool) { e.digest = on }

// Sum64 returns a hash of all fields of every event delivered while the digest
// was on, in their order. Two runs with equal sums have, for practical
// purposes, the same event log. It is for tests of determinism, and does not
// resist an adversary.
func (e *Engine) Sum64() uint64 {
	// The finaliser of MurmurHash3 (public domain, Austin Appleby).
	h := e.sum
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return h
}

// mix adds an event to a sum. Each step is a bijection of the sum for a given
// word and of the word for a given sum, so logs that differ in one word have
// different sums.
func mix(h uint64, ev Event) uint64 {
	h = word(h, uint64(ev.At))
	h = word(h, uint64(uint32(ev.Target))<<32|uint64(uint32(ev.Kind)))
	return word(h, uint64(ev.Arg))
}

// word mixes by an odd multiplier, the golden ratio in 64 bits. The added
// constant makes leading zero words count.
func word(h, w uint64) uint64 {
	const golden = 0x9e3779b97f4a7c15
	return (bits.RotateLeft64(h, 29) ^ w + golden) * golden
}
