package configs

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/machine"
)

// searched is a result of NCCL's own search for channels on a machine.
type searched struct {
	Topo    string  `yaml:"topo"`
	Nodes   int     `yaml:"nodes"`
	Ranks   int     `yaml:"ranks"`
	SM      int     `yaml:"sm"`
	TotalBW float64 `yaml:"totalBw"` // most that a GPU can send over NVLink, else over PCIe
	Ring    struct {
		Intra string `yaml:"typeIntra"`
	} `yaml:"ring"`
}

// searchedOn names the system of the catalogue that is wired like a machine of
// NCCL's results. Results on parts of a board (two of eight GPUs) have none, nor
// has a server with its GPUs on switches, or on AMD CPUs: pcie-l40s-8 has them on
// the ports of Intel's.
var searchedOn = map[string]string{
	"dgx1v": "dgx-1-v100", "dgx2": "dgx-2", "dgxa100": "dgx-a100", "dgxh100": "dgx-h100", "dgxb200": "dgx-b200",
	"dgxb300": "dgx-b300", "gb200_nvl72": "gb200-nvl72", "pcie8_l40s_root_intel": "pcie-l40s-8",
}

// TestPathsAreThoseOfNCCL holds the wiring of the catalogue against what NCCL's
// search found on such machines: the worst kind of path that a ring within a
// node needs, and the bandwidth that NCCL counts on a GPU to have, which is its
// links of the catalogue times the catalogue's rate of one for NCCL's kernels.
//
// The numbers of channels, their bandwidth and the kinds of paths to the NICs
// are results of the search itself, which is not modelled here.
func TestPathsAreThoseOfNCCL(t *testing.T) {
	dir := os.Getenv("WEFT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(dir, "reference", "nccl-tuning.yaml"))
	if err != nil {
		t.Skipf("no reference: %v", err)
	}
	var ref struct {
		LinkBW struct {
			NVLink []struct {
				Min int     `yaml:"min_sm"`
				Max int     `yaml:"max_sm"`
				SM  int     `yaml:"sm"`
				BW  float64 `yaml:"bw"`
			} `yaml:"nvlink_per_link"`
			X16 map[string]float64 `yaml:"pcie_x16"`
		} `yaml:"link_bw"`
		Graphs []searched `yaml:"graphs_v2_30_7"`
	}
	require.NoError(t, yaml.UnmarshalWithOptions(text, &ref, yaml.AllowDuplicateMapKey()))
	planned := func(sm int) float64 {
		for _, r := range ref.LinkBW.NVLink {
			if r.SM == sm || r.Min > 0 && sm >= r.Min && (r.Max == 0 || sm <= r.Max) {
				return r.BW
			}
		}
		return 0
	}
	cat, err := catalog.Load()
	require.NoError(t, err)
	compared := 0
	for _, row := range ref.Graphs {
		system := searchedOn[row.Topo]
		if system == "" || row.Nodes != 1 {
			continue
		}
		compared++
		t.Run(row.Topo, func(t *testing.T) {
			m, err := cat.Machine(system, catalog.Options{})
			require.NoError(t, err)
			require.Equal(t, row.Ranks, m.Spec.Host.GPUs)
			built, err := machine.Build(m.Spec)
			require.NoError(t, err)
			bw := float64(0)
			if _, links := built.GPUEgress(0); links > 0 {
				link, err := cat.Link(m.System.NVLink.Link)
				require.NoError(t, err)
				assert.InDelta(t, planned(row.SM)*1e9, float64(link.Kernels.Value()), 1, "NCCL's rate of one link")
				bw = float64(links) * float64(link.Kernels.Value()) / 1e9
			} else {
				require.Equal(t, "pcie4", m.GPU.PCIe.Link)
				bw = ref.LinkBW.X16["gen4"]
			}
			assert.InDelta(t, row.TotalBW, bw, 1e-6, "links x NCCL's rate of one")
			assert.Equal(t, row.Ring.Intra, ringKind(t, built), "the worst path of a ring")
		})
	}
	assert.Equal(t, len(searchedOn), compared)
}

// ringKind is the least kind of path with which a ring through all GPUs of a
// machine is possible: that with which all are joined, each to two others.
func ringKind(t *testing.T, m *topology.Machine) string {
	t.Helper()
	n := int32(len(m.Ranks))
	kinds := make([]topology.PathKind, n*n)
	for a := range n {
		for b := range n {
			if a != b {
				p, err := m.Route(a, b, nil)
				require.NoError(t, err)
				kinds[a*n+b] = p.Kind
			}
		}
	}
	for most := topology.NVL; most <= topology.NET; most++ {
		seen, queue := map[int32]bool{0: true}, []int32{0}
		enough := true
		for len(queue) > 0 {
			a := queue[0]
			queue = queue[1:]
			degree := 0
			for b := range n {
				if a == b || kinds[a*n+b] > most {
					continue
				}
				degree++
				if !seen[b] {
					seen[b] = true
					queue = append(queue, b)
				}
			}
			enough = enough && degree >= int(math.Min(2, float64(n-1)))
		}
		if enough && len(seen) == int(n) {
			return most.String()
		}
	}
	return ""
}

// TestCompletedMatricesKeepTheirWords: the machine that a matrix is completed
// to has the words of the matrix.
func TestCompletedMatricesKeepTheirWords(t *testing.T) {
	dir := os.Getenv("WEFT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	for file, gpu := range map[string]string{
		"b300_8gpu_8nic_cx8.txt": "b300", "dgx1_v100_8gpu_4nic.txt": "v100", "h100_4gpu_nv6_4nic.txt": "h100",
		"h200_hgx_8gpu_8nic_google.txt": "h200", "pcie_2x_rtx4090_sys.txt": "rtx-4090", "pcie_4x3090_nvlink_pairs.txt": "rtx-3090",
		"pcie_4gpu_npS4_badheader.txt": "a40", "gb200_tray_4gpu.txt": "gb200",
	} {
		text, err := os.ReadFile(filepath.Join(dir, "traces", "nvidia_smi_topo", file))
		if err != nil {
			t.Skipf("no recorded matrices: %v", err)
		}
		s, err := Overlay{Set: []string{"gpu=" + gpu}}.OfSystem(file, text)
		require.NoError(t, err, file)
		hw, err := s.Hardware(nil)
		require.NoError(t, err, file)
		require.NoError(t, hw.Machine.CheckRoutes(), file)
		assert.Empty(t, hw.Dump.Hosts[0].Matrix.Diff(discover.Relations(hw.Spec)), file)
		assert.NotEmpty(t, hw.Completed, file)
		assert.NotEmpty(t, hw.Provenance, file)
	}
}
