package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
)

func TestRouteAllocatesNothing(t *testing.T) {
	outer := ring
	outer.Rate /= 8
	for _, s := range []machine.Spec{machine.Star(1024, ring), dgxH100(16), machine.Grid(8, 8, ring, outer), nvl72(2), dgx1(2)} {
		m := build(t, s)
		buf := make([]topology.Hop, 0, 16)
		n, i := int32(len(m.Ranks)), int32(0)
		allocs := testing.AllocsPerRun(100, func() {
			i++
			if _, err := m.Route(i%n, (i*7+3)%n, buf); err != nil {
				panic(err)
			}
		})
		assert.Zero(t, allocs, s.Name)
	}
}

func benchmarkRoute(b *testing.B, s machine.Spec) {
	m, err := machine.Build(s)
	require.NoError(b, err)
	buf := make([]topology.Hop, 0, 16)
	n, from, to := int32(len(m.Ranks)), int32(0), int32(0)
	b.ReportAllocs()
	for b.Loop() {
		if to++; to == n {
			to = 0
			if from++; from == n {
				from = 0
			}
		}
		if _, err := m.Route(from, to, buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRouteStar1024(b *testing.B)   { benchmarkRoute(b, machine.Star(1024, ring)) }
func BenchmarkRouteNVL72(b *testing.B)      { benchmarkRoute(b, nvl72(1)) }
func BenchmarkRouteDGX1(b *testing.B)       { benchmarkRoute(b, dgx1(1)) }
func BenchmarkRouteRails128(b *testing.B)   { benchmarkRoute(b, dgxH100(16)) }
func BenchmarkRouteThreeTiers(b *testing.B) { benchmarkRoute(b, dgxH100(512)) }

func benchmarkBuild(b *testing.B, s machine.Spec, bar time.Duration) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := machine.Build(s); err != nil {
			b.Fatal(err)
		}
	}
	if per := b.Elapsed() / time.Duration(b.N); per > bar {
		b.Errorf("%v to build %s, the bar is %v", per, s.Name, bar)
	}
}

func BenchmarkBuildNVL72(b *testing.B)      { benchmarkBuild(b, nvl72(1), 100*time.Millisecond) }
func BenchmarkBuildHosts2048(b *testing.B)  { benchmarkBuild(b, dgxH100(2048), 2*time.Second) }
func BenchmarkBuildStar4096(b *testing.B)   { benchmarkBuild(b, machine.Star(4096, ring), time.Second) }
func BenchmarkBuildDGXH100One(b *testing.B) { benchmarkBuild(b, dgxH100(1), 10*time.Millisecond) }

func BenchmarkSurveyHosts2048(b *testing.B) {
	m, err := machine.Build(dgxH100(2048))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		m.Cautions(m.Survey(), true)
	}
}
