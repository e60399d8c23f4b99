package fluid

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

// rig is an engine with a pool and a target that notes when flows end, and
// starts those that are to start later.
type rig struct {
	t     tester
	e     *sim.Engine
	p     *Pool
	self  int32
	ends  []sim.Time
	later []func()
}

const (
	kindEnd int32 = iota
	kindStart
)

// tester is a *testing.T or a *rapid.T.
type tester interface {
	require.TestingT
	Helper()
}

func newRig(t tester, den int32, capacity ...sim.Rate) *rig {
	r := &rig{t: t, e: sim.NewEngine()}
	r.self = r.e.Register(r)
	p, err := NewPool(r.e, capacity, den)
	require.NoError(t, err)
	r.p = p
	return r
}

func (r *rig) Handle(e *sim.Engine, ev sim.Event) {
	if ev.Kind == kindStart {
		r.later[ev.Arg]()
		return
	}
	r.ends[ev.Arg] = ev.At
}

func (r *rig) at(t sim.Time, f func()) {
	r.later = append(r.later, f)
	r.e.Schedule(t, r.self, kindStart, int64(len(r.later)-1))
}

// start begins a flow and returns its index in ends.
func (r *rig) start(h []Hop, b sim.Bytes, o Options) int {
	r.ends = append(r.ends, -1)
	o.Target, o.Kind, o.Arg = r.self, kindEnd, int64(len(r.ends)-1)
	r.p.Start(h, b, o)
	return len(r.ends) - 1
}

func (r *rig) run() {
	r.t.Helper()
	stop, err := r.e.Run(context.Background(), sim.Limits{})
	require.NoError(r.t, err)
	require.Equal(r.t, sim.Drained, stop)
	require.NoError(r.t, r.p.Check())
	require.Zero(r.t, r.p.Flows())
}

// staggered has twelve flows that come and go on six links.
func staggered() problem {
	p := problem{capacity: []sim.Rate{100e9, 100e9, 50e9, 200e9, 25e9, 50e9}, hosts: 24}
	for i, f := range []struct {
		start float64
		bytes sim.Bytes
		links []LinkID
	}{
		{0, 1.0e9, []LinkID{0}},
		{0, 1.0e9, []LinkID{0, 1}},
		{0, 2.0e9, []LinkID{1}},
		{0.002, 0.5e9, []LinkID{1, 2}},
		{0.004, 0.8e9, []LinkID{0, 3, 1}},
		{0.005, 0.3e9, []LinkID{2, 4}},
		{0.005, 0.3e9, []LinkID{3, 4}},
		{0.006, 1.2e9, []LinkID{3, 5}},
		{0.010, 0.7e9, []LinkID{2, 3, 5}},
		{0.012, 0.25e9, []LinkID{4}},
		{0.015, 0.9e9, []LinkID{0, 5}},
		{0.020, 0.4e9, []LinkID{0, 1, 2, 5}},
	} {
		p.routes = append(p.routes, route{2 * i, 2*i + 1, f.links})
		p.flows = append(p.flows, oracleFlow{sim.FromSeconds(f.start), f.bytes, i})
	}
	return p
}

// The ends are those that SimGrid 3.32 prints.
func TestPoolStaggered(t *testing.T) {
	want := []float64{
		0.022400000, 0.034857143, 0.046285714, 0.023500000, 0.034095238, 0.037500000,
		0.037500000, 0.069000000, 0.059000000, 0.039000000, 0.070000000, 0.052000000,
	}
	for i, end := range staggered().ours(t) {
		require.InDelta(t, want[i], end, 0.5e-9, "flow %d", i)
	}
}

// allToAll starts a flow between every two of g ranks.
func (r *rig) allToAll(g int, size func(i, j int) sim.Bytes) {
	for i := range g {
		for j := range g {
			if b := size(i, j); i != j {
				r.start(hops(LinkID(i), LinkID(g+j)), b, Options{})
			}
		}
	}
}

func equalLinks(n int, c sim.Rate) []sim.Rate {
	s := make([]sim.Rate, n)
	for i := range s {
		s[i] = c
	}
	return s
}

func unequal() func(i, j int) sim.Bytes {
	rng := rand.New(rand.NewPCG(7, 9))
	return func(int, int) sim.Bytes { return sim.Bytes(64e6 * (0.5 + rng.Float64())) }
}

// Sizes from PCG(7, 9); the ends are those that SimGrid 3.32 prints.
func TestPoolAllToAllUnequal(t *testing.T) {
	for _, tc := range []struct {
		g    int
		want string
	}{{16, "0.001232035"}, {72, "0.005527598"}} {
		if tc.g == 72 && testing.Short() {
			continue
		}
		r := newRig(t, 1, equalLinks(2*tc.g, 900e9)...)
		r.allToAll(tc.g, unequal())
		r.run()
		require.Equal(t, tc.want, strconv.FormatFloat(r.e.Now().Seconds(), 'f', 9, 64), "%d ranks", tc.g)
	}
}
