package catalog

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

// collected is the part of the collection of published figures that the
// catalogue can be held against. Its figures came from the sources that the
// catalogue names, by another hand.
type collected struct {
	NVLink struct {
		Generations []struct {
			ID    string  `yaml:"id"`
			Rate  float64 `yaml:"link_gbytes_per_s_per_direction"`
			Links int     `yaml:"links_per_gpu"`
		} `yaml:"generations"`
		Bridges []struct {
			ID    string  `yaml:"id"`
			Links int     `yaml:"links_per_pair"`
			Rate  float64 `yaml:"pair_gbytes_per_s_per_direction"`
		} `yaml:"bridges"`
	} `yaml:"nvlink"`
	NVSwitch struct {
		Generations []struct {
			ID         string `yaml:"id"`
			Generation int    `yaml:"nvlink_generation"`
			Ports      int    `yaml:"ports"`
			Multicast  bool   `yaml:"in_network_reduction"`
			Planes     []int  `yaml:"links_per_gpu_per_switch"`
		} `yaml:"generations"`
	} `yaml:"nvswitch"`
	Systems []struct {
		ID         string   `yaml:"id"`
		GPUs       int      `yaml:"gpu_count"`
		Generation string   `yaml:"nvlink_generation"`
		Edges      [][3]int `yaml:"nvlink_edges_gpu_a_gpu_b_links"`
		Switches   int      `yaml:"nvswitch_count"`
		Level1     int      `yaml:"level1_nvswitch_count"`
		Level2     int      `yaml:"level2_nvswitch_count"`
		External   int      `yaml:"external_switch_trays"`
		Leaving    int      `yaml:"nvlinks_leaving_each_node"`
		Pair       int      `yaml:"nvlink_links_per_gpu_pair_peak"`
		Trays      int      `yaml:"compute_trays"`
		Sockets    int      `yaml:"cpu_sockets"`
		PerSwitch  int      `yaml:"gpus_per_pcie_switch"`
		NICs       string   `yaml:"nics"`
		Supplies   string   `yaml:"power_supplies"`
		Max        float64  `yaml:"max_power_watts"`
		Typical    float64  `yaml:"typical_power_watts"`
		Planned    float64  `yaml:"rack_planned_watts"`
	} `yaml:"systems"`
	Supermicro []struct {
		ID       string  `yaml:"id"`
		GPUs     string  `yaml:"gpus"`
		Layout   string  `yaml:"pcie_layout"`
		CPU      string  `yaml:"cpu"`
		PerGPU   int     `yaml:"nic_slots_per_gpu"`
		Supplies string  `yaml:"power_supplies"`
		Planned  float64 `yaml:"planned_watts"`
	} `yaml:"supermicro_systems"`
	PCIe struct {
		Generations []struct {
			Generation int     `yaml:"generation"`
			Raw        float64 `yaml:"x16_raw_gbytes_per_s_per_direction"`
			Link       float64 `yaml:"x16_link_gbytes_per_s_per_direction"`
		} `yaml:"generations"`
	} `yaml:"pcie"`
	Sockets struct {
		Links []struct {
			ID    string  `yaml:"id"`
			Rate  float64 `yaml:"link_raw_gbytes_per_s_per_direction"`
			Range [2]int  `yaml:"links_per_socket_range"`
		} `yaml:"links"`
	} `yaml:"cpu_interconnects"`
	ScaleOut struct {
		InfiniBand []struct {
			Generation string  `yaml:"generation"`
			Rate       float64 `yaml:"port_4x_gbytes_per_s_per_direction"`
		} `yaml:"infiniband"`
		NICs []struct {
			ID   string  `yaml:"id"`
			Port float64 `yaml:"port_gbit_per_s"`
		} `yaml:"nics"`
		Switches []struct {
			ID    string  `yaml:"id"`
			Ports int     `yaml:"ports"`
			Port  float64 `yaml:"port_gbit_per_s"`
			Watts float64 `yaml:"watts"`
		} `yaml:"switches"`
	} `yaml:"scale_out"`
	GPUs []struct {
		ID     string  `yaml:"id"`
		FP32   float64 `yaml:"fp32_tflops"`
		TF32   float64 `yaml:"tf32_dense_tflops"`
		BF16   float64 `yaml:"bf16_dense_tflops"`
		FP16   float64 `yaml:"fp16_dense_tflops"`
		FP8    float64 `yaml:"fp8_dense_tflops"`
		FP4    float64 `yaml:"fp4_dense_tflops"`
		Memory float64 `yaml:"memory_gbytes"`
		Kind   string  `yaml:"memory_kind"`
		Rate   float64 `yaml:"memory_gbytes_per_s"`
		SMs    int     `yaml:"sm_count"`
		L2     int     `yaml:"l2_mbytes"`
		TDP    float64 `yaml:"tdp_watts"`
		NVLink float64 `yaml:"nvlink_gbytes_per_s_per_direction"`
		PCIe   int     `yaml:"pcie_generation"`
	} `yaml:"gpus"`
}

func collection(t *testing.T) *collected {
	t.Helper()
	dir := os.Getenv("WEFT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(dir, "reference", "hardware.yaml")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no collection of hardware figures at %s: set WEFT_SHARED", path)
	}
	var c collected
	require.NoError(t, yaml.Unmarshal(b, &c), path)
	return &c
}
