package catalog

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
)

func build(t *testing.T, c *Catalog, system string, o Options) (*Machine, *topology.Machine) {
	t.Helper()
	m, err := c.Machine(system, o)
	require.NoError(t, err, system)
	require.NoError(t, m.Spec.Validate(), system)
	built, err := machine.Build(m.Spec)
	require.NoError(t, err, system)
	return m, built
}

// rate returns what one transfer alone reaches on a path, in GB/s.
func rate(t *testing.T, m *topology.Machine, a, b int32) float64 {
	t.Helper()
	p, err := m.Route(a, b, nil)
	require.NoError(t, err)
	r := math.Inf(1)
	if p.Rate > 0 {
		r = float64(p.Rate)
	}
	use := map[topology.ResourceID]float64{}
	for _, h := range p.Hops {
		use[h.Resource] += float64(h.Share) / float64(p.Den)
	}
	for res, share := range use {
		r = min(r, float64(m.Graph.Capacity(res))/share)
	}
	return r / 1e9
}

// Every system by itself and, with its home fabric, at one, two and three
// hosts: the specification is valid, and every route leads where it should.
func TestEverySystemBuilds(t *testing.T) {
	c := load(t)
	for _, name := range c.Systems() {
		t.Run(name, func(t *testing.T) {
			m, built := build(t, c, name, Options{})
			gpus := int(m.System.GPUs.Value())
			assert.Len(t, built.Ranks, gpus)
			assert.Nil(t, m.Fabric)
			require.NoError(t, built.CheckRoutes())
			if name == "bench-star" {
				return // one ideal switch, of any size; nothing joins two
			}
			require.NotEmpty(t, m.System.Fabric)
			for hosts := 1; hosts <= 3; hosts++ {
				if hosts*gpus > 256 && testing.Short() {
					break
				}
				m, built := build(t, c, name, Options{Hosts: hosts, Fabric: m.System.Fabric})
				assert.NotNil(t, m.Fabric)
				assert.Len(t, built.Ranks, hosts*gpus)
				require.NoError(t, built.CheckRoutes(), "%d hosts", hosts)
			}
		})
	}
}

// A server with two ports or more plugs into every fabric.
func TestEveryFabricBuilds(t *testing.T) {
	c := load(t)
	for _, name := range c.Fabrics() {
		_, built := build(t, c, "dgx-h100", Options{Hosts: 3, Fabric: name})
		require.NoError(t, built.CheckRoutes(), name)
	}
}

// Each GPU of a machine has exactly the NVLinks that its record says, or, in a
// system that wires none, none.
func TestNVLinksOfEveryGPU(t *testing.T) {
	c := load(t)
	unwired := map[string]bool{}
	for _, name := range c.Systems() {
		m, built := build(t, c, name, Options{})
		if m.System.NVLink == nil {
			unwired[name] = m.GPU.NVLink != nil
			continue
		}
		if m.GPU.NVLink == nil {
			assert.Equal(t, "bench-gpu", m.GPU.Name, "%s wires NVLinks that its GPU has not", name)
			continue
		}
		assert.Equal(t, m.GPU.NVLink.Link, m.System.NVLink.Link, name)
		links := map[topology.NodeID]int32{}
		for _, l := range built.Graph.Links {
			if built.Graph.Classes[l.Class].Name == m.System.NVLink.Link {
				links[l.From] += max(1, l.Width)
			}
		}
		for _, gpu := range built.Ranks {
			assert.EqualValues(t, m.GPU.NVLink.Count.Value(), links[gpu], "%s, node %d", name, gpu)
		}
	}
	// The architect's warning can be told: these GPUs could have NVLink.
	for name, capable := range map[string]bool{"pcie-a100-8": true, "pcie-a40-8": true, "pcie-rtx3090-4": true, "pcie-l40s-8": false, "pcie-v100-4": false} {
		assert.Equal(t, capable, unwired[name], name)
	}
}

// The routes of all pairs together use each NVLink of the machine, and none
// but the GPUs' own: no link is there for nothing.
func TestRoutesUseEveryNVLink(t *testing.T) {
	c := load(t)
	for _, name := range c.Systems() {
		m, built := build(t, c, name, Options{})
		if m.System.NVLink == nil {
			continue
		}
		g, used := built.Graph, make([]bool, len(built.Graph.Links))
		var buf []topology.Hop
		// Those from and to the first and last GPU of a large domain reach all.
		for a := range int32(len(built.Ranks)) {
			for b := range int32(len(built.Ranks)) {
				if n := int32(len(built.Ranks)) - 1; n > 80 && a != 0 && b != 0 && a != n && b != n {
					continue
				}
				p, err := built.Route(a, b, buf)
				require.NoError(t, err)
				for _, h := range p.Hops {
					links, _ := g.Members(h.Resource)
					for _, l := range links {
						used[l] = true
					}
				}
				buf = p.Hops
			}
		}
		idle := map[string]bool{}
		for i, l := range g.Links {
			from, to := g.Nodes[l.From].Kind, g.Nodes[l.To].Kind
			gpu, nvswitch := from == topology.GPU || to == topology.GPU, from == topology.NVSwitch || to == topology.NVSwitch
			if (nvswitch && gpu || from == topology.GPU && to == topology.GPU) && !used[i] {
				idle[g.ResourceName(topology.ResourceID(i))] = true
			}
		}
		assert.Empty(t, idle, name)
	}
}

// A switch holds no more NVLinks than it has ports.
func TestNVSwitchPorts(t *testing.T) {
	c := load(t)
	for _, name := range c.Systems() {
		m, built := build(t, c, name, Options{})
		n := m.System.NVLink
		if n == nil || n.Switch == "" {
			continue
		}
		sw, err := c.Switch(n.Switch)
		require.NoError(t, err)
		ports := sw.Ports.Value()
		used := map[topology.NodeID]Count{}
		for _, l := range built.Graph.Links {
			if built.Graph.Nodes[l.From].Kind == topology.NVSwitch {
				used[l.From] += Count(max(1, l.Width))
			}
		}
		for node, n := range used {
			if ports > 0 {
				assert.LessOrEqual(t, n, ports, "%s, %s", name, built.Graph.Nodes[node].Name)
			}
		}
	}
}

func TestRatesBetweenGPUs(t *testing.T) {
	c := load(t)
	for _, tc := range []struct {
		system string
		hosts  int
		a, b   int32
		kind   topology.PathKind
		gb     float64
		why    string
	}{
		{"dgx-1-v100", 1, 0, 3, topology.NVL, 48.4, "two links; 48.34 measured"},
		{"dgx-1-v100", 1, 0, 1, topology.NVL, 24.2, "one link"},
		{"dgx-1-v100", 1, 0, 5, topology.NVB, 24.2, "through a peer, one link on the way"},
		{"dgx-1-p100", 1, 0, 4, topology.NVL, 18.41, "one link; 18.41 measured"},
		{"dgx-station-v100", 1, 0, 3, topology.NVL, 48.4, "two links; 96.9 both ways measured"},
		{"dgx-2", 1, 0, 7, topology.NVL, 145.3, "six planes of one link, one board"},
		{"dgx-2", 1, 0, 15, topology.NVL, 145.3, "and as many links between the boards"},
		{"gb200-nvl36x2", 1, 0, 71, topology.NVL, 746.7, "two racks, as many links between as within"},
		{"dgx-h100-nvlink256", 1, 0, 255, topology.NVL, 396.4, "a pair alone: 20 uplinks of a plane hold its 5 links"},
		{"gh200-4", 1, 0, 3, topology.NVL, 132.1, "a third of the links"},
		{"pcie-h200-nvl-8", 1, 0, 3, topology.NVL, 132.1, "a third of the links; 132.8 measured"},
		{"pcie-h100-nvl-8", 1, 0, 1, topology.NVL, 264.2, "a bridged pair"},
		{"azure-nc-a100-v4", 1, 0, 1, topology.NVL, 276.4, "a bridged pair; 275 measured"},
		{"dgx-a100", 1, 0, 7, topology.NVL, 276.4, "six planes of two links"},
		{"dgx-h100", 1, 0, 7, topology.NVL, 396.4, "planes of 5, 4, 4, 5"},
		{"dgx-h100", 2, 0, 8, topology.NET, 49.2, "one NDR port"},
		{"hgx-h100-4", 1, 0, 3, topology.NVL, 132.1, "a third of the links"},
		{"gb200-nvl72", 1, 0, 71, topology.NVL, 746.7, "18 planes of one link"},
		{"gb200-nvl72", 2, 0, 72, topology.NET, 49.2, "one NDR port"},
		{"gb300-nvl72", 2, 0, 72, topology.NET, 98.5, "one XDR port, as by the switch of the ConnectX-8"},
		{"dgx-1-v100", 2, 0, 8, topology.NET, 12.1, "one EDR port"},
		{"aws-p5en", 2, 0, 8, topology.NET, 48.4, "two EFA ports of 200 Gbit/s"},
		{"dgx-b300", 2, 0, 8, topology.NET, 98.5, "one XDR port, at PCIe 6 from the GPU beside it"},
		{"pcie-a100-8", 1, 0, 3, topology.PIX, 26.0, "below one switch"},
		{"sys-4029gp-trt2", 1, 0, 3, topology.PIX, 12.15, "below one switch"},
		{"bench-star", 1, 0, 7, topology.NVL, 429.5, "ideal"},
		{"bench-2d", 2, 0, 8, topology.NET, 53.69, "ideal"},
	} {
		_, built := build(t, c, tc.system, Options{Hosts: tc.hosts})
		p, err := built.Route(tc.a, tc.b, nil)
		require.NoError(t, err)
		assert.Equal(t, tc.kind.String(), p.Kind.String(), "%s %d-%d: %s", tc.system, tc.a, tc.b, tc.why)
		assert.InEpsilon(t, tc.gb, rate(t, built, tc.a, tc.b), 0.002, "%s %d-%d: %s", tc.system, tc.a, tc.b, tc.why)
	}
}

// Across host bridges and sockets collectives stage in host memory, so the
// path through there is longer and no faster than that below a switch.
func TestPCIeServers(t *testing.T) {
	c := load(t)
	latency := func(system string, a, b int32) sim.Time {
		_, built := build(t, c, system, Options{})
		p, err := built.Route(a, b, nil)
		require.NoError(t, err)
		return p.Latency
	}
	assert.Equal(t, 195*sim.Nanosecond, latency("pcie-a100-8", 0, 3), "two links of 40 ns and a switch of 115 ns")
	assert.Greater(t, latency("pcie-a100-8", 0, 4), latency("pcie-a100-8", 0, 3))
	assert.Greater(t, latency("sys-4029gp-trt", 0, 4), latency("sys-4029gp-trt2", 0, 4), "dual root crosses the sockets")
	assert.Greater(t, latency("pcie-rtx4090-8", 0, 4), latency("pcie-rtx4090-8", 0, 1))
	assert.Equal(t, 2*40*sim.Nanosecond+115*sim.Nanosecond, latency("sys-4029gp-trt3", 0, 3))
	assert.Equal(t, 3*40*sim.Nanosecond+2*115*sim.Nanosecond, latency("sys-4029gp-trt3", 0, 4), "from switch to switch, never to the CPU")

	_, acs := build(t, c, "pcie-a100-8", Options{ACS: true})
	p, err := acs.Route(0, 3, nil)
	require.NoError(t, err)
	assert.Greater(t, p.Latency, 195*sim.Nanosecond, "with ACS through the host bridge")
}

// The wires of the benchmark work: 936.25 ns a link, two links a path; in two
// dimensions 2,000 ns a link between hosts.
func TestBenchmarkWires(t *testing.T) {
	c := load(t)
	_, star := build(t, c, "bench-star", Options{GPUs: 72})
	require.Len(t, star.Ranks, 72)
	p, err := star.Route(0, 71, nil)
	require.NoError(t, err)
	assert.Equal(t, "1.8725us", p.Latency.String())
	_, two := build(t, c, "bench-2d", Options{Hosts: 64})
	require.Len(t, two.Ranks, 512)
	p, err = two.Route(1, 505, nil)
	require.NoError(t, err)
	assert.Equal(t, "4us", p.Latency.String())
	// W1 of N = 8: 2(N-1) x (S/(N B) + 1,872.5 ns) with S = 2^30 is 4,401 us.
	step := sim.TransferTime(1<<30/8, star.Graph.Links[0].Rate) + 1872500
	assert.InEpsilon(t, 4401, (14 * step).Microseconds(), 1e-4)
}

func TestMachineRefuses(t *testing.T) {
	c := load(t)
	require.NoError(t, c.Merge(strings.NewReader("systems:\n  alone: {title: t, origin: {source: weft, status: derived}, gpu: l40s, gpus: 2, "+
		"cpu: xeon-sp4, sockets: 1, pcie: {roots: 2}, p2p: nowhere, gdr: nowhere}\n"), "alone.yaml"))
	for _, tc := range []struct {
		system string
		o      Options
		want   string
	}{
		{"dgx-h20", Options{}, `no system is called "dgx-h20"; did you mean "dgx-h200"?`},
		{"dgx-h100", Options{GPUs: 4}, "4 GPUs in a host asked for, but it has 8"},
		{"dgx-h100", Options{Fabric: "ib-nrd"}, `no fabric is called "ib-nrd"; did you mean "ib-ndr"?`},
		{"dgx-h100", Options{Hosts: -1}, "-1 hosts"},
		{"alone", Options{Hosts: 2}, "no fabric to join them is named"},
		{"alone", Options{Hosts: 2, Fabric: "ib-hdr"}, "it has no NIC to plug into fabric ib-hdr"},
	} {
		_, err := c.Machine(tc.system, tc.o)
		assert.ErrorContains(t, err, tc.want)
	}
}

func TestProvenance(t *testing.T) {
	c := load(t)
	m, err := c.Machine("dgx-h100", Options{Hosts: 2})
	require.NoError(t, err)
	seen := map[string]Provenance{}
	for _, p := range m.Provenance {
		assert.NotContains(t, seen, p.Path, "each figure once")
		assert.NotEmpty(t, p.Value, p.Path)
		seen[p.Path] = p
	}
	assert.Equal(t, Provenance{
		Path: "systems.dgx-h100.nvlink.planes", Value: "5+4+4+5", Source: "nvblog-nvs3", Status: Datasheet,
		Note: "two switches take 5 links of each GPU, two take 4",
	}, seen["systems.dgx-h100.nvlink.planes"])
	for _, path := range []string{
		"links.nvlink4.calibration", "switches.nvswitch3.latency", "links.pcie5.packet.overhead", "nics.connectx7-ndr.latency",
		"links.infiniband-ndr.rate", "switches.quantum2-ndr.ports", "fabrics.ib-ndr.port_cable",
	} {
		assert.Contains(t, seen, path)
	}
	warnings := strings.Join(m.Warnings, "\n")
	assert.Contains(t, warnings, "assumed: switches.nvswitch3.latency = 120ns (the driver's histogram")
	assert.NotContains(t, warnings, "links.nvlink4.calibration", "measured")
	assert.Equal(t, m.Warnings, m.Spec.Notes)

	again, err := load(t).Machine("dgx-h100", Options{Hosts: 2})
	require.NoError(t, err)
	assert.Equal(t, m.Provenance, again.Provenance, "same input, same list")
}

// What nobody knows of a model is said when it is used, with the reason.
func TestUnknownsAreSaid(t *testing.T) {
	c := load(t)
	for system, want := range map[string]string{
		"sys-422gl-nr":     "systems.sys-422gl-nr.pcie.roots = 1+1 (nothing found on this model; taken as SYS-422GA-NRT)",
		"as-8125gs-tnhr":   "systems.as-8125gs-tnhr.pcie.roots = 4+4 (the model's switches are not published",
		"vera-rubin-nvl72": "systems.vera-rubin-nvl72.nvlink.planes = 36x1 (nine trays are firm",
		"hgx-h800-8":       "systems.hgx-h800-8.nvlink.planes = 4x2 (eight links over four switches; the split is not published)",
	} {
		m, err := c.Machine(system, Options{})
		require.NoError(t, err)
		assert.Contains(t, strings.Join(m.Warnings, "\n"), want)
	}
}

// What the resolver computes factor by factor is what Link.Usable says.
func TestWireIsUsable(t *testing.T) {
	c := load(t)
	for _, name := range c.Links() {
		l, err := c.Link(name)
		require.NoError(t, err)
		r := &resolver{c: c, seen: map[string]bool{}}
		assert.InEpsilon(t, float64(l.Usable()), float64(r.wire(l, 1).Rate), 1e-15, name)
		assert.NotEmpty(t, r.wire(l, 1).Class.Note, name)
	}
}
