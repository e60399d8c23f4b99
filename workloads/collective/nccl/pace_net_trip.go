package nccl

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
)

// roundTrip returns the latency of the longest crossing between a node and the
// next, there and back: what the connections of a ring wait for. Nodes are
// members by their position in ranks.
func (l *Library) roundTrip(ranks []int32, nodes [][]int32) (sim.Time, error) {
	var longest sim.Time
	if len(nodes) < 2 {
		return 0, nil
	}
	for i, node := range nodes {
		next := nodes[(i+1)%len(nodes)]
		a, b := ranks[node[0]], ranks[next[0]]
		p, err := l.machine.Route(a, b, nil)
		if err != nil {
			return 0, fmt.Errorf("time the way from rank %d to rank %d: %w", a, b, err)
		}
		longest = max(longest, 2*p.Latency)
	}
	return longest, nil
}
