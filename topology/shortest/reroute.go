package shortest

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fault"
)

var _ fault.Rerouter = (*router)(nil)

// Reroute implements [fault.Rerouter]: paths are the shortest of what is in
// service.
func (r *router) Reroute(g *topology.Graph) (fault.Rerouter, []topology.NodeID, error) {
	var ranks []topology.NodeID
	for _, n := range r.ranks {
		if !g.Nodes[n].Down {
			ranks = append(ranks, n)
		}
	}
	if len(ranks) == 0 {
		return nil, nil, fmt.Errorf("route %s: %w", r.o.name(), errors.New("no GPU is in service"))
	}
	n := &router{graph: g, ranks: ranks, o: r.o, trees: make([]atomic.Pointer[tree], len(ranks))}
	n.wire()
	if err := n.checkReach(); err != nil {
		return nil, nil, fmt.Errorf("route %s: %w", r.o.name(), err)
	}
	return n, ranks, nil
}

// Remarks implements [fault.Rerouter]: a shortest path is never another way
// than meant.
func (r *router) Remarks() []string { return nil }
