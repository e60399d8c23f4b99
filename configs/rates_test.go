package configs

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/workloads/replay"
)

// timeOf simulates a scenario and returns its seconds.
func timeOf(t *testing.T, text string) float64 {
	t.Helper()
	s, err := Parse("rates.yaml", []byte(text), "", nil, nil)
	require.NoError(t, err)
	j, err := s.Build(nil)
	require.NoError(t, err)
	r, err := replay.Run(context.Background(), j.Program, j.Machine, j.Options)
	require.NoError(t, err)
	return r.StepTime.Seconds()
}

// Rings over nodes of eight A100 with four NICs of 200 Gbit/s fill them:
// 96 GB/s, whatever the number of nodes.
func TestRingFillsFourNICs(t *testing.T) {
	const bytes = 8 << 30
	for _, nodes := range []int{2, 4, 8} {
		took := timeOf(t, fmt.Sprintf("name: one\nsystem: dgx-a100\nnodes: %d\nfaults: [\"*.nic1 down\", \"*.nic3 down\", \"*.nic5 down\", \"*.nic7 down\"]\n"+
			"workload: {kind: collective, op: all_reduce, bytes: 8GiB}\ncollectives: {library: nccl, env: {NCCL_ALGO: Ring, NCCL_PROTO: Simple}}\n", nodes))
		n := float64(8 * nodes)
		assert.InEpsilon(t, 96, 2*(n-1)/n*bytes/took/1e9, 0.03, "%d nodes", nodes)
	}
}

// Of an all-to-all each GPU sends what is for other nodes through its NIC, so
// that the whole goes at the rate of the NIC times ranks over those elsewhere:
// at 48.5 GB/s a NIC, 97, 73, 65 and 58 GB/s.
func TestAllToAllOverNICs(t *testing.T) {
	const bytes = 8 << 30
	for _, c := range []struct {
		nodes int
		want  float64
	}{{2, 97}, {3, 73}, {4, 65}, {6, 58}} {
		took := timeOf(t, fmt.Sprintf("name: one\nsystem: dgx-h100\nnodes: %d\nworkload: {kind: collective, op: alltoall, bytes: 8GiB}\n", c.nodes))
		assert.InEpsilon(t, c.want, bytes/took/1e9, 0.05, "%d nodes", c.nodes)
	}
}
