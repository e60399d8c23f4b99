package draw

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/shortest"
)

var update = flag.Bool("update", false, "rewrite the golden pictures; look at them before you commit them")

func catalogued(t testing.TB, system string, o catalog.Options) *topology.Machine {
	t.Helper()
	c, err := catalog.Load()
	require.NoError(t, err)
	cm, err := c.Machine(system, o)
	require.NoError(t, err, system)
	m, err := machine.Build(cm.Spec)
	require.NoError(t, err, system)
	return m
}

// cluster is 4,096 GPUs: 512 hosts of 8 on three tiers of switches.
func cluster(t testing.TB) *topology.Machine {
	return catalogued(t, "dgx-h100", catalog.Options{Hosts: 512, Fabric: "ib-ndr-3-tier"})
}

func drawn(t testing.TB, m *topology.Machine) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, SVG(&b, m, Options{}), m.Name)
	return b.String()
}

// mesh is a graph of GPUs alone, each joined to those at some distances.
func mesh(t testing.TB, gpus int, steps ...int) *topology.Machine {
	t.Helper()
	g := &topology.Graph{}
	class := g.AddClass(topology.Class{Name: "wire", Raw: 50 * sim.GBps})
	var ids []topology.NodeID
	for i := range gpus {
		ids = append(ids, g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("node-%d", i), Host: -1, Unit: int32(i)}))
	}
	for _, step := range steps {
		for i := range ids {
			g.AddDuplex(topology.Link{From: ids[i], To: ids[(i+step)%gpus], Rate: 50 * sim.GBps, Class: class, Width: 1})
		}
	}
	m, err := shortest.Build(g, ids, shortest.Options{Name: fmt.Sprintf("mesh-%d", gpus), Relay: true})
	require.NoError(t, err)
	return m
}

// racks is a network without hosts, as an edge list describes it.
func racks(t testing.TB) *topology.Machine {
	t.Helper()
	g := &topology.Graph{}
	class := g.AddClass(topology.Class{Name: "wire", Raw: 50 * sim.GBps})
	join := func(a, b topology.NodeID) {
		g.AddDuplex(topology.Link{From: a, To: b, Rate: 50 * sim.GBps, Class: class, Width: 1})
	}
	var tops, gpus []topology.NodeID
	for i := range 2 {
		tops = append(tops, g.AddNode(topology.Node{Kind: topology.Switch, Name: fmt.Sprintf("a-switch-of-a-long-name-%d", i), Host: -1}))
	}
	for i := range 4 {
		tor := g.AddNode(topology.Node{Kind: topology.Switch, Name: fmt.Sprintf("tor%d", i), Host: -1})
		join(tor, tops[0])
		join(tor, tops[1])
		for j := range 4 {
			gpu := g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("r%d.g%d & <co>", i, j), Host: -1})
			gpus = append(gpus, gpu)
			join(gpu, tor)
		}
	}
	m, err := shortest.Build(g, gpus, shortest.Options{Name: "racks"})
	require.NoError(t, err)
	return m
}

// spoil changes the links whose ends have these names; * is any.
func spoil(t testing.TB, m *topology.Machine, from, to string, change func(*topology.Link)) *topology.Machine {
	t.Helper()
	n := 0
	for i := range m.Graph.Links {
		l := &m.Graph.Links[i]
		a, _ := filepath.Match(from, m.Graph.Nodes[l.From].Name)
		b, _ := filepath.Match(to, m.Graph.Nodes[l.To].Name)
		if a && b {
			change(l)
			n++
		}
	}
	require.Positive(t, n, "no link from %s to %s", from, to)
	return m
}

func halve(l *topology.Link) { l.Rate /= 2 }
func cut(l *topology.Link)   { l.Down = true }

// pictures are those that golden files hold, and that people have looked at.
func pictures(t testing.TB) map[string]*topology.Machine {
	one := catalog.Options{}
	faulty := spoil(t, cluster(t), "n37.gpu3", "n37.nvswitch1", halve)
	return map[string]*topology.Machine{
		"dgx-h100":       catalogued(t, "dgx-h100", one),
		"dgx-1-v100":     catalogued(t, "dgx-1-v100", one),
		"hgx-h100-4":     catalogued(t, "hgx-h100-4", one),
		"pcie-a100-8":    catalogued(t, "pcie-a100-8", one),
		"pcie-rtx4090-8": catalogued(t, "pcie-rtx4090-8", one),
		"gb200-nvl72":    catalogued(t, "gb200-nvl72", one),
		"rails-4":        catalogued(t, "dgx-h100", catalog.Options{Hosts: 4}),
		"cluster-4096":   cluster(t),
		"bench-star-72":  catalogued(t, "bench-star", catalog.Options{GPUs: 72}),
		"faulty-host":    spoil(t, faulty, "leaf9", "spine8", cut),
		"faulty-tray":    spoil(t, catalogued(t, "gb200-nvl72", one), "n0.gpu10", "n0.nvswitch*", cut),
		"mesh-8":         mesh(t, 8, 1),
		"mesh-64":        mesh(t, 64, 1, 8),
		"mesh-1024":      mesh(t, 1024, 1, 32),
		"racks":          racks(t),
	}
}

var (
	attribute = regexp.MustCompile(`="[^"]*"`)
	fraction  = regexp.MustCompile(`\.\d+`)
)

// normal leaves out of the attributes what another machine could round
// differently: parts of a pixel.
func normal(svg string) string {
	return attribute.ReplaceAllStringFunc(svg, func(s string) string { return fraction.ReplaceAllString(s, "") })
}

func TestGoldenPictures(t *testing.T) {
	for name, m := range pictures(t) {
		t.Run(name, func(t *testing.T) {
			got := drawn(t, m)
			file := filepath.Join("testdata", name+".svg")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.True(t, normal(string(want)) == normal(got), "%s differs from %s: draw it with -update and look at both", name, file)
		})
	}
}

func TestPicturesStandAlone(t *testing.T) {
	for name, m := range pictures(t) {
		t.Run(name, func(t *testing.T) {
			svg := drawn(t, m)
			assert.Less(t, len(svg), 300_000, "bytes")
			assert.Equal(t, svg, drawn(t, m), "the same picture twice")
			elements := map[string]int{}
			for d := xml.NewDecoder(strings.NewReader(svg)); ; {
				tok, err := d.Token()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				e, ok := tok.(xml.StartElement)
				if !ok {
					continue
				}
				elements[e.Name.Local]++
				for _, a := range e.Attr {
					assert.NotContains(t, a.Name.Local, "href")
					assert.False(t, strings.HasPrefix(a.Name.Local, "on"), "%s on %s", a.Name.Local, e.Name.Local)
					assert.NotContains(t, a.Value, "NaN")
					assert.NotContains(t, a.Value, "url(")
				}
			}
			assert.Positive(t, elements["title"])
			assert.Equal(t, 1, elements["desc"])
			for e := range elements {
				assert.Contains(t, []string{"svg", "g", "title", "desc", "rect", "path", "text"}, e)
			}
		})
	}
}

// checkScene holds a panel against what a reader would complain about: boxes
// on boxes, things outside, margins on margins.
func checkScene(t *testing.T, s *scene) {
	t.Helper()
	for i, a := range s.boxes {
		assert.True(t, a.x >= -0.01 && a.y >= -0.01 && a.x+a.w <= s.w+0.01 && a.y+a.h <= s.h+0.01, "%s: %q at %g,%g of %gx%g is outside %gx%g", s.title, a.label, a.x, a.y, a.w, a.h, s.w, s.h)
		for _, b := range s.boxes[:i] {
			apart := a.x+a.w <= b.x+0.01 || b.x+b.w <= a.x+0.01 || a.y+a.h <= b.y+0.01 || b.y+b.h <= a.y+0.01
			assert.True(t, apart, "%s: %q lies on %q", s.title, a.label, b.label)
		}
		assert.NotEqual(t, "…", a.label)
	}
	end := -100.0
	for _, m := range s.notes {
		half := 7.5 * float64(len(m.lines))
		assert.GreaterOrEqual(t, m.y-half, end-0.01, "%s: the note %q lies on the one above", s.title, m.lines)
		end = m.y + half
		for _, l := range m.lines {
			assert.LessOrEqual(t, textWidth(l, letterSize), rightGutter, "%s: %q is cut off", s.title, l)
		}
	}
}

func TestNothingOverlaps(t *testing.T) {
	c, err := catalog.Load()
	require.NoError(t, err)
	for _, name := range c.Systems() {
		t.Run(name, func(t *testing.T) {
			hosts := []int{1}
			if s, err := c.System(name); err == nil && s.Fabric != "" {
				hosts = append(hosts, 4, 20)
			}
			for _, n := range hosts {
				cm, err := c.Machine(name, catalog.Options{Hosts: n})
				require.NoError(t, err)
				m, err := machine.Build(cm.Spec)
				if err != nil {
					continue // a network that does not fit so many is the builders' business
				}
				for _, s := range split(m).scenes() {
					checkScene(t, s)
				}
			}
		})
	}
	for name, m := range pictures(t) {
		t.Run(name, func(t *testing.T) {
			for _, s := range split(m).scenes() {
				checkScene(t, s)
			}
		})
	}
}
