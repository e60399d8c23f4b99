package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/trace/chakra"
)

// Two groups of two ranks, in two classes. Each rank calls the all-reduce twice,
// so each group runs it twice: 4 runs over the job. Rank 0 and 1 send once.
func TestCommunicationCountsRunsNotCalls(t *testing.T) {
	reduce := workloads.Op{Kind: workloads.Collective, Coll: workloads.AllReduce, Bytes: sim.MiB}
	send := workloads.Op{Kind: workloads.Send, Bytes: sim.KiB}
	p := &workloads.Program{
		World: 4,
		Comms: []workloads.Comm{{Name: "dp", Groups: [][]int32{{0, 2}, {1, 3}}}},
		Classes: []workloads.Class{
			{Ranks: []int32{0, 1}, Ops: []workloads.Op{reduce, send, reduce}},
			{Ranks: []int32{2, 3}, Ops: []workloads.Op{reduce, reduce}},
		},
	}
	assert.Equal(t, []CommUse{
		{Op: "all_reduce", Group: "dp", Ranks: 2, Bytes: sim.MiB, Count: 4},
		{Op: "send", Bytes: sim.KiB, Count: 2},
	}, Communication(p))
}

func TestCopiesInWords(t *testing.T) {
	assert.Equal(t, "1 rank without a file does what another does: rank 1 copies rank 0", copied([]chakra.Copy{{Rank: 1, Of: 0}}))
	assert.Equal(t, "2 ranks without a file do what another does: rank 2 copies rank 0, and so on to rank 3, which copies rank 1",
		copied([]chakra.Copy{{Rank: 2, Of: 0}, {Rank: 3, Of: 1}}))
}
