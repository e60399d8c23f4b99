package netfile_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology/discover/netfile"
	"github.com/weft-sim/weft/topology/shortest"
)

// checkAnything reads any bytes: they are refused with an Error that names
// the file, or give a sound network that can be routed and written and read
// back the same.
func checkAnything(t *testing.T, content []byte) {
	if len(content) > 1<<16 {
		return
	}
	n, err := netfile.Read("f", content, netfile.Assume{})
	if err != nil {
		var e *netfile.Error
		require.True(t, errors.As(err, &e), "%T: %v", err, err)
		require.Equal(t, "f", e.Source)
		require.NotEmpty(t, e.Read)
		return
	}
	if len(n.Graph.Links) > 20_000 {
		return // large in few words: a matter of time, not of sense
	}
	require.NoError(t, n.Graph.Validate())
	ranks := n.GPUs
	if len(ranks) == 0 {
		ranks = n.NICs
	}
	if len(ranks) > 0 {
		m, err := shortest.Build(n.Graph, ranks, shortest.Options{Relay: true})
		if err == nil {
			last := int32(len(ranks) - 1)
			p, err := m.Route(0, last, nil)
			require.NoError(t, err)
			require.NoError(t, n.Graph.CheckPath(p, ranks[0], ranks[last]))
		}
	}
	if n.Route != nil {
		last := int32(len(ranks) - 1)
		p, err := n.Route.Route(last, 0, nil)
		require.NoError(t, err)
		require.NoError(t, n.Graph.CheckPath(p, ranks[last], ranks[0]))
	}
	var text bytes.Buffer
	require.NoError(t, netfile.Write(&text, n))
	back, err := netfile.Read("again", text.Bytes(), netfile.Assume{})
	require.NoError(t, err)
	assert.Equal(t, len(n.Graph.Nodes), len(back.Graph.Nodes))
	assert.Equal(t, n.Graph.Links, back.Graph.Links)
}

func fuzz(f *testing.F, format netfile.Format, seeds ...string) {
	for _, s := range seeds {
		require.Equal(f, format, netfile.Detect([]byte(s)), s)
		f.Add([]byte(s))
	}
	f.Fuzz(checkAnything)
}

func FuzzLinkTable(f *testing.F) {
	fuzz(f, netfile.NS3, "3 1 2\n2\n0 2 400Gbps 0.0005ms 0\n2 1 400Gbps 0.0005ms 0\n", "3 0 3\n\n0 1 25Gbps 5us 0\n1 2 25Gbps 5us 0\n2 0 25Gbps 5us 0\n")
}

func FuzzSimAI(f *testing.F) {
	fuzz(f, netfile.SimAI, "6 2 1 1 6 H100\n4 5\n0 4 3600Gbps 25ns 0\n1 4 3600Gbps 25ns 0\n0 5 400Gbps 500ns 0\n1 5 400Gbps 500ns 0\n2 5 400Gbps 500ns 0\n3 5 400Gbps 500ns 0\n")
}

func FuzzAnalytical(f *testing.F) {
	fuzz(f, netfile.ASTRANetwork, "topology: [Ring, FullyConnected, Switch]\nnpus_count: [3, 4, 2]\nbandwidth: [200.0, 100, 50]\nlatency: [50, 500, 2000]\n")
}

func FuzzASTRA1(f *testing.F) {
	fuzz(f, netfile.ASTRANetwork1, `{"topologies-per-dim": ["Ring", "Switch"], "dimensions-count": 2, "units-count": [4, 2], "links-count": [2, 1], "link-latency": [500, 1], "link-bandwidth": [25, 12.5]}`)
}

func FuzzHTSim(f *testing.F) {
	fuzz(f, netfile.HTSim, "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 1000\n")
}

func FuzzIBNet(f *testing.F) { fuzz(f, netfile.IBNetDiscover, ib) }

func FuzzTopograph(f *testing.F) {
	fuzz(f, netfile.TopographModel, "switches:\n  sw:\n    switches: [a, b]\nblocks:\n- switch: a\n  nodes: [\"n[1-2]\"]\n  annotations: {x/domain: d}\n- switch: b\n  nodes: [m]\n")
}

func FuzzEdgeList(f *testing.F) {
	fuzz(f, netfile.EdgeList, "name lab\nrelay\nn0.gpu0 n0.gpu1 25GB/s 500ns x18 nvlink4\nn0.gpu1 leaf0 400Gbps 1us # up\n")
}

func FuzzGraph(f *testing.F) {
	fuzz(f, netfile.Graph,
		`{"weft_graph": 1, "name": "x", "classes": [{"name": "c", "raw": "1GB/s"}], "nodes": [{"name": "n0.gpu0", "kind": "gpu", "host": 3}, {"name": "hub", "kind": "switch"}], "links": [{"from": "n0.gpu0", "to": "hub", "rate": "1GB/s", "latency": "1us", "class": "c", "back": {"width": 2}}], "ranks": ["n0.gpu0"]}`,
		"weft_graph: 1\nlinks:\n- {from: gpu0, to: gpu1, rate: 1GB/s, latency: 1us, one_way: true}\n- {from: gpu1, to: gpu0, rate: 1GB/s, latency: 1us, one_way: true}\ntrunks: [{links: [0, 1], shares: [1, 1]}]\n")
}
