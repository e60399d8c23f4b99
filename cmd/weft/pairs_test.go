package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNeighboursAndMessagesAreValid(t *testing.T) {
	require.NoError(t, neighbours(8, []int32{1, 3, 5}, 100).Validate())
	require.NoError(t, messages(8, [][2]int32{{0, 7}, {7, 0}}, 100).Validate())
}
