package msccl

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// Algorithm is what a file says: for each GPU its thread blocks, and for each of
// those its steps.
type Algorithm struct {
	File     string // where it was read
	Name     string
	Coll     workloads.Coll
	Custom   bool // no collective that is known here: Coll means nothing
	Protocol nccl.Protocol
	Channels int
	Chunks   int // nchunksperloop: chunks of the whole message
	InPlace  bool
	// OutOfPlace says that it is for calls with two buffers.
	OutOfPlace bool
	// Least and Most are the sizes for which it is meant, as nccl-tests counts;
	// both belong to it.
	Least, Most sim.Bytes
	Threads     int // of a thread block, 0 if the file leaves it to the library
	GPUs        []GPU
	// Notes are what a reader of results should know: attributes that mean
	// nothing here, and what is odd about the file.
	Notes []string
}

// GPU is the work of one rank.
type GPU struct {
	Line   int
	Chunks [3]int // by Buffer
	Blocks []Block
}

// Block is a thread block: it runs its steps one after the other.
type Block struct {
	Line    int
	Send    int // the rank it sends to, -1 for none
	Recv    int // the rank it receives from, -1 for none
	Channel int
	Steps   []Step
}

// Step is one thing that a thread block does.
type Step struct {
	Line     int
	Kind     Kind
	Src, Dst Place
	Count    int // consecutive chunks
	// Block and After are the thread block of the same GPU, and the step of it,
	// that must be done before; Block is -1 where there is none.
	Block, After int
}

// Place is a chunk of a buffer.
type Place struct {
	Buffer Buffer
	Chunk  int
}

// Buffer is one of a GPU's three.
type Buffer uint8

// The buffers.
const (
	Input Buffer = iota
	Output
	Scratch
)

func (b Buffer) String() string { return [...]string{"input", "output", "scratch"}[b] }

// Kind says what a step does.
type Kind uint8

// The kinds of steps, by what MSCCL calls them.
const (
	Nop  Kind = iota
	Send      // s
	Recv      // r
	RecvCopySend
	RecvReduceSend
	RecvReduceCopy
	RecvReduceCopySend
	LocalCopy   // cpy
	LocalReduce // re
	LocalAdd    // ra
)

// kinds are the names of MSCCL, by kind.
var kinds = []string{"nop", "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "ra"}

func (k Kind) String() string { return kinds[k] }

// Sends reports a step that sends to the peer of its block.
func (k Kind) Sends() bool {
	return k == Send || k == RecvCopySend || k == RecvReduceSend || k == RecvReduceCopySend
}

// Receives reports a step that takes what the other peer of its block sent.
func (k Kind) Receives() bool { return k >= Recv && k <= RecvReduceCopySend }

// Adds reports a step that adds what it received, or its source, to something.
func (k Kind) Adds() bool {
	return k == RecvReduceSend || k == RecvReduceCopy || k == RecvReduceCopySend || k == LocalReduce || k == LocalAdd
}

// reads and writes report which of a step's places mean something.
func (k Kind) reads() bool {
	return k == Send || k.Adds() || k == LocalCopy
}

func (k Kind) writes() bool {
	switch k {
	case Nop, Send, RecvReduceSend:
		return false
	}
	return true
}

// Op is the collective as weft calls it.
func (a *Algorithm) Op() string {
	if a.Custom {
		return "custom"
	}
	return a.Coll.String()
}

// Ranks is how many GPUs the algorithm is for.
func (a *Algorithm) Ranks() int { return len(a.GPUs) }

// Fits returns an error for a message that the algorithm is not for: too small,
// too large, or not a multiple of its chunks.
func (a *Algorithm) Fits(size sim.Bytes) error {
	switch {
	case size < a.Least || size > a.Most:
		return fmt.Errorf("%d bytes, but %s is for %d to %d (minBytes, maxBytes)", size, a.File, a.Least, a.Most)
	case size <= 0 || size%sim.Bytes(a.Chunks) != 0:
		return fmt.Errorf("%d bytes, but %s cuts a message into %d equal chunks (nchunksperloop); expected a multiple such as %d", size, a.File, a.Chunks, max(1, size/sim.Bytes(a.Chunks))*sim.Bytes(a.Chunks))
	}
	return nil
}

// Blocks returns the most thread blocks that one GPU has, and the most of them
// that send.
func (a *Algorithm) Blocks() (all, sending int) {
	for _, g := range a.GPUs {
		n := 0
		for _, b := range g.Blocks {
			if b.Send >= 0 {
				n++
			}
		}
		all, sending = max(all, len(g.Blocks)), max(sending, n)
	}
	return all, sending
}

// Sent returns the chunks that a rank sends, mean over the ranks.
func (a *Algorithm) Sent() float64 {
	n := 0
	for _, g := range a.GPUs {
		for _, b := range g.Blocks {
			for _, s := range b.Steps {
				if s.Kind.Sends() {
					n += s.Count
				}
			}
		}
	}
	return float64(n) / float64(len(a.GPUs))
}
