package nccl

import "github.com/weft-sim/weft/topology"

// orders lays the members on the channels, node after node.
func (s *searcher) orders(c *Channels) {
	for ch := range c.Ring.Channels {
		var ring []int32
		var ports [][2]topology.NodeID
		for node, w := range s.views {
			l := &s.of(node).ring
			at := s.swapped(l, node, ch)
			ring = s.append(ring, node, l.order[at])
			if w.inter {
				ports = append(ports, w.portsAt(l.nets[at]))
			}
		}
		c.Rings = append(c.Rings, ring)
		if ports != nil {
			c.Ports = append(c.Ports, ports)
		}
	}
	for ch := range c.Tree.Channels {
		var nodes [][]int32
		for node := range s.views {
			nodes = append(nodes, s.append(nil, node, s.of(node).tree.order[ch]))
		}
		c.Trees = append(c.Trees, nodes)
	}
	for ch := range c.NVLS.Channels {
		var heads []int32
		for node := range s.views {
			heads = append(heads, s.nodes[node][s.of(node).nvls.order[ch][0]])
		}
		c.Heads = append(c.Heads, heads)
	}
}

// swapped is the channel of a node's own that meets a channel of the others.
// Where channels go in pairs, each leaving by the NIC of the other, every
// other node has them the other way round, so that all stay on their rails.
func (s *searcher) swapped(l *layout, node, ch int) int {
	if l.cross == 2 && node%2 == 1 && ch^1 < l.channels {
		return ch ^ 1
	}
	return ch
}

// append adds the members of a node in an order of its GPUs.
func (s *searcher) append(to []int32, node int, order []int32) []int32 {
	for _, g := range order {
		to = append(to, s.nodes[node][g])
	}
	return to
}

// portsAt names ports by their NICs; where there is none, by -1.
func (w *view) portsAt(nets [2]int32) [2]topology.NodeID {
	var at [2]topology.NodeID
	for i, n := range nets {
		at[i] = -1
		if n >= 0 {
			at[i] = w.nets[n]
		}
	}
	return at
}
