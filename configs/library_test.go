package configs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
