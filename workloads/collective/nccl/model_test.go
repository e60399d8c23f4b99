package nccl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

func hgx(nodes int) Fabric {
	return Fabric{Nodes: nodes, GPUs: 8, SM: 90, Links: 18, Switched: true, NICs: 8, NICRate: 48, NICPath: PIX, NearNIC: 2}
}

func modelFor(t require.TestingT, v Version, f Fabric, cpu CPU, settings ...string) *Model {
	g, err := f.Graphs(v)
	require.NoError(t, err)
	env, err := ParseEnv(v, settings)
	require.NoError(t, err)
	m, err := New(v, Summary{Ranks: f.Nodes * f.GPUs, Nodes: f.Nodes, SM: f.SM, CPU: cpu, Graphs: g}, env)
	require.NoError(t, err)
	return m
}

// Latency and bandwidth that NCCL's tuning code gives, at the tags v2.21.5-1,
// v2.27.7-1 and 2.30.7 (commit 73cf1122), for 8 H100 on one node.
func TestEightH100(t *testing.T) {
	type row struct {
		a                  Algorithm
		p                  Protocol
		latency, bandwidth float64
	}
	same := []row{{Tree, LL, 15.2, 43.58}, {Tree, LL128, 31.5, 128.8}, {Ring, LL, 15, 80.57}, {Ring, LL128, 40.6, 189.26}, {Ring, Simple, 56, 205.71}}
	for _, c := range []struct {
		v    Version
		rows []row
	}{
		{Version{2, 21, 5}, append([]row{{Tree, Simple, 392, 165.6}, {NVLS, Simple, 25, 266.67}}, same...)},
		{Version{2, 27, 7}, append([]row{{Tree, Simple, 64.4, 165.6}, {NVLS, Simple, 25, 266.67}}, same...)},
		{Latest, append([]row{{Tree, Simple, 64.4, 165.6}, {NVLS, Simple, 25, 272}}, same...)},
	} {
		m := modelFor(t, c.v, hgx(1), Intel)
		for _, r := range c.rows {
			e := m.Estimate(workloads.AllReduce, r.a, r.p, sim.GiB)
			assert.InDelta(t, r.latency, e.Latency, 0.005, "%v %v %v", c.v, r.a, r.p)
			assert.InDelta(t, r.bandwidth, e.Bandwidth, 0.005, "%v %v %v", c.v, r.a, r.p)
		}
	}
}

// What the same code chooses for an all-reduce, on Intel hosts of 8 H100.
func TestFromWhichSize(t *testing.T) {
	for _, c := range []struct {
		v     Version
		nodes int
		want  []Crossover
	}{
		{Version{2, 21, 5}, 4, []Crossover{at(8, Tree, LL128), at(64, Tree, LL), at(256*sim.KiB, Tree, LL128), at(2*sim.MiB, NVLSTree, Simple), at(512*sim.MiB, Ring, Simple)}},
		{Latest, 1, []Crossover{at(8, Ring, LL), at(2*sim.MiB, NVLS, Simple)}},
		{Latest, 2, []Crossover{at(8, Tree, LL), at(256*sim.KiB, Tree, LL128), at(4*sim.MiB, NVLSTree, Simple)}},
	} {
		got, err := modelFor(t, c.v, hgx(c.nodes), Intel).Crossovers(workloads.AllReduce, 8, 8*sim.GiB)
		require.NoError(t, err)
		require.Len(t, got, len(c.want))
		for i := range got {
			assert.Equal(t, c.want[i], at(got[i].From, got[i].Algorithm, got[i].Protocol))
		}
	}
}

func at(from sim.Bytes, a Algorithm, p Protocol) Crossover {
	return Crossover{From: from, Choice: Choice{Estimate: Estimate{Algorithm: a, Protocol: p}}}
}

func TestChannelsOfSmallMessages(t *testing.T) {
	m := modelFor(t, Latest, hgx(1), Intel)
	assert.Equal(t, 24, m.Channels())
	ring := Estimate{Algorithm: Ring, Protocol: LL}
	assert.Equal(t, 24, m.RunChannels(workloads.AllReduce, ring, 768*sim.KiB))
	assert.Equal(t, 2, m.RunChannels(workloads.AllReduce, ring, 64*sim.KiB))
	assert.Equal(t, 1, m.RunChannels(workloads.AllReduce, ring, 8))
	few := modelFor(t, Latest, hgx(1), Intel, "NCCL_MAX_NCHANNELS=4")
	assert.Equal(t, 4, few.RunChannels(workloads.AllReduce, Estimate{Algorithm: NVLS, Protocol: Simple}, sim.GiB))
	many := modelFor(t, Latest, hgx(1), Intel, "NCCL_MIN_CTAS=30")
	assert.Equal(t, 30, many.Channels())
}

func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		set  string
		want string
	}{
		{"NCCL_ALGO", "expected NAME=VALUE"},
		{"NCCL_ALGO=Rnig", `read "Rnig", expected names of Tree,Ring`},
		{"NCCL_ALGO=Ring;Tree", "expected an operation and a colon"},
		{"NCCL_ALGO=alltoall:Ring", `read operation "alltoall"`},
		{"NCCL_PROTO=^LL,Simpel", `read "Simpel"`},
		{"NCCL_NVLS_ENABLE=3", "whole number from 0 to 2"},
		{"NCCL_P2P_LEVEL=NVLINK", "expected one of LOC"},
		{"NCCL_COLLNET_ENABLE=2", "whole number from 0 to 1"},
		{"NCCL_CHECKS_DISABLE=1", "does not act on anything here"},
	} {
		_, err := ParseEnv(Latest, []string{c.set})
		require.Error(t, err, c.set)
		assert.Contains(t, err.Error(), c.want)
	}
	_, err := ParseEnv(Version{2, 23, 4}, []string{"NCCL_ALGO=allreduce:Ring"})
	assert.ErrorContains(t, err, "of NCCL 2.24 and later")
	_, err = ParseEnv(Latest, []string{"NCCL_MIN_NCHANNELS=8", "NCCL_MAX_NCHANNELS=4"})
	assert.ErrorContains(t, err, "expected the least first")

	// A list for one operation counts before the one for all.
	m := modelFor(t, Latest, hgx(1), Intel, "NCCL_ALGO=tree;allgather:ring", "NCCL_PROTO=^Simple")
	assert.Empty(t, m.Estimate(workloads.AllReduce, Tree, LL, 8).Off)
	assert.Equal(t, "left out by NCCL_ALGO", m.Estimate(workloads.AllReduce, Ring, LL, 8).Off)
	assert.Empty(t, m.Estimate(workloads.AllGather, Ring, LL128, 8).Off)
	assert.Equal(t, "left out by NCCL_PROTO", m.Estimate(workloads.AllGather, Ring, Simple, 8).Off)

	slow := modelFor(t, Latest, hgx(2), Intel, "NCCL_NET_OVERHEAD=5000")
	assert.InDelta(t, 6.6+28*5+2*2.7, slow.Estimate(workloads.AllReduce, Ring, LL, 8).Latency, 1e-9)
}

func TestReleases(t *testing.T) {
	for text, want := range map[string]string{
		"2.27": "2.27.7", "v2.30": "2.30.7", "2.25.1": "2.27.7", "2.26": "2.27.7", "2.20": "2.19.3", "2.22.3": "2.21.5",
		"2.24": "2.23.4", "2.28.1": "2.28.3", "2.28": "2.28.9", "2.29.2": "2.29.2", "2.30.4": "2.30.7", "2.18": "2.18.5",
	} {
		v, err := ParseVersion(text)
		require.NoError(t, err)
		assert.Equal(t, want, v.Constants().String(), text)
	}
	for _, text := range []string{"", "2", "2.17", "2.31", "3.0", "2.x", "2.27.7.1", "2.-1"} {
		_, err := ParseVersion(text)
		assert.ErrorContains(t, err, "expected 2.18 to 2.30", text)
	}
}

// Whatever the machine: what is chosen is considered, and nothing considered
// is predicted faster.
func TestTheChoiceIsTheLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := hgx(rapid.IntRange(1, 40).Draw(t, "nodes"))
		f.GPUs = rapid.IntRange(2, 72).Draw(t, "GPUs")
		f.NICs = rapid.IntRange(1, 72).Draw(t, "NICs")
		f.SM = rapid.SampledFrom([]int{70, 80, 90, 100}).Draw(t, "sm")
		f.Links = rapid.SampledFrom([]int{6, 8, 12, 18}).Draw(t, "links")
		v := rapid.SampledFrom(releases).Draw(t, "release")
		op := rapid.SampledFrom(Ops).Draw(t, "op")
		size := sim.Bytes(rapid.Int64Range(1, 1<<33).Draw(t, "size"))
		if f.SM >= 100 && v.before(25) {
			return
		}
		m := modelFor(t, v, f, rapid.SampledFrom([]CPU{Intel, AMD, ARM}).Draw(t, "cpu"))
		c, err := m.Choose(op, size)
		require.NoError(t, err)
		assert.Empty(t, c.Off)
		assert.Greater(t, c.Channels, 0)
		for _, e := range m.Estimates(op, size) {
			if e.Off != "" {
				continue
			}
			assert.GreaterOrEqual(t, e.Time, c.Time)
			assert.GreaterOrEqual(t, e.Time, e.Latency)
			assert.Greater(t, e.Bandwidth, 0.)
			assert.Greater(t, m.Wire(op, e.Algorithm, e.Protocol).GPU, 0.)
		}
	})
}

func BenchmarkCrossovers(b *testing.B) {
	m := modelFor(b, Latest, hgx(4), Intel)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Crossovers(workloads.AllReduce, 8, 8*sim.GiB); err != nil {
			b.Fatal(err)
		}
	}
}
