package synth_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/synth"
)

// Faults that do not hang together come at once, and what hangs on a fault is
// not told as another.
func TestAllErrorsAtOnce(t *testing.T) {
	far := int32(99)
	lost := compute(1)
	lost.Stream, lost.After = "comptue", &[]string{"grads"}
	place := allReduce("tp", 1)
	place.At = map[string][]int32{"pp": {0}}
	p := &synth.Program{
		Straggler: &synth.Straggler{Rank: 99, Factor: 2},
		Groups:    []synth.Group{{Name: "tp", Size: 2}, {Name: "odd", Size: 3}, {Name: "far", Ranks: [][]int32{{0, 99}, {0}}}},
		Blocks: []synth.Block{{Name: "b", Ops: []synth.Op{
			lost, place,
			{Ops: []synth.Op{allReduce("odd", 1), allReduce("pt", workloads.MaxBytes+1)}},
			{Send: &synth.P2P{To: &far, Bytes: 1 << 60}},
			{Compute: &synth.Compute{MemBytes: 1 << 51}},
		}}},
	}
	_, err := p.Build(4, 1)
	assert.EqualError(t, err, `build program: blocks.b.ops[0].stream: stream "comptue" does not exist
build program: blocks.b.ops[0].after[0]: label "grads" is on no operation before this one (labels so far: none)
build program: blocks.b.ops[1].at.pp: group "pp" does not exist
build program: blocks.b.ops[2].ops[1].all_reduce.group: group "pt" does not exist
build program: groups.odd: read size 3, stride 1, which takes ranks in blocks of 3; expected a divisor of the 4 ranks
build program: groups.far.ranks[0][1]: rank 99 does not exist, expected 0 to 3
build program: groups.far.ranks[1][0]: rank 0 is in two groups of "far", expected at most one
build program: straggler.rank: rank 99 does not exist, expected 0 to 3
build program: blocks.b.ops[2].ops[1].all_reduce.bytes: read 1125899906842625B, expected at most 1024TiB for one operation
build program: blocks.b.ops[3].send.bytes: read 1048576TiB, expected at most 1024TiB for one operation
build program: blocks.b.ops[3].send.to: rank 99 does not exist, expected 0 to 3
build program: blocks.b.ops[4].compute.mem_bytes: read 2048TiB, expected at most 1024TiB for one operation`)
}

func TestErrorsAreBounded(t *testing.T) {
	ranks := make([]int32, 1000)
	_, err := (&synth.Program{Groups: []synth.Group{{Name: "x", Ranks: [][]int32{ranks}}}}).Build(4, 1)
	var es synth.Errors
	require.ErrorAs(t, err, &es)
	assert.Len(t, es, 50)
}

// A message serves the dimension of the group in which its peer is counted.
func TestMessagesHaveADimension(t *testing.T) {
	one := int32(1)
	p := &synth.Program{
		Groups: []synth.Group{{Name: "pp"}, {Name: "stages", Dim: "pp"}},
		Blocks: []synth.Block{{Name: "b", Ops: []synth.Op{
			{Send: &synth.P2P{Group: "pp", Offset: 1, Bytes: 1}}, {Recv: &synth.P2P{Group: "stages", Offset: -1, Bytes: 1}},
			{Send: &synth.P2P{Offset: 1, Bytes: 1}}, {Recv: &synth.P2P{Offset: -1, Bytes: 1}},
			{At: map[string][]int32{"pp": {0}}, Send: &synth.P2P{To: &one, Bytes: 1}},
		}}},
	}
	out, err := p.Build(2, 1)
	require.NoError(t, err)
	var dims []workloads.Dim
	for _, c := range out.Classes {
		for _, o := range c.Ops {
			dims = append(dims, o.Dim)
		}
	}
	assert.Equal(t, []workloads.Dim{workloads.PP, workloads.Other, workloads.Other, workloads.PP, workloads.Other}, dims)
}

// A straggler cannot make an amount overflow.
func TestStragglerKeepsWithinBounds(t *testing.T) {
	p := &synth.Program{
		Straggler: &synth.Straggler{Rank: 0, Factor: 1e6},
		Blocks:    []synth.Block{{Name: "b", Ops: []synth.Op{{Compute: &synth.Compute{MemBytes: sim.TiB * 1000}}}}},
	}
	out, err := p.Build(1, 1)
	require.NoError(t, err)
	assert.Equal(t, workloads.MaxBytes, out.Classes[0].Ops[0].MemBytes)
	require.NoError(t, out.Validate())
}

// Too many operations are refused before they are made.
func TestTooManyRepeats(t *testing.T) {
	nested := &synth.Program{Blocks: []synth.Block{
		{Name: "a", Repeat: 3000, Ops: []synth.Op{{Repeat: 3000, Ops: []synth.Op{compute(1)}}}},
		{Name: "b", Repeat: 8000000, Ops: []synth.Op{compute(1)}}, {Name: "c", Repeat: 8000000, Ops: []synth.Op{compute(1)}},
	}}
	_, err := nested.Build(2, 1)
	assert.EqualError(t, err, `build program: blocks.a.repeat: the repeats make more than 8388608 operations
build program: blocks: the repeats make 16000000 operations, expected at most 8388608`)
	_, err = synth.Collective(workloads.AllReduce, 1, 2, 1<<62)
	var e *synth.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "blocks.bench.ops[0].repeat", e.Path)
}
