package mscclpp

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// Plan is what a file says.
type Plan struct {
	File     string
	Name     string
	Coll     workloads.Coll
	Custom   bool   // no collective that is known here: Coll means nothing
	Protocol string // "Simple" or "LL"
	InPlace  bool
	// Least and Most are the bytes of a rank's input for which it is meant.
	Least, Most sim.Bytes
	GPUs        []GPU
	Notes       []string
}

// GPU is the work of one rank.
type GPU struct {
	Chunks  [3]int // of input, output and scratch
	Blocks  []Block
	Memory  []int    // the peer of each memory channel
	Port    []int    // the peer of each port channel
	Switch  []Switch // the switch channels
	Remote  []Remote // buffers of other GPUs
	Initial []int    // of each semaphore
}

// Switch is a channel on which the switch adds up a buffer of several ranks.
type Switch struct {
	Buffer Buffer
	Ranks  []int
}

// Remote is a buffer of another GPU.
type Remote struct {
	Rank   int
	Buffer Buffer
}

// Block is a thread block: it runs its operations one after the other.
type Block struct {
	Ops []Op
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

// Op is one operation, with all references resolved.
type Op struct {
	Line     int
	Name     string
	Src, Dst []Range
	Channels []Channel // to signal, or to wait for
	Barrier  int       // of nop-like barriers: which, and how many blocks meet there
	Meet     int
	Sems     []int
	Part     int // of a thread block group that shares the operation: 1/Part of its bytes
}

// Range is consecutive chunks of a buffer of some GPU.
type Range struct {
	Rank   int // whose
	Buffer Buffer
	Chunk  int
	Count  int
	Switch []int // the ranks of a switch channel; nil for a buffer of one
}

// Channel is one end of a pair of semaphores: the Nth channel of its kind from
// a GPU to Peer is the other end of Peer's Nth channel back.
type Channel struct {
	Peer, Nth int
	Port      bool
}

// kinds of operations, by what runs them alike.
type kind struct {
	reads   bool // from memory of other GPUs
	packets bool // what it writes elsewhere, or to scratch, are packets
	takes   int  // index of the first source that is packets, -1 for none
	signals bool
	waits   bool
	adds    bool
	data    bool // it moves bytes
}

// known are the operations that can be run.
var known = map[string]kind{
	"nop": {takes: -1}, "flush": {takes: -1}, "barrier": {takes: -1}, "sem_acquire": {takes: -1}, "sem_release": {takes: -1},
	"signal": {takes: -1, signals: true}, "rlxsignal": {takes: -1, signals: true},
	"wait": {takes: -1, waits: true}, "rlxwait": {takes: -1, waits: true},
	"put": {takes: -1, data: true}, "pws": {takes: -1, data: true, signals: true}, "pwsf": {takes: -1, data: true, signals: true},
	"get": {takes: -1, data: true, reads: true}, "copy": {takes: -1, data: true},
	"re": {takes: -1, data: true, adds: true}, "res": {takes: -1, data: true, adds: true},
	"rre": {takes: -1, data: true, adds: true, reads: true}, "rres": {takes: -1, data: true, adds: true, reads: true},
	"ppkt": {takes: -1, data: true, packets: true}, "rppkt": {takes: 0, data: true, packets: true},
	"cpkt": {takes: -1, data: true, packets: true}, "upkt": {takes: 0, data: true},
	"repkt": {takes: 1, data: true, adds: true}, "respkt": {takes: 1, data: true, adds: true, packets: true},
	"recpkt": {takes: 1, data: true, adds: true, packets: true}, "recspkt": {takes: 1, data: true, adds: true, packets: true},
	"glres": {takes: -1, data: true, adds: true},
}

// names of known in the order of MSCCL++'s documentation, and those that are
// not modelled.
var (
	modelled = []string{"nop", "barrier", "put", "pws", "pwsf", "get", "copy", "signal", "wait", "flush", "rlxsignal", "rlxwait", "re", "res", "rre", "rres",
		"ppkt", "rppkt", "cpkt", "upkt", "repkt", "respkt", "recpkt", "recspkt", "glres", "sem_acquire", "sem_release"}
	refused = []string{"gstore", "gstorepkt", "pipeline"}
)

// Op is the collective as weft calls it.
func (p *Plan) Op() string {
	if p.Custom {
		return "custom"
	}
	return p.Coll.String()
}

// Ranks is how many GPUs the plan is for.
func (p *Plan) Ranks() int { return len(p.GPUs) }

// Blocks is the most thread blocks of one GPU.
func (p *Plan) Blocks() int {
	n := 0
	for _, g := range p.GPUs {
		n = max(n, len(g.Blocks))
	}
	return n
}

// Switched reports whether the plan has the switch add up.
func (p *Plan) Switched() bool {
	for _, g := range p.GPUs {
		for _, b := range g.Blocks {
			for _, o := range b.Ops {
				if o.Name == "glres" {
					return true
				}
			}
		}
	}
	return false
}

// total is the chunks of the whole message, as nccl-tests counts.
func (p *Plan) total() int {
	g := &p.GPUs[0]
	switch {
	case p.Custom:
		return max(g.Chunks[Input], g.Chunks[Output], 1)
	case p.Coll == workloads.AllGather:
		return g.Chunks[Output]
	}
	return g.Chunks[Input]
}

// Fits returns an error for a message that the plan is not for.
func (p *Plan) Fits(size sim.Bytes) error {
	input := size
	if !p.Custom && p.Coll == workloads.AllGather {
		input /= sim.Bytes(len(p.GPUs))
	}
	if input < p.Least || input > p.Most {
		return fmt.Errorf("%d bytes, an input of %d for each rank, but %s is for %d to %d (min_message_size, max_message_size)", size, input, p.File, p.Least, p.Most)
	}
	if size < sim.Bytes(p.total()) {
		return fmt.Errorf("%d bytes, but %s cuts a message into %d chunks; expected a byte for each at least", size, p.File, p.total())
	}
	return nil
}

// bytes is the size of consecutive chunks, as the executor cuts a message: all
// chunks equal, and what is left over spread over them.
func (p *Plan) bytes(size sim.Bytes, r Range, part int) sim.Bytes {
	n := sim.Bytes(p.total())
	at := func(chunk int) sim.Bytes {
		c := sim.Bytes(chunk)
		return size/n*c + size%n*c/n
	}
	b := at(r.Chunk+r.Count) - at(r.Chunk)
	return (b + sim.Bytes(part) - 1) / sim.Bytes(part)
}
