package chakra

import (
	"strconv"

	"github.com/weft-sim/weft/sim"
)

// Schema is a generation of the Chakra format. The names follow the history
// of mlcommons/chakra: G0 is that of February 2023 (".eg"), G2 and G3 are of
// July and August 2023, G4 is the one in use since October 2023.
type Schema uint8

// The generations that are read. G2 and G3 are recognised and refused.
const (
	G4   Schema = iota // protobuf, attributes
	G0                 // protobuf, flat fields, no metadata record
	JSON               // {"workload_graph": [...]}
)

func (s Schema) String() string {
	return [...]string{"G4 (protobuf)", "G0 (protobuf, 2023-02)", "JSON"}[s]
}

// NodeType is the kind of a node, in the numbering of G4.
type NodeType int32

// The node types of G4.
const (
	Invalid NodeType = iota
	Metadata
	MemLoad
	MemStore
	Comp
	CommSend
	CommRecv
	CommColl
)

var nodeTypes = [...]string{"INVALID", "METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL"}

// Known reports whether the format defines the type.
func (t NodeType) Known() bool { return t > Invalid && t <= CommColl }

func (t NodeType) String() string {
	if t >= 0 && int(t) < len(nodeTypes) {
		return nodeTypes[t]
	}
	return "type " + strconv.Itoa(int(t))
}

// CollType is a collective, in the numbering of G4.
type CollType int32

// The collectives of G4.
const (
	AllReduce CollType = iota
	Reduce
	AllGather
	Gather
	Scatter
	Broadcast
	AllToAll
	ReduceScatter
	ReduceScatterBlock
	Barrier
)

var collTypes = [...]string{"ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST",
	"ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"}

// Known reports whether the format defines the collective.
func (c CollType) Known() bool { return c >= 0 && int(c) < len(collTypes) }

func (c CollType) String() string {
	if c.Known() {
		return collTypes[c]
	}
	return "comm_type " + strconv.Itoa(int(c))
}

// Attr says which attributes a node has: the default of one (0, "") is not
// the same as its absence.
type Attr uint16

// The attributes that an import uses.
const (
	HasCommType Attr = 1 << iota
	HasCommSize
	HasCommSrc
	HasCommDst
	HasCommTag
	HasPGName
	HasInvolvedDim
	HasNumOps
	HasTensorSize
	HasCPUOp
	HasStream
	HasTID
)

// Node is one node of a trace as stored. Types and collectives of G0 are
// renumbered to those of G4, and its parents are in DataDeps, because they
// order execution.
type Node struct {
	ID       uint64
	Name     string
	Type     NodeType
	Has      Attr
	CPUOp    bool
	CommType CollType

	CommSrc, CommDst, CommTag int64
	CommSize                  int64 // bytes, counted as the producer does
	NumOps                    int64 // floating-point operations
	TensorSize                int64 // bytes
	Stream, TID               int64
	Duration                  sim.Time
	StartMicros               int64

	PGName      string
	InvolvedDim []bool
	CtrlDeps    []uint64
	DataDeps    []uint64
	Inputs      string // inputs.values, kept for METADATA nodes only

	Offset int64 // of the record in the decompressed file
	Record int   // the first of the file is 1
}

func (n *Node) has(a Attr) bool { return n.Has&a != 0 }

// label names the node in messages.
func (n *Node) label() string {
	name := n.Name
	if len(name) > 60 {
		name = name[:57] + "..."
	}
	return strconv.FormatUint(n.ID, 10) + " (" + strconv.Quote(name) + ")"
}

// Count is a number of things with one name.
type Count struct {
	Name string
	N    int
}

// Trace is one decoded file: the work of one rank.
type Trace struct {
	File string
	Rank int32 // from the file name, by [Read]; 0 from [Decode]

	Schema     Schema
	HasMeta    bool   // there was a metadata record
	Version    string // of the metadata record
	SchemaAttr string // its attribute "schema": "symbolic_tensor_network" is STAGE
	NGPUs      int64  // of the JSON form, 0 when absent

	Nodes []Node
	// Ignored are the attributes (JSON: keys) that an import does not use, by
	// name, in order of first appearance.
	Ignored []Count
	// Truncated is set when the file ends inside a record: the nodes before it
	// are complete.
	Truncated *Error
}

// stage is the schema attribute of the STAGE generator.
const stage = "symbolic_tensor_network"
