package netfile_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover/netfile"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
)

// roundTrip writes a network and reads it back.
func roundTrip(t testing.TB, n *netfile.Net) {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, netfile.Write(&text, n))
	back, err := netfile.Read("again", text.Bytes(), netfile.Assume{})
	require.NoError(t, err)
	assert.Equal(t, n.Name, back.Name)
	assert.Equal(t, n.Graph, back.Graph)
	assert.Equal(t, n.GPUs, back.GPUs)
	assert.Equal(t, n.Relay, back.Relay)
	assert.Equal(t, n.Notes, back.Notes)
}

// A machine with trunks, one-way differences in latency, and odd names.
func TestRoundTripOfABuiltMachine(t *testing.T) {
	m, err := machine.Build(machine.Spec{
		Name: `two "racks"`, Hosts: 4,
		Host: machine.Host{GPUs: 4, NVLink: &nvlink.Spec{
			Planes: []int{5, 4}, Link: topology.Wire{Rate: 25 * sim.GBps / 3, Latency: 333_333, Class: topology.Class{Name: "nvlink4", Raw: 25 * sim.GBps, Note: "a\nb"}},
		}},
		Fabric: &fabric.Spec{
			Kind: fabric.RailOptimized, Tiers: 2, HostsPerLeaf: 2, Spines: 2, SwitchLatency: 130 * sim.Nanosecond, NICLatency: 300 * sim.Nanosecond,
			Port: topology.Wire{Rate: 50 * sim.GBps, Latency: 100 * sim.Nanosecond, Class: topology.Class{Name: "ndr"}},
		},
	})
	require.NoError(t, err)
	require.NotEmpty(t, m.Graph.Trunks)
	roundTrip(t, &netfile.Net{Name: m.Name, Graph: m.Graph, GPUs: m.Ranks, Notes: []string{"é \x1b"}})
}

// The same by hand, in YAML.
func TestGraphInYAML(t *testing.T) {
	n, err := netfile.Read("lab.yaml", []byte(`# two servers
weft_graph: 1
name: lab
relay: true
classes:
- {name: nvlink4, raw: 25GB/s, note: datasheet}
nodes:
- {name: n0.gpu0}
- {name: n0.gpu1}
- {name: n1.gpu0}
- {name: n1.gpu1}
- {name: hub, kind: switch}
links:
- {from: n0.gpu0, to: n0.gpu1, rate: 450GB/s, latency: 500ns, class: nvlink4, width: 18}
- from: n1.gpu0
  to: n1.gpu1
  rate: 450GB/s
  latency: 500ns
  class: nvlink4
  width: 18
- {from: n0.gpu0, to: hub, rate: 50GB/s, latency: 1us, back: {latency: 700ns}}
- {from: n1.gpu0, to: hub, rate: 50GB/s, latency: 1us}
ranks: [n1.gpu1, n1.gpu0, n0.gpu1, n0.gpu0]
`), netfile.Assume{})
	require.NoError(t, err)
	assert.Equal(t, []topology.NodeID{3, 2, 1, 0}, n.GPUs)
	assert.Equal(t, 2, n.Hosts)
	assert.Equal(t, int32(1), n.Graph.Nodes[3].Host)
	assert.Equal(t, topology.Link{From: 4, To: 0, Rate: 50 * sim.GBps, Latency: 700 * sim.Nanosecond, Class: 1, Width: 1}, n.Graph.Links[5])
	assert.Equal(t, "net", n.Graph.Classes[1].Name)
	roundTrip(t, n)
}

func BenchmarkGraph4096(b *testing.B) {
	n := bigNet()
	var text bytes.Buffer
	require.NoError(b, netfile.Write(&text, n))
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := netfile.Read("big", text.Bytes(), netfile.Assume{}); err != nil {
			b.Fatal(err)
		}
	}
}

// bigNet is 4,096 GPUs on 128 leaves and 32 spines.
func bigNet() *netfile.Net {
	m, err := machine.Build(machine.Spec{
		Hosts: 512, Host: machine.Host{GPUs: 8, NVLink: &nvlink.Spec{Planes: []int{1}, Link: topology.Wire{Rate: 450 * sim.GBps, Class: topology.Class{Name: "nvlink"}}}},
		Fabric: &fabric.Spec{Kind: fabric.FatTree, HostsPerLeaf: 4, Spines: 32, Port: topology.Wire{Rate: 50 * sim.GBps, Class: topology.Class{Name: "ndr"}}},
	})
	if err != nil {
		panic(err)
	}
	return &netfile.Net{Name: "big", Graph: m.Graph, GPUs: m.Ranks}
}
