package replay

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// requireSame asserts that a program gives the same answer, bit for bit, with
// equal ranks simulated once and with all of them simulated.
func requireSame(t require.TestingT, p *workloads.Program, m *topology.Machine, o Options) (collapsed *Result) {
	o.Collapse = Auto
	a, errA := Run(context.Background(), p, m, o)
	o.Collapse = Off
	b, errB := Run(context.Background(), p, m, o)
	var dead *sim.DeadlockError
	if errors.As(errA, &dead) && errors.As(errB, &dead) {
		return nil
	}
	require.NoError(t, errA)
	require.NoError(t, errB)
	require.Equal(t, b.StepTime, a.StepTime)
	require.Equal(t, b.Breakdown, a.Breakdown)
	require.Equal(t, b.Ranks, a.Ranks)
	require.Equal(t, b.Links, a.Links)
	require.Equal(t, b.Busiest, a.Busiest)
	require.Equal(t, b.Colls, a.Colls)
	require.LessOrEqual(t, a.Stats.Simulated, b.Stats.Simulated)
	return a
}

func TestCollapseOfEqualRanks(t *testing.T) {
	m := newStar(16, port, latency)
	for _, g := range []collective.Grain{collective.Stream, collective.Chunk} {
		for c := workloads.AllReduce; c <= workloads.Barrier; c++ {
			if c == workloads.AllToAllV {
				continue
			}
			r := requireSame(t, one(16, c, 1<<20), m, Options{Grain: g})
			if g == collective.Chunk && (c == workloads.Broadcast || c == workloads.Reduce) {
				continue // every place in a chain is a place of its own
			}
			require.Less(t, r.Stats.Simulated, 16, "%v %v", c, g)
		}
	}
}

// Groups of eight behave alike, in one communicator or in eight.
func TestCollapseOfGroups(t *testing.T) {
	m := newStar(64, port, latency)
	p := one(64, workloads.AllReduce, 1<<20)
	p.Comms[0].Groups = nil
	for g := range 8 {
		var ranks []int32
		for i := range 8 {
			ranks = append(ranks, int32(8*g+i))
		}
		p.Comms[0].Groups = append(p.Comms[0].Groups, ranks)
	}
	r := requireSame(t, p, m, Options{})
	require.Equal(t, 1, r.Stats.Simulated)

	// The same as a trace reader gives it: a class a rank, a communicator a group.
	q := &workloads.Program{World: 64}
	for g := range 8 {
		q.Comms = append(q.Comms, workloads.Comm{Name: "tp", Groups: p.Comms[0].Groups[g : g+1]})
		for i := range 8 {
			cl := workloads.Class{Ranks: []int32{int32(8*g + i)}, Streams: p.Classes[0].Streams}
			op := p.Classes[0].Ops[0]
			op.Comm = int32(g)
			cl.Ops = []workloads.Op{op}
			q.Classes = append(q.Classes, cl)
		}
	}
	s := requireSame(t, q, m, Options{})
	require.Equal(t, 1, s.Stats.Simulated)
	require.Equal(t, r.StepTime, s.StepTime)
}

// A straggler is simulated for itself; the rest stays collapsed as far as it
// can: its group of eight is apart, the seven others behave alike.
func TestCollapseAroundAStraggler(t *testing.T) {
	m := newStar(64, port, latency)
	p := &workloads.Program{World: 64, Comms: []workloads.Comm{{Name: "tp", Dim: workloads.TP}}}
	for g := range 8 {
		var ranks []int32
		for i := range 8 {
			ranks = append(ranks, int32(8*g+i))
		}
		p.Comms[0].Groups = append(p.Comms[0].Groups, ranks)
	}
	ops := func(d sim.Time) []workloads.Op {
		return []workloads.Op{
			{Kind: workloads.Compute, Duration: d},
			{Kind: workloads.Collective, Coll: workloads.AllReduce, Bytes: 1 << 20, Deps: []int32{0}},
		}
	}
	streams := []workloads.Stream{{Name: "all"}}
	p.Classes = []workloads.Class{
		{Name: "rest", Ranks: all(64)[1:], Streams: streams, Ops: ops(sim.Millisecond)},
		{Name: "slow", Ranks: []int32{0}, Streams: streams, Ops: ops(2 * sim.Millisecond)},
	}
	r := requireSame(t, p, m, Options{})
	require.Equal(t, 3, r.Stats.Simulated, "the straggler, its seven peers, everybody else")
	require.Equal(t, 2*sim.Millisecond, r.Breakdown.Compute)
}

// randomProgram draws a program with several communicators, streams of all
// orders, computes that make ties likely, and messages around a ring.
func randomProgram(t *rapid.T) (*workloads.Program, *topology.Machine) {
	tp := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "tp")
	dp := rapid.SampledFrom([]int{1, 2, 3}).Draw(t, "dp")
	n := tp * dp
	p := &workloads.Program{World: int32(n)}
	strided := func(size, stride int) (groups [][]int32) {
		for r := range n {
			if r/stride%size != 0 {
				continue
			}
			var g []int32
			for i := range size {
				g = append(g, int32(r+i*stride))
			}
			groups = append(groups, g)
		}
		return groups
	}
	p.Comms = []workloads.Comm{
		{Name: "tp", Dim: workloads.TP, Groups: strided(tp, 1)},
		{Name: "dp", Dim: workloads.DP, Groups: strided(dp, tp)},
		{Name: "world", Groups: strided(n, 1)},
	}
	right, left, over, back := make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)
	for r := range n {
		right[r], left[r] = int32((r+1)%n), int32((r+n-1)%n)
		over[r], back[r] = int32((r+tp)%n), int32((r+n-tp)%n)
	}
	p.PeerMaps = [][]int32{right, left, over, back}
	if dp > 1 && tp == 2 && rapid.Bool().Draw(t, "look-alikes") {
		// The tp groups as communicators of their own, as traces have them.
		name := rapid.SampledFrom([]string{"tp", ""}).Draw(t, "name")
		groups := p.Comms[0].Groups
		p.Comms[0].Groups = groups[:1]
		for g, ranks := range groups[1:] {
			cm := workloads.Comm{Name: name, Dim: workloads.TP, Groups: [][]int32{ranks}}
			if name == "" {
				cm.Name = fmt.Sprint("tp", g)
			}
			p.Comms = append(p.Comms, cm)
		}
	}
	orders := []workloads.Order{workloads.InOrder, workloads.AnyReady, workloads.Concurrent}
	streams := []workloads.Stream{
		{Name: "compute", Order: rapid.SampledFrom(orders).Draw(t, "compute order")},
		{Name: "comm", Order: rapid.SampledFrom(orders).Draw(t, "comm order")},
		{Name: "p2p", Order: workloads.Concurrent},
	}
	count := rapid.IntRange(1, 12).Draw(t, "ops")
	var ops []workloads.Op
	deps := func() (d []int32) {
		for i := range ops {
			if rapid.IntRange(0, 3).Draw(t, "dep") == 0 {
				d = append(d, int32(i))
			}
		}
		return d
	}
	for range count {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0, 1:
			ops = append(ops, workloads.Op{Kind: workloads.Compute, Duration: sim.Time(rapid.IntRange(0, 3).Draw(t, "us")) * sim.Microsecond, Deps: deps()})
		case 2:
			colls := []workloads.Coll{workloads.AllReduce, workloads.AllGather, workloads.Broadcast, workloads.AllToAll, workloads.Gather}
			ops = append(ops, workloads.Op{
				Kind: workloads.Collective, Stream: 1, Deps: deps(),
				Coll: rapid.SampledFrom(colls).Draw(t, "coll"), Comm: int32(rapid.IntRange(0, 2).Draw(t, "comm")),
				Bytes: sim.Bytes(rapid.SampledFrom([]int{1, 1000, 1 << 20}).Draw(t, "bytes")),
			})
		case 3:
			if n == 1 {
				continue
			}
			tag := int32(rapid.IntRange(0, 1).Draw(t, "tag"))
			d := deps()
			to := int32(rapid.IntRange(0, 3).Draw(t, "direction"))
			b := sim.Bytes(rapid.SampledFrom([]int{0, 5000, 1 << 20}).Draw(t, "message"))
			ops = append(ops,
				workloads.Op{Kind: workloads.Send, Stream: 2, Deps: d, PeerMap: 1 + to, Tag: tag, Bytes: b},
				workloads.Op{Kind: workloads.Recv, Stream: 2, Deps: d, PeerMap: 1 + (to ^ 1), Tag: tag, Bytes: b})
		}
	}
	slow := int32(rapid.IntRange(-n, n-1).Draw(t, "straggler"))
	p.Classes = []workloads.Class{{Name: "rest", Streams: streams, Ops: ops}}
	for r := range int32(n) {
		if r != slow {
			p.Classes[0].Ranks = append(p.Classes[0].Ranks, r)
		}
	}
	if slow >= 0 {
		slower := append([]workloads.Op(nil), ops...)
		for i := range slower {
			slower[i].Duration *= 2
		}
		p.Classes = append(p.Classes, workloads.Class{Name: "slow", Ranks: []int32{slow}, Streams: streams, Ops: slower})
		if len(p.Classes[0].Ranks) == 0 {
			p.Classes = p.Classes[1:]
		}
	}
	if len(p.Comms) > 3 {
		splitClasses(p)
	}
	m := newStar(n, port, latency)
	if rapid.Bool().Draw(t, "unlike wires") {
		m.Router = uneven{star{latency, int32(n)}}
		for i := range m.Graph.Links {
			if i%3 == 0 {
				m.Graph.Links[i].Rate = port / 2
			}
		}
	}
	return p, m
}

// splitClasses gives every rank a class of its own, in which collectives on the
// tp communicator name the one that the rank is in.
func splitClasses(p *workloads.Program) {
	var classes []workloads.Class
	for _, cl := range p.Classes {
		for _, r := range cl.Ranks {
			own := cl
			own.Ranks = []int32{r}
			own.Ops = append([]workloads.Op(nil), cl.Ops...)
			for i := range own.Ops {
				if o := &own.Ops[i]; o.Kind == workloads.Collective && o.Comm == 0 && r >= 2 {
					o.Comm = 2 + r/2
				}
			}
			classes = append(classes, own)
		}
	}
	p.Classes = classes
}

// uneven is a star whose even ranks are farther from the switch.
type uneven struct{ star }

func (u uneven) Route(a, b int32, buf []topology.Hop) (topology.Path, error) {
	p, err := u.star.Route(a, b, buf)
	p.Latency += sim.Time(2-a%2-b%2) * sim.Microsecond
	return p, err
}

func TestCollapseIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, m := randomProgram(t)
		g := rapid.SampledFrom([]collective.Grain{collective.Stream, collective.Chunk}).Draw(t, "grain")
		one := rapid.Bool().Draw(t, "one at a time")
		model := rapid.SampledFrom([]Model{Fluid, Ideal}).Draw(t, "model")
		requireSame(t, p, m, Options{Grain: g, OneAtATime: one, Model: model})
	})
}

// The parts of the step add up to it, whatever the program.
func TestBreakdownIsAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, m := randomProgram(t)
		r, err := Run(context.Background(), p, m, Options{})
		if err != nil {
			var dead *sim.DeadlockError
			require.ErrorAs(t, err, &dead)
			return
		}
		b := r.Breakdown
		sum := b.Compute + b.Launch + b.Bubble + b.Wait
		for _, e := range b.Exposed {
			sum += e.Time
		}
		require.Equal(t, r.StepTime, sum)
		require.Zero(t, b.Wait, "nothing here waits for time to pass")
		require.Equal(t, r.StepTime, r.Ranks.Compute+r.Ranks.ExposedComm+r.Ranks.Wait)
	})
}
