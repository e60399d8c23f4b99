package configs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology/discover"
)

func TestGPUNamed(t *testing.T) {
	cat, err := catalog.Load()
	require.NoError(t, err)
	for word, want := range map[string]string{
		// as drivers print them
		"NVIDIA A100-SXM4-40GB":                        "a100-sxm4-40gb",
		"NVIDIA A100-SXM4-80GB":                        "a100-sxm4-80gb",
		"NVIDIA A100 80GB PCIe":                        "a100-pcie-80gb",
		"A100-PCIE-40GB":                               "a100-pcie-40gb",
		"NVIDIA H100 80GB HBM3":                        "h100-sxm5-80gb",
		"NVIDIA H100 PCIe":                             "h100-pcie-80gb",
		"NVIDIA H100 NVL":                              "h100-nvl-94gb",
		"NVIDIA H200":                                  "h200-sxm5-141gb",
		"NVIDIA H200 NVL":                              "h200-nvl-141gb",
		"NVIDIA GH200 480GB":                           "gh200-96gb",
		"NVIDIA B200":                                  "b200-sxm6-180gb",
		"NVIDIA GB200":                                 "gb200",
		"NVIDIA GB300":                                 "gb300",
		"Tesla V100-SXM2-16GB":                         "v100-sxm2-32gb",
		"Tesla V100-SXM3-32GB":                         "v100-sxm3-32gb",
		"NVIDIA GeForce RTX 4090":                      "rtx-4090",
		"NVIDIA RTX A6000":                             "rtx-a6000",
		"NVIDIA RTX 6000 Ada Generation":               "rtx-6000-ada",
		"NVIDIA RTX PRO 6000 Blackwell Server Edition": "rtx-pro-6000-server",
		"NVIDIA L40S":                                  "l40s",
		"NVIDIA L4":                                    "l4",
		// as people write them
		"h100": "h100-sxm5-80gb", "H100-PCIe": "h100-pcie-80gb", "a100": "a100-sxm4-40gb", "4090": "rtx-4090",
		"v100": "v100-sxm2-32gb", "gb200": "gb200", "h100-sxm5-80gb": "h100-sxm5-80gb",
		// none
		"h1000": "", "": "", "NVIDIA A10G": "", "sxm": "", "80gb": "",
	} {
		assert.Equal(t, want, gpuNamed(cat, word), word)
	}
}

// Every GPU of the catalogue is found by its own name and by its title, and
// every kind that stands in a table here is in the catalogue.
func TestEveryGPUIsFound(t *testing.T) {
	cat, err := catalog.Load()
	require.NoError(t, err)
	for _, name := range cat.GPUs() {
		assert.Equal(t, name, gpuNamed(cat, name))
	}
	for sm, k := range bySM {
		for _, kinds := range [][]string{k.plain, k.c2c, k.bridged} {
			for _, name := range kinds {
				assert.Contains(t, cat.GPUs(), name, "compute capability %d", sm)
			}
		}
	}
}

func TestCPUOf(t *testing.T) {
	cat, err := catalog.Load()
	require.NoError(t, err)
	gpu, err := cat.GPU("gb200")
	require.NoError(t, err)
	for want, c := range map[string]discover.CPU{
		"xeon-e5-v4": {Vendor: "GenuineIntel", Family: 6, Model: 79},
		"xeon-sp2":   {Vendor: "GenuineIntel", Family: 6, Model: 85},
		"xeon-sp4":   {Vendor: "GenuineIntel", Family: 6, Model: 143},
		"epyc-rome":  {Vendor: "AuthenticAMD", Family: 143, Model: 49},
		"epyc-milan": {Vendor: "AuthenticAMD", Family: 175, Model: 1},
		"epyc-genoa": {Vendor: "AuthenticAMD", Family: 25, Model: 17},
		"epyc-turin": {Vendor: "AuthenticAMD", Family: 191, Model: 2},
		"grace":      {Arch: "arm64"},
		"":           {Vendor: "GenuineIntel", Family: 6, Model: 1},
	} {
		assert.Equal(t, want, cpuOf(&c, gpu), "%+v", c)
		if want != "" {
			_, err := cat.CPU(want)
			assert.NoError(t, err)
		}
	}
}

// hwloc tells the product of lanes and generation alone; of equal products the
// one with the most lanes is meant.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		rate       sim.Rate
		gen, width int
	}{
		{15.75 * sim.GBps, 3, 16}, {31.5 * sim.GBps, 4, 16}, {63 * sim.GBps, 5, 16}, {128 * sim.GBps, 6, 16},
		{4 * sim.GBps, 1, 16}, {8 * sim.GBps, 2, 16}, {7.9 * sim.GBps, 2, 16}, {0.5 * sim.GBps, 1, 2}, {1000 * sim.GBps, 0, 0},
	} {
		gen, width := split(c.rate)
		assert.Equal(t, [2]int{c.gen, c.width}, [2]int{gen, width}, c.rate.String())
	}
}

// A generation that the catalogue does not have is scaled by what its lanes
// carry: 2.5 and 5 GT/s with 8b/10b are 0.25 and 0.5 GB/s.
func TestOldPCIe(t *testing.T) {
	cat, err := catalog.Load()
	require.NoError(t, err)
	p := &parts{cat: cat}
	for gen, nominal := range map[int]float64{1: 0.25e9, 2: 0.5e9, 3: 8e9 * 128 / 130 / 8, 4: 16e9 * 128 / 130 / 8, 5: 32e9 * 128 / 130 / 8} {
		w, err := p.lanes(gen, 8)
		require.NoError(t, err)
		assert.InEpsilon(t, nominal*8, float64(w.Class.Raw), 1e-3, "generation %d", gen)
		assert.Less(t, w.Rate, w.Class.Raw)
	}
	assert.NotEmpty(t, p.used)
}
