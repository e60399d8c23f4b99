package nccl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/workloads"
)

// Algorithm is one of NCCL's, in its order.
type Algorithm uint8

// The algorithms.
const (
	Tree          Algorithm = iota // two binary trees over nodes, a chain within
	Ring                           // neighbour to neighbour
	CollNetDirect                  // in-network reduction, all GPUs to the heads
	CollNetChain                   // in-network reduction, a chain to the head
	NVLS                           // multicast and reduction in the NVSwitch
	NVLSTree                       // NVLS within nodes, trees between
	PAT                            // binomial trees, for one GPU a node

	algorithms = int(PAT) + 1
)

func (a Algorithm) String() string {
	return [...]string{"Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"}[a]
}

// Protocol is how NCCL says that data has arrived.
type Protocol uint8

// The protocols.
const (
	LL     Protocol = iota // a flag in every 8 bytes of data
	LL128                  // a flag in every 128 bytes
	Simple                 // a flag a slice

	protocols = int(Simple) + 1
)

func (p Protocol) String() string { return [...]string{"LL", "LL128", "Simple"}[p] }

// Payload is which part of the bytes on the wire is data.
func (p Protocol) Payload() float64 { return [...]float64{0.5, 0.9375, 1}[p] }

// CPU is the maker of the host's processors, which NCCL asks for.
type CPU uint8

// The makers.
const (
	Intel CPU = iota
	AMD
	ARM
	Other
)

func (c CPU) String() string { return [...]string{"Intel", "AMD", "ARM", "another make"}[c] }

// PathType is the worst crossing of a path, best first, as NCCL 2.27 and later
// order them.
type PathType uint8

// The path types.
const (
	LOC PathType = iota
	NVL
	NVB
	C2C
	PIX
	PXB
	P2C
	PXN
	PHB
	SYS
	NET
	DIS
)

var pathNames = []string{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS"}

func (p PathType) String() string { return pathNames[p] }

// ParsePath reads the name of a path type.
func ParsePath(s string) (PathType, error) {
	i := slices.Index(pathNames, s)
	if i < 0 {
		return 0, fmt.Errorf("read path type: read %q, expected one of %s", s, strings.Join(pathNames, " "))
	}
	return PathType(i), nil
}

// Ops are the collectives that the model decides about. Sends and receives,
// and what is made of them, do not ask it.
var Ops = []workloads.Coll{
	workloads.AllReduce, workloads.AllGather, workloads.ReduceScatter, workloads.Broadcast, workloads.Reduce,
}

// steps are those of a ring of n ranks.
func steps(op workloads.Coll, n int) float64 {
	switch op {
	case workloads.AllReduce:
		return float64(2 * (n - 1))
	case workloads.AllGather, workloads.ReduceScatter:
		return float64(n - 1)
	}
	return float64(n)
}

// chained reports an operation that has a root, and runs as a chain.
func chained(op workloads.Coll) bool {
	return op == workloads.Broadcast || op == workloads.Reduce
}

// sharded reports an operation whose ranks hold parts.
func sharded(op workloads.Coll) bool {
	return op == workloads.AllGather || op == workloads.ReduceScatter
}
