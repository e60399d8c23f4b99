package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology"
)

func TestCollectedGPUs(t *testing.T) {
	c := load(t)
	// The collection names some parts without their memory or board.
	names := map[string]string{
		"p100-sxm2": "p100-sxm2-16gb", "v100-pcie": "v100-pcie-32gb", "h20-sxm": "h20-sxm5-96gb", "b100-sxm": "b100-sxm6-192gb",
		"b300-sxm6": "b300-sxm6-288gb", "rtx-pro-6000-blackwell-server": "rtx-pro-6000-server",
	}
	// It has fp16 accumulation for GeForce, the catalogue fp32.
	half := map[string]bool{"rtx-3090": true, "rtx-4090": true, "rtx-5090": true}
	all := collection(t).GPUs
	require.NotEmpty(t, all)
	for _, want := range all {
		name := strings.ToLower(want.ID)
		if n, ok := names[name]; ok {
			name = n
		}
		g, err := c.GPU(name)
		require.NoError(t, err, want.ID)
		if half[name] {
			want.FP16, want.FP8 = want.FP16/2, want.FP8/2
		}
		for dtype, tera := range map[string]float64{"fp32": want.FP32, "tf32": want.TF32, "bf16": want.BF16, "fp16": want.FP16, "fp8": want.FP8, "fp4": want.FP4} {
			assert.InDelta(t, tera, float64(g.Peak.Of(dtype).Value())/1e12, 1e-6, "%s %s", name, dtype)
		}
		assert.EqualValues(t, want.Memory*1e9, g.Memory.Value(), name)
		assert.EqualValues(t, want.Rate*1e9, g.MemoryRate.Value(), name)
		assert.Equal(t, want.Kind, g.MemoryKind, name)
		assert.EqualValues(t, want.SMs, g.SMs.Value(), name)
		assert.EqualValues(t, want.L2<<20, g.L2.Value(), name)
		if want.TDP > 0 {
			assert.EqualValues(t, want.TDP, g.TDP.Value(), name)
		}
		nvlink := 0.0
		if g.NVLink != nil {
			l, err := c.Link(g.NVLink.Link)
			require.NoError(t, err)
			nvlink = float64(l.Nominal()) * float64(g.NVLink.Count.Value()) / 1e9
		}
		assert.InDelta(t, want.NVLink, nvlink, 1e-9, "%s, NVLink of the GPU each way", name)
		if g.C2C == "" { // superchips hang from their CPU
			assert.Equal(t, "pcie"+strconv.Itoa(want.PCIe), g.PCIe.Link, name)
		}
	}
}

func TestCollectedLinks(t *testing.T) {
	c := load(t)
	all := collection(t)
	nominal := func(name string, n int) float64 {
		l, err := c.Link(name)
		require.NoError(t, err)
		return float64(l.Nominal()) * float64(n) / 1e9
	}
	for _, want := range all.NVLink.Generations {
		name := strings.Replace(want.ID, "nvlink3.1-ga102", "nvlink-ga102", 1)
		assert.InDelta(t, want.Rate, nominal(name, 1), 1e-9, name)
	}
	bridges := map[string]string{
		"rtx3090_2way": "nvlink-ga102", "quadro_rtx_8000_2way": "nvlink2", "rtx_5000_2way": "nvlink2", "a100_pcie_2way": "nvlink3",
		"h100_pcie_2way": "nvlink4", "h200_nvl_2way": "nvlink4", "h200_nvl_4way": "nvlink4",
	}
	for _, want := range all.NVLink.Bridges {
		require.Contains(t, bridges, want.ID)
		assert.InDelta(t, want.Rate, nominal(bridges[want.ID], want.Links), 1e-9, want.ID)
	}
	for _, want := range all.PCIe.Generations {
		name := "pcie" + strconv.Itoa(want.Generation)
		l, err := c.Link(name)
		require.NoError(t, err)
		assert.InDelta(t, want.Raw, float64(l.Raw.Value())*16/1e9, 1e-9, name)
		assert.InDelta(t, want.Link, nominal(name, 16), 1e-3, name)
	}
	for _, want := range all.Sockets.Links {
		name := strings.Replace(want.ID, "_", "-", 1)
		assert.InDelta(t, want.Rate, nominal(name, 1), 1e-9, name)
		for _, cpu := range c.CPUs() {
			p, err := c.CPU(cpu)
			require.NoError(t, err)
			if n := int(p.SocketLinks.Value()); p.SocketLink == name {
				assert.True(t, want.Range[0] <= n && n <= want.Range[1], "%s has %d of %v", cpu, n, want.Range)
			}
		}
	}
	for _, want := range all.ScaleOut.InfiniBand {
		if want.Generation == "GDR" || want.Generation == "LDR" {
			continue // on a roadmap only
		}
		assert.InDelta(t, want.Rate, nominal("infiniband-"+strings.ToLower(want.Generation), 1), 1e-9, want.Generation)
	}
}

func TestCollectedSwitchesAndNICs(t *testing.T) {
	c := load(t)
	all := collection(t)
	for _, want := range all.NVSwitch.Generations {
		s, err := c.Switch(want.ID)
		require.NoError(t, err)
		assert.Equal(t, "nvlink"+strconv.Itoa(want.Generation), s.Link, want.ID)
		if want.Ports > 0 {
			assert.EqualValues(t, want.Ports, s.Ports.Value(), want.ID)
		}
		assert.EqualValues(t, want.Multicast, s.Multicast.Value(), want.ID)
		board := map[string]string{"nvswitch1": "dgx-2", "nvswitch2": "dgx-a100", "nvswitch3": "dgx-h100", "nvswitch4": "dgx-b200"}[want.ID]
		if board != "" {
			sys, err := c.System(board)
			require.NoError(t, err)
			assert.EqualValues(t, want.Planes, sys.NVLink.Planes.Value(), "%s on %s", want.ID, board)
		}
	}
	names := map[string]string{
		"Quantum QM8700 (HDR)": "quantum-hdr", "Quantum-2 QM9700 (NDR)": "quantum2-ndr", "Quantum-X800 Q3400 (XDR)": "quantum-x800-xdr",
		"Spectrum-4 SN5600": "spectrum4-sn5600", "Spectrum-4 SN5400": "spectrum4-sn5400", "Spectrum-6 SN6600": "spectrum6-sn6600",
		"Spectrum-6 SN6800-LD": "spectrum6-sn6800", "ConnectX-5": "connectx5-edr", "ConnectX-6": "connectx6-hdr", "ConnectX-7": "connectx7-ndr",
		"ConnectX-8": "connectx8-xdr", "ConnectX-9": "connectx9-xdr", "BlueField-3 B3140H": "bluefield3-b3140h",
		"BlueField-3 B3220": "bluefield3-b3220", "BlueField-3 B3240": "bluefield3-b3240",
	}
	port := func(id, link string, gbit float64) {
		l, err := c.Link(link)
		require.NoError(t, err)
		assert.InDelta(t, gbit/8, float64(l.Nominal())/1e9, 1e-9, id)
	}
	for _, want := range all.ScaleOut.Switches {
		s, err := c.Switch(names[want.ID])
		require.NoError(t, err, want.ID)
		assert.EqualValues(t, want.Ports, s.Ports.Value(), want.ID)
		assert.EqualValues(t, want.Watts, s.Power.Value(), want.ID)
		port(want.ID, s.Link, want.Port)
	}
	for _, want := range all.ScaleOut.NICs {
		n, err := c.NIC(names[want.ID])
		require.NoError(t, err, want.ID)
		port(want.ID, n.Link, want.Port)
	}
}

func TestCollectedSystems(t *testing.T) {
	c := load(t)
	names := map[string]string{
		"dgx1_p100": "dgx-1-p100", "dgx1_v100": "dgx-1-v100", "dgx2": "dgx-2", "hgx_a100_4gpu": "hgx-a100-4", "hgx_h100_4gpu": "hgx-h100-4",
		"dgx_h100_superpod_nvlink256": "dgx-h100-nvlink256", "gh200_nvl2": "gh200-2", "mgx_8x_h200_nvl": "pcie-h200-nvl-8",
	}
	for _, want := range collection(t).Systems {
		if want.ID == "rubin_ultra_nvl576" {
			continue // neither its links nor its switches are published
		}
		name, ok := names[want.ID]
		if !ok {
			name = strings.ReplaceAll(want.ID, "_", "-")
		}
		m, built := build(t, c, name, Options{})
		s := m.System
		assert.Len(t, built.Ranks, want.GPUs, name)
		if want.Generation != "" {
			assert.Equal(t, "nvlink"+want.Generation, s.NVLink.Link, name)
		}
		if want.Edges != nil {
			assert.EqualValues(t, want.Edges, s.NVLink.Edges.Value(), name)
		}
		switches := 0
		for _, n := range built.Graph.Nodes {
			if n.Kind == topology.NVSwitch {
				switches++
			}
		}
		if n := want.Switches + want.Level1 + want.Level2; n > 0 {
			if want.Level1 > 0 {
				n *= 2 // trays of two chips each
			}
			assert.Equal(t, n, switches, "%s, NVSwitches", name)
		}
		if want.External > 0 { // of two chips each, beside four in each node
			assert.Equal(t, 2*want.External+4*want.GPUs/8, switches, "%s, NVSwitches", name)
			leaving := 0
			for _, n := range s.NVLink.Tier.Uplinks.Value() {
				leaving += n
			}
			assert.Equal(t, want.Leaving, leaving, name)
		}
		if want.Pair > 0 {
			assert.Equal(t, want.Pair, widest(s), "%s, links that a pair can use", name)
		}
		if want.Trays > 0 {
			assert.EqualValues(t, want.Trays, s.Trays.Value(), name)
		}
		if want.Sockets > 0 {
			assert.EqualValues(t, want.Sockets, s.Sockets.Value(), name)
		}
		if want.PerSwitch > 0 {
			leaves := max(1, int(s.PCIe.Switches.Value()))
			roots := 0
			for _, n := range s.PCIe.Roots.Value() {
				roots += n
			}
			assert.Equal(t, want.GPUs, want.PerSwitch*leaves*roots, "%s, GPUs of a PCIe switch", name)
		}
		if n, _, ok := strings.Cut(want.NICs, "x "); ok && name != "vera-rubin-nvl72" {
			assert.Equal(t, n, s.NICs.String(), name)
		}
		power(t, name, s, want.Max, max(want.Typical, want.Planned), want.Supplies)
	}
}

// widest returns the links that the widest pair of GPUs has.
func widest(s *System) int {
	n := 0
	for _, p := range s.NVLink.Planes.Value() {
		n += p
	}
	for _, e := range s.NVLink.Edges.Value() {
		n = max(n, e[2])
	}
	return n
}

// power compares what a host draws and what its supplies, written "6x 3300 W",
// can give.
func power(t *testing.T, name string, s *System, most, typical float64, supplies string) {
	t.Helper()
	p := s.Power
	if p == nil {
		p = &Power{}
	}
	if most > 0 {
		assert.EqualValues(t, most, p.Max.Value(), name)
	}
	if typical > 0 {
		assert.EqualValues(t, typical, p.Typical.Value(), name)
	}
	if supplies != "" {
		var count, watts int
		_, err := fmt.Sscanf(supplies, "%dx %d W", &count, &watts)
		require.NoError(t, err, supplies)
		have := p.Supplies.Value()
		assert.Equal(t, count, have.Needed+have.Spare, name)
		assert.EqualValues(t, watts, have.Each, name)
	}
}

func TestCollectedSupermicro(t *testing.T) {
	c := load(t)
	boards := map[string]string{"H100": "h100-sxm5-80gb", "B200": "b200-sxm6-180gb", "B300": "b300-sxm6-288gb", "GB200": "gb200", "GB300": "gb300", "MI325X": "mi325x", "RTX": "rtx-pro-6000-server"}
	for _, want := range collection(t).Supermicro {
		name := strings.ToLower(want.ID)
		m, built := build(t, c, name, Options{})
		s := m.System
		switch {
		case strings.HasPrefix(want.GPUs, "4x"):
			assert.Len(t, built.Ranks, 4, name)
		default:
			assert.Len(t, built.Ranks, 8, name)
		}
		words := strings.FieldsFunc(want.GPUs, func(r rune) bool { return r == ' ' || r == '/' })
		for _, w := range words {
			if gpu, ok := boards[w]; ok {
				assert.Equal(t, gpu, s.GPU, "%s: %s", name, want.GPUs)
			}
		}
		switch {
		case want.Layout == "":
		case strings.Contains(want.Layout, "no switch"):
			assert.Empty(t, s.PCIe.Switch, "%s: %s", name, want.Layout)
		case strings.Contains(want.Layout, "switch") && !strings.Contains(want.Layout, "not published"):
			assert.NotEmpty(t, s.PCIe.Switch, "%s: %s", name, want.Layout)
		}
		roots := s.PCIe.Roots.Value()
		switch {
		case strings.Contains(want.Layout, "dual-root"):
			assert.True(t, roots[0] > 0 && roots[0] == roots[1], "%s: %s", name, want.Layout)
		case strings.Contains(want.Layout, "single-root"), strings.Contains(want.Layout, "cascaded"):
			assert.Zero(t, roots[1], "%s: %s", name, want.Layout)
		}
		for word, prefix := range map[string]string{
			"4th/5th": "xeon-sp", "5th gen (": "xeon-sp5", "6700": "xeon-6700p", "6900": "xeon-6900p", "EPYC 9004": "epyc-genoa", "9654": "epyc-genoa",
			"9575F": "epyc-turin", "9965": "epyc-turin", "9555": "epyc-turin", "Grace": "grace",
		} {
			if strings.Contains(want.CPU, word) && !strings.HasPrefix(want.CPU, "2x Xeon 4th/5th") || word == "4th/5th" && strings.Contains(want.CPU, word) {
				assert.True(t, strings.HasPrefix(s.CPU, prefix), "%s: %s, but %s", name, want.CPU, s.CPU)
			}
		}
		if want.PerGPU > 0 {
			assert.EqualValues(t, want.PerGPU, int(s.NICs.Value())/len(built.Ranks), name)
		}
		power(t, name, s, 0, want.Planned, want.Supplies)
	}
}
