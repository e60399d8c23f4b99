package shortest_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/shortest"
)

// floyd is the dumb twin: hops and latency between all pairs.
func floyd(g *topology.Graph, relay bool) (hops [][]int, latency [][]sim.Time) {
	const far = 1 << 20
	n := len(g.Nodes)
	hops, latency = make([][]int, n), make([][]sim.Time, n)
	for i := range n {
		hops[i], latency[i] = make([]int, n), make([]sim.Time, n)
		for j := range n {
			if i != j {
				hops[i][j] = far
			}
		}
	}
	better := func(i, j, h int, t sim.Time) {
		if h < hops[i][j] || h == hops[i][j] && t < latency[i][j] {
			hops[i][j], latency[i][j] = h, t
		}
	}
	for _, l := range g.Links {
		better(int(l.From), int(l.To), 1, l.Latency)
	}
	for k, node := range g.Nodes {
		if node.Kind == topology.GPU && !relay {
			continue
		}
		for i := range n {
			for j := range n {
				better(i, j, hops[i][k]+hops[k][j], latency[i][k]+latency[k][j])
			}
		}
	}
	return hops, latency
}

// Random graphs: paths conserve bytes, are as short as the twin's, and do not
// pass GPUs that do not forward.
func TestRandomGraphs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWiring()
		gpus := w.gpus(rapid.IntRange(2, 8).Draw(rt, "gpus"))
		ids := append([]topology.NodeID(nil), gpus...)
		for i := range rapid.IntRange(1, 8).Draw(rt, "switches") {
			ids = append(ids, w.node(topology.Switch, fmt.Sprintf("sw%d", i), -1))
		}
		wire := func(a, b topology.NodeID) {
			width := rapid.Int32Range(1, 3).Draw(rt, "width")
			w.link(a, b, rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "class"),
				sim.Rate(width)*rapid.SampledFrom([]sim.Rate{10e9, 20e9}).Draw(rt, "rate"),
				sim.Time(rapid.IntRange(1, 2).Draw(rt, "latency"))*ns, width)
		}
		first := ids[len(gpus)] // a switch that joins all, so that there is a route
		for _, id := range ids {
			if id != first {
				wire(id, first)
			}
		}
		for range rapid.IntRange(0, 20).Draw(rt, "more") {
			a, b := rapid.SampledFrom(ids).Draw(rt, "a"), rapid.SampledFrom(ids).Draw(rt, "b")
			if a != b {
				wire(a, b)
			}
		}
		o := shortest.Options{
			Relay: rapid.Bool().Draw(rt, "relay"), OnePath: rapid.Bool().Draw(rt, "one"),
			Ways: rapid.IntRange(0, 5).Draw(rt, "ways"), Seed: rapid.Uint64().Draw(rt, "seed"),
		}
		preferred := rapid.Bool().Draw(rt, "prefer")
		if preferred {
			o.Prefer = []string{w.g.Classes[0].Name}
		}
		m, err := shortest.Build(w.g, gpus, o)
		require.NoError(rt, err)
		hops, latency := floyd(w.g, o.Relay)
		for a := range int32(len(gpus)) {
			for b := range int32(len(gpus)) {
				p, err := m.Route(a, b, nil)
				require.NoError(rt, err)
				require.NoError(rt, m.Graph.CheckPath(p, gpus[a], gpus[b]))
				require.Zero(rt, 46080%p.Den, "one denominator for all pairs")
				var length float64
				for _, h := range p.Hops {
					length += float64(h.Share) / float64(p.Den)
					l := w.g.Links[h.Resource]
					if !o.Relay && l.From != gpus[a] {
						require.NotEqual(rt, topology.GPU, w.g.Nodes[l.From].Kind)
					}
				}
				if !preferred {
					require.InDelta(rt, hops[gpus[a]][gpus[b]], length, 1e-6)
					require.Equal(rt, latency[gpus[a]][gpus[b]], p.Latency)
				}
			}
		}
	})
}

// Whoever asks first, and on however many goroutines, gets the same.
func TestOrderOfAskingIsNothing(t *testing.T) {
	g, gpus := clos(4, 4, 3, 1)
	forward, backward := build(t, g, gpus, shortest.Options{}), build(t, g, gpus, shortest.Options{})
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) + 1 {
		wg.Go(func() {
			for a := int32(15); a >= 0; a-- {
				_, err := backward.Route(a, (a+5)%16, nil)
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	for a := range int32(16) {
		p, _ := forward.Route(a, (a+5)%16, nil)
		q, _ := backward.Route(a, (a+5)%16, nil)
		assert.Equal(t, p, q)
	}
}

func TestAFullSizeFabric(t *testing.T) {
	if testing.Short() {
		t.Skip("4,096 GPUs")
	}
	g, gpus := clos(128, 32, 32, 1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m, err := shortest.Build(g, gpus, shortest.Options{})
	require.NoError(t, err)
	var buf []topology.Hop
	for a := range int32(4096) {
		p, err := m.Route(a, (a+2048)%4096, buf)
		require.NoError(t, err)
		buf = p.Hops
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(40<<20), "memory of all 4,096 sources")
	runtime.KeepAlive(m)
}

func BenchmarkBuild4096(b *testing.B) {
	g, gpus := clos(128, 32, 32, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := shortest.Build(g, gpus, shortest.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFirstRoute4096(b *testing.B) {
	g, gpus := clos(128, 32, 32, 1)
	m := build(b, g, gpus, shortest.Options{})
	var buf []topology.Hop
	next := int32(1)
	b.ReportAllocs()
	for b.Loop() {
		if next == 4096 { // all have sent
			b.StopTimer()
			m, next = build(b, g, gpus, shortest.Options{}), 1
			b.StartTimer()
		}
		p, _ := m.Route(next, 0, buf)
		buf = p.Hops
		next++
	}
}

func BenchmarkWarmRoute4096(b *testing.B) {
	g, gpus := clos(128, 32, 32, 1)
	for name, o := range map[string]shortest.Options{"spread": {}, "one path": {OnePath: true}} {
		b.Run(name, func(b *testing.B) {
			m := build(b, g, gpus, o)
			p, _ := m.Route(0, 4095, nil)
			buf := p.Hops
			b.ReportAllocs()
			for b.Loop() {
				p, _ := m.Route(0, 4095, buf)
				buf = p.Hops
			}
		})
	}
}
