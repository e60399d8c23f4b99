package nccl

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

func netChoice(a Algorithm, p Protocol, channels int) Choice {
	return Choice{Estimate: Estimate{Algorithm: a, Protocol: p}, Channels: channels}
}

// Sixteen thread blocks, which NCCL runs by default between nodes of eight
// H100, leave a fifth of eight NICs of 49 GB/s unused; 24 do not, and four GPUs
// of a node, which have as many for half the NICs, do not either.
//
// Source: NVIDIA/nccl-tests issue 309: 320 to 325 GB/s by default and 393 with
// NCCL_MIN_CTAS=24; xxrjun/nccl-tests-cluster: 195 of 200 GB/s.
func TestThreadBlocksBoundRings(t *testing.T) {
	m := modelFor(t, Latest, hgx(8), Intel)
	for channels, want := range map[int]float64{16: 323, 24: 484} {
		p := m.netPace(workloads.AllReduce, netChoice(Ring, Simple, channels), 8*sim.GiB, Setting{})
		assert.InEpsilon(t, want*1e9, float64(p.Limit), 0.02, "%d channels", channels)
	}
}

// Four NICs of 200 Gbit/s, 96.8 GB/s after packets, are what bounds the rings
// of eight A100, not their eight thread blocks.
func TestFourNICsAreFull(t *testing.T) {
	m := modelFor(t, Version{2, 21, 5}, Fabric{Nodes: 2, GPUs: 8, SM: 80, Links: 12, Switched: true, NICs: 4, NICRate: 24, NICPath: PIX, NearNIC: 2}, AMD)
	require.Equal(t, 8, m.Channels())
	p := m.netPace(workloads.AllReduce, netChoice(Ring, Simple, 8), sim.GiB, Setting{})
	assert.Greater(t, float64(p.Limit), 96.8e9)
}

// Simple has four slices of 1 MiB on their way: with 400 us there and back, 16
// connections carry 16 x 4 MiB / 400 us = 168 GB/s, about half of what they
// carry at 20 us. Trees over two nodes with NVLS have a connection for each
// channel and head, eight rounds of 1 MiB deep, and do not notice.
func TestInFlight(t *testing.T) {
	m := modelFor(t, Version{2, 27, 7}, hgx(4), Intel)
	at := func(trip sim.Time) float64 {
		return float64(m.netPace(workloads.AllReduce, netChoice(Ring, Simple, 16), 8*sim.GiB, Setting{RoundTrip: trip}).Limit)
	}
	assert.InEpsilon(t, 16*4*float64(sim.MiB)/400e-6, at(400*sim.Microsecond), 1e-9)
	assert.InDelta(t, 0.5, at(400*sim.Microsecond)/at(20*sim.Microsecond), 0.05)
	assert.InDelta(t, at(0), at(20*sim.Microsecond), 1)

	two := modelFor(t, Version{2, 27, 7}, hgx(2), Intel)
	c, err := two.Choose(workloads.AllReduce, 8*sim.GiB)
	require.NoError(t, err)
	require.Equal(t, NVLSTree, c.Algorithm)
	assert.Equal(t, two.netPace(workloads.AllReduce, c, 8*sim.GiB, Setting{}).Limit,
		two.netPace(workloads.AllReduce, c, 8*sim.GiB, Setting{RoundTrip: 400 * sim.Microsecond}).Limit)
}

// On two nodes with 16 channels and 8 heads the chunk is 128 KiB, 64 KiB below
// 4 x 16 x 8 x 128 KiB = 64 MiB and 32 KiB below 16 x 8 x 64 KiB = 8 MiB; on
// four it is 64 KiB at most.
func TestChunksOfNVLSTree(t *testing.T) {
	for _, c := range []struct {
		nodes int
		size  sim.Bytes
		want  float64
	}{
		{2, sim.GiB, 128 << 10}, {2, 64 * sim.MiB, 128 << 10}, {2, 64*sim.MiB - 1, 64 << 10}, {2, 8 * sim.MiB, 64 << 10}, {2, 8*sim.MiB - 1, 32 << 10},
		{4, sim.GiB, 64 << 10}, {4, 8 * sim.MiB, 64 << 10}, {4, 8*sim.MiB - 1, 32 << 10},
	} {
		m := modelFor(t, Latest, hgx(c.nodes), Intel)
		assert.Equal(t, c.want, m.nvlsTreeChunk(16, c.size), "%d nodes, %d bytes", c.nodes, c.size)
	}
}

// Eight nodes of eight, LL128: (1 + 3 + 0.8) x 64/8 = 38.4 and x 16/8 = 9.6. With
// 16 channels 1 MiB is 0.11 chunks of 576,000 B a channel, so that it is halved
// to 72,000 B, below 128 KiB, and then to 18,000 B, below 32 KiB.
func TestChunksOfTrees(t *testing.T) {
	m := modelFor(t, Latest, hgx(8), Intel)
	assert.Equal(t, 18000., m.treeChunk(netChoice(Tree, LL128, 16), sim.MiB))
	assert.Equal(t, 576000., m.treeChunk(netChoice(Tree, LL128, 16), sim.GiB))
	assert.Equal(t, 32768., m.treeChunk(netChoice(Tree, LL, 16), sim.MiB))
	assert.Equal(t, 524288., m.treeChunk(netChoice(Tree, Simple, 16), sim.MiB))
}

// Chunks of at most Eager leave at once: 4 KiB of LL are 8 KiB on the wire.
func TestEagerChunksSkipPost(t *testing.T) {
	m := modelFor(t, Latest, hgx(2), Intel)
	at := func(size sim.Bytes, post sim.Time) sim.Time {
		return m.netPace(workloads.AllReduce, netChoice(Tree, LL, 1), size, Setting{Plugin: Plugin{Post: post, Eager: 4 * sim.KiB}}).NetStep
	}
	assert.Equal(t, at(2*sim.KiB, 0), at(2*sim.KiB, 5*sim.Microsecond))
	assert.Equal(t, at(4*sim.KiB, 0)+5*sim.Microsecond, at(4*sim.KiB, 5*sim.Microsecond))
}

// A plugin's figures go where they act.
func TestPluginInPace(t *testing.T) {
	m := modelFor(t, Latest, hgx(2), Intel)
	c := netChoice(Tree, LL, 1)
	none := m.netPace(workloads.AllReduce, c, 8, Setting{})
	some := m.netPace(workloads.AllReduce, c, 8, Setting{Plugin: Plugin{Base: 7 * sim.Microsecond, Step: 5 * sim.Microsecond, Post: 2 * sim.Microsecond}})
	assert.Equal(t, 7*sim.Microsecond, some.Start-none.Start)
	assert.Equal(t, 7*sim.Microsecond, some.NetStep-none.NetStep, "a crossing, and the handling of its chunk")
	assert.Equal(t, none.Step, some.Step)
	half := m.netPace(workloads.AllReduce, netChoice(Ring, Simple, 64), sim.GiB, Setting{Plugin: Plugin{Rate: 0.5}})
	assert.InEpsilon(t, 192e9, float64(half.Limit), 1e-9, "half of 8 NICs of 48 GB/s")
}

func TestLaunchesBetweenNodes(t *testing.T) {
	m := modelFor(t, Latest, hgx(2), Intel)
	at := func(l Launch) (floor, start float64) {
		p := m.netPace(workloads.AllReduce, netChoice(Tree, LL, 1), 8, Setting{Launch: l})
		return float64(p.Floor) / 1e6, float64(p.Start) / 1e6
	}
	floor, start := at(PerGPU)
	assert.Zero(t, floor)
	floor, _ = at(OneProcess)
	assert.InDelta(t, 8*host.OneProcess, floor, 1e-6, "one thread launches for the eight GPUs of its node")
	floor, _ = at(PyTorch)
	assert.InDelta(t, host.PyTorch, floor, 1e-6)
	_, later := at(Threads)
	assert.InDelta(t, host.Thread, later-start, 1e-6)
}

// Whatever runs, its pace is what a plan takes, and more bytes do not end
// sooner at the rate of the thread blocks alone, but where a chunk's size or
// the number of channels steps.
func TestPacesBetweenNodesAreValid(t *testing.T) {
	ways := []Choice{
		netChoice(Ring, LL, 1), netChoice(Ring, LL128, 1), netChoice(Ring, Simple, 1), netChoice(Tree, LL, 1), netChoice(Tree, LL128, 1), netChoice(Tree, Simple, 1),
		netChoice(NVLSTree, Simple, 1), netChoice(PAT, Simple, 1),
	}
	rapid.Check(t, func(t *rapid.T) {
		f := hgx(rapid.IntRange(2, 128).Draw(t, "nodes"))
		f.SM = rapid.SampledFrom([]int{80, 90, 100, 103}).Draw(t, "sm")
		f.GPUs = rapid.IntRange(2, 8).Draw(t, "gpus")
		f.NICs = f.GPUs
		if f.SM < 90 {
			f.Links = 12
		}
		m := modelFor(t, Latest, f, Intel)
		c := rapid.SampledFrom(ways).Draw(t, "way")
		c.Channels = rapid.IntRange(1, 64).Draw(t, "channels")
		op := rapid.SampledFrom([]workloads.Coll{workloads.AllReduce, workloads.AllGather, workloads.ReduceScatter, workloads.Broadcast, workloads.Reduce}).Draw(t, "op")
		size := sim.Bytes(rapid.Int64Range(0, 1<<36).Draw(t, "size"))
		s := Setting{RoundTrip: sim.Time(rapid.Int64Range(0, int64(sim.Second)).Draw(t, "trip"))}
		s.Plugin.Post = sim.Time(rapid.Int64Range(0, int64(sim.Millisecond)).Draw(t, "post"))
		p := m.netPace(op, c, size, s)
		require.NoError(t, p.Validate())
		require.Positive(t, float64(p.Limit))
		require.False(t, math.IsNaN(float64(p.Limit)))
		bare := m.netPace(op, c, size, Setting{})
		require.GreaterOrEqual(t, float64(bare.Limit)*(1+1e-9), float64(p.Limit), "a plugin and distance only slow down")
		require.GreaterOrEqual(t, p.Start+p.NetStep+p.Tail(), bare.Start+bare.NetStep+bare.Tail())
	})
}
