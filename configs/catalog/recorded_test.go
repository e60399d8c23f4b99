package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/pcie"
)

// The recorded matrix of 8 B300 has PXB from each GPU to its NIC, NODE to the
// others of its socket, SYS beyond.
func TestB300IsAsFarFromItsNICAsRecorded(t *testing.T) {
	m, _ := build(t, load(t), "dgx-b300", Options{Hosts: 2})
	words := discover.Relations(&m.Spec)
	for gpu := range 8 {
		for nic := range 8 {
			want := topology.NODE
			switch {
			case nic == gpu:
				want = topology.PXB
			case nic/4 != gpu/4:
				want = topology.SYS
			}
			assert.Equal(t, want.String(), words.At(gpu, 8+nic).Kind.String(), "GPU%d, NIC%d", gpu, nic)
		}
	}
}

// Who joins a NIC of one family to switches of another is told.
func TestNICAndFabricOfDifferentKinds(t *testing.T) {
	c := load(t)
	for _, tc := range []struct {
		system, fabric string
		said           string
	}{
		{"dgx-h100", "slingshot", "NIC connectx7-ndr is of infiniband and fabric slingshot of slingshot: the NIC is taken to be of the fabric's kind"},
		{"dgx-h100", "roce-400", "NIC connectx7-ndr is of infiniband and fabric roce-400 of ethernet"},
		{"dgx-h100", "ib-hdr", ""},
		{"aws-p5", "efa-200", ""},
	} {
		m, err := c.Machine(tc.system, Options{Hosts: 2, Fabric: tc.fabric})
		require.NoError(t, err)
		warnings := strings.Join(m.Warnings, "\n")
		if tc.said == "" {
			assert.NotContains(t, warnings, "taken to be", "%s on %s", tc.system, tc.fabric)
		} else {
			assert.Contains(t, warnings, tc.said)
		}
	}
	for _, name := range c.Systems() {
		if s, err := c.System(name); err != nil || s.Fabric == "" {
			continue
		}
		m, err := c.Machine(name, Options{Hosts: 2})
		require.NoError(t, err)
		assert.NotContains(t, strings.Join(m.Warnings, "\n"), "taken to be", "%s on its own fabric", name)
	}
}

// NCCL's default level of direct access follows from CPU and GPUs; records
// differ only where the driver, or NVLink, decides.
func TestP2PIsNCCLsDefault(t *testing.T) {
	c := load(t)
	genoa, err := c.CPU("epyc-genoa")
	require.NoError(t, err)
	sp4, err := c.CPU("xeon-sp4")
	require.NoError(t, err)
	assert.Equal(t, pcie.Everywhere, DefaultP2P(genoa, 2))
	assert.Equal(t, pcie.WithinSwitches, DefaultP2P(genoa, 3))
	assert.Equal(t, pcie.WithinSwitches, DefaultP2P(sp4, 2))
	// A record that leaves it to NCCL.
	require.NoError(t, c.Merge(strings.NewReader(`systems:
  pair: {title: t, origin: {source: weft, status: derived}, gpu: l40s, gpus: 2, cpu: epyc-genoa, sockets: 1, pcie: {roots: 2}, gdr: nowhere}
  pair-intel: {like: pair, title: t, origin: {source: weft, status: derived}, cpu: xeon-sp4}
  pair-4090: {like: pair, title: t, origin: {source: weft, status: derived}, gpu: rtx-4090}
`), "pairs.yaml"))
	for name, want := range map[string]pcie.Reach{"pair": pcie.Everywhere, "pair-intel": pcie.WithinSwitches, "pair-4090": pcie.Nowhere} {
		m, err := c.Machine(name, Options{})
		require.NoError(t, err)
		assert.Equal(t, want, m.Spec.Host.PCIe.P2P, name)
	}
	for _, name := range c.Systems() {
		s, err := c.System(name)
		require.NoError(t, err)
		if s.PCIe == nil || s.P2P.Provenance().Source != "nccl" {
			continue
		}
		cpu, err := c.CPU(s.CPU)
		require.NoError(t, err)
		assert.Equal(t, DefaultP2P(cpu, int(s.GPUs.Value())), pcie.Reach(s.P2P.Value()), name)
	}
}

// The uplinks of p5 are PCIe 4 although its CPU and its GPUs speak PCIe 5.
func TestUplinkOfItsOwn(t *testing.T) {
	m, _ := build(t, load(t), "aws-p5", Options{})
	assert.Equal(t, "epyc-genoa", m.System.CPU)
	assert.Equal(t, "pcie4x16", m.Spec.Host.PCIe.Switches[0].Link.Class.Name)
	assert.Equal(t, "pcie5x16", m.Spec.Host.PCIe.GPUs[0].Link.Class.Name)
}

// On rails with NVLink bytes for another rail go to the peer on it first, as
// NCCL has it, and no spine is crossed; without GPUDirect RDMA they do not.
func TestRelaysOnRails(t *testing.T) {
	c := load(t)
	for system, relayed := range map[string]bool{
		"dgx-h100": true, "dgx-a100": true, "dgx-b300": true, "gb200-nvl72": true, "azure-nd-h100-v5": true, "pcie-l40s-8": false,
	} {
		_, m := build(t, c, system, Options{Hosts: 2})
		per := int32(len(m.Ranks)) / 2
		spines := 0
		for a := range min(per, 8) {
			for b := range min(per, 8) {
				p, err := m.Route(a, per+b, nil)
				require.NoError(t, err)
				for _, h := range p.Hops {
					links, _ := m.Graph.Members(h.Resource)
					if strings.HasPrefix(m.Graph.Nodes[m.Graph.Links[links[0]].To].Name, "spine") {
						spines++
					}
				}
			}
		}
		assert.Equal(t, relayed, spines == 0, "%s: %d ways cross spines", system, spines)
	}
}
