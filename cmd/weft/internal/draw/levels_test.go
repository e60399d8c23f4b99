package draw

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

func titles(m *topology.Machine) []string {
	var out []string
	for _, s := range split(m).scenes() {
		out = append(out, s.title)
	}
	return out
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		name           string
		m              *topology.Machine
		units, domains int
		tiers          int32
		titles         []string
	}{
		{"a host is one unit", catalogued(t, "dgx-h100", catalog.Options{}), 1, 1, 0, []string{"The host"}},
		{"sockets hold two boards together", catalogued(t, "dgx-2", catalog.Options{}), 1, 1, 0, []string{"The host"}},
		{"trays", catalogued(t, "gb200-nvl72", catalog.Options{}), 18, 1, 0, []string{"The host", "Inside each tray: all 18 are equal"}},
		{"switches of a board are its own", catalogued(t, "dgx-h100-nvlink256", catalog.Options{}), 32, 1, 0, []string{"The host", "Inside each tray: all 32 are equal"}},
		{"bare GPUs have no inside", catalogued(t, "bench-star", catalog.Options{GPUs: 72}), 72, 1, 0, []string{"The host"}},
		{"a network", cluster(t), 512, 512, 3, []string{"The network: 512 hosts and 320 switches in 3 tiers", "Inside each host: all 512 are equal"}},
		{"racks of a network without hosts", racks(t), 16, 16, 2, []string{"The network: 16 GPUs and 6 switches in 2 tiers"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lv := split(c.m)
			assert.Len(t, lv.units, c.units)
			assert.Len(t, lv.domains, c.domains)
			assert.Equal(t, c.tiers, lv.tiers)
			assert.Equal(t, c.titles, titles(c.m))
		})
	}
}

func TestWhatDiffersIsDrawnApart(t *testing.T) {
	m := spoil(t, cluster(t), "n37.gpu3", "n37.nvswitch1", halve)
	assert.Equal(t, []string{"Inside host 0, and 510 like it", "Inside host 37"}, titles(m)[1:])
	svg := drawn(t, m)
	for _, want := range []string{">host 37<", ">127 hosts<", ">3 equal groups, each of 128 hosts, 1,024 GPUs<", ">1 slow link<", ">44.0 GB/s<"} {
		assert.Contains(t, svg, want)
	}
}

func TestNamesAndPlacesDoNotCount(t *testing.T) {
	m := catalogued(t, "gb200-nvl72", catalog.Options{})
	for i := range m.Graph.Nodes {
		m.Graph.Nodes[i].Name = "x" + m.Graph.Nodes[i].Name
		m.Graph.Nodes[i].Unit = int32(i)
	}
	lv := split(m)
	assert.Len(t, classes(len(lv.units), func(i int) uint64 { return lv.units[i].like }), 1)
}

func TestSlowIsRare(t *testing.T) {
	slow := func(m *topology.Machine) (n int) {
		for _, s := range newIndex(m.Graph).slow {
			if s {
				n++
			}
		}
		return n
	}
	assert.Zero(t, slow(catalogued(t, "dgx-h100", catalog.Options{})), "5 links to some planes, 4 to others")
	assert.Zero(t, slow(catalogued(t, "dgx-1-v100", catalog.Options{})), "single and double links")
	m := mesh(t, 64, 1, 8)
	for i := range m.Graph.Links[:128] {
		m.Graph.Links[i].Rate *= 2
	}
	assert.Zero(t, slow(m), "two rates by design")
	assert.Equal(t, 1, slow(spoil(t, catalogued(t, "pcie-a100-8", catalog.Options{}), "n0.gpu5", "n0.pcie-sw1", halve)))
}

// TestOnlyFaultyHostsAreFramed: a plane that is slow as a whole is slow beside
// its sister planes, and of hosts in equal number the faulty one is the odd one.
func TestOnlyFaultyHostsAreFramed(t *testing.T) {
	halvePlane := func(m *topology.Machine) *topology.Machine {
		return spoil(t, spoil(t, m, "n0.nvswitch1", "n0.gpu*", halve), "n0.gpu*", "n0.nvswitch1", halve)
	}
	for _, hosts := range []int{1, 2} {
		m := halvePlane(catalogued(t, "dgx-h100", catalog.Options{Hosts: hosts}))
		x := newIndex(m.Graph)
		for i, l := range m.Graph.Links {
			in := m.Graph.Nodes[l.From].Name == "n0.nvswitch1" || m.Graph.Nodes[l.To].Name == "n0.nvswitch1"
			assert.Equal(t, in, x.slow[i], "%s > %s", m.Graph.Nodes[l.From].Name, m.Graph.Nodes[l.To].Name)
		}
	}
	m := halvePlane(catalogued(t, "dgx-h100", catalog.Options{Hosts: 2}))
	lv := split(m)
	assert.Equal(t, []bool{true, false}, lv.minority(lv.domains))
	// Both have a NIC without a leaf.
	m = spoil(t, spoil(t, m, "leaf1", "*", cut), "*", "leaf1", cut)
	lv = split(m)
	assert.Equal(t, []bool{true, false}, lv.minority(lv.domains))
	assert.Equal(t, "1 link down, 8 slow", lv.faults(lv.domains[0]))
	// A sound host among faulty ones is the usual one.
	m = catalogued(t, "dgx-h100", catalog.Options{Hosts: 4})
	for _, host := range []string{"n0", "n2", "n3"} {
		m = spoil(t, spoil(t, m, host+".gpu0", host+".nvswitch0", cut), host+".nvswitch0", host+".gpu0", cut)
	}
	lv = split(m)
	assert.Equal(t, []bool{true, false, true, true}, lv.minority(lv.domains))
}

// 26 GB/s of PCIe is 0.28 x sqrt(26) = 1.4 pixels, 396 GB/s of NVLink 5.6.
func TestThickness(t *testing.T) {
	assert.InDelta(t, 1.4, thickness(26*sim.GBps), 0.05)
	assert.InDelta(t, 5.6, thickness(396*sim.GBps), 0.05)
	assert.Equal(t, 0.8, thickness(sim.GBps), "never invisible")
}

func TestWords(t *testing.T) {
	for r, want := range map[sim.Rate]string{
		41.4588 * sim.GBps: "41.5 GB/s", 745.9 * sim.GBps: "746 GB/s", 1492.6 * sim.GBps: "1,493 GB/s",
		26865 * sim.GBps: "26.9 TB/s", 0.05 * sim.GBps: "50.0 MB/s", 3 * sim.GBps: "3.00 GB/s",
	} {
		assert.Equal(t, want, rate(r))
	}
	for name, want := range map[string]string{"n3.gpu7": "GPU 7", "n3.pcie-sw0": "PCIe switch 0", "n3.gpuX": "gpuX", "n4.gpu7": "n4.gpu7", "leaf12": "leaf12"} {
		node := topology.Node{Name: name, Host: 3}
		if name == "leaf12" {
			want, node.Host = "leaf 12", -1
		}
		assert.Equal(t, want, label(node))
	}
	assert.Equal(t, "8 leaves", plural(8, "leaf"))
	assert.Equal(t, "2 host memories", plural(2, "host memory"))
	assert.Equal(t, "1,024 switches", plural(1024, "switch"))
	assert.Equal(t, []string{"one two", "three"}, wrap("one two three", 8))
	assert.Equal(t, "abc…", fit("abcdefgh", 10, 4*10*advance))
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestErrors(t *testing.T) {
	err := SVG(broken{}, catalogued(t, "dgx-gb10", catalog.Options{}), Options{})
	require.ErrorContains(t, err, "draw dgx-gb10: disk full")
	err = SVG(&strings.Builder{}, &topology.Machine{Name: "void", Graph: &topology.Graph{}}, Options{})
	require.ErrorContains(t, err, "draw void: it has no nodes")
}

func BenchmarkSVG4096(b *testing.B) {
	m := cluster(b)
	b.ReportAllocs()
	for b.Loop() {
		drawn(b, m)
	}
	if per := b.Elapsed() / time.Duration(b.N); per > 200*time.Millisecond {
		b.Errorf("%v for a picture of 4,096 GPUs, the bar is 200ms", per)
	}
}

// Two GPUs and a bridge; the picture says in words what it shows.
func ExampleSVG() {
	g := &topology.Graph{}
	class := g.AddClass(topology.Class{Name: "nvlink3", Raw: 25 * sim.GBps})
	a := g.AddNode(topology.Node{Kind: topology.GPU, Name: "n0.gpu0"})
	b := g.AddNode(topology.Node{Kind: topology.GPU, Name: "n0.gpu1", Unit: 1})
	g.AddDuplex(topology.Link{From: a, To: b, Rate: 92 * sim.GBps, Class: class, Width: 4})
	m := &topology.Machine{Name: "pair", Graph: g, Ranks: []topology.NodeID{a, b}, Hosts: 1}

	var svg strings.Builder
	if err := SVG(&svg, m, Options{Title: "Two cards and a bridge"}); err != nil {
		panic(err)
	}
	_, words, _ := strings.Cut(svg.String(), `<desc id="desc">`)
	words, _, _ = strings.Cut(words, "</desc>")
	fmt.Println(words)
	// Output: Two cards and a bridge: 2 GPUs · bisection 92.0 GB/s each way. The host. nvlink3: 92.0 GB/s; GPU – GPU; GPU 0 sends 92.0 GB/s, 4 links.
}
