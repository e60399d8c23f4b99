package configs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/discover/netfile"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/pcie"
)

// A system of the catalogue, printed as nvidia-smi prints it and read again
// with the kind of its GPUs, has the same kinds of paths and the same rates over
// NVLink: what a matrix leaves open is completed to what the catalogue has.
func TestSystemsComeBackFromTheirMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("builds every system twice")
	}
	cat, err := catalog.Load()
	require.NoError(t, err)
	compared := 0
	for _, name := range cat.Systems() {
		m, err := cat.Machine(name, catalog.Options{})
		require.NoError(t, err)
		h := m.Spec.Host
		if h.PCIe == nil || h.Trays > 1 || h.GPUs > 16 || h.GPUs < 2 || len(h.PCIe.NICs) == 0 || m.GPU.Arch == "cdna3" {
			continue // a rack, or what the tool does not print
		}
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			require.NoError(t, discover.Relations(&m.Spec).Write(&text, false))
			s, err := Overlay{Set: []string{"gpu=" + m.System.GPU}}.OfSystem(name+".txt", text.Bytes())
			require.NoError(t, err)
			got, err := s.Hardware(nil)
			require.NoError(t, err)
			want, err := machine.Build(m.Spec)
			require.NoError(t, err)
			compared++
			assert.Len(t, got.Machine.Ranks, len(want.Ranks))
			assert.Empty(t, discover.Relations(&m.Spec).Diff(discover.Relations(got.Spec)))
			for b := 1; b < len(want.Ranks); b++ {
				x, err := want.Route(0, int32(b), nil)
				require.NoError(t, err)
				y, err := got.Machine.Route(0, int32(b), nil)
				require.NoError(t, err)
				if h.PCIe.P2P == got.Spec.Host.PCIe.P2P { // which no matrix tells
					assert.Equal(t, x.Kind, y.Kind, "GPU 0 to GPU %d", b)
				}
				if x.Kind == topology.NVL {
					_, rx := want.Graph.Bottleneck(x)
					_, ry := got.Machine.Graph.Bottleneck(y)
					assert.InEpsilon(t, float64(rx), float64(ry), 1e-9, "GPU 0 to GPU %d", b)
				}
			}
		})
	}
	assert.Greater(t, compared, 20)
}

// GeForce GPUs have neither direct access to each other nor GPUDirect RDMA, and
// the page says so.
func TestDumpOfGeForce(t *testing.T) {
	text := []byte("\tGPU0\tGPU1\tNIC0\nGPU0\t X \tPIX\tPIX\nGPU1\tPIX\t X \tPIX\nNIC0\tPIX\tPIX\t X \n")
	for gpu, reach := range map[string]pcie.Reach{"rtx-4090": pcie.Nowhere, "l40s": pcie.WithinSwitches} {
		s, err := Overlay{Set: []string{"gpu=" + gpu}}.OfSystem("matrix.txt", text)
		require.NoError(t, err)
		hw, err := s.Hardware(nil)
		require.NoError(t, err)
		assert.Equal(t, reach, hw.Spec.Host.PCIe.P2P, gpu)
		assert.Equal(t, reach, hw.Spec.Host.PCIe.GDR, gpu)
		assert.Equal(t, reach == pcie.Nowhere, strings.Contains(strings.Join(hw.Completed, "\n"), "GPUDirect"), gpu)
	}
}

// GPUs hang from the NICs of a network that names none, as many as asked for,
// with the links of their kind.
func TestNetworkWithoutGPUs(t *testing.T) {
	text := []byte("n0.nic0 leaf0 400Gbps 1us\nn0.nic1 leaf0 400Gbps 1us\nn1.nic0 leaf0 400Gbps 1us\nn1.nic1 leaf0 400Gbps 1us\n")
	s, err := Overlay{Set: []string{"gpu=h100", "gpus=4"}}.OfSystem("lab", text)
	require.NoError(t, err)
	hw, err := s.Hardware(nil)
	require.NoError(t, err)
	assert.Equal(t, string(netfile.EdgeList), hw.Format)
	assert.Len(t, hw.Machine.Ranks, 8)
	assert.Equal(t, int32(2), hw.Machine.Hosts)
	rate, links := hw.Machine.GPUEgress(0)
	assert.Equal(t, 18, links)
	nv, err := cat(t).Link("nvlink4")
	require.NoError(t, err)
	assert.InEpsilon(t, float64(nv.Usable())*18, float64(rate), 1e-9)
	p, err := hw.Machine.Route(0, 1, nil)
	require.NoError(t, err)
	assert.Equal(t, topology.NVL, p.Kind)
	p, err = hw.Machine.Route(0, 4, nil)
	require.NoError(t, err)
	assert.Equal(t, topology.NET, p.Kind)
	_, r := hw.Machine.Graph.Bottleneck(p)
	assert.InEpsilon(t, 50e9, float64(r), 1e-9, "the cable")
}

func cat(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	require.NoError(t, err)
	return c
}

// --fault adds to the faults of the file and is told by its own name.
func TestAddFault(t *testing.T) {
	s, err := Parse("s.yaml", []byte("name: x\nsystem: dgx-h100\nfaults: [n0.gpu3 down]\nworkload: {kind: collective, op: all_reduce, bytes: 1MiB}\n"), ".", nil, nil)
	require.NoError(t, err)
	require.NoError(t, s.AddFault("n0.gpu5 down"))
	hw, err := s.Hardware(nil)
	require.NoError(t, err)
	assert.Len(t, hw.Machine.Ranks, 6)
	assert.True(t, hw.Faulty)
	for _, r := range s.Resolved() {
		if r.Path == "faults" {
			assert.Equal(t, "[n0.gpu3 down, n0.gpu5 down]", r.Value)
		}
	}
	require.NoError(t, s.AddFault("n0.gpu9 down"))
	_, err = s.Hardware(nil)
	assert.ErrorContains(t, err, "--fault: faults[2]: ")
	assert.ErrorContains(t, s.AddFault("nonsense"), "--fault: read fault")
}

func FuzzOfSystem(f *testing.F) {
	for _, text := range []string{
		"\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n", "n0.gpu0 n0.gpu1 25GB/s 1us", "systems: {a: {}}", "<system version=\"1\"/>",
		`<graphs version="1"/>`, "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n", "{\"weft_graph\": 1}",
	} {
		f.Add([]byte(text), "h100")
	}
	f.Fuzz(func(t *testing.T, text []byte, gpu string) {
		s, err := Overlay{Flags: []Flag{{Name: "--gpu", Path: "gpu", Value: gpu}}}.OfSystem("f", text)
		if err != nil {
			return
		}
		hw, err := s.Hardware(nil)
		if err == nil && len(hw.Machine.Ranks) > 0 && len(hw.Machine.Ranks) <= 64 {
			if err := hw.Machine.CheckRoutes(); err != nil {
				t.Error(err)
			}
		}
	})
}
