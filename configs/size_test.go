package configs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLargestMachines: what stands just within the bounds is built.
func TestLargestMachines(t *testing.T) {
	for _, set := range [][]string{
		{"gpus=32768"},
		{"gpus=20000", "faults=[n0.gpu3 x0.5]"},
		{"gpus=1024", "faults=[n0.gpu3 +1us]"},
	} {
		s, err := Overlay{Set: set}.OfSystem("bench-star", nil)
		require.NoError(t, err)
		_, err = s.Hardware(nil)
		assert.NoError(t, err, set)
	}
}

// TestNetworksWithinBounds: what a fabric is given and does not need counts for
// nothing.
func TestNetworksWithinBounds(t *testing.T) {
	for _, fabric := range []string{
		"{kind: fat-tree, bandwidth: 50GB/s, latency: 100ns, hosts_per_leaf: 16, spines: 64}",
		"{kind: rail-optimized, bandwidth: 50GB/s, latency: 100ns, radix: 64, tiers: 3}",
		"{kind: dragonfly, bandwidth: 50GB/s, latency: 100ns, hosts_per_leaf: 8, leaves_per_pod: 65536}",
		"{kind: dragonfly, bandwidth: 50GB/s, latency: 100ns, radix: 64}",
	} {
		m := hardware(t, "system: {gpus: 4, nvlink: {bandwidth: 100GB/s, latency: 300ns}}\nnodes: 1024\nnetwork: {fabric: "+fabric+"}").Machine
		assert.Len(t, m.Ranks, 4096)
	}
}

// TestFilesAreBounded: figures of a catalogue file have the bounds of inline
// ones.
func TestFilesAreBounded(t *testing.T) {
	const box = `
systems:
  box:
    title: four GPUs with more links than one can have
    origin: {source: user, status: assumed, note: a test}
    gpu: h100-sxm5-80gb
    gpus: 4
    nvlink: {link: nvlink4, switch: nvswitch3, planes: 1100x1}
`
	s, err := Overlay{}.OfSystem("box.yaml", []byte(box))
	require.NoError(t, err)
	_, err = s.Hardware(nil)
	assert.ErrorContains(t, err, "a GPU has more than 1024 NVLinks to its switches")
}
