package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

// nccl-tests reads sizes without a unit as bytes, and K, M, G as powers of 1024
// (NVIDIA/nccl-tests, src/common.cu, parsesize).
func TestSizesAsNCCLTestsTakesThem(t *testing.T) {
	for text, want := range map[string]sim.Bytes{
		"8": 8, "1K": 1 << 10, "1m": 1 << 20, "8G": 8 << 30, "1MiB": 1 << 20, "1MB": 1e6, "1.5 KiB": 1536,
	} {
		var s size
		require.NoError(t, s.Set(text), text)
		assert.Equal(t, want, sim.Bytes(s), "size %q", text)
	}
	for _, text := range []string{"", "K", "1T", "1.5", "1KM", "x8", "9999999999G"} {
		var s size
		assert.Error(t, s.Set(text), "size %q", text)
	}
}

func TestSweepOfSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		sw   sweep
		want []sim.Bytes
	}{
		{"doubling", sweep{begin: 8, end: 64, factor: 2}, []sim.Bytes{8, 16, 32, 64}},
		{"the end is not hit", sweep{begin: 8, end: 60, factor: 2}, []sim.Bytes{8, 16, 32}},
		{"one size", sweep{begin: 8, end: 8, factor: 2}, []sim.Bytes{8}},
		{"a factor that does not move a byte moves one", sweep{begin: 1, end: 3, factor: 1.1}, []sim.Bytes{1, 2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, c.sw.sizes()) })
	}
}

func TestPositive(t *testing.T) {
	var p positive
	require.NoError(t, p.Set("4"))
	assert.Equal(t, "4", p.String())
	for _, text := range []string{"0", "-1", "x", "99999999999", "1.5"} {
		assert.Error(t, p.Set(text), text)
	}
}
