package nccl

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// peersOf is what a system of the collection offers to sends and receives: its
// NVLinks, the NICs that a GPU uses and their rate, as the names say.
func peersOf(topo string) (Peers, bool) {
	p, ok := map[string]Peers{
		"dgx1v":                   {Links: 1, NICs: 1, NICRate: 12},
		"dgx2":                    {Links: 6, NICs: 1, NICRate: 12},
		"dgxa100":                 {Links: 12, NICs: 1, NICRate: 24},
		"a100_x2":                 {Links: 12, NICs: 1, NICRate: 24},
		"a100_x4":                 {Links: 12, NICs: 1, NICRate: 24},
		"dgxh100":                 {Links: 18, NICs: 1, NICRate: 48},
		"hgxh100_amd":             {Links: 18, NICs: 1, NICRate: 48},
		"h100_x2":                 {Links: 18, NICs: 1, NICRate: 48},
		"h100_x4":                 {Links: 18, NICs: 1, NICRate: 48},
		"h100nvl_2_bridge":        {Links: 12},
		"dgxb200":                 {Links: 18, NICs: 1, NICRate: 48},
		"b200_x2":                 {Links: 18, NICs: 1, NICRate: 48},
		"b200_x4":                 {Links: 18, NICs: 1, NICRate: 48},
		"dgxb300":                 {Links: 18, NICs: 1, NICRate: 96},
		"gb200_1host":             {Links: 18, NICs: 1, NICRate: 48},
		"gb200_nvl72":             {Links: 18, NICs: 1, NICRate: 48},
		"pcie8_l40s_switch_intel": {NICs: 1, NICRate: 24},
		"pcie8_l40s_root_intel":   {NICs: 1, NICRate: 24},
		"pcie8_l40s_root_amd":     {NICs: 1, NICRate: 24},
		"pcie4_root_intel":        {NICs: 1, NICRate: 12},
		"pcie2_4090_amd":          {NICs: 1, NICRate: 3.1},
	}[topo]
	return p, ok
}

func TestPeerChannelsOfTheCollection(t *testing.T) {
	all := searched(t)
	held := 0
	for _, topo := range []string{
		"dgx1v", "dgx2", "dgxa100", "a100_x2", "a100_x4", "dgxh100", "hgxh100_amd", "h100_x2", "h100_x4", "h100nvl_2_bridge", "dgxb200", "b200_x2",
		"b200_x4", "dgxb300", "gb200_1host", "gb200_nvl72", "pcie8_l40s_switch_intel", "pcie8_l40s_root_intel", "pcie8_l40s_root_amd", "pcie4_root_intel", "pcie2_4090_amd",
	} {
		p, ok := peersOf(topo)
		require.True(t, ok)
		for _, nodes := range []int{1, 2, 4, 8, 16} {
			f := all[fmt.Sprintf("%s/%d", topo, nodes)]
			if f == nil {
				continue
			}
			m := modelOf(t, all, Latest.String(), topo, fmt.Sprint(nodes))
			total, each := m.PeerChannels(p)
			assert.Equal(t, [2]int{f.p2p, f.perPeer}, [2]int{total, each}, "%s on %d nodes: channels of all, of one peer", topo, nodes)
			held++
		}
	}
	assert.Greater(t, held, 80)
}

func hopper(t require.TestingT, nodes int) *Model {
	return modelFor(t, Latest, hgx(nodes), Intel)
}

// Eight H100: a peer's part of 32 channels is four, which hold 64 MiB in parts
// of 16 MiB and then double.
func TestPartsOfAMessage(t *testing.T) {
	m, p := hopper(t, 1), Peers{Links: 18}
	for _, c := range []struct {
		bytes sim.Bytes
		want  int
	}{{0, 1}, {1, 1}, {64 << 10, 1}, {64<<10 + 1, 2}, {256 << 10, 4}, {64 << 20, 4}, {64<<20 + 1, 8}, {1 << 30, 32}, {16 << 30, 32}} {
		assert.Equal(t, c.want, m.PeerParts(c.bytes, p), "%d bytes", c.bytes)
	}
}

func TestPaceOfAllToAll(t *testing.T) {
	m, p := hopper(t, 1), Peers{Links: 18}
	small, err := m.PeerPace(workloads.AllToAll, 16<<10, p, Setting{})
	require.NoError(t, err)
	assert.Equal(t, "LL", small.Protocol)
	assert.EqualValues(t, 32<<10, small.Wire(16<<10))
	large, err := m.PeerPace(workloads.AllToAll, 64<<20, p, Setting{})
	require.NoError(t, err)
	assert.Equal(t, "Simple", large.Protocol)
	assert.Equal(t, collective.Direct, large.Algorithm)
	assert.LessOrEqual(t, 7*float64(large.Pace.Limit), 18*20.6e9, "the kernels get no more than the links carry")
	one, err := m.PeerPace(workloads.AllToAll, 16<<10, p, Setting{Launch: OneProcess})
	require.NoError(t, err)
	assert.Greater(t, one.Pace.Floor, 50*sim.Microsecond, "one thread makes 64 pairs of calls")
}

// A pair of GPUs over two NICs of 48 GB/s reaches 39.5 GB/s with two channels,
// and one of ten nodes 24.9 with one (xxrjun/nccl-tests-cluster, 455de4f8de).
func TestPaceOfOneMessage(t *testing.T) {
	h100 := Peers{Links: 18, NICs: 1, NICRate: 48}
	for _, c := range []struct {
		nodes int
		want  float64
	}{{2, 39.5}, {10, 24.9}} {
		m, err := New(Version{2, 29, 2}, Summary{Ranks: c.nodes, Nodes: c.nodes, SM: 90, Graphs: pcieGraph(1, 48, NVL)}, Env{NetOverhead: -1})
		require.NoError(t, err)
		ch, err := m.SendPace(1<<30, true, true, h100, Setting{})
		require.NoError(t, err)
		assert.InEpsilon(t, c.want, float64(ch.Pace.Limit)/1e9, 0.05, "%d nodes", c.nodes)
	}
}

func TestSendsThatCannotBe(t *testing.T) {
	m := hopper(t, 1)
	_, err := m.PeerPace(workloads.AllReduce, 1, Peers{Links: 18}, Setting{})
	assert.ErrorContains(t, err, "want alltoall")
	_, err = m.PeerPace(workloads.AllToAll, -1, Peers{Links: 18}, Setting{})
	assert.ErrorContains(t, err, "-1 bytes")
	_, err = m.SendPace(1, true, true, Peers{Links: 18}, Setting{})
	assert.ErrorContains(t, err, "one node")
	_, err = hopper(t, 2).PeerPace(workloads.AllToAll, 1, Peers{Links: 18}, Setting{})
	assert.ErrorContains(t, err, "want one NIC")
	_, err = m.PeerPace(workloads.AllToAll, 1, Peers{Links: -1}, Setting{})
	assert.ErrorContains(t, err, "-1 NVLinks")
}

// Whatever is sent, the pace is one that kernels have, and more bytes take no
// less time at the rate that it allows.
func TestPaceOfPeersIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SampledFrom([]int{1, 2, 4, 16}).Draw(t, "nodes")
		m := hopper(t, nodes)
		p := Peers{Links: rapid.IntRange(0, 18).Draw(t, "links"), NICs: 1, NICRate: rapid.Float64Range(1, 100).Draw(t, "rate")}
		s := Setting{Launch: Launch(rapid.IntRange(0, len(launches)-1).Draw(t, "launch"))}
		part := sim.Bytes(rapid.Int64Range(0, 1<<34).Draw(t, "bytes"))
		ch, err := m.PeerPace(workloads.AllToAllV, part, p, s)
		require.NoError(t, err)
		require.NoError(t, ch.Pace.Validate())
		assert.Positive(t, float64(ch.Pace.Limit))
		all, each := m.PeerChannels(p)
		assert.LessOrEqual(t, each, all)
		assert.LessOrEqual(t, m.PeerParts(part, p), each)
	})
}

func BenchmarkPeerPace(b *testing.B) {
	m := hopper(b, 16)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.PeerPace(workloads.AllToAll, 1<<20, Peers{Links: 18, NICs: 1, NICRate: 48}, Setting{}); err != nil {
			b.Fatal(err)
		}
	}
}
