package measured

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// limits are the nominal rates, per direction, past which no library gets: out
// of one GPU, and out of one machine over the network. Zero is none.
type limits struct {
	gpu, machine    sim.Rate
	ranks, machines int
}

// limitsOf reads the limits off a machine. Within one machine whose GPUs have
// NVLink, NVLink carries all; elsewhere a GPU sends over all it has.
func limitsOf(m *topology.Machine, ranks []int32, each int) limits {
	l := limits{ranks: len(ranks), machines: len(ranks) / each}
	g := m.Graph
	first := m.Ranks[ranks[0]]
	var nvlink, other, nics sim.Rate
	for i := range g.Links {
		link := &g.Links[i]
		if link.Down {
			continue
		}
		from, to := g.Nodes[link.From], g.Nodes[link.To]
		nominal := max(g.Classes[link.Class].Raw*sim.Rate(max(link.Width, 1)), link.Rate)
		switch {
		case link.From == first && (to.Kind == topology.GPU || to.Kind == topology.NVSwitch):
			nvlink += nominal
		case link.From == first:
			other += nominal
		case from.Kind == topology.NIC && from.Host == g.Nodes[first].Host && to.Host != from.Host:
			nics += nominal
		}
	}
	switch {
	case l.machines > 1:
		l.gpu, l.machine = nvlink+other, nics
	case nvlink > 0:
		l.gpu = nvlink
	default:
		l.gpu = other
	}
	return l
}

// bound is the least time of an operation: what a GPU must send or receive over
// what it can, or what a machine must over its NICs, whichever takes longer.
//
// With n ranks and sums made in the switches an all-reduce still sends S from
// each rank; without them it sends 2(n-1)/n S, which [limits.sending] sees when
// the library has chosen. Each machine sends, and receives, S.
func (l limits) bound(op string, size sim.Bytes) sim.Time {
	s, n, m := float64(size), float64(l.ranks), float64(l.machines)
	gpu, machine := s, 0.0
	switch op {
	case "all_reduce":
		machine = s
	case "all_gather", "reduce_scatter":
		gpu, machine = s*(n-1)/n, s*(m-1)/m
	case "broadcast", "reduce":
		machine = s
	case "alltoall":
		gpu, machine = s*(n-1)/n, s*n/m*(m-1)/m
	case "sendrecv":
		machine = s
	default: // routed by the tokens: how many stay is not known
		return 0
	}
	if l.machines < 2 {
		machine = 0
	}
	t := 0.0
	if l.gpu > 0 {
		t = gpu / float64(l.gpu)
	}
	if l.machine > 0 {
		t = max(t, machine/float64(l.machine))
	}
	return sim.Time(t * float64(sim.Second))
}

// sending is the least time in which a GPU sends what an algorithm has it send.
func (l limits) sending(bytes float64) sim.Time {
	if l.gpu <= 0 {
		return 0
	}
	return sim.Time(bytes / float64(l.gpu) * float64(sim.Second))
}
