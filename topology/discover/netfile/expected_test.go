package netfile_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover/netfile"
	"github.com/weft-sim/weft/topology/shortest"
)

// Every sample file is read with the counts that an independent reader found
// in it, or refused for what it is. The samples come from aliyun/SimAI,
// Broadcom/csg-htsim, NVIDIA/topograph, microsoft/superbenchmark,
// astra-sim/astra-sim and astra-sim/astra-network-analytical and -ns3.
func TestSamplesAreRead(t *testing.T) {
	for _, c := range []struct {
		dir, file          string
		format             netfile.Format
		nodes, links, gpus int
		facts              map[string]int
	}{
		{"simai_topo", "DCN+SingleToR_64g_8gps_400Gbps_H100", netfile.SimAI, 81, 272, 64, map[string]int{"nodes": 81, "switch ids": 17, "link lines": 136}},
		{"simai_topo", "Spectrum-X_128g_8gps_100Gbps_A100", netfile.SimAI, 216, 1536, 128, map[string]int{"switch ids": 88, "link lines": 768}},
		{"fabric", "htsim_fat_tree_1024.topo", netfile.HTSim, 1344, 6144, 1024, map[string]int{"tier 0 switches": 128, "tier 1 switches": 128, "tier 2 switches": 64}},
		{"fabric", "htsim_leaf_spine_tiny.topo", netfile.HTSim, 38, 80, 32, map[string]int{"tier 0 switches": 4, "tier 1 switches": 2}},
		{"fabric", "ibnetdiscover_example.out.gz", netfile.IBNetDiscover, 582, 1622, 0, map[string]int{
			"Switch records": 40, "Ca records": 582, "port lines": 2228, "aggregation nodes": 40, "adapters": 542, "cables": 1074,
		}},
		{"fabric", "topograph_model_medium.yaml", netfile.TopographModel, 15, 28, 0, map[string]int{"switches": 7, "nodes": 8, "NVLink domains": 4}},
		{"fabric", "topograph_model_nvl72.yaml", netfile.TopographModel, 79, 156, 0, map[string]int{"switches": 7, "nodes": 72, "NVLink domains": 4}},
		{"astra_config", "analytical_Ring_FullyConnected_Switch.yml", netfile.ASTRANetwork, 80, 640, 64, map[string]int{"NPUs": 64}},
		{"astra_config", "v2_2023_Ring_FullyConnected_Switch.yml", netfile.ASTRANetwork, 80, 640, 64, map[string]int{"NPUs": 64}},
		{"astra_config", "network_analytical_HGX-H100-validated.yml", netfile.ASTRANetwork, 9, 16, 8, map[string]int{"NPUs": 8}},
		{"astra_config", "network_analytical_Ring_16npus.yml", netfile.ASTRANetwork, 16, 32, 16, map[string]int{"NPUs": 16}},
		{"astra_config", "network_hgx_h100_16gpu.yml", netfile.ASTRANetwork, 18, 48, 16, map[string]int{"NPUs": 16}},
		{"astra_config", "network_htsim_8nodes.topo", netfile.HTSim, 20, 48, 8, map[string]int{"tier 0 switches": 4, "tier 1 switches": 4, "tier 2 switches": 4}},
		{"astra_config", "ns3_8_nodes_1_switch_topology.txt", netfile.NS3, 9, 16, 8, map[string]int{"switch ids": 1, "link lines": 8}},
		{"astra_config", "ns3_8nodes_ring_topology.txt", netfile.NS3, 8, 16, 8, map[string]int{"switch ids": 0, "link lines": 8}},
	} {
		t.Run(c.file, func(t *testing.T) {
			content := sample(t, c.dir, c.file)
			assert.Equal(t, c.format, netfile.Detect(content))
			n, err := netfile.Read(c.file, content, netfile.Assume{})
			require.NoError(t, err)
			assert.Equal(t, c.format, n.Format)
			assert.Len(t, n.Graph.Nodes, c.nodes)
			assert.Len(t, n.Graph.Links, c.links)
			assert.Len(t, n.GPUs, c.gpus)
			for what, count := range c.facts {
				assert.Equal(t, count, n.Fact(what), what)
			}
			assert.NotEmpty(t, n.Notes)
			if c.gpus == 0 {
				require.NoError(t, n.AttachGPUs(netfile.Attachment{PerHost: 2, PCIe: topology.Wire{Rate: 50 * sim.GBps, Class: topology.Class{Name: "pcie5"}}}))
			}
			m, err := n.Machine(shortest.Options{})
			require.NoError(t, err)
			// An even sample of pairs: all of them are a matter of package shortest.
			for a := 0; a < len(m.Ranks); a += 1 + len(m.Ranks)/12 {
				for b := range 12 {
					to := (a + b*len(m.Ranks)/12 + 1) % len(m.Ranks)
					p, err := m.Route(int32(a), int32(to), nil)
					require.NoError(t, err)
					require.NoError(t, m.Graph.CheckPath(p, m.Ranks[a], m.Ranks[to]))
				}
			}
			roundTrip(t, n)
		})
	}
}

func TestSamplesAreRefused(t *testing.T) {
	for _, c := range []struct {
		dir, file string
		err       error
		want      string
	}{
		{"fabric", "htsim_perm_32n_32c_2MB.cm", netfile.ErrNoTopology, "traffic (who sends how many bytes to whom)"},
		{"fabric", "superbench_ibstat.txt", netfile.ErrNoTopology, "the adapters of servers, and no cables"},
		{"astra_config", "network_dgx_v100_8gpu.yml", netfile.ErrSyntax, `network_dgx_v100_8gpu.yml:11:14: "tbd"; expected a bandwidth in GB/s (of 2^30 bytes) above 0; the file leaves this open: fill it in`},
		{"astra_config", "network_ns3_sample_16nodes_2D.json", netfile.ErrNoTopology, "the sizes of the dimensions that collectives use"},
		{"astra_config", "remote_memory_analytical_no_memory_expansion.json", netfile.ErrNoTopology, "remote memory"},
		{"astra_config", "system_analytical_hgx_h100_16gpu.json", netfile.ErrNoTopology, "the way ASTRA-sim runs collectives"},
		{"astra_config", "system_custom_collectives_custom_collective.json", netfile.ErrNoTopology, "the way ASTRA-sim runs collectives"},
		{"astra_config", "system_native_collectives_HGX-H100-validated.json", netfile.ErrNoTopology, "the way ASTRA-sim runs collectives"},
		{"astra_config", "system_native_collectives_Ring_4chunks.json", netfile.ErrNoTopology, "the way ASTRA-sim runs collectives"},
		{"astra_config", "v2_2023_Ring_FullyConnected_Switch.json", netfile.ErrNoTopology, "the way ASTRA-sim runs collectives"},
	} {
		t.Run(c.file, func(t *testing.T) {
			_, err := netfile.Read(c.file, sample(t, c.dir, c.file), netfile.Assume{})
			require.ErrorIs(t, err, c.err)
			assert.ErrorContains(t, err, c.want)
			var e *netfile.Error
			require.True(t, errors.As(err, &e))
			assert.Equal(t, c.file, e.Source)
		})
	}
}

// Counts of the classes as the independent reader has them, both directions.
func TestSimAIClasses(t *testing.T) {
	n, err := netfile.Read("spectrum-x", sample(t, "simai_topo", "Spectrum-X_128g_8gps_100Gbps_A100"), netfile.Assume{})
	require.NoError(t, err)
	count := make(map[string]int)
	for _, l := range n.Graph.Links {
		count[n.Graph.Classes[l.Class].Name]++
	}
	assert.Equal(t, map[string]int{"nvlink-2400gbps": 2 * 128, "net-100gbps": 2 * 128, "net-400gbps": 2 * 512}, count)
	m, err := n.Machine(shortest.Options{})
	require.NoError(t, err)
	// In a server: two NVLinks of 25 ns, 300 GB/s. To the same place in the next
	// server: two cables of 500 ns, 12.5 GB/s.
	p, err := m.Route(0, 1, nil)
	require.NoError(t, err)
	_, rate := m.Graph.Bottleneck(p)
	assert.Equal(t, []any{topology.NVL, 50 * sim.Nanosecond, 300 * sim.GBps}, []any{p.Kind, p.Latency, rate})
	p, err = m.Route(0, 8, nil)
	require.NoError(t, err)
	_, rate = m.Graph.Bottleneck(p)
	assert.Equal(t, []any{topology.NET, 1000 * sim.Nanosecond, 12.5 * sim.GBps}, []any{p.Kind, p.Latency, rate})
	// To another place there: over the 64 spines, an equal part on each.
	p, err = m.Route(0, 9, nil)
	require.NoError(t, err)
	assert.Len(t, p.Hops, 2+2*64)
	assert.Equal(t, int32(64), p.Den/p.Hops[1].Share)
}
