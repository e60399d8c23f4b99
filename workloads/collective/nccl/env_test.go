package nccl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// A value that each variable takes, and one that it does not.
var values = map[string][2]string{
	"NCCL_ALGO": {"Ring", "Rnig"}, "NCCL_PROTO": {"^LL", "LLL"}, "NCCL_NVLS_ENABLE": {"0", "3"}, "NCCL_PAT_ENABLE": {"0", "x"},
	"NCCL_COLLNET_ENABLE": {"1", "2"}, "NCCL_NET_OVERHEAD": {"1500", "-3"},
	"NCCL_NTHREADS": {"256", "100"}, "NCCL_LL128_NTHREADS": {"320", "64"}, "NCCL_THREAD_THRESHOLDS": {"8 8 64 64 8 -1", "8 8 64"},
	"NCCL_BUFFSIZE": {"8M", "8X"}, "NCCL_LL_BUFFSIZE": {"524288", "0"}, "NCCL_LL128_BUFFSIZE": {"1G", "G"}, "NCCL_NVLS_CHUNKSIZE": {"64K", "-1"},
	"NCCL_NVLSTREE_MAX_CHUNKSIZE": {"64K", "9999999999G"}, "NCCL_P2P_NET_CHUNKSIZE": {"262144", ""}, "NCCL_P2P_NVL_CHUNKSIZE": {"1M", "1m"},
	"NCCL_P2P_PCI_CHUNKSIZE": {"1M", "M1"}, "NCCL_P2P_LL_THRESHOLD": {"0", "-1"}, "NCCL_IB_QPS_PER_CONNECTION": {"4", "0"},
	"NCCL_IB_SPLIT_DATA_ON_QPS": {"1", "2"}, "NCCL_P2P_LEVEL": {"NVL", "NVLINK"}, "NCCL_NET_GDR_LEVEL": {"5", "6"}, "NCCL_NETDEVS_POLICY": {"MAX:2", "MAX:0"},
	"NCCL_P2P_PXN_LEVEL": {"0", "3"}, "NCCL_CROSS_NIC": {"0", "3"}, "NCCL_LAUNCH_MODE": {"GROUP", ""}, "NCCL_MNNVL_ENABLE": {"0", "-1"},
	"NCCL_COLLNET_NODE_THRESHOLD": {"", "1"},
}

func TestEveryVariableIsTakenOrRefusedWithAReason(t *testing.T) {
	for _, v := range variables {
		if v.refuse != "" {
			_, err := ParseEnv(Latest, []string{v.name + "=1"})
			assert.ErrorContains(t, err, v.name+": "+v.refuse)
			continue
		}
		good, bad := "1", "x"
		if both, ok := values[v.name]; ok {
			good, bad = both[0], both[1]
		}
		if good != "" {
			e, err := ParseEnv(Latest, []string{v.name + "=" + good})
			require.NoError(t, err, v.name)
			assert.Equal(t, v.name+"="+good, e.String())
			if v.note == "" {
				assert.Empty(t, e.Notes(), v.name)
			} else {
				assert.Equal(t, []string{v.name + ": " + v.note}, e.Notes())
			}
		}
		if !strings.HasPrefix(v.name, "NCCL_DEBUG") && !strings.HasSuffix(v.name, "DUMP_FILE") {
			_, err := ParseEnv(Latest, []string{v.name + "=" + bad})
			require.Error(t, err, v.name)
			assert.Contains(t, err.Error(), "expected", v.name)
		}
	}
	_, err := ParseEnv(Latest, []string{"NCCL_COLLNET_NODE_THRESHOLD=4"})
	assert.ErrorContains(t, err, "expected both")
	_, err = ParseEnv(Latest, []string{"NCCL_MIN_P2P_NCHANNELS=8", "NCCL_MAX_P2P_NCHANNELS=4"})
	assert.ErrorContains(t, err, "expected the least first")
}

func TestVariablesOfPaths(t *testing.T) {
	crossed, _ := searchOf(t, rigs["dgxh100_1sw"], 2, nil)
	assert.Equal(t, 2, crossed.Cross)
	straight, _ := searchOf(t, rigs["dgxh100_1sw"], 2, nil, "NCCL_CROSS_NIC=0")
	assert.Zero(t, straight.Cross)

	relayed, _ := searchOf(t, rigs["dgxb200_1sw"], 2, nil)
	assert.Equal(t, PXN, relayed.Ring.TypeInter)
	alone, _ := searchOf(t, rigs["dgxb200_1sw"], 2, nil, "NCCL_PXN_DISABLE=1")
	assert.NotEqual(t, PXN, alone.Ring.TypeInter)

	bounced, _ := searchOf(t, rigs["dgxh100"], 2, nil, "NCCL_NET_GDR_LEVEL=LOC")
	assert.Equal(t, PHB, bounced.Ring.TypeInter, "NICs reach host memory alone")
	chip, _ := searchOf(t, rigs["gb200_1host"], 2, nil)
	assert.Equal(t, P2C, chip.Ring.TypeInter)
	far, _ := searchOf(t, rigs["gb200_1host"], 2, nil, "NCCL_NET_GDR_C2C=0")
	assert.Equal(t, P2C, far.Ring.TypeInter, "the same type, over host memory")

	host, _ := searchOf(t, rigs["dgxh100"], 1, nil, "NCCL_P2P_DISABLE=1")
	assert.Equal(t, SYS, host.Ring.TypeIntra, "over host memory")
	level, _ := searchOf(t, rigs["dgxh100"], 1, nil, "NCCL_P2P_LEVEL=LOC")
	assert.Equal(t, host.Graphs, level.Graphs)

	trays, _ := searchOf(t, rigs["gb200_nvl8"], 1, nil)
	assert.Len(t, trays.Nodes, 1)
	m := rigs["gb200_nvl8"].machine(t, 2)
	apart, err := Search(Latest, m, everyRank(m), rigs["gb200_nvl8"].platform(), Env{NoMNNVL: true})
	require.NoError(t, err)
	hosts, _ := searchOf(t, rigs["gb200_1host"], 4, nil)
	assert.Len(t, apart.Nodes, 4)
	assert.Equal(t, hosts.Graphs, apart.Graphs, "each tray is a host of four GPUs")
}

// Where the NICs beside GPUs are faster than the link between their sockets,
// NCCL goes over the network within a host.
func TestGPUsOfAHostMayMeetOverTheNetwork(t *testing.T) {
	b := rigs["pcie8_l40s_switch_intel"]
	c, _ := searchOf(t, b, 2, nil)
	assert.Equal(t, [][]int32{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}, c.Nodes)
	require.Len(t, c.Doubts, 1)
	assert.Contains(t, c.Doubts[0], "GPUs of one host meet over the network")
	c, _ = searchOf(t, b, 2, nil, "NCCL_NET_DISABLE_INTRA=1")
	assert.Len(t, c.Nodes, 2)
	assert.Empty(t, c.Doubts)
	c, _ = searchOf(t, rigs["dgxh100"], 2, nil, "NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1")
	assert.Len(t, c.Nodes, 16, "nothing else is left")
}

func TestVariablesOfChannels(t *testing.T) {
	for set, want := range map[string][3]int{ // channels that run, of sends, and to one member
		"": {16, 16, 4}, "NCCL_MAX_NCHANNELS=6": {6, 8, 4}, "NCCL_MIN_CTAS=24": {24, 32, 4}, "NCCL_MAX_P2P_NCHANNELS=4": {16, 4, 2},
		"NCCL_MIN_P2P_NCHANNELS=32": {16, 32, 4}, "NCCL_NCHANNELS_PER_NET_PEER=1": {16, 16, 1},
	} {
		var settings []string
		if set != "" {
			settings = []string{set}
		}
		c, _ := searchOf(t, rigs["dgxh100"], 2, nil, settings...)
		assert.Equal(t, want, [3]int{c.Run, c.P2P, c.PerPeer}, set)
	}
	run := func(p Protocol, size sim.Bytes, settings ...string) int {
		m := modelFor(t, Latest, hgx(1), Intel, settings...)
		return m.RunChannels(workloads.AllReduce, Estimate{Algorithm: Ring, Protocol: p}, size)
	}
	assert.Equal(t, 4, run(Simple, 128*sim.KiB))
	assert.Equal(t, 8, run(Simple, 128*sim.KiB, "NCCL_NTHREADS=256"))
	assert.Equal(t, 16, run(Simple, 128*sim.KiB, "NCCL_THREAD_THRESHOLDS=-1 -1 -1 -1 -1 16"))
	assert.Equal(t, 4, run(Simple, 128*sim.KiB, "NCCL_THREAD_THRESHOLDS=1 1 1 1 1 -1"))
	assert.Equal(t, 12, run(LL128, 60*sim.KiB))
	assert.Equal(t, 24, run(LL128, 60*sim.KiB, "NCCL_LL128_NTHREADS=320"))
}

// In-network reduction by the formulas of NCCL's tuning: 4 nodes of 8 H100
// with 8 NICs, worked out by hand.
func TestInNetworkReduction(t *testing.T) {
	c, _ := searchOf(t, rigs["dgxh100"], 4, nil, "NCCL_COLLNET_ENABLE=1")
	assert.Equal(t, 8, c.Chain.Channels)
	assert.Equal(t, PlainTree, c.Chain.Pattern)
	require.Equal(t, DirectPattern, c.Direct.Pattern)
	assert.Equal(t, 8, c.Direct.Channels, "a head for each NIC")
	env, err := ParseEnv(Latest, []string{"NCCL_COLLNET_ENABLE=1"})
	require.NoError(t, err)
	m, err := New(Latest, Summary{Ranks: 32, Nodes: 4, SM: 90, Graphs: c.Graphs}, env)
	require.NoError(t, err)

	direct := m.Estimate(workloads.AllReduce, CollNetDirect, Simple, sim.MiB)
	require.Empty(t, direct.Off)
	// As many heads as GPUs: a factor of 1, then 0.85 from Hopper on, and half
	// of the bus.
	assert.InDelta(t, 8*c.Direct.Intra*0.85/2, direct.Bandwidth, 1e-9)
	assert.InDelta(t, 2*(3.7+0.4*7)+31, direct.Latency, 1e-9)
	chain := m.Estimate(workloads.AllReduce, CollNetChain, Simple, sim.MiB)
	assert.InDelta(t, 8*c.Chain.Intra/2, chain.Bandwidth, 1e-9)
	assert.InDelta(t, 2*7*2.8+30, chain.Latency, 1e-9)
	gather := m.Estimate(workloads.AllGather, CollNetDirect, Simple, sim.MiB)
	assert.InDelta(t, 8*min(c.Direct.Intra, 0.9*c.Direct.Inter), gather.Bandwidth, 1e-9)
	assert.Empty(t, m.Estimate(workloads.AllReduce, NVLS, Simple, sim.MiB).Off, "NVLS goes between nodes with it")
	assert.Equal(t, "all_reduce only", m.Estimate(workloads.AllGather, CollNetChain, Simple, sim.MiB).Off)

	off := modelFor(t, Latest, hgx(1), Intel, "NCCL_COLLNET_ENABLE=1")
	assert.Equal(t, "in-network reduction needs 2 nodes", off.Estimate(workloads.AllReduce, CollNetChain, Simple, sim.MiB).Off)
	few := modelFor(t, Latest, hgx(2), Intel, "NCCL_COLLNET_ENABLE=1", "NCCL_COLLNET_NODE_THRESHOLD=4")
	assert.Equal(t, "in-network reduction needs 4 nodes", few.Estimate(workloads.AllReduce, CollNetDirect, Simple, sim.MiB).Off)
}
