package replay

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
)

// star is n GPUs on one switch, each with a full-duplex port.
type star struct {
	lat sim.Time
	n   int32
}

func (s star) Route(a, b int32, buf []topology.Hop) (topology.Path, error) {
	if a == b || a >= s.n || b >= s.n {
		return topology.Path{}, fmt.Errorf("route %d to %d", a, b)
	}
	buf = append(buf[:0], topology.Hop{Resource: topology.ResourceID(2 * a), Share: 1}, topology.Hop{Resource: topology.ResourceID(2*b + 1), Share: 1})
	return topology.Path{Hops: buf, Den: 1, Latency: s.lat, Kind: topology.NVL}, nil
}

func newStar(n int, rate sim.Rate, lat sim.Time) *topology.Machine {
	g := &topology.Graph{}
	cl := g.AddClass(topology.Class{Name: "port", Raw: rate})
	sw := g.AddNode(topology.Node{Kind: topology.Switch, Name: "sw", Host: -1})
	m := &topology.Machine{Name: "star", Graph: g, Hosts: 1, Router: star{lat, int32(n)}}
	for i := range n {
		gpu := g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("gpu%d", i), Unit: int32(i)})
		m.Ranks = append(m.Ranks, gpu)
		g.AddDuplex(topology.Link{From: gpu, To: sw, Rate: rate, Latency: lat / 2, Class: cl, Width: 1})
	}
	return m
}

// all returns the ranks 0 to n-1.
func all(n int) []int32 {
	r := make([]int32, n)
	for i := range r {
		r[i] = int32(i)
	}
	return r
}

// one is a program of one collective on all n ranks.
func one(n int, c workloads.Coll, b sim.Bytes) *workloads.Program {
	return &workloads.Program{
		Name: c.String(), World: int32(n),
		Comms:   []workloads.Comm{{Name: "world", Groups: [][]int32{all(n)}}},
		Classes: []workloads.Class{{Ranks: all(n), Streams: []workloads.Stream{{Name: "comm"}}, Ops: []workloads.Op{{Name: c.String(), Kind: workloads.Collective, Coll: c, Bytes: b}}}},
	}
}

func run(t testing.TB, p *workloads.Program, m *topology.Machine, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), p, m, o)
	require.NoError(t, err)
	return r
}
