package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

// Four H100 of 18 links: 36 channels a peer become 32, a rank's part of 32 is
// eight, and eight hold 128 MiB in parts of 16 MiB.
func TestChannelsOfSendRecv(t *testing.T) {
	for _, c := range []struct {
		links, ranks int
		size         sim.Bytes
		want         int
	}{
		{18, 4, 128 * sim.MiB, 8},
		{18, 4, 256 * sim.MiB, 16},
		{18, 4, 8 << 30, 32},
		{12, 8, 128 * sim.MiB, 8}, // begins with four
		{12, 8, 1 << 30, 16},      // 24 a peer become 16
		{1, 2, 1 << 30, 2},
		{18, 64, 1 * sim.MiB, 1},
		{18, 2, 100, 1}, // no part below 64 KiB
	} {
		assert.Equal(t, c.want, peerChannels(c.links, c.ranks, c.size), "%+v", c)
	}
	assert.Equal(t, 2, netChannels(2))
	assert.Equal(t, 2, netChannels(8))
	assert.Equal(t, 1, netChannels(10))
}

func TestNeighboursAndMessagesAreValid(t *testing.T) {
	require.NoError(t, neighbours(8, []int32{1, 3, 5}, 100).Validate())
	require.NoError(t, messages(8, [][2]int32{{0, 7}, {7, 0}}, 100).Validate())
}
