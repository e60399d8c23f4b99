package machine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

func build(t testing.TB, s machine.Spec) *topology.Machine {
	t.Helper()
	m, err := machine.Build(s)
	require.NoError(t, err)
	require.NoError(t, m.CheckRoutes())
	return m
}

func route(t testing.TB, m *topology.Machine, a, b int32) (topology.Path, []string) {
	t.Helper()
	p, err := m.Route(a, b, nil)
	require.NoError(t, err)
	require.NoError(t, m.Graph.CheckPath(p, m.Ranks[a], m.Ranks[b]))
	var names []string
	for _, h := range p.Hops {
		names = append(names, m.ResourceName(h.Resource))
	}
	return p, names
}

func TestStar(t *testing.T) {
	// Two links of 936.25 ns: 1,872.5 ns, at the port's 429.5 GB/s.
	m := build(t, machine.Star(1024, ring))
	assert.Empty(t, m.Graph.Trunks)
	assert.Len(t, m.Ranks, 1024)
	p, names := route(t, m, 3, 1000)
	assert.Equal(t, []string{"n0.gpu3 > n0.nvswitch0 (1 port link)", "n0.nvswitch0 > n0.gpu1000 (1 port link)"}, names)
	assert.Equal(t, sim.Time(1_872_500), p.Latency)
	assert.Equal(t, sim.Rate(429.50e9), m.Graph.Capacity(p.Hops[0].Resource))
	p, _ = route(t, m, 3, 3)
	assert.Equal(t, topology.Path{Den: 1}, p)
}

func TestGrid(t *testing.T) {
	// W3 in two dimensions: 64 hosts of 8 on 429.5 GB/s, and 8 switches of 64 at
	// 53.687 GB/s and 2,000 ns a link.
	outer := topology.Wire{Rate: 53.687e9, Latency: 2000 * ns, Class: topology.Class{Name: "outer"}}
	m := build(t, machine.Grid(64, 8, ring, outer))
	assert.Len(t, m.Ranks, 512)

	p, names := route(t, m, 3, 8*9+3)
	assert.Equal(t, []string{"n0.gpu3 > leaf3 (1 outer link)", "leaf3 > n9.gpu3 (1 outer link)"}, names)
	assert.Equal(t, 4000*ns, p.Latency)
	assert.Equal(t, topology.NET, p.Kind)

	p, _ = route(t, m, 8*9+1, 8*9+7)
	assert.Equal(t, sim.Time(1_872_500), p.Latency)
	assert.Equal(t, topology.NVL, p.Kind)

	// From position 3 to position 5 of another host: over NVLink to GPU 5 first.
	p, names = route(t, m, 3, 8*9+5)
	assert.Equal(t, []string{
		"n0.gpu3 > n0.nvswitch0 (1 port link)", "n0.nvswitch0 > n0.gpu5 (1 port link)",
		"n0.gpu5 > leaf5 (1 outer link)", "leaf5 > n9.gpu5 (1 outer link)",
	}, names)
	assert.Equal(t, sim.Time(1_872_500+4_000_000), p.Latency)
}

func TestTwoDGXOnRails(t *testing.T) {
	m := build(t, dgxH100(2))
	for rank := range int32(16) {
		rate, links := m.GPUEgress(rank)
		assert.Equal(t, 18, links)
		assert.Equal(t, sim.Rate(360e9), rate)
	}
	// Inside: 18 links of 20 GB/s, both hops.
	p, names := route(t, m, 8, 15)
	assert.Equal(t, []string{"n1.gpu0 > n1.nvswitch (18 nvlink4 links)", "n1.nvswitch > n1.gpu7 (18 nvlink4 links)"}, names)
	assert.Equal(t, sim.Rate(360e9), m.Graph.Capacity(p.Hops[0].Resource))

	// Same rail: GPU 2, NIC 2, leaf 2, NIC 2, GPU 2. PCIe 2 x 315 (two links
	// and a switch each), NICs 2 x 500, cables 2 x 100, a switch of 130:
	// 630 + 1,000 + 200 + 130 = 1,960 ns. PCIe is the narrowest: 48 GB/s.
	p, names = route(t, m, 2, 10)
	assert.Equal(t, []string{
		"n0.gpu2 > n0.pcie-sw1 (pcie5 x16)", "n0.pcie-sw1 > n0.nic2 (pcie5 x16)",
		"n0.nic2 > leaf2 (1 ndr link)", "leaf2 > n1.nic2 (1 ndr link)",
		"n1.nic2 > n1.pcie-sw1 (pcie5 x16)", "n1.pcie-sw1 > n1.gpu2 (pcie5 x16)",
	}, names)
	assert.Equal(t, 1960*ns, p.Latency)
	assert.Equal(t, topology.NET, p.Kind)
	_, rate := m.Graph.Bottleneck(p)
	assert.Equal(t, sim.Rate(48e9), rate)

	// Across rails, without relays: two more cables and two more switches, by way
	// of the spine.
	spec := dgxH100(2)
	spec.Relay = machine.RelayNever
	p, names = route(t, build(t, spec), 2, 15)
	assert.Equal(t, []string{"leaf2 > spine0 (2 ndr links)", "spine0 > leaf7 (2 ndr links)"}, names[3:5])
	assert.Equal(t, (1960+2*100+2*130)*ns, p.Latency)
}

func TestDGX1(t *testing.T) {
	m := build(t, dgx1(2))
	p, names := route(t, m, 0, 5)
	assert.Equal(t, topology.NVB, p.Kind)
	assert.Equal(t, []string{"n0.gpu0 > n0.gpu1 (1 nvlink4 link)", "n0.gpu1 > n0.gpu5 (2 nvlink4 links)"}, names)
	p, _ = route(t, m, 0, 3)
	assert.Equal(t, topology.NVL, p.Kind)
	// GPUs 2 and 3 share NIC 1.
	for _, gpu := range []int32{2, 3} {
		_, names = route(t, m, gpu, 8+2)
		assert.Contains(t, names, "n0.nic1 > leaf1 (1 ndr link)")
	}
}

func TestPCIeServer(t *testing.T) {
	m := build(t, pcieServer())
	for _, c := range []struct {
		a, b int32
		kind topology.PathKind
	}{{0, 1, topology.PIX}, {0, 2, topology.NODE}, {0, 4, topology.SYS}} {
		p, _ := route(t, m, c.a, c.b)
		assert.Equal(t, c.kind, p.Kind)
	}
	_, rate := m.Graph.Bottleneck(first(route(t, m, 0, 7)))
	assert.Equal(t, sim.Rate(22e9), rate, "the socket link")
	_, links := m.GPUEgress(0)
	assert.Zero(t, links)

	s := pcieServer()
	s.Host.PCIe.P2P = pcie.Nowhere
	p, names := route(t, build(t, s), 0, 1)
	assert.True(t, p.Staged)
	assert.Contains(t, names, "n0.cpu0 > n0.mem0 (1 ddr5 link)")
}

func first(p topology.Path, _ []string) topology.Path { return p }

func TestBridgedPairsFallBackToPCIe(t *testing.T) {
	s := pcieServer()
	s.Host.NVLink = &nvlink.Spec{Edges: [][3]int{{0, 1, 12}, {2, 3, 12}, {4, 5, 12}, {6, 7, 12}}, Link: nvl4}
	m := build(t, s)
	p, _ := route(t, m, 0, 1)
	assert.Equal(t, topology.NVL, p.Kind)
	p, _ = route(t, m, 1, 2)
	assert.Equal(t, topology.NODE, p.Kind)
}

func TestRack(t *testing.T) {
	m := build(t, nvl72(2))
	assert.Len(t, m.Ranks, 144)
	count := m.Graph.Count()
	assert.Equal(t, 2*18, count[topology.NVSwitch])
	assert.Equal(t, 2*36, count[topology.Socket])
	assert.Equal(t, 2*72, count[topology.NIC])
	_, links := m.GPUEgress(100)
	assert.Equal(t, 18, links)

	// GPU 6 of rack 0 is GPU 2 of tray 1, on CPU 3 of the rack; its NIC is 6, on
	// rail 2. All trays of both racks share the four rails.
	_, names := route(t, m, 6, 72+70)
	assert.Equal(t, []string{
		"n0.gpu6 > n0.cpu3 (1 nvlink-c2c link)", "n0.cpu3 > n0.rc6 (1 on-die link)", "n0.rc6 > n0.nic6 (pcie5 x16)",
		"n0.nic6 > leaf2 (1 ndr link)", "leaf2 > n1.nic70 (1 ndr link)",
		"n1.nic70 > n1.rc70 (pcie5 x16)", "n1.rc70 > n1.cpu35 (1 on-die link)", "n1.cpu35 > n1.gpu70 (1 nvlink-c2c link)",
	}, names)
	p, _ := route(t, m, 0, 71)
	assert.Len(t, p.Hops, 2)
	assert.Equal(t, sim.Rate(360e9), m.Graph.Capacity(p.Hops[0].Resource))
}

func TestSeveralNICsPerGPU(t *testing.T) {
	// Four NICs beside each pair of GPUs: two for each, half of the bytes on
	// either. The GPU's own PCIe link carries all of them.
	s := dgxH100(2)
	s.Host.PCIe.NICs = nil
	for i := range 16 {
		s.Host.PCIe.NICs = append(s.Host.PCIe.NICs, under(pcie.OnSwitch, i/4, gen5))
	}
	m := build(t, s)
	p, names := route(t, m, 1, 8+1)
	assert.EqualValues(t, 2, p.Den)
	shares := map[string]int32{}
	for i, h := range p.Hops {
		shares[names[i]] = h.Share
	}
	assert.EqualValues(t, 2, shares["n0.gpu1 > n0.pcie-sw0 (pcie5 x16)"])
	assert.EqualValues(t, 1, shares["n0.nic2 > leaf2 (1 ndr link)"])
	assert.EqualValues(t, 1, shares["n0.nic3 > leaf3 (1 ndr link)"])
	assert.EqualValues(t, 2, shares["n1.pcie-sw0 > n1.gpu1 (pcie5 x16)"])
	_, rate := m.Graph.Bottleneck(p)
	assert.Equal(t, sim.Rate(48e9), rate, "the GPU's PCIe link, not the two NICs")
	// NICs 0 and 1, on the receiver's rails, are below the same switch: no relay.
	_, names = route(t, m, 1, 8)
	assert.Contains(t, names, "n0.nic0 > leaf0 (1 ndr link)")
	assert.NotContains(t, names, "n0.gpu1 > n0.nvswitch (18 nvlink4 links)")
}

func TestLinksDownInOneRack(t *testing.T) {
	s := dgxH100(2)
	s.Host.NVLink.Down = []nvlink.Down{{GPU: 1, Plane: 0, Links: 5}}
	m := build(t, s)
	p, _ := route(t, m, 8, 9)
	assert.EqualValues(t, 13, p.Den)
	assert.Len(t, p.Hops, 6)
	_, rate := m.Graph.Bottleneck(p)
	assert.InEpsilon(t, 13*20e9, float64(rate), 1e-12)
}

func TestTwinsHaveEqualCapacities(t *testing.T) {
	m := build(t, dgxH100(3))
	want := map[string]sim.Rate{}
	for r := range topology.ResourceID(m.Graph.Resources()) {
		links, _ := m.Graph.Members(r)
		l := m.Graph.Links[links[0]]
		from, to := m.Graph.Nodes[l.From].Kind, m.Graph.Nodes[l.To].Kind
		if len(links) == 1 && (from == topology.NVSwitch || to == topology.NVSwitch) {
			continue // planes of 5 and of 4 links
		}
		key := from.String() + to.String()
		if _, ok := want[key]; !ok {
			want[key] = m.Graph.Capacity(r)
		}
		assert.Equal(t, want[key], m.Graph.Capacity(r), m.ResourceName(r))
	}
}

func TestBuildErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*machine.Spec)
		want  []string
	}{
		{"no GPUs", func(s *machine.Spec) { s.Host.GPUs = 0 }, []string{"machine dgx-h100: ", "0 GPUs in a host", "slots for 8 GPUs, but a tray has 0"}},
		{"trays", func(s *machine.Spec) { s.Host.Trays = 3 }, []string{"8 GPUs in 3 trays"}},
		{"trays without NVLink", func(s *machine.Spec) { s.Host.Trays = 2; s.Host.NVLink = nil }, []string{"2 trays without NVLink"}},
		{"no fabric", func(s *machine.Spec) { s.Fabric = nil }, []string{"2 hosts and no fabric to join them"}},
		{"no NICs", func(s *machine.Spec) { s.Host.PCIe.NICs = nil }, []string{"the hosts have no NIC"}},
		{"parts", func(s *machine.Spec) { s.Host.NVLink.Link.Rate = 0; s.Host.PCIe.Sockets = 0; s.Fabric.Radix = -1 }, []string{"nvlink: rate", "pcie: 0 sockets", "fabric: radix"}},
		{"in pieces", func(s *machine.Spec) {
			s.Hosts, s.Fabric, s.Host.PCIe = 1, nil, nil
			s.Host.NVLink = &nvlink.Spec{Edges: [][3]int{{0, 1, 1}}, Link: nvl4}
		}, []string{"nothing joins n0.gpu0 and n0.gpu2"}},
		{"rails without relay", func(s *machine.Spec) {
			s.Host.NVLink = nil
			s.Fabric = &fabric.Spec{Kind: fabric.RailOptimized, Tiers: 1, Port: ndr}
		}, []string{"n0.gpu0 cannot reach rail 2"}},
		{"hosts", func(s *machine.Spec) { s.Hosts = -1 }, []string{"-1 hosts"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := dgxH100(2)
			c.spoil(&s)
			_, err := machine.Build(s)
			for _, want := range c.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
	m := build(t, dgxH100(2))
	_, err := m.Route(0, 16, nil)
	assert.EqualError(t, err, "route from rank 0 to rank 16 of dgx-h100: the ranks are 0 to 15")
}
