package nccl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// inNode is the model of GPUs in one NVSwitch fabric.
func inNode(t require.TestingT, v Version, sm, links, gpus int) *Model {
	g, err := Fabric{Nodes: 1, GPUs: gpus, SM: sm, Links: links, Switched: true}.Graphs(v)
	require.NoError(t, err)
	m, err := New(v, Summary{Ranks: gpus, Nodes: 1, SM: sm, Graphs: g}, Env{NetOverhead: -1})
	require.NoError(t, err)
	return m
}

// The steps of NVLS come from NCCL's rule for chunks and were not fitted.
func TestNVLSChunks(t *testing.T) {
	hopper := inNode(t, Latest, 90, 18, 8)
	for size, want := range map[sim.Bytes]sim.Bytes{
		8<<20 - 1: 16 << 10, 8 << 20: 32 << 10, 64<<20 - 1: 32 << 10, 64 << 20: 64 << 10, 1<<30 - 1: 64 << 10, 1 << 30: 128 << 10,
	} {
		assert.Equal(t, want, hopper.nvlsChunk(16, size), "%d bytes", size)
	}
	rate := func(m *Model, size sim.Bytes) float64 {
		c, err := m.Choose(workloads.AllReduce, size)
		require.NoError(t, err)
		require.Equal(t, NVLS, c.Algorithm)
		p := m.Pace(workloads.AllReduce, c, size, Setting{})
		wire := float64(size) * 9 / 8 / float64(p.Limit) * 1e12
		return float64(size) / (float64(p.Start+2*p.Step+p.Tail()) + wire)
	}
	assert.Greater(t, rate(hopper, 64<<20)/rate(hopper, 32<<20), 1.15, "measured 1.22")
	assert.Greater(t, rate(hopper, 1<<30)/rate(hopper, 512<<20), 1.04, "measured 1.06")
	assert.Equal(t, sim.Bytes(64<<10), inNode(t, Version{2, 26, 2}, 100, 18, 8).nvlsChunk(24, 4<<30))
	assert.Equal(t, sim.Bytes(128<<10), inNode(t, Version{2, 29, 7}, 100, 18, 8).nvlsChunk(24, 2<<30))
}

func TestLaunches(t *testing.T) {
	m := inNode(t, Latest, 90, 18, 8)
	c, err := m.Choose(workloads.AllReduce, 8)
	require.NoError(t, err)
	pace := func(l Launch) (float64, float64) {
		p := m.Pace(workloads.AllReduce, c, 8, Setting{Launch: l})
		return float64(p.Floor) / 1e6, float64(p.Start) / 1e6
	}
	none, start := pace(PerGPU)
	assert.Zero(t, none)
	one, _ := pace(OneProcess)
	assert.InDelta(t, 8*costs[Hopper].Launch, one, 1e-6)
	torch, later := pace(PyTorch)
	assert.InDelta(t, host.PyTorch, torch, 1e-6)
	assert.InDelta(t, host.Python, later-start, 1e-6)
}

// Whatever runs, its pace is what a plan takes.
func TestNodePaceHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.SampledFrom([][2]int{{70, 6}, {80, 12}, {90, 18}, {100, 18}}).Draw(t, "generation")
		m := inNode(t, Latest, at[0], at[1], rapid.IntRange(2, 72).Draw(t, "gpus"))
		op := rapid.SampledFrom(Ops).Draw(t, "op")
		size := sim.Bytes(rapid.Int64Range(1, 1<<38).Draw(t, "size"))
		c, err := m.Choose(op, size)
		require.NoError(t, err)
		p := m.Pace(op, c, size, Setting{Launch: Launch(rapid.IntRange(0, len(launches)-1).Draw(t, "launch"))})
		require.NoError(t, p.Validate())
		require.Positive(t, p.Start)
		require.Positive(t, p.Limit)
		require.GreaterOrEqual(t, p.Tail(), sim.Time(0))
	})
}

func TestCostsOf(t *testing.T) {
	k, err := CostsOf(GenerationOf(103))
	require.NoError(t, err)
	assert.Equal(t, costs[Blackwell], k)
	_, err = CostsOf(9)
	assert.ErrorContains(t, err, "generation 9, expected 0 to 4")
	assert.Equal(t, "Hopper", GenerationOf(90).String())
}
