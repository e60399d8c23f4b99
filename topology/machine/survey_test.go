package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

func cautions(m *topology.Machine) []string { return m.Cautions(m.Survey(), true) }

func TestSurveyOfASoundMachine(t *testing.T) {
	m := build(t, dgxH100(2))
	s := m.Survey()
	assert.Equal(t, [][]int32{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}}, s.Domains)
	assert.Equal(t, 8, s.LargestDomain())
	assert.Empty(t, s.WithoutNVLink)
	assert.False(t, s.Pairs)
	assert.Empty(t, s.Far)
	assert.Empty(t, s.Off)
	assert.Empty(t, s.Short)
	// Two GPUs of 48 GB/s share the x16 of their switch.
	require.Len(t, s.Uplinks, 1)
	assert.Len(t, s.Uplinks[0].Switches, 8)
	assert.InEpsilon(t, 2, s.Uplinks[0].Ratio(), 1e-12)
	assert.Equal(t, []string{
		"n0.pcie-sw0, n0.pcie-sw1, n0.pcie-sw2 and 5 more: 96 GB/s from below share 48 GB/s upwards each, 2:1 oversubscribed",
	}, cautions(m))
}

func TestSurveyOfBridges(t *testing.T) {
	s := pcieServer()
	m := build(t, s)
	assert.Len(t, m.Survey().WithoutNVLink, 8)
	assert.Contains(t, cautions(m)[0], "GPUs of this kind have NVLink, but nothing is wired to it")
	assert.NotContains(t, m.Cautions(m.Survey(), false), cautions(m)[0])

	s.Host.NVLink = &nvlink.Spec{Edges: [][3]int{{0, 1, 12}, {2, 3, 12}, {4, 5, 12}, {6, 7, 12}}, Link: nvl4}
	m = build(t, s)
	assert.True(t, m.Survey().Pairs)
	assert.Equal(t, 2, m.Survey().LargestDomain())
	assert.Contains(t, cautions(m)[0], "NVLink joins pairs of GPUs only")
	// A pair by itself is all there is.
	assert.False(t, build(t, machine.Star(2, nvl4)).Survey().Pairs)
}

func TestSurveyOfNICs(t *testing.T) {
	// All NICs below the first switch, of socket 0: GPUs 0 and 1 are beside
	// them, 2 and 3 behind another bridge, 4 to 7 on the other socket.
	s := dgxH100(2)
	for i := range s.Host.PCIe.NICs {
		s.Host.PCIe.NICs[i] = under(pcie.OnSwitch, 0, gen5)
	}
	m := build(t, s)
	far := m.Survey().Far
	require.Len(t, far, 12)
	assert.Equal(t, topology.NODE, far[0].Kind)
	assert.EqualValues(t, 2, far[0].Rank)
	assert.Equal(t, topology.SYS, far[2].Kind)
	assert.Contains(t, cautions(m), "the nearest NIC of n0.gpu4, n0.gpu5, n0.gpu6 and 5 more is across the sockets (SYS): a NIC on the wrong socket")
}

func TestSurveyOfTapers(t *testing.T) {
	s := dgxH100(16)
	s.Fabric = &fabric.Spec{Kind: fabric.FatTree, HostsPerLeaf: 4, Oversubscription: 4, Port: ndr}
	m := build(t, s)
	var leaf topology.Uplink
	for _, u := range m.Survey().Uplinks {
		if m.Graph.Nodes[u.Switches[0]].Kind == topology.Switch {
			leaf = u
		}
	}
	// 32 ports of 50 GB/s down, 8 up.
	assert.Len(t, leaf.Switches, 4)
	assert.InEpsilon(t, 1600e9, float64(leaf.Down), 1e-12)
	assert.InEpsilon(t, 4, leaf.Ratio(), 1e-12)

	// The NVLink network of 256 H100: 40 links down and 20 up, 32 and 16.
	m = build(t, h100x256())
	u := m.Survey().Uplinks
	require.Len(t, u, 2)
	assert.Len(t, u[0].Switches, 64)
	assert.InEpsilon(t, 2, u[0].Ratio(), 1e-12)
	assert.InEpsilon(t, 2, u[1].Ratio(), 1e-12)
	assert.Equal(t, 256, m.Survey().LargestDomain())
}

func TestSurveyOfFaults(t *testing.T) {
	m := faulty(t, build(t, dgxH100(2)), "n0.nvswitch1 down", "n1.gpu2<>n1.nvswitch* down", "n1.nic4<>leaf4 down", "n1.gpu0<>n1.nvswitch0 x4")
	s := m.Survey()
	assert.Equal(t, []int32{10}, s.WithoutNVLink)
	assert.Equal(t, []int32{8}, s.Short)
	c := cautions(m)
	assert.Equal(t, []string{
		"n1.gpu2 has no NVLink, though other GPUs have: traffic to and from there takes PCIe or the network",
		"n0.nvswitch1 is out of service or joined to nothing",
		"n1.nic4 is out of service or joined to nothing",
		"n1.gpu0 has fewer links to NVSwitches than the peers: collectives run at the pace of the poorest",
	}, c[:4])
}

// h100x256 is the NVLink network of 32 hosts as one domain.
func h100x256() machine.Spec {
	return machine.Spec{Name: "h100-256", Host: machine.Host{GPUs: 256, NVLink: &nvlink.Spec{
		Planes: []int{5, 4, 4, 5}, Link: nvl4, SwitchLatency: 120 * ns,
		Tier: &nvlink.Tier{Groups: 32, Uplinks: []int{20, 16, 16, 20}, Switches: []int{5, 4, 4, 5}, SwitchLatency: 120 * ns},
	}}}
}

func TestDomainOf256(t *testing.T) {
	start := time.Now()
	m, err := machine.Build(h100x256())
	require.NoError(t, err)
	assert.Less(t, time.Since(start), 500*time.Millisecond)
	require.NoError(t, m.CheckRoutes())
	// A lone pair has 360 GB/s on either side of the taper; what leaves a host
	// shares 72 x 20.
	p, _ := route(t, m, 0, 255)
	assert.Len(t, p.Hops, 4)
	assert.Equal(t, sim.Rate(72*20e9), m.Graph.Capacity(p.Hops[1].Resource))
	for rank := range int32(256) {
		_, links := m.GPUEgress(rank)
		assert.Equal(t, 18, links)
	}
}

// TestEveryLinkIsUsed: every link of a machine carries some pair of GPUs.
func TestEveryLinkIsUsed(t *testing.T) {
	two := dgx1(1)
	two.Host.PCIe = nil
	for _, s := range []machine.Spec{machine.Star(8, ring), two, h100x256(), machine.Grid(4, 4, ring, ndr)} {
		m := build(t, s)
		used := make([]bool, len(m.Graph.Links))
		var buf []topology.Hop
		for a := range int32(len(m.Ranks)) {
			for b := range int32(len(m.Ranks)) {
				p, err := m.Route(a, b, buf)
				require.NoError(t, err)
				for _, h := range p.Hops {
					links, _ := m.Graph.Members(h.Resource)
					for _, l := range links {
						used[l] = true
					}
				}
				buf = p.Hops
			}
		}
		for i, l := range m.Graph.Links {
			assert.True(t, used[i], "%s: %s > %s", s.Name, m.Graph.Nodes[l.From].Name, m.Graph.Nodes[l.To].Name)
		}
	}
}
