package configs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/pcie"
)

// hardware builds the machine of a scenario's text.
func hardware(t *testing.T, text string, set ...string) *Hardware {
	t.Helper()
	s, err := Parse("s.yaml", []byte("name: x\n"+text+"\nworkload: {kind: collective, op: all_reduce, bytes: 1MiB}\n"), ".", set, nil)
	require.NoError(t, err)
	hw, err := s.Hardware(nil)
	require.NoError(t, err)
	return hw
}

// Every key of an inline fabric arrives where the builder reads it.
func TestInlineFabric(t *testing.T) {
	s, err := Load("testdata/fabric.good.yaml", nil, nil)
	require.NoError(t, err)
	hw, err := s.Hardware(nil)
	require.NoError(t, err)
	assert.Equal(t, &fabric.Spec{
		Kind: fabric.RailOptimized, Tiers: 3, Rails: 2, Radix: 64, HostsPerLeaf: 2, LeavesPerPod: 4, Spines: 2, Cores: 2,
		Oversubscription: 1.5, CoreOversubscription: 2, Spread: fabric.ECMP, Flows: 4, Seed: 3,
		PortLength: 3, CableLength: 20, TransferRate: 40e9,
		Port:          topology.Wire{Rate: 50e9, Latency: 100 * sim.Nanosecond, Class: own("fabric", 50e9)},
		Cable:         topology.Wire{Rate: 100e9, Latency: 100 * sim.Nanosecond, Class: own("trunk", 100e9)},
		SwitchLatency: 130 * sim.Nanosecond, NICLatency: 300 * sim.Nanosecond,
	}, hw.Spec.Fabric)
	assert.Equal(t, machine.RelayNever, hw.Spec.Relay)
	assert.True(t, hw.Spec.Host.NVLink.BalanceRelays)

	s, err = Load("testdata/dragonfly.good.yaml", nil, nil)
	require.NoError(t, err)
	hw, err = s.Hardware(nil)
	require.NoError(t, err)
	f := hw.Spec.Fabric
	assert.Equal(t, []any{fabric.Dragonfly, 2, 4, 4, 2.0, 100.0, true},
		[]any{f.Kind, f.LocalLinks, f.GlobalLinks, f.LeavesPerPod, f.CableLength, f.GlobalLength, f.Staged})
	assert.Equal(t, machine.RelayIfNeeded, hw.Spec.Relay)
	assert.Equal(t, pcie.WithinSocket, hw.Spec.Host.PCIe.P2P)
	assert.Equal(t, pcie.Nowhere, hw.Spec.Host.PCIe.GDR)
	assert.True(t, hw.Spec.Host.PCIe.ACS)
}

// A transfer to another rail is handed over NVLink first, unless the scenario
// forbids it, and then crosses a spine.
func TestRelayKey(t *testing.T) {
	for relay, kind := range map[string]topology.NodeKind{"always": topology.NVSwitch, "if-needed": topology.PCIeSwitch, "never": topology.PCIeSwitch} {
		m := hardware(t, "system: dgx-h100\nnodes: 2", "network.relay="+relay).Machine
		p, err := m.Route(0, 8+5, nil)
		require.NoError(t, err)
		links, _ := m.Graph.Members(p.Hops[0].Resource)
		assert.Equal(t, kind, m.Graph.Nodes[m.Graph.Links[links[0]].To].Kind, relay)
	}
	m := hardware(t, "system: dgx-h100\nnodes: 2").Machine
	p, err := m.Route(0, 8+5, nil)
	require.NoError(t, err)
	links, _ := m.Graph.Members(p.Hops[0].Resource)
	assert.Equal(t, topology.NVSwitch, m.Graph.Nodes[m.Graph.Links[links[0]].To].Kind, "as NCCL has it")
}

// The levels of PCIe and ACS change what is staged, and which way is taken.
func TestPCIeKeys(t *testing.T) {
	way := func(set ...string) topology.Path {
		p, err := hardware(t, "system: pcie-a100-8", set...).Machine.Route(0, 1, nil)
		require.NoError(t, err)
		return p
	}
	usual := way()
	assert.False(t, usual.Staged)
	assert.True(t, way("pcie.p2p=nowhere").Staged)
	assert.Greater(t, len(way("pcie.acs=true", "pcie.p2p=everywhere").Hops), len(usual.Hops), "up to the host bridge and down again")
	assert.Equal(t, usual, way("pcie.gdr=nowhere"), "which is about NICs")
}

// The seed of the scenario lays the flows of ECMP, of fabrics with and without
// a name.
func TestSeedOfHashes(t *testing.T) {
	for _, text := range []string{
		"system: dgx-h100\nnodes: 64\nnetwork: {relay: never, fabric: roce-400-ecmp}",
		"system: dgx-h100\nnodes: 64\nnetwork: {relay: never, fabric: {kind: rail-optimized, bandwidth: 50GB/s, latency: 1us, hosts_per_leaf: 8, spines: 8, spread: ecmp}}",
	} {
		ways := func(seed string) []topology.Path {
			m := hardware(t, text, "seed="+seed).Machine
			var out []topology.Path
			for b := int32(8); b < 8*64; b += 9 {
				p, err := m.Route(0, b, nil)
				require.NoError(t, err)
				out = append(out, p)
			}
			return out
		}
		assert.Equal(t, ways("1"), ways("1"))
		assert.NotEqual(t, ways("1"), ways("2"))
	}
}

// Flows that are hashed make ranks unequal, so all are simulated, whatever the
// seed.
func TestHashedFlowsRun(t *testing.T) {
	for _, seed := range []string{"1", "2", "3"} {
		on := run(t, "testdata/fabric.good.yaml", "seed="+seed)
		off := run(t, "testdata/fabric.good.yaml", "seed="+seed, "collapse=off")
		assert.Equal(t, off.StepTime, on.StepTime)
	}
}

func TestLength(t *testing.T) {
	for text, want := range map[string]Length{"3m": 3, "1.5 km": 1500, "0m": 0, "10000km": 1e7} {
		var l Length
		require.NoError(t, l.UnmarshalText([]byte(text)), text)
		assert.Equal(t, want, l)
	}
	for _, bad := range []string{"", "m", "3", "-1m", "NaNm", "3mm", "10001km", "3ft", "Infm"} {
		var l Length
		assert.Error(t, l.UnmarshalText([]byte(bad)), bad)
	}
}
