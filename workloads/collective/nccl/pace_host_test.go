package nccl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// onCards is the model of PCIe cards whose ring takes a path.
func onCards(t require.TestingT, ranks int, path PathType, change func(*Summary)) *Model {
	s := Summary{Ranks: ranks, Nodes: 1, SM: 89, CPU: Intel, Graphs: pcieGraph(2, 12, path)}
	if change != nil {
		change(&s)
	}
	m, err := New(Version{2, 27, 7}, s, Env{NetOverhead: -1})
	require.NoError(t, err)
	return m
}

func TestWhoIsStaged(t *testing.T) {
	all := func(s *Summary) { s.AllPeers = true }
	amd := func(s *Summary) { s.CPU = AMD }
	for _, c := range []struct {
		name   string
		ranks  int
		path   PathType
		change func(*Summary)
		want   bool
	}{
		{"below a switch", 4, PIX, nil, false},
		{"below several", 4, PXB, nil, false},
		{"across host bridges", 4, PHB, nil, true},
		{"across sockets", 8, SYS, nil, true},
		{"two across host bridges of AMD", 2, PHB, amd, false},
		{"four across host bridges of AMD", 4, PHB, amd, true},
		{"where routes are direct", 4, SYS, all, false},
	} {
		assert.Equal(t, c.want, onCards(t, c.ranks, c.path, c.change).staged(), c.name)
	}
	m := onCards(t, 2, PIX, nil)
	m.Env.NoP2P = true
	assert.True(t, m.staged(), "NCCL_P2P_DISABLE=1")
}

func TestPaceOverPCIe(t *testing.T) {
	const size = 256 << 20
	pace := func(m *Model, op workloads.Coll, s Setting) (float64, sim.Time) {
		c, err := m.Choose(op, size)
		require.NoError(t, err)
		require.Equal(t, Simple, c.Protocol)
		p := m.Pace(op, c, size, s)
		require.NoError(t, p.Validate())
		return float64(p.Limit) / 1e9, p.Tail()
	}
	staged, tail := pace(onCards(t, 4, SYS, nil), workloads.AllGather, Setting{})
	assert.InDelta(t, hostCostsOf[Ampere].Staged, staged, 1e-9, "what a GPU reads from host memory")
	// A quarter of the message is the rank's own, copied by four thread blocks.
	own := float64(size) / 4 / 4 / (hostCostsOf[Ampere].Own * 1e3)
	assert.InEpsilon(t, own, float64(tail)/float64(sim.Microsecond), 0.05)
	_, reduced := pace(onCards(t, 4, SYS, nil), workloads.AllReduce, Setting{})
	assert.Less(t, reduced, tail)

	// Translation costs the more the more ranks there are, up to eight.
	last := staged
	for _, n := range []int{4, 8} {
		got, _ := pace(onCards(t, n, SYS, func(s *Summary) { s.Translated = true }), workloads.AllReduce, Setting{})
		assert.Less(t, got, last, "%d ranks", n)
		last = got
	}
	peers, _ := pace(onCards(t, 2, PIX, func(s *Summary) { s.Translated = true }), workloads.AllReduce, Setting{})
	assert.InDelta(t, hostCostsOf[Ampere].Direct, peers, 1e-9, "peers do not touch host memory")
}

func TestLaunchesOverPCIe(t *testing.T) {
	m := onCards(t, 4, PHB, nil)
	c, err := m.Choose(workloads.AllReduce, 8)
	require.NoError(t, err)
	one := m.Pace(workloads.AllReduce, c, 8, Setting{Launch: OneProcess})
	assert.Equal(t, micros(4*host.OneProcess), one.Floor)
	assert.Equal(t, micros(host.PyTorch), m.Pace(workloads.AllReduce, c, 8, Setting{Launch: PyTorch}).Floor)
	threads, alone := m.Pace(workloads.AllReduce, c, 8, Setting{Launch: Threads}), m.Pace(workloads.AllReduce, c, 8, Setting{})
	assert.Equal(t, micros(host.Thread), threads.Start-alone.Start)
}

// Whatever is chosen, the pace is one that kernels have, and more bytes never
// take less time over the same wires.
func TestPaceOverPCIeIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := onCards(t, rapid.SampledFrom([]int{2, 4, 8, 16}).Draw(t, "ranks"), rapid.SampledFrom([]PathType{PIX, PXB, PHB, SYS}).Draw(t, "path"), func(s *Summary) {
			s.SM = rapid.SampledFrom([]int{60, 70, 75, 80, 89, 90, 120}).Draw(t, "sm")
			s.Translated = rapid.Bool().Draw(t, "translated")
		})
		op := rapid.SampledFrom(Ops).Draw(t, "op")
		size := sim.Bytes(rapid.Int64Range(1, 1<<34).Draw(t, "size"))
		for _, e := range m.Estimates(op, size) {
			if e.Off != "" {
				continue
			}
			p := m.Pace(op, Choice{Estimate: e, Channels: m.RunChannels(op, e, size)}, size, Setting{})
			require.NoError(t, p.Validate())
			assert.Positive(t, float64(p.Limit))
		}
	})
}
