package nccl

import "github.com/weft-sim/weft/workloads"

// Wire is what a way to run a collective sends, for each byte of the message.
type Wire struct {
	GPU  float64 // by the busiest GPU within its node
	Node float64 // by a node to others, mean
}

// Wire returns what an algorithm and protocol send, flags included.
func (m *Model) Wire(op workloads.Coll, a Algorithm, p Protocol) Wire {
	n, nodes, per := float64(m.Ranks), float64(m.Nodes), m.Ranks/m.Nodes
	part := (n - 1) / n // of what every rank needs, what the others have
	ring := part
	switch op {
	case workloads.AllReduce:
		ring *= 2
	case workloads.Broadcast, workloads.Reduce:
		ring = 1
	}
	tree := 2 * (nodes - 1) / nodes // up and down every edge
	var w Wire
	switch a {
	case Ring, PAT:
		w = Wire{GPU: ring, Node: ring}
	case Tree:
		w = Wire{GPU: float64(min(per, 3) - 1), Node: tree} // a GPU inside a chain sends up and down
	default:
		w = Wire{GPU: 1, Node: tree}
		if op == workloads.AllReduce {
			w.GPU += 1 / float64(max(m.NVLS.Channels, 1)) // a head also sends its result to all
		}
	}
	if m.Nodes == 1 {
		w.Node = 0
	}
	w.GPU /= p.Payload()
	w.Node /= p.Payload()
	return w
}
