package machine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/fault"
	"github.com/weft-sim/weft/topology/machine"
)

// TestRandomFaults: whatever is slow, late or missing, what is left routes
// without losing a byte, over no link that is down, and back over the same
// wires, on networks of every kind.
func TestRandomFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawMachine(t)
		s.Relay = rapid.SampledFrom([]machine.Relay{machine.RelayIfNeeded, machine.RelayAlways, machine.RelayNever}).Draw(t, "relay")
		if s.Fabric != nil {
			s.Fabric.Staged = rapid.Bool().Draw(t, "staged")
			s.Fabric.Spread = rapid.SampledFrom([]fabric.Spread{fabric.Ideal, fabric.ECMP}).Draw(t, "spread")
			if rapid.Bool().Draw(t, "dragonfly") {
				s.Fabric.Kind = fabric.Dragonfly
			}
		}
		m, err := machine.Build(s)
		require.NoError(t, err)
		for range rapid.IntRange(1, 3).Draw(t, "faults") {
			l := m.Graph.Links[rapid.IntRange(0, len(m.Graph.Links)-1).Draw(t, "link")]
			from, to := m.Graph.Nodes[l.From].Name, m.Graph.Nodes[l.To].Name
			f := fault.Fault{Target: from + "<>" + to}
			switch rapid.SampledFrom([]string{"down", "node", "slow", "late", "narrow"}).Draw(t, "effect") {
			case "down":
				f.Down = true
			case "node":
				f.Target, f.Down = from, true
			case "slow":
				f.Factor = 0.5
			case "late":
				f.Latency = sim.Microsecond
			case "narrow":
				f.Width = max(1, l.Width-1)
			}
			n, err := fault.Apply(m, f)
			if err != nil {
				continue // it parts the machine, or befalls nothing
			}
			m = n
		}
		ranks := int32(len(m.Ranks))
		for a := range ranks {
			for b := range ranks {
				there, err := m.Route(a, b, nil)
				require.NoError(t, err)
				require.NoError(t, m.Graph.CheckPath(there, m.Ranks[a], m.Ranks[b]))
				for _, h := range there.Hops {
					links, _ := m.Graph.Members(h.Resource)
					for _, id := range links {
						require.False(t, m.Graph.Links[id].Down, "%s", m.ResourceName(h.Resource))
					}
				}
				if there.Den == 1 {
					require.LessOrEqual(t, linkLatency(m.Graph, there), there.Latency)
				}
				back, err := m.Route(b, a, nil)
				require.NoError(t, err)
				require.Equal(t, there.Kind, back.Kind)
				if s.Relay == machine.RelayAlways && there.Kind == topology.NET {
					continue // only senders hand over
				}
				if !there.Staged { // else the buffer changes sockets
					require.Equal(t, there.Latency, back.Latency)
					require.Equal(t, wires(m.Graph, there, false), wires(m.Graph, back, true))
				}
			}
		}
	})
}

func TestManyFaultsAreRounded(t *testing.T) {
	// GPUs of a rack that lost 1 to 7 of their 18 links: exact parts would be
	// 17ths, 16ths, ... 11ths, with a common denominator of 12,252,240.
	var faults []string
	for gpu := range 8 {
		for p := range gpu {
			faults = append(faults, fmt.Sprintf("n0.gpu%d<>n0.nvswitch%d down", gpu, p))
		}
	}
	m := faulty(t, build(t, nvl72(1)), faults...)
	den := int64(1)
	for a := range int32(72) {
		for b := range int32(72) {
			p, _ := route(t, m, a, b)
			den = lcm(den, int64(p.Den))
			if a != b {
				_, r := m.Graph.Bottleneck(p)
				want := 20e9 * float64(18-max(min(a, 8)*b2i(a < 8), min(b, 8)*b2i(b < 8)))
				assert.InEpsilon(t, want, float64(r), 0.005, "%d to %d", a, b)
			}
		}
	}
	assert.LessOrEqual(t, den, int64(topology.CoarseParts))
	assert.Contains(t, m.Notes[len(m.Notes)-1], "rounded to 1/5040")

	// A fat tree whose leaves lost 0 to 4 of their 32 spines, and some cores.
	s := machine.Spec{Name: "fat", Hosts: 64, Host: machine.Host{GPUs: 1}, Fabric: &fabric.Spec{
		Kind: fabric.FatTree, Tiers: 3, HostsPerLeaf: 4, LeavesPerPod: 4, Spines: 4, Cores: 4, Port: ndr,
		CoreOversubscription: 1, SwitchLatency: 130 * ns,
	}}
	m = faulty(t, build(t, s), "leaf0>spine0 down", "leaf1>spine[01] down", "core1>spine[05] down", "core6>spine9 down", "core7>spine9 down")
	for a := range int32(64) {
		route(t, m, a, (a+17)%64)
	}
}

func b2i(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func lcm(a, b int64) int64 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

func TestOneFaultIn2048Hosts(t *testing.T) {
	if testing.Short() {
		t.Skip("builds 16,384 GPUs")
	}
	start := time.Now()
	m, err := machine.Build(dgxH100(2048))
	require.NoError(t, err)
	f, err := fault.Parse("n77.gpu3<>n77.nvswitch2 down")
	require.NoError(t, err)
	n, err := fault.Apply(m, f)
	require.NoError(t, err)
	assert.Less(t, time.Since(start), 2500*time.Millisecond)
	p, err := n.Route(77*8+3, 77*8, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 14, p.Den)
	// Every other host has the routes that it had.
	for h := range int32(2048) {
		if h == 77 {
			continue
		}
		was, err := m.Route(h*8, h*8+1, nil)
		require.NoError(t, err)
		is, err := n.Route(h*8, h*8+1, nil)
		require.NoError(t, err)
		require.Equal(t, was, is)
	}
}

func benchmarkFault(b *testing.B, text string) {
	m, err := machine.Build(dgxH100(2048))
	require.NoError(b, err)
	f, err := fault.Parse(text)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fault.Apply(m, f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFaultOneLink(b *testing.B)  { benchmarkFault(b, "n77.gpu3<>n77.nvswitch2 down") }
func BenchmarkFaultAllHosts(b *testing.B) { benchmarkFault(b, "n*.nvswitch1 down") }
func BenchmarkFaultSpine(b *testing.B)    { benchmarkFault(b, "leaf3>spine1 down") }
