package replay

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// shortcut routes everything over no wire at all.
type shortcut struct{ star }

func (s shortcut) Route(a, b int32, buf []topology.Hop) (topology.Path, error) {
	p, err := s.star.Route(a, b, buf)
	p.Hops = p.Hops[:0]
	return p, err
}

// doubled counts every hop twice.
type doubled struct{ star }

func (d doubled) Route(a, b int32, buf []topology.Hop) (topology.Path, error) {
	p, err := d.star.Route(a, b, buf)
	for i := range p.Hops {
		p.Hops[i].Share = 2
	}
	return p, err
}

// An answer that breaks a law is withheld, whatever the simulator thinks.
func TestBrokenLawsStopTheRun(t *testing.T) {
	m := newStar(8, port, latency)
	for _, c := range []Collapse{Auto, Off} {
		m.Router = shortcut{star{latency, 8}}
		_, err := Run(context.Background(), one(8, workloads.AllReduce, 1<<30), m, Options{Collapse: c})
		var law *LawError
		require.ErrorAs(t, err, &law, "a collective faster than its wires")
		assert.ErrorContains(t, err, "its bytes need")

		m.Router = doubled{star{latency, 8}}
		_, err = Run(context.Background(), one(8, workloads.AllReduce, 1<<20), m, Options{Collapse: c})
		require.ErrorAs(t, err, &law, "more bytes on the wires than were sent")
		assert.ErrorContains(t, err, "left them")
	}
}

func TestLimits(t *testing.T) {
	m := newStar(2, port, latency)
	var limit *LimitError
	_, err := Run(context.Background(), alone([]workloads.Stream{{}}, kernel(sim.MaxTime, 0), kernel(us, 0)), m, Options{})
	require.ErrorAs(t, err, &limit)
	assert.ErrorContains(t, err, "106 days")
	_, err = Run(context.Background(), one(2, workloads.AllReduce, 1<<40), m, Options{Grain: collective.Chunk, Slice: 1})
	require.ErrorAs(t, err, &limit)
	assert.ErrorContains(t, err, "slices of at least")
}

// An all-to-all with parts of any size: what is reported is what was sent.
func TestUnequalParts(t *testing.T) {
	p := one(3, workloads.AllToAllV, 0)
	for r := range int32(3) {
		cl := p.Classes[0]
		cl.Ranks = []int32{r}
		op := cl.Ops[0]
		op.Splits = []sim.Bytes{9000, 9000, 9000}
		op.Splits[0] = 90_000_000
		cl.Ops = []workloads.Op{op}
		p.Classes = append(p.Classes, cl)
	}
	p.Classes = p.Classes[1:]
	m := newStar(3, port, latency)
	r := requireSame(t, p, m, Options{})
	// Rank 0 takes 90 MB from each of two; its port decides.
	assert.InDelta(t, float64(sim.TransferTime(180_000_000, port)+latency), float64(r.StepTime), 100e3)
	require.Len(t, r.Colls, 1)
	assert.Equal(t, sim.TransferTime(180_000_000, port), r.Colls[0].Bound)
	assert.InDelta(t, (2*90_009_000.0+18_000)/3, r.Colls[0].WireBytes, 1)
}
