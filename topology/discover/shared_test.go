package discover_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/pcie"
)

// expected returns what an independent reader counted in the files of a
// folder, by file.
func expected(t *testing.T, folder string) map[string]string {
	t.Helper()
	root := os.Getenv("WEFT_SHARED")
	if root == "" {
		root = filepath.Join(repository(t), "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(root, "traces", "EXPECTED.md"))
	if err != nil {
		t.Skipf("no EXPECTED.md: %v", err)
	}
	_, section, ok := strings.Cut(string(text), "\n## "+folder+"\n")
	require.True(t, ok, folder)
	section, _, _ = strings.Cut(section, "\n## ")
	lines := make(map[string]string)
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`: (.*)$").FindAllStringSubmatch(section, -1) {
		lines[m[1]] = m[2]
	}
	return lines
}

// number returns the number that follows a phrase.
func number(t *testing.T, line, phrase string) int {
	t.Helper()
	m := regexp.MustCompile(regexp.QuoteMeta(phrase) + ` (\d+)`).FindStringSubmatch(line)
	require.NotNil(t, m, "%s in %s", phrase, line)
	n, err := strconv.Atoi(m[1])
	require.NoError(t, err)
	return n
}

// table returns the counts in the braces that follow a phrase.
func table(t *testing.T, line, phrase string) map[string]int {
	t.Helper()
	m := regexp.MustCompile(regexp.QuoteMeta(phrase) + ` \{([^}]*)\}`).FindStringSubmatch(line)
	require.NotNil(t, m, "%s in %s", phrase, line)
	counts := make(map[string]int)
	for _, e := range regexp.MustCompile(`'([^']*)': (\d+)`).FindAllStringSubmatch(m[1], -1) {
		counts[e[1]], _ = strconv.Atoi(e[2])
	}
	return counts
}

// forAll reads every file of a folder that has expectations.
func forAll(t *testing.T, folder string, check func(t *testing.T, want string, content []byte, d *discover.Dump)) {
	files := sharedFiles(t, folder)
	want := expected(t, folder)
	require.Len(t, want, len(files))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Run(name, func(t *testing.T) {
			d, err := discover.Read(name, files[name])
			require.NoError(t, err)
			check(t, want[name], files[name], d)
		})
	}
}

func TestSharedMatrices(t *testing.T) {
	gpuRow := regexp.MustCompile(`(?m)^GPU\d+\s+(X|[A-Z])`)
	forAll(t, "nvidia_smi_topo", func(t *testing.T, want string, content []byte, d *discover.Dump) {
		assert.Equal(t, discover.SMIMatrix, d.Format)
		m := d.Hosts[0].Matrix
		rows := len(gpuRow.FindAll(content, -1))
		if !strings.Contains(string(content[:8]), "GPU0    X") && bytes.HasPrefix(content, []byte("GPU0    GPU1")) {
			rows-- // a header without its corner is no row
		}
		assert.Equal(t, number(t, want, "GPU rows"), rows)
		cells := make(map[string]int)
		for i := range rows {
			for j := range rows {
				cells[m.At(i, j).String()]++
			}
		}
		assert.Equal(t, table(t, want, "GPU-GPU cells (rows present)"), cells)
		if m.Complete() {
			nics := len(m.Devices) - m.GPUs
			if len(m.Legend) > 0 {
				nics++ // the other reader counted the line "NIC Legend:"
			}
			assert.Equal(t, number(t, want, "NIC rows"), nics)
		}
	})
}

// TestSharedRoundTrip: every cell of every matrix comes back from what is
// printed, and from the machine that is made of it, GPU by GPU and NIC by NIC.
func TestSharedRoundTrip(t *testing.T) {
	complete := 0
	forAll(t, "nvidia_smi_topo", func(t *testing.T, _ string, content []byte, d *discover.Dump) {
		m := d.Hosts[0].Matrix
		var out bytes.Buffer
		require.NoError(t, m.Write(&out, bytes.Contains(content, []byte("\x1b[4m"))))
		again, err := discover.Read("again", out.Bytes())
		require.NoError(t, err)
		assert.Equal(t, m, again.Hosts[0].Matrix)
		if m.Complete() {
			complete++
		}

		s, err := d.Spec(&bench{})
		require.NoError(t, err)
		assert.Empty(t, m.Diff(discover.Relations(&s)))
		checkBuilt(t, &s, m)
	})
	assert.Equal(t, 8, complete)
}

// checkBuilt builds the machine and compares the kinds of its paths with the
// words.
func checkBuilt(t *testing.T, s *machine.Spec, m *discover.Matrix) {
	t.Helper()
	built, err := machine.Build(*s)
	require.NoError(t, err)
	require.NoError(t, built.CheckRoutes())
	for i := range m.GPUs {
		for j := range m.GPUs {
			p, err := built.Route(int32(i), int32(j), nil)
			require.NoError(t, err)
			// The tool prints the PCIe word of a pair that NVLink joins
			// through a peer.
			if c := m.At(i, j); c.Known && p.Kind != topology.NVB {
				assert.Equal(t, c.Kind, p.Kind, "GPU%d to GPU%d", i, j)
			}
		}
	}
	if s.Host.PCIe == nil {
		return
	}
	g := &topology.Graph{}
	var gpus []topology.NodeID
	for i := range m.GPUs {
		gpus = append(gpus, g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprint(i)}))
	}
	tree, err := pcie.Build(g, s.Host.PCIe, gpus, 0, "", 0)
	require.NoError(t, err)
	device := func(i int) pcie.Device {
		if i < m.GPUs {
			return tree.GPU(i)
		}
		return tree.NIC(i - m.GPUs)
	}
	for i := range m.Devices {
		for j := range m.Devices {
			if c := m.At(i, j); c.Known && c.Kind != topology.NVL {
				p, ok := tree.Route(device(i), device(j), nil)
				assert.True(t, ok)
				assert.Equal(t, c.Kind, p.Kind, "%s to %s", m.Devices[i], m.Devices[j])
			}
		}
	}
}

// TestSharedBytes: raw output comes back byte for byte. The third file's
// driver is old and its legend has other words.
func TestSharedBytes(t *testing.T) {
	files := sharedFiles(t, "nvidia_smi_topo")
	for name, all := range map[string]bool{"h200_hgx_8gpu_8nic_google.txt": true, "pcie_2x_rtx4090_sys.txt": true, "dgx1_v100_8gpu_4nic.txt": false} {
		d, err := discover.Read(name, files[name])
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, d.Hosts[0].Matrix.Write(&out, bytes.Contains(files[name], []byte("\x1b[4m"))))
		want, got := string(files[name]), out.String()
		if !all {
			want, _, _ = strings.Cut(want, "Legend")
			got, _, _ = strings.Cut(got, "Legend")
		}
		assert.Equal(t, strings.TrimRight(want, "\n"), strings.TrimRight(got, "\n"), name)
	}
}

func TestSharedQueries(t *testing.T) {
	forAll(t, "nvidia_smi_qx", func(t *testing.T, want string, _ []byte, d *discover.Dump) {
		assert.Equal(t, discover.SMIQuery, d.Format)
		names, states, cliques := make(map[string]int), make(map[string]int), make(map[string]int)
		for _, g := range d.Hosts[0].GPUs {
			names[g.Name]++
			assert.Contains(t, want, fmt.Sprintf("('%d', '%dx')", g.PCIe.Gen, g.PCIe.Width))
			state, clique := "N/A", "N/A"
			if g.Fabric != nil {
				state, clique = g.Fabric.State, strconv.Itoa(g.Fabric.Clique)
			}
			states[state]++
			cliques[clique]++
		}
		assert.Len(t, d.Hosts[0].GPUs, number(t, want, "gpus"))
		assert.Equal(t, table(t, want, "product"), names)
		assert.Equal(t, table(t, want, "fabric state"), states)
		assert.Equal(t, table(t, want, "cliqueId"), cliques)
	})
}

func TestSharedNCCL(t *testing.T) {
	forAll(t, "nccl_topo_xml", func(t *testing.T, want string, content []byte, d *discover.Dump) {
		assert.Equal(t, discover.NCCLTopo, d.Format)
		classes := make(map[string]int)
		cpus, pcis, gpus, elements, nets, bare := 0, 0, 0, 0, 0, 0
		links, sums := make(map[discover.LinkKind]int), make(map[discover.LinkKind]int)
		for _, h := range d.Hosts {
			cpus += len(h.CPUs)
			pcis += len(h.PCI)
			for _, p := range h.PCI {
				classes[fmt.Sprintf("0x%04x", p.Class>>8)]++
			}
			gpus += len(h.GPUs)
			for _, g := range h.GPUs {
				if g.SM > 0 {
					elements++
				}
				if len(g.Links) == 0 {
					bare++
				}
				for _, l := range g.Links {
					links[l.Kind]++
					sums[l.Kind] += l.Count
				}
			}
			for _, n := range h.NICs {
				if n.Name != "" {
					nets++
				}
			}
		}
		assert.Equal(t, number(t, want, "; cpu"), cpus)
		assert.Equal(t, number(t, want, "; pci"), pcis)
		assert.Equal(t, table(t, want, "by class prefix"), classes)
		assert.Equal(t, number(t, want, "gpu elements"), elements)
		assert.Equal(t, number(t, want, "; net"), nets)
		assert.Equal(t, number(t, want, "; xgmi"), links[discover.XGMI])
		assert.Equal(t, number(t, want, fmt.Sprintf("xgmi %d (count sum", links[discover.XGMI])), sums[discover.XGMI])
		nvlinks, nvsum := number(t, want, "; nvlink"), links[discover.NVLink]
		if strings.Contains(string(content), `busid="0001:00:00.0" class="0x030200" vendor`) && elements > 0 {
			// NVLinks of a GPU to itself are told, and not kept.
			ignored := 0
			for _, n := range d.Notes {
				if n.Kind == discover.Ignored && strings.Contains(n.Text, "to itself") {
					ignored++
				}
			}
			assert.Equal(t, nvlinks, ignored)
		} else {
			assert.Equal(t, nvlinks, nvsum)
			assert.Equal(t, number(t, want, fmt.Sprintf("nvlink %d (count sum", nvlinks)), sums[discover.NVLink])
			if elements > 0 {
				assert.Equal(t, number(t, want, "gpus without nvlink"), bare)
			}
		}
		assert.Equal(t, number(t, want, "distinct hosts"), len(d.Hosts))
		if strings.Contains(want, "c2c {('44712', '5'): 8}") {
			assert.Equal(t, 8, links[discover.C2C])
			assert.Equal(t, 40, sums[discover.C2C])
		}
	})
}

// TestSharedMachines: of every file that has GPUs a machine can be made.
func TestSharedMachines(t *testing.T) {
	for _, folder := range []string{"nccl_topo_xml", "nvidia_smi_qx"} {
		forAll(t, folder, func(t *testing.T, _ string, _ []byte, d *discover.Dump) {
			s, err := d.Spec(&bench{board: []int{5, 4, 4, 5}})
			require.NoError(t, err)
			m, err := machine.Build(s)
			require.NoError(t, err)
			require.NoError(t, m.CheckRoutes())
			n := 0
			for _, h := range d.Hosts {
				n += len(h.GPUs)
			}
			assert.Len(t, m.Ranks, n)
			require.NotEmpty(t, discover.Relations(&s).Devices)
		})
	}
}

func TestSharedGraphs(t *testing.T) {
	forAll(t, "nccl_graph_xml", func(t *testing.T, want string, _ []byte, d *discover.Dump) {
		assert.Equal(t, discover.NCCLGraph, d.Format)
		assert.Len(t, d.Graphs, number(t, want, "graphs"))
		channels := 0
		for _, g := range d.Graphs {
			channels += len(g.Channels)
			assert.Contains(t, want, fmt.Sprintf("id %d pattern %d nchannels %d speedintra %v", g.ID, g.Pattern, g.Wanted, float64(g.Intra)/1e9))
			assert.Len(t, g.Channels, g.Wanted)
		}
		assert.Equal(t, number(t, want, "channels"), channels)
		_, err := d.Spec(&bench{})
		assert.ErrorIs(t, err, discover.ErrNoMachine)
	})
}

func TestSharedLstopo(t *testing.T) {
	forAll(t, "lstopo_xml", func(t *testing.T, want string, _ []byte, d *discover.Dump) {
		assert.Equal(t, discover.Lstopo, d.Format)
		objects := table(t, want, "objects "+strconv.Itoa(number(t, want, "objects"))+":")
		bridges, devices := 0, 0
		for _, p := range d.Hosts[0].PCI {
			if p.Role == discover.Endpoint {
				devices++
			} else {
				bridges++
			}
		}
		assert.Equal(t, objects["Bridge"], bridges)
		assert.Equal(t, objects["PCIDev"], devices)
		assert.Len(t, d.Hosts[0].CPUs, objects["NUMANode"])
		_, err := d.Spec(&bench{})
		assert.ErrorIs(t, err, discover.ErrNoMachine, "none has a GPU that is listed")
	})
}
