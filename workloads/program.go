package workloads

import "github.com/weft-sim/weft/sim"

// Program is the work of a job: what each rank computes and sends, and in
// which order. Ranks that do the same share a [Class].
type Program struct {
	Name      string
	World     int32 // number of ranks
	Classes   []Class
	Comms     []Comm
	PeerMaps  [][]int32 // each of length World: the peer of each rank, see [Op.PeerMap]
	PlaceNote string    // how ranks were placed, when that was not given
}

// Class is a set of ranks with equal work.
type Class struct {
	Name    string
	Ranks   []int32
	Streams []Stream
	Ops     []Op
}

// Stream is a queue of a rank: the operations that share it share a resource.
type Stream struct {
	Name  string // "compute", "comm", "stream 7"
	Order Order
}

// Order says which operation of a stream runs next.
type Order uint8

// The orders of a stream.
const (
	// InOrder runs operations one at a time in program order; one that waits
	// holds up those behind it (a CUDA stream).
	InOrder Order = iota
	// AnyReady runs one operation at a time, of those whose dependencies are
	// met the one that comes first in the program. A collective takes its turn
	// only when all its members can.
	AnyReady
	// Concurrent lets every operation run as soon as its dependencies are met.
	Concurrent
)

// Comm is a communicator, or a family of disjoint ones with one role (all
// tensor-parallel groups). An operation names the Comm; the rank decides the
// group.
type Comm struct {
	Name   string
	Dim    Dim
	Groups [][]int32 // ranks in ring order; a rank is in at most one
}

// Dim is the parallel dimension that a communicator serves.
type Dim uint8

// The parallel dimensions.
const (
	Other Dim = iota
	TP
	PP
	DP
	CP
	EP
)

func (d Dim) String() string {
	return [...]string{"other", "tp", "pp", "dp", "cp", "ep"}[d]
}

// OpKind says what an operation does.
type OpKind uint8

// The kinds of operations.
const (
	Compute    OpKind = iota
	Collective        // on Comm
	Send              // to a peer
	Recv              // from a peer
	Copy              // bytes within the rank's own memory
	Delay             // a fixed time that uses nothing
)

// Coll is a collective operation.
type Coll uint8

// The collectives.
const (
	AllReduce Coll = iota
	AllGather
	ReduceScatter
	Broadcast
	Reduce
	AllToAll
	AllToAllV
	Gather
	Scatter
	Barrier
)

func (c Coll) String() string {
	return [...]string{"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
		"alltoall", "alltoallv", "gather", "scatter", "barrier"}[c]
}

// Op is one operation of a class.
//
// Bytes is, by kind: for a collective the size that nccl-tests prints (all
// reduce, broadcast, reduce: the buffer; all gather: the gathered buffer, n
// shards; reduce scatter: the input, n shards; all to all, gather, scatter:
// the n parts that a rank, or the root, holds); for Send and Recv the message;
// for Copy the bytes moved.
type Op struct {
	Name   string
	Kind   OpKind
	Stream int16   // index in Class.Streams
	Deps   []int32 // indices in Class.Ops that must have finished

	// Compute. A Duration of zero or more is recorded and stands; below zero it
	// is unknown, and a model makes it from FLOPs and MemBytes.
	Duration sim.Time
	FLOPs    float64
	MemBytes sim.Bytes

	// Collective, Send, Recv.
	Coll  Coll
	Comm  int32 // index in Program.Comms
	Root  int32 // position in the group, for broadcast, reduce, gather, scatter
	Bytes sim.Bytes
	// Splits are the bytes that this rank sends to each member of the group,
	// for all to all v. Its own part is not sent.
	Splits []sim.Bytes

	// Send and Recv: the peer is PeerMaps[PeerMap-1][rank], or Peer where PeerMap is 0.
	// The k-th send of (from, to, tag) meets the k-th receive of the same.
	PeerMap int32
	Peer    int32
	Tag     int32
	Dim     Dim // the parallel dimension that the message serves
}

// Peer returns the peer of rank r in operation o.
func (p *Program) Peer(o *Op, r int32) int32 {
	if o.PeerMap > 0 {
		return p.PeerMaps[o.PeerMap-1][r]
	}
	return o.Peer
}
