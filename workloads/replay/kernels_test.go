package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// hosted is a machine whose ranks lie on hosts of so many, with the network
// between them.
func hosted(m *topology.Machine, perHost int) *topology.Machine {
	for r, gpu := range m.Ranks {
		m.Graph.Nodes[gpu].Host = int32(r / perHost)
		m.Hosts = int32(r/perHost + 1)
	}
	m.Router = hosts{m.Router, int32(perHost)}
	return m
}

type hosts struct {
	topology.Router
	per int32
}

func (h hosts) Route(a, b int32, buf []topology.Hop) (topology.Path, error) {
	p, err := h.Router.Route(a, b, buf)
	if p.Kind = topology.NVL; a/h.per != b/h.per {
		p.Kind = topology.NET
		p.Latency *= 3
	}
	return p, err
}

// always runs every collective as one choice.
func always(c collective.Choice) collective.Chooser {
	return func(workloads.Coll, sim.Bytes, []int32) (collective.Choice, error) { return c, nil }
}

// What each way to reduce puts on the wires of one GPU, each way.
func TestBytesOfKernels(t *testing.T) {
	const n, size = 8, sim.Bytes(1 << 20)
	for _, c := range []struct {
		algo    collective.Algorithm
		perHost int
		hosts   int
		mean    float64 // that leave a GPU, over the message
	}{
		{collective.Switch, n, 1, 1 + 1./n},
		{collective.SwitchShot, n, 1, n},
		{collective.OneShot, n, 1, n - 1},
		{collective.TwoShot, n, 1, 2 * (n - 1.) / n},
		// A chain of eight has seven edges, each used both ways.
		{collective.Tree, n, 1, 2 * 7. / 8},
		// Two chains and an edge between the heads.
		{collective.Tree, n, 2, 2 * 15. / 16},
		{collective.Tree, n, 4, 2 * 31. / 32},
		{collective.Tree, 1, 6, 2 * 5. / 6},
		// An eighth of the message over an edge of two nodes, each way, by half of
		// the members of a host in the mean.
		{collective.SwitchTree, n, 2, 1 + 1./n + 2*1./n/2},
		{collective.NetReduce, n, 2, 2*(n-1.)/n + 1./n},
	} {
		m := hosted(newStar(c.perHost*c.hosts, port, latency), c.perHost)
		r := requireSame(t, one(c.perHost*c.hosts, workloads.AllReduce, size), m, Options{Choose: always(collective.Choice{Algorithm: c.algo})})
		require.NotNil(t, r)
		assert.InEpsilon(t, c.mean*float64(size), r.Colls[0].WireBytes, 1e-9, "%v on %d hosts", c.algo, c.hosts)
		var carried float64
		for _, l := range r.Links {
			carried += l.Bytes
		}
		// Each byte leaves a GPU and enters one; what the switch sums or copies
		// does one of them less often.
		assert.Greater(t, carried, 0.9*c.mean*float64(size)*float64(c.perHost*c.hosts))
	}
}

type overPCIe struct{ topology.Router }

func (o overPCIe) Route(a, b int32, buf []topology.Hop) (topology.Path, error) {
	p, err := o.Router.Route(a, b, buf)
	p.Kind = topology.PIX
	return p, err
}

// A switch that reduces must be there.
func TestSwitchNeedsOne(t *testing.T) {
	m := newStar(4, port, latency)
	m.Router = overPCIe{m.Router}
	_, err := Run(t.Context(), one(4, workloads.AllReduce, 1<<20), m, Options{Choose: always(collective.Choice{Algorithm: collective.Switch})})
	require.ErrorContains(t, err, "has no NVSwitch in it")
}

// The times of a kernel add up as its pace says, at both grains.
func TestPace(t *testing.T) {
	const n, size = 8, sim.Bytes(1 << 26)
	pace := collective.Pace{
		Start: 5 * sim.Microsecond, Step: 700 * sim.Nanosecond, NetStep: 4 * sim.Microsecond,
		Slice: 300 * sim.Nanosecond, Slices: 2 * (n - 1) * 2, Spread: 2 * sim.Microsecond, Limit: port / 2,
	}
	m := hosted(newStar(n, port, latency), n)
	steps := sim.Time(2 * (n - 1))
	want := pace.Start + steps*(latency+pace.Step) + pace.Tail() + sim.TransferTime(2*(n-1)*size/n, pace.Limit)
	o := Options{Choose: always(collective.Choice{Algorithm: collective.Ring, Pace: pace})}
	r := requireSame(t, one(n, workloads.AllReduce, size), m, o)
	assert.Equal(t, want, r.StepTime)
	o.Grain = collective.Chunk
	r = requireSame(t, one(n, workloads.AllReduce, size), m, o)
	assert.InEpsilon(t, want.Seconds(), r.StepTime.Seconds(), 1e-6)

	pace.Floor = 2 * want
	o.Choose = always(collective.Choice{Algorithm: collective.Ring, Pace: pace})
	for _, g := range []collective.Grain{collective.Stream, collective.Chunk} {
		o.Grain = g
		assert.Equal(t, pace.Floor, requireSame(t, one(n, workloads.AllReduce, size), m, o).StepTime, "the host is slower")
	}
}

// Flags of a protocol travel with the data.
func TestOverhead(t *testing.T) {
	m := newStar(4, port, latency)
	plain := run(t, one(4, workloads.AllReduce, 1<<20), m, Options{})
	ll := run(t, one(4, workloads.AllReduce, 1<<20), m, Options{Choose: always(collective.Choice{Overhead: 2, Protocol: "ll"})})
	assert.Equal(t, 2*plain.Colls[0].WireBytes, ll.Colls[0].WireBytes)
	assert.Equal(t, "ll", ll.Colls[0].Proto)
}

// Rings in an order of the library's own.
func TestOrders(t *testing.T) {
	orders := &collective.Orders{{0, 2, 1, 3}, {3, 1, 2, 0}}
	m := newStar(4, port, latency)
	for _, g := range []collective.Grain{collective.Stream, collective.Chunk} {
		r := requireSame(t, one(4, workloads.AllReduce, 1<<20), m, Options{Grain: g, Choose: always(collective.Choice{Orders: orders})})
		assert.Equal(t, 1.5*(1<<20), r.Colls[0].WireBytes)
	}
	bad := &collective.Orders{{0, 2, 1, 1}}
	_, err := Run(t.Context(), one(4, workloads.AllReduce, 1<<20), m, Options{Choose: always(collective.Choice{Orders: bad})})
	require.ErrorContains(t, err, "passes position 1 twice")
}

// randomKernels runs each collective in one of the ways that its group allows,
// by size and layout as a library does.
func randomKernels(t *rapid.T, perHost int32) collective.Chooser {
	us := func(name string) sim.Time {
		return sim.Time(rapid.IntRange(0, 3).Draw(t, name)) * sim.Microsecond
	}
	salt := rapid.IntRange(0, 100).Draw(t, "salt")
	reorder, orders := rapid.Bool().Draw(t, "rings of the library's own"), map[int]*collective.Orders{}
	pace := collective.Pace{
		Start: us("start"), Step: us("step"), NetStep: us("net step"), Slice: us("slice"), Slices: 4, Spread: us("spread"),
		Floor: 10 * us("floor"), Limit: rapid.SampledFrom([]sim.Rate{0, port / 3, 2 * port}).Draw(t, "limit"),
	}
	return func(c workloads.Coll, size sim.Bytes, ranks []int32) (collective.Choice, error) {
		l := map[int32]int{}
		for _, r := range ranks {
			l[r/perHost]++
		}
		layout := collective.Layout{}
		for h := int32(0); int(h) <= int(ranks[len(ranks)-1]/perHost); h++ {
			if l[h] > 0 {
				layout = append(layout, make([]int32, l[h]))
			}
		}
		var able []collective.Algorithm
		for a := range collective.Doubling + 1 {
			if layout.Least() == 1 && (a == collective.Switch || a == collective.SwitchShot || a == collective.SwitchTree) {
				continue // nobody to reduce with
			}
			if _, err := collective.NewPlan(c, collective.Choice{Algorithm: a}, size, layout, 0); err == nil {
				able = append(able, a)
			}
		}
		ch := collective.Choice{Algorithm: able[(int(size)+salt+len(layout))%len(able)], Pace: pace}
		ch.Pace.Start += sim.Time(len(layout)) * sim.Microsecond
		if size < 5000 {
			ch.Overhead = 2
		}
		if n := len(ranks); reorder && n > 1 && (ch.Algorithm == collective.Ring || ch.Algorithm == collective.Tree) {
			if orders[n] == nil {
				var there, back []int32
				for i := range int32(n) {
					there, back = append(there, i/2+i%2*int32((n+1)/2)), append(back, int32(n)-1-i)
				}
				orders[n] = &collective.Orders{there, back}
			}
			ch.Orders = orders[n]
		}
		return ch, nil
	}
}

func TestCollapseIsExactWithKernels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, m := randomProgram(t)
		per := rapid.IntRange(1, 4).Draw(t, "ranks of a host")
		m = hosted(m, per)
		g := rapid.SampledFrom([]collective.Grain{collective.Stream, collective.Chunk}).Draw(t, "grain")
		o := Options{Grain: g, Choose: randomKernels(t, int32(per))}
		if rapid.Bool().Draw(t, "kernels send") {
			pace := collective.Pace{Start: 2 * sim.Microsecond, Step: sim.Microsecond, NetStep: 3 * sim.Microsecond, Floor: 4 * sim.Microsecond, Limit: port / 4}
			o.Send = func(size sim.Bytes, from, to int32) (collective.Choice, error) {
				ch := collective.Choice{Pace: pace}
				if from/int32(per) == to/int32(per) && size < 6000 {
					ch.Overhead = 2
				}
				return ch, nil
			}
		}
		requireSame(t, p, m, o)
	})
}

// Slice by slice, under flow control, a kernel takes what it takes as one flow,
// and a slice for each hop more until the last has something to do.
func TestGrainsOfKernelsAgree(t *testing.T) {
	const n, size = 8, sim.Bytes(1 << 30)
	for _, c := range []struct {
		coll    workloads.Coll
		algo    collective.Algorithm
		perHost int
		hosts   int
	}{
		{workloads.AllReduce, collective.Switch, n, 1},
		{workloads.AllReduce, collective.SwitchShot, n, 1},
		{workloads.AllReduce, collective.Tree, n, 1},
		{workloads.AllReduce, collective.Tree, n, 2},
		{workloads.AllReduce, collective.Tree, 4, 6},
		{workloads.AllReduce, collective.Tree, 1, 7},
		{workloads.AllReduce, collective.SwitchTree, n, 2},
		{workloads.AllReduce, collective.SwitchTree, 4, 5},
		{workloads.AllReduce, collective.NetReduce, 4, 3},
		{workloads.AllGather, collective.Switch, n, 1},
		{workloads.ReduceScatter, collective.Switch, n, 1},
		{workloads.AllGather, collective.Doubling, 1, 8},
		{workloads.ReduceScatter, collective.Doubling, 1, 5},
	} {
		m := hosted(newStar(c.perHost*c.hosts, port, latency), c.perHost)
		pace := collective.Pace{
			Start: 5 * sim.Microsecond, Step: sim.Microsecond, NetStep: 5 * sim.Microsecond,
			Slice: sim.Microsecond, Slices: 512, Limit: port / 2,
		}
		o := Options{Choose: always(collective.Choice{Algorithm: c.algo, Pace: pace})}
		p := one(c.perHost*c.hosts, c.coll, size)
		stream := run(t, p, m, o)
		o.Grain = collective.Chunk
		chunk := run(t, p, m, o)
		assert.InEpsilon(t, stream.StepTime.Seconds(), chunk.StepTime.Seconds(), 0.05, "%v %v on %d hosts of %d", c.coll, c.algo, c.hosts, c.perHost)
		assert.InEpsilon(t, stream.Colls[0].WireBytes, chunk.Colls[0].WireBytes, 1e-6)
		for i := range stream.Links {
			assert.InEpsilon(t, stream.Links[i].Bytes, chunk.Links[i].Bytes, 1e-6, "%v on %d hosts: the same bytes on the wires", c.algo, c.hosts)
		}
	}
}
