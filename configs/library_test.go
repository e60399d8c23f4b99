package configs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// What NCCL finds on one host serves hosts that are alike, and no other.
func TestFaultyHostsAreSearchedByThemselves(t *testing.T) {
	for _, c := range []struct {
		fault string
		other int // host that is not like the rest
	}{{"[]", -1}, {"[n1.nic3 down]", 1}, {"[n2.nvswitch0 down]", 2}} {
		text := fmt.Sprintf("name: t\nsystem: dgx-h100\nnodes: 4\nfaults: %s\ncollectives: {library: nccl}\nworkload: {kind: collective, op: all_reduce, bytes: 1GiB}\n", c.fault)
		s, err := Parse("test.yaml", []byte(text), "", nil, nil)
		require.NoError(t, err)
		hw, err := s.Hardware(nil)
		require.NoError(t, err)
		lib, _, err := s.NCCL(hw)
		require.NoError(t, err)
		var found []*nccl.Communicator
		for h := range 4 {
			var ranks []int32
			for i := range 8 {
				ranks = append(ranks, int32(h*8+i))
			}
			comm, err := lib.Communicator(ranks)
			require.NoError(t, err)
			found = append(found, comm)
		}
		for h := range found {
			alike := (h == c.other) == (c.other == 0)
			assert.Equal(t, alike, found[h] == found[0], "%s: host %d", c.fault, h)
		}
	}
}

// Whatever NCCL considers for a group, weft can run: also on nodes with unequal
// numbers of GPUs.
func TestWhatNCCLConsidersHasAPlan(t *testing.T) {
	text := "name: t\nsystem: dgx-h100\nnodes: 3\ncollectives: {library: nccl, env: {NCCL_COLLNET_ENABLE: \"1\"}}\nworkload: {kind: collective, op: all_reduce, bytes: 1GiB}\n"
	s, err := Parse("test.yaml", []byte(text), "", nil, nil)
	require.NoError(t, err)
	hw, err := s.Hardware(nil)
	require.NoError(t, err)
	lib, _, err := s.NCCL(hw)
	require.NoError(t, err)
	for _, counts := range [][]int{{8, 8, 8}, {8, 7, 8}, {1, 8, 0}, {1, 1, 1}, {4, 0, 0}, {2, 1, 1}} {
		var ranks []int32
		var layout collective.Layout
		for h, n := range counts {
			var node []int32
			for i := range n {
				node = append(node, int32(len(ranks)))
				ranks = append(ranks, int32(h*8+i))
			}
			if n > 0 {
				layout = append(layout, node)
			}
		}
		comm, err := lib.Communicator(ranks)
		require.NoError(t, err)
		for _, op := range nccl.Ops {
			for _, est := range comm.Estimates(op, 64<<20) {
				if est.Off != "" {
					continue
				}
				run := comm.Run(op, nccl.Choice{Estimate: est, Channels: 8}, 64<<20, lib.Setting)
				_, err := collective.NewPlan(op, run, 64<<20, layout, 0)
				assert.NoError(t, err, "%v GPUs: %v with %v", counts, est.Algorithm, est.Protocol)
			}
		}
	}
}

// Groups that lie alike on their hosts, but near and far in the network, wait
// for round trips of their own, whichever is asked first.
func TestFarGroupsHaveTheirOwnRoundTrip(t *testing.T) {
	text := "name: t\nsystem: dgx-h100\nnodes: 3\nnetwork: {fabric: {kind: dragonfly, bandwidth: 49GB/s, latency: 500ns, hosts_per_leaf: 1, leaves_per_pod: 2, global_cable: 60km}}\n" +
		"collectives: {library: nccl, env: {NCCL_ALGO: Ring}}\nworkload: {kind: collective, op: all_reduce, bytes: 1GiB}\n"
	limits := func(first, second int32) (a, b float64) {
		s, err := Parse("test.yaml", []byte(text), "", nil, nil)
		require.NoError(t, err)
		hw, err := s.Hardware(nil)
		require.NoError(t, err)
		lib, _, err := s.NCCL(hw)
		require.NoError(t, err)
		of := func(from int32) float64 {
			var ranks []int32
			for i := range int32(16) {
				ranks = append(ranks, from+i)
			}
			ch, err := lib.Choose(workloads.AllReduce, 1<<30, ranks)
			require.NoError(t, err)
			return float64(ch.Pace.Limit)
		}
		return of(first), of(second)
	}
	near, far := limits(0, 8)
	far2, near2 := limits(8, 0)
	assert.Equal(t, []float64{near, far}, []float64{near2, far2})
	assert.Less(t, far, near)
}
