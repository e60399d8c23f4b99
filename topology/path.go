package topology

import "github.com/weft-sim/weft/sim"

// Hop is one resource on a path. The resource carries Share parts, out of the
// path's Den, of the bytes sent.
type Hop struct {
	Resource ResourceID
	Share    int32
}

// Path is what a transfer from one endpoint to another occupies.
//
// A path whose traffic is sprayed over planes one by one (after a fault, when
// no trunk describes it) lists each plane's links with their shares.
type Path struct {
	Hops    []Hop
	Den     int32    // parts in a whole; 1 on a path that is not sprayed
	Latency sim.Time // first byte, end to end
	Rate    sim.Rate // ceiling of one transfer whatever else runs; 0 is none
	// Held is what a transfer holds beyond its bytes, in parts of Den as well:
	// time of a link that passes between its pieces, or room on the opposite
	// direction. It takes capacity, and nothing arrives by it.
	Held   []Hop
	Kind   PathKind
	Staged bool // the bytes are written to host memory and read from there
}

// PathKind names the worst crossing of a path, best first, in the words of
// nvidia-smi and NCCL.
type PathKind uint8

// The kinds of paths.
const (
	Self PathKind = iota // within one GPU
	NVL                  // NVLink, direct or through NVSwitch
	NVB                  // NVLink through a peer GPU
	C2C                  // chip to chip, GPU to its CPU
	PIX                  // at most one PCIe switch
	PXB                  // several PCIe switches, no host bridge
	PHB                  // a host bridge
	NODE                 // two host bridges of one socket
	SYS                  // the link between sockets
	NET                  // the network between servers
)

func (k PathKind) String() string {
	return [...]string{"self", "NVL", "NVB", "C2C", "PIX", "PXB", "PHB", "NODE", "SYS", "NET"}[k]
}

// Router finds paths. It must be deterministic, and may compute a path from
// coordinates rather than store it.
type Router interface {
	// Route returns the path from GPU a to GPU b, by rank. The hops are
	// appended to buf[:0], which the path then shares.
	Route(a, b int32, buf []Hop) (Path, error)
}

// Machine is a graph with its GPUs in rank order and the routes between them.
type Machine struct {
	Name  string
	Graph *Graph
	Ranks []NodeID // the GPU of each rank
	Hosts int32
	Router
	// Notes are sentences a report must repeat: assumed figures, fallbacks.
	Notes []string
}
