package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// weft runs the command and returns what it printed and its exit code.
func weft(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command("weft", args...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "COLUMNS=")
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		code = exit.ExitCode()
	}
	return out.String(), errs.String(), code
}

// recorded are the recorded files of machines: what `weft topo` says of each.
// A file that is refused has its exit code and the reason; one that a flag is
// needed for is run again with it.
var recorded = []struct {
	file string
	code int
	want string // of standard output, or of the refusal
	args string // that make it a machine
	then string // of the output with args
}{
	{"nvidia_smi_topo/b200_8gpu_gpu2_off_fabric_truncated.txt", 3, `18 NVLinks each they can be h100`, "--gpu b200", `n0\.gpu2 has no NVLink, though other GPUs have`},
	{"nvidia_smi_topo/b300_8gpu_8nic_cx8.txt", 3, `--gpu`, "--gpu b300", `18 links a GPU over 2\s+NVSwitches`},
	{"nvidia_smi_topo/dgx1_v100_8gpu_4nic.txt", 3, `they can be v100`, "--gpu v100", `NVB  +NVLink, through another GPU`},
	{"nvidia_smi_topo/dgx2_v100_16gpu_10nic_truncated.txt", 3, `they can be v100`, "--gpu v100-sxm3", `6 NVSwitches \(6x1\) as in dgx-2`},
	{"nvidia_smi_topo/gb200_4gpu_6nic_numa_lists_truncated.txt", 3, `gb200`, "--gpu gb200", `repaired: 7 rows are missing`},
	{"nvidia_smi_topo/gb200_tray_4gpu.txt", 3, `gb200`, "--gpu gb200", `4 GPUs .* 18 NVSwitches`},
	{"nvidia_smi_topo/h100_4gpu_nv6_4nic.txt", 3, `h100`, "--gpu h100", `each pair by 6 NVLinks`},
	{"nvidia_smi_topo/h100_8gpu_9nic_truncated.txt", 3, `h100`, "--gpu h100", `repaired: 4 rows are missing`},
	{"nvidia_smi_topo/h200_hgx_8gpu_8nic_google.txt", 3, `h200`, "--gpu h200", `NVIDIA H200 SXM5`},
	{"nvidia_smi_topo/pcie_2x_rtx4090_sys.txt", 3, `does not name the kind of its GPUs`, "--gpu 4090", `SYS  +the link between CPUs, by host memory`},
	{"nvidia_smi_topo/pcie_4gpu_npS4_badheader.txt", 3, `does not name the kind`, "--gpu a40", `nothing is wired to it`},
	{"nvidia_smi_topo/pcie_4x3090_nvlink_pairs.txt", 3, `rtx-3090`, "--gpu 3090", `NVLink joins pairs of GPUs only`},

	{"nvidia_smi_qx/qx-a100.xml.gz", 0, `1 node with 1 GPU \(NVIDIA A100 SXM4 40 GB\)`, "", ""},
	{"nvidia_smi_qx/qx-gb200.xml.gz", 0, `4 GPUs \(NVIDIA GB200[^)]*\)[^$]*clique 2`, "", ""},
	{"nvidia_smi_qx/qx-h100.xml.gz", 0, `8 GPUs \(NVIDIA H100 SXM5 80 GB\)`, "", ""},

	{"nccl_topo_xml/aws_p4d-24xl-topo.xml", 3, `--gpu`, "--gpu a100-sxm4-40gb", `8 GPUs .* 6 NVSwitches, 4 PCIe switches.* 4 NICs`},
	{"nccl_topo_xml/aws_p5.48xl-topo.xml", 0, `8 GPUs \(NVIDIA H100 SXM5.* 32 NICs`, "", ""},
	{"nccl_topo_xml/azure_ncv4-topo.xml", 0, `4 GPUs \(NVIDIA A100 PCIe 80 GB\)[^$]*nvlink of 12 links from the GPU to itself`, "", ""},
	{"nccl_topo_xml/azure_ndv2-topo.xml", 3, `--gpu`, "--gpu v100", `NVLinks are those between the GPUs of dgx-1-v100`},
	{"nccl_topo_xml/azure_ndv4-topo.xml", 3, `--gpu`, "--gpu a100", `8 GPUs .* 6 NVSwitches`},
	{"nccl_topo_xml/azure_ndv5-topo.xml", 3, `--gpu`, "--gpu h100", `8 GPUs .* 4 NVSwitches`},
	{"nccl_topo_xml/gb300_2tray_mnnvl.xml", 0, `8 GPUs \(NVIDIA GB300`, "", ""},
	{"nccl_topo_xml/oci_BM.GPU4.8_A100-flattened.xml", 3, `--gpu`, "--gpu a100-sxm4-40gb", `8 GPUs .* 6 NVSwitches`},
	{"nccl_topo_xml/oci_H100-topology.xml", 0, `8 GPUs \(NVIDIA H100 SXM5.* 4 NVSwitches`, "", ""},
	{"nccl_topo_xml/rccl_topo_16p1h.xml", 3, `AMD gfx910, which the catalogue does not have .*mi325x`, "", ""},
	{"nccl_topo_xml/rccl_topo_3p_pcie.xml", 3, `AMD gfx910`, "--gpu mi325x", `3 GPUs`},
	{"nccl_topo_xml/rccl_topo_4p4h.xml", 3, `AMD gfx908`, "", ""},
	{"nccl_topo_xml/rccl_topo_8p1h.xml", 3, `AMD gfx910`, "", ""},
	{"nccl_topo_xml/rccl_topo_8p_90a.xml", 3, `AMD gfx910`, "", ""},
	{"nccl_topo_xml/rccl_topo_8p_940.xml", 0, `8 GPUs \(AMD Instinct MI325X`, "", ""},
	{"nccl_topo_xml/rccl_topo_8p_rome_pcie.xml", 3, `AMD gfx906`, "--gpu mi325x", `8 GPUs`},
	{"nccl_topo_xml/rccl_topo_collnet_n1.xml", 3, `AMD gfx908`, "", ""},

	{"nccl_graph_xml/azure_ncv4-graph.xml", 0, `is an NCCL graph: .* 3 graphs[^$]*Graph 0, ring: 2 channels\n  each 12\.0 GB/s`, "", ""},
	{"nccl_graph_xml/gb300_1tray_graph.xml", 0, `5 graphs[^$]*Graph 0, ring: 16 channels\n  each 45\.0 GB/s`, "", ""},

	{"lstopo_xml/32em64t-2n8c+dax+nvme+mic+dimms.xml", 4, `shows no GPU`, "", ""},
	{"lstopo_xml/devel09-pci.xml", 4, `shows no GPU`, "", ""},
	{"lstopo_xml/dgx_gb10_nomidr.xml", 4, `shows no GPU`, "", ""},

	{"fabric/htsim_fat_tree_1024.topo", 0, `1,024 nodes`, "", ""},
	{"fabric/htsim_leaf_spine_tiny.topo", 0, `htsim topology`, "", ""},
	{"fabric/htsim_perm_32n_32c_2MB.cm", 4, `holds traffic`, "", ""},
	{"fabric/ibnetdiscover_example.out.gz", 3, `names no GPUs; write gpus:`, "--gpu h100 --set gpus=8", `123 nodes with 984 GPUs .* 542 NICs and 40 switches`},
	{"fabric/superbench_ibstat.txt", 4, `the adapters of servers, and no cables`, "", ""},
	{"fabric/topograph_model_medium.yaml", 3, `names no GPUs`, "--gpu h100 --set gpus=8", `holds no speeds`},
	{"fabric/topograph_model_nvl72.yaml", 3, `names no GPUs`, "--gpu gb200 --set gpus=4", `4 NVLink domains .* counted and not wired`},

	{"simai_topo/DCN+SingleToR_64g_8gps_400Gbps_H100", 0, `8 nodes with 64 GPUs`, "", ""},
	{"simai_topo/Spectrum-X_128g_8gps_100Gbps_A100", 0, `16 nodes with 128 GPUs.* 72 switches`, "", ""},

	{"astra_config/analytical_Ring_FullyConnected_Switch.yml", 0, `ASTRA-sim network`, "", ""},
	{"astra_config/network_analytical_HGX-H100-validated.yml", 0, `8 GPUs`, "", ""},
	{"astra_config/network_analytical_Ring_16npus.yml", 0, `16 GPUs`, "", ""},
	{"astra_config/network_dgx_v100_8gpu.yml", 4, `yml:11:14: "tbd"`, "", ""},
	{"astra_config/network_hgx_h100_16gpu.yml", 0, `2 nodes with 16 GPUs`, "", ""},
	{"astra_config/network_htsim_8nodes.topo", 0, `htsim topology`, "", ""},
	{"astra_config/network_ns3_sample_16nodes_2D.json", 4, `sizes of the dimensions`, "", ""},
	{"astra_config/ns3_8_nodes_1_switch_topology.txt", 0, `8 GPUs`, "", ""},
	{"astra_config/ns3_8nodes_ring_topology.txt", 0, `8 GPUs`, "", ""},
	{"astra_config/remote_memory_analytical_no_memory_expansion.json", 4, `remote memory`, "", ""},
	{"astra_config/system_analytical_hgx_h100_16gpu.json", 4, `runs collectives`, "", ""},
	{"astra_config/system_custom_collectives_custom_collective.json", 4, `runs collectives`, "", ""},
	{"astra_config/system_native_collectives_HGX-H100-validated.json", 4, `runs collectives`, "", ""},
	{"astra_config/system_native_collectives_Ring_4chunks.json", 4, `runs collectives`, "", ""},
	{"astra_config/v2_2023_Ring_FullyConnected_Switch.json", 4, `runs collectives`, "", ""},
	{"astra_config/v2_2023_Ring_FullyConnected_Switch.yml", 0, `ASTRA-sim network`, "", ""},
}

// recordings returns the folder of recorded files, or skips the test.
func recordings(t *testing.T) string {
	t.Helper()
	dir := sampleFiles(t)
	if dir == "" {
		t.Skip("no recorded files; set WEFT_SHARED")
	}
	return filepath.Join(dir, "traces")
}

// TestTopoOfRecordedFiles runs topo on every recorded file: it is a machine,
// or it is refused with its reason.
func TestTopoOfRecordedFiles(t *testing.T) {
	dir := recordings(t)
	var named []string
	for _, r := range recorded {
		named = append(named, r.file)
		t.Run(r.file, func(t *testing.T) {
			t.Parallel()
			check := func(args []string, code int, want string) {
				out, errs, got := weft(t, append([]string{"topo", filepath.Join(dir, r.file)}, args...)...)
				require.Equal(t, code, got, errs)
				if code == 0 {
					assert.Empty(t, errs)
					assert.Regexp(t, want, out)
				} else {
					assert.Empty(t, out)
					assert.Regexp(t, want, errs)
				}
			}
			check(nil, r.code, r.want)
			if r.args != "" {
				check(strings.Fields(r.args), 0, r.then)
			}
		})
	}
	for _, folder := range []string{"nvidia_smi_topo", "nvidia_smi_qx", "nccl_topo_xml", "nccl_graph_xml", "lstopo_xml", "fabric", "simai_topo", "astra_config"} {
		files, err := filepath.Glob(filepath.Join(dir, folder, "*"))
		require.NoError(t, err)
		for _, f := range files {
			assert.Contains(t, named, folder+"/"+filepath.Base(f), "a recorded file without an expectation")
		}
	}
}

// cells returns the words of a printed matrix by row, however its columns are
// set apart: as many as there are devices.
func cells(text string) [][]string {
	text = regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(text, "")
	device := regexp.MustCompile(`^\s*((?:GPU|NIC)\d+|mlx\d\S*|rdma\S*)\s`)
	word := regexp.MustCompile(`^(X|NV\d+|PIX|PXB|PHB|NODE|SYS|SOC|\?)$`)
	var rows [][]string
	for line := range strings.Lines(text) {
		if !device.MatchString(line) {
			continue
		}
		row := strings.Fields(line)
		n := 1
		for n < len(row) && word.MatchString(row[n]) {
			n++
		}
		if n > 1 {
			rows = append(rows, row[:n])
		}
	}
	return rows
}

// TestTopoMatrixComesBack: what topo prints of a complete matrix is that matrix,
// cell for cell; so is that of the machine that is made of it.
func TestTopoMatrixComesBack(t *testing.T) {
	dir := recordings(t)
	complete := 0
	for _, r := range recorded {
		if !strings.HasPrefix(r.file, "nvidia_smi_topo/") {
			continue
		}
		path := filepath.Join(dir, r.file)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		want := cells(string(text))
		if len(want) == 0 || slices.ContainsFunc(want, func(row []string) bool { return len(row) != len(want)+1 }) {
			continue // rows are missing
		}
		complete++
		out, errs, code := weft(t, "topo", path, "--format", "matrix")
		require.Zero(t, code, errs)
		assert.Equal(t, want, cells(out), r.file)
		assert.Contains(t, out, "NV#", r.file)
	}
	assert.Equal(t, 8, complete)
}

// TestTopoGraphComesBack: a graph that topo writes is read as the same links
// and ranks, and, unless a note of it says otherwise, as the same ways.
func TestTopoGraphComesBack(t *testing.T) {
	for _, c := range []struct {
		args []string
		lost string
	}{
		{args: []string{"dgx-h100"}},
		{args: []string{"gb200-nvl72"}},
		{args: []string{"dgx-h100", "--fault", "n0.nvswitch1 down"}},
		{[]string{"dgx-a100", "--nodes", "4"}, "over other links or NICs"},
		{[]string{"bench-2d", "--nodes", "2"}, "over other links or NICs"},
		{[]string{"pcie-a100-8"}, "32 of 56 ways differ from those of pcie-a100-8 (32 staged in host memory there)"},
		{[]string{"pcie-rtx4090-8"}, "56 of 56 ways differ"},
	} {
		file := filepath.Join(t.TempDir(), "graph.json")
		_, errs, code := weft(t, append(append([]string{"topo"}, c.args...), "--format", "graph", "-o", file)...)
		require.Zero(t, code, errs)
		first, errs, code := weft(t, "topo", file)
		require.Zero(t, code, errs)
		want, _, _ := weft(t, append([]string{"topo"}, c.args...)...)
		assert.Equal(t, tableOf(t, want, "Links, by class"), tableOf(t, first, "Links, by class"), c.args)
		said := strings.Join(strings.Fields(first), " ")
		if c.lost == "" {
			assert.NotContains(t, said, "no rules of routing", c.args)
			assert.Equal(t, tableOf(t, want, "Ways from"), tableOf(t, first, "Ways from"), c.args)
		} else {
			assert.Contains(t, said, "a graph has no rules of routing: read again, traffic takes shortest paths", c.args)
			assert.Contains(t, said, c.lost, c.args)
		}
		again := filepath.Join(t.TempDir(), "graph.json")
		_, errs, code = weft(t, "topo", file, "--format", "graph", "-o", again)
		require.Zero(t, code, errs)
		a, err := os.ReadFile(file)
		require.NoError(t, err)
		b, err := os.ReadFile(again)
		require.NoError(t, err)
		assert.Equal(t, links(a), links(b), "what was read and written again has the same links")
		assert.Equal(t, strings.Count(string(a), "no rules of routing"), strings.Count(string(b), "no rules of routing"), "and loses nothing more")
	}
}

func tableOf(t *testing.T, page, title string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n"+title)
	require.True(t, ok, page)
	table, _, _ := strings.Cut(rest, "\n\n")
	return table
}

// links returns the part of a graph after its notes.
func links(graph []byte) string {
	_, rest, _ := strings.Cut(string(graph), `"classes"`)
	return rest
}

// TestBenchOnARecordedMachine runs a collective on a dump.
func TestBenchOnARecordedMachine(t *testing.T) {
	dir := recordings(t)
	out, errs, code := weft(t, "bench", "all_reduce", "--system", filepath.Join(dir, "nccl_topo_xml/oci_H100-topology.xml"), "-b", "1G", "-e", "1G", "--format", "csv")
	require.Zero(t, code, errs)
	want, _, _ := weft(t, "bench", "all_reduce", "--system", "dgx-h100", "-b", "1G", "-e", "1G", "--format", "csv")
	assert.Equal(t, strings.Split(want, "\n")[1], strings.Split(out, "\n")[1], "the same board of the catalogue")
	_, _, code = weft(t, "run", "default", "--system", filepath.Join(dir, "nope.xml"))
	assert.Equal(t, 3, code, "a file that is not there is a fault of the configuration")
}
