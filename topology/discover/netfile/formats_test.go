package netfile_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover/netfile"
	"github.com/weft-sim/weft/topology/shortest"
)

func read(t testing.TB, text string) *netfile.Net {
	t.Helper()
	n, err := netfile.Read("f", []byte(text), netfile.Assume{})
	require.NoError(t, err)
	return n
}

func names(n *netfile.Net, ids []topology.NodeID) []string {
	var s []string
	for _, id := range ids {
		s = append(s, n.Graph.Nodes[id].Name)
	}
	return s
}

// between returns the link from one node to another.
func between(t testing.TB, n *netfile.Net, from, to string) topology.Link {
	t.Helper()
	for _, l := range n.Graph.Links {
		if n.Graph.Nodes[l.From].Name == from && n.Graph.Nodes[l.To].Name == to {
			return l
		}
	}
	require.Fail(t, "no link", "%s to %s", from, to)
	return topology.Link{}
}

// Two servers on two switches with two cables between them, one NDR and one
// HDR adapter each, a SHARP unit; the second server is told by its switch only.
// The lines are indented and have more fields, as some tools print them.
const ib = `#
# Topology file: generated on Mon Jan  1 00:00:00 2024
#
vendid=0x2c9
switchguid=0xaa(aa)
	Switch	41 "S-00000000000000aa"		# "MF0;leaf1:MQM9701/U1" enhanced port 0 lid 3 lmc 0
	[1]	"H-0000000000000001"[1](1) 		# "node10 mlx5_0" lid 11 4xNDR
	[2]	"H-0000000000000002"[1](2) 		# "node10 mlx5_1" lid 12 4xHDR s=3 w=4
	[3]	"S-00000000000000bb"[3]		# "MF0;leaf2:MQM9701/U1" lid 4 4xNDR
	[4]	"S-00000000000000bb"[4]		# "MF0;leaf2:MQM9701/U1" lid 4 4xNDR
	[41]	"H-00000000000000ab"[1](ab) 		# "Mellanox Technologies Aggregation Node" lid 9 4xNDR

Switch	41 "S-00000000000000bb"		# "MF0;leaf2:MQM9701/U1" enhanced port 0 lid 4 lmc 0
[1]	"H-0000000000000003"[1](3) 		# "node9 ConnectX7   Mellanox Technologies" lid 13 4xNDR
[2]	"H-0000000000000004"[1](4) 		# "node9 ConnectX7   Mellanox Technologies" lid 14 4xNDR
[3]	"S-00000000000000aa"[3]		# "MF0;leaf1:MQM9701/U1" lid 3 4xNDR
[4]	"S-00000000000000aa"[4]		# "MF0;leaf1:MQM9701/U1" lid 3 4xNDR

vendid=0x2c9
Ca	1 "H-0000000000000001"		# "node10 mlx5_0"
[1](1) 	"S-00000000000000aa"[1]		# lid 11 lmc 0 "MF0;leaf1:MQM9701/U1" lid 3 4xNDR

Ca	1 "H-0000000000000002"		# "node10 mlx5_1"
[1](2) 	"S-00000000000000aa"[2]		# lid 12 lmc 0 "MF0;leaf1:MQM9701/U1" lid 3 4xHDR
`

func TestIBNet(t *testing.T) {
	n := read(t, ib)
	assert.Equal(t, netfile.IBNetDiscover, n.Format)
	assert.Equal(t, 2, n.Hosts)
	assert.Equal(t, []string{"node9.nic0", "node9.nic1", "node10.mlx5_0", "node10.mlx5_1"}, names(n, n.NICs))
	assert.Equal(t, []int{2, 2, 11, 1, 4, 6}, []int{
		n.Fact("Switch records"), n.Fact("Ca records"), n.Fact("port lines"), n.Fact("aggregation nodes"), n.Fact("adapters"), n.Fact("cables"),
	})
	// Two NDR cables are one link of 100 GB/s; a cable and a switch are 230 ns.
	l := between(t, n, "leaf1", "leaf2")
	assert.Equal(t, []any{100 * sim.GBps, int32(2), 230 * ns}, []any{l.Rate, l.Width, l.Latency})
	// To the switch: adapter 300, cable 100, switch 130; from it cable and adapter.
	assert.Equal(t, 530*ns, between(t, n, "node10.mlx5_0", "leaf1").Latency)
	assert.Equal(t, 400*ns, between(t, n, "leaf1", "node10.mlx5_0").Latency)
	assert.Equal(t, 25*sim.GBps, between(t, n, "node10.mlx5_1", "leaf1").Rate)
	assert.Contains(t, fmt.Sprint(n.Notes), "3 of 7 cables of f are told by one end only")

	_, err := n.Machine(shortest.Options{})
	assert.EqualError(t, err, "make machine of f: a ibnetdiscover output names no GPUs; say how many each of its 2 hosts has (AttachGPUs)")

	// As four MPI ranks: one a NIC.
	m, err := shortest.Build(n.Graph, n.NICs, shortest.Options{})
	require.NoError(t, err)
	require.NoError(t, m.CheckRoutes())

	require.NoError(t, n.AttachGPUs(netfile.Attachment{
		PerHost: 4, PCIe: topology.Wire{Rate: 48 * sim.GBps, Latency: 300 * ns, Class: topology.Class{Name: "pcie5"}, Width: 16},
		NVLink: topology.Wire{Rate: 450 * sim.GBps, Latency: 500 * ns, Class: topology.Class{Name: "nvlink4"}, Width: 18},
	}))
	assert.Equal(t, []string{"node9.gpu0", "node9.gpu1", "node9.gpu2", "node9.gpu3"}, names(n, n.GPUs[:4]))
	m, err = n.Machine(shortest.Options{})
	require.NoError(t, err)
	require.NoError(t, m.CheckRoutes())
	p, err := m.Route(1, 7, nil) // by nic0 of node9, mlx5_1 of node10
	require.NoError(t, err)
	// PCIe 2 x 300, 530 up, 230 across, 400 down; HDR is the narrowest.
	_, rate := m.Graph.Bottleneck(p)
	assert.Equal(t, []any{topology.NET, 1760 * ns, 25 * sim.GBps}, []any{p.Kind, p.Latency, rate})
	p, _ = m.Route(0, 3, nil)
	assert.Equal(t, topology.NVL, p.Kind)

	assert.ErrorContains(t, n.AttachGPUs(netfile.Attachment{PerHost: 1}), "it has 8 already")
	assert.ErrorContains(t, read(t, ib).AttachGPUs(netfile.Attachment{PerHost: 2}), "the link from GPU to NIC has rate 0B/s")
	assert.ErrorContains(t, read(t, ib).AttachGPUs(netfile.Attachment{PerHost: 1 << 30}), "must be from 1 to 1024")
}

func TestIBSpeeds(t *testing.T) {
	for speed, want := range map[string]sim.Rate{"1xSDR": 0.25e9, "4xQDR": 4e9, "4xEDR": 12.5e9, "4xHDR": 25e9, "2xHDR": 12.5e9, "4xNDR": 50e9, "8xNDR": 100e9, "4xXDR": 100e9, "4xFDR10": 5e9} {
		n := read(t, "Switch\t2 \"S-0a\"\t# \"sw\"\n[1]\t\"H-0b\"[1] # \"n0 mlx5_0\" lid 1 "+speed+"\n")
		assert.Equal(t, want, n.Graph.Links[0].Rate, speed)
	}
	n := read(t, "Switch\t2 \"S-0a\"\t# \"sw\"\n[1]\t\"H-0b\"[1] # \"n0 mlx5_0\" lid 1 4xFDR\n")
	assert.InEpsilon(t, 4*14.0625e9*64/66/8, float64(n.Graph.Links[0].Rate), 1e-12) // 54.5 Gbit/s
}

func TestEdgeList(t *testing.T) {
	n := read(t, `# two servers
name lab
n1.gpu0	n1.nvswitch0	25GB/s 500ns x18 nvlink4   # 450 GB/s
n1.gpu1 n1.nvswitch0 25GB/s 500ns x18 nvlink4
n0.gpu0 n0.gpu10 25GB/s 700ns x4
n0.gpu0 n0.gpu2 25GB/s 700ns x4
n0.gpu0 n0.nic0 48GB/s 300ns
n0.nic0 leaf0 400Gbps 500ns
n1.gpu0 leaf0 400Gbps 500ns
`)
	assert.Equal(t, netfile.EdgeList, n.Format)
	assert.Equal(t, "lab", n.Name)
	assert.Equal(t, []string{"n0.gpu0", "n0.gpu2", "n0.gpu10", "n1.gpu0", "n1.gpu1"}, names(n, n.GPUs))
	assert.Equal(t, 2, n.Hosts)
	l := between(t, n, "n1.gpu0", "n1.nvswitch0")
	assert.Equal(t, []any{450 * sim.GBps, int32(18), "nvlink4", 25 * sim.GBps}, []any{l.Rate, l.Width, n.Graph.Classes[l.Class].Name, n.Graph.Classes[l.Class].Raw})
	for _, c := range [][3]string{{"n0.gpu0", "n0.gpu2", "nvlink"}, {"n0.gpu0", "n0.nic0", "pcie"}, {"n0.nic0", "leaf0", "net"}} {
		assert.Equal(t, c[2], n.Graph.Classes[between(t, n, c[0], c[1]).Class].Name)
	}
	_, err := n.Machine(shortest.Options{})
	assert.ErrorContains(t, err, "unless GPUs forward")
	n.Relay = true
	m, err := n.Machine(shortest.Options{})
	require.NoError(t, err)
	require.NoError(t, m.CheckRoutes())
	roundTrip(t, n)

	assert.True(t, read(t, "relay\ngpu0 gpu1 1GB/s 0ns\n").Relay)
	hosts := read(t, "zeta.gpu0 leaf0 1GB/s 1us\nalpha.gpu0 leaf0 1GB/s 1us\n")
	assert.Equal(t, []string{"alpha.gpu0", "zeta.gpu0"}, names(hosts, hosts.GPUs))
	assert.Equal(t, int32(0), hosts.Graph.Nodes[hosts.GPUs[0]].Host)
}

// Eight hosts, switches of 4, two above with 2:1 oversubscription and a
// traversal of 50 ns: 100 + 50 + 200 + 50 + 200 + 50 + 100 = 750 ns across.
func TestHTSim(t *testing.T) {
	n := read(t, `Nodes 8
Tiers 2
Podsize 8
Tier 0
	Downlink_speed_Gbps	100
	radix_down 4
	radix_up 2
	Oversubscribed 2
	Downlink_Latency_ns 100
	Switch_Latency_ns 50
Tier 1
	Downlink_speed_Gbps 100
	Radix_Down 2
	Downlink_Latency_ns 200
	Switch_Latency_ns 50
`)
	m, err := n.Machine(shortest.Options{})
	require.NoError(t, err)
	latency, rate, kind := figures(t, m, 0, 7)
	assert.Equal(t, []any{750 * ns, 12.5 * sim.GBps, topology.NET}, []any{latency, rate, kind})
	latency, _, _ = figures(t, m, 0, 1)
	assert.Equal(t, 250*ns, latency)
	assert.Equal(t, 25*sim.GBps, m.Bisection())
}

// The sample of astra-sim with 8 nodes: the middle tier has two cables of 100
// to each of two cores.
func TestHTSimBundles(t *testing.T) {
	n, err := netfile.Read("8nodes", sample(t, "astra_config", "network_htsim_8nodes.topo"), netfile.Assume{})
	require.NoError(t, err)
	l := between(t, n, "agg0", "core2")
	assert.Equal(t, []any{25 * sim.GBps, int32(2)}, []any{l.Rate, l.Width})
	m, err := n.Machine(shortest.Options{})
	require.NoError(t, err)
	latency, rate, _ := figures(t, m, 0, 7)
	assert.Equal(t, []any{6000 * ns, 25 * sim.GBps}, []any{latency, rate})
	assert.Equal(t, 100*sim.GBps, m.Bisection())
}

func TestTopograph(t *testing.T) {
	n := read(t, `
switches:
  core:
    switches: [leaf1, leaf2]
blocks:
- switch: leaf1
  nodes: ["a[08-10]", b]
  annotations: {accelerator.topology.test/domain: nvl1}
- switch: leaf2
  nodes: [c]
`)
	assert.Equal(t, []string{"a08.nic0", "a09.nic0", "a10.nic0", "b.nic0", "c.nic0"}, names(n, n.NICs))
	assert.Equal(t, []int{3, 5, 1}, []int{n.Fact("switches"), n.Fact("nodes"), n.Fact("NVLink domains")})
	assert.Contains(t, fmt.Sprint(n.Notes), "assumed to be one cable of 50GB/s each way")
	assert.Equal(t, 50*sim.GBps, n.Graph.Links[0].Rate)
}
