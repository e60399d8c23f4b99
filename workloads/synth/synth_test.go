package synth_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/synth"
)

func compute(t sim.Time) synth.Op { return synth.Op{Compute: &synth.Compute{Time: t}} }

func allReduce(group string, b sim.Bytes) synth.Op {
	return synth.Op{AllReduce: &synth.Coll{Group: group, Bytes: b}}
}

// w3 is the transformer step of the benchmark work: 40 layers, forward then
// backward, each twice {compute, TP all-reduce}, and a DP all-reduce per layer
// that blocks nothing.
func w3() *synth.Program {
	dp := allReduce("dp", 78643200)
	dp.Background = true
	return &synth.Program{
		Groups: []synth.Group{{Name: "tp", Size: 8}, {Name: "dp", Stride: 8}},
		Blocks: []synth.Block{
			{Name: "forward", Repeat: 40, Ops: []synth.Op{
				{Repeat: 2, Ops: []synth.Op{compute(500 * sim.Microsecond), allReduce("tp", 20971520)}}}},
			{Name: "backward", Repeat: 40, Ops: []synth.Op{
				{Repeat: 2, Ops: []synth.Op{compute(1000 * sim.Microsecond), allReduce("tp", 20971520)}}, dp}},
		},
	}
}

func TestTransformerStepIsOneClass(t *testing.T) {
	p, err := w3().Build(512, 1)
	require.NoError(t, err)
	require.NoError(t, p.Validate())
	require.Len(t, p.Classes, 1)
	ops := p.Classes[0].Ops
	assert.Len(t, ops, 40*4+40*5)
	require.Len(t, p.Comms, 2)
	assert.Equal(t, workloads.TP, p.Comms[0].Dim)
	assert.Equal(t, []int32{8, 9, 10, 11, 12, 13, 14, 15}, p.Comms[0].Groups[1])
	assert.Equal(t, workloads.DP, p.Comms[1].Dim)
	assert.Len(t, p.Comms[1].Groups, 8)
	assert.Len(t, p.Comms[1].Groups[3], 64)
	assert.Equal(t, []int32{3, 11, 19}, p.Comms[1].Groups[3][:3])

	// The first DP all-reduce follows its layer's last TP all-reduce, and the
	// next layer's compute follows that same one.
	dp := 160 + 4
	assert.Equal(t, int32(1), ops[dp].Comm)
	assert.Equal(t, []int32{int32(dp - 1)}, ops[dp].Deps)
	assert.Equal(t, []int32{int32(dp - 1)}, ops[dp+1].Deps)
	assert.Equal(t, "background", p.Classes[0].Streams[ops[dp].Stream].Name)
}

func TestJitterIsPerRankBoundedAndSeeded(t *testing.T) {
	p := w3()
	p.Jitter = 0.1
	a, err := p.Build(16, 7)
	require.NoError(t, err)
	again, err := p.Build(16, 7)
	require.NoError(t, err)
	other, err := p.Build(16, 8)
	require.NoError(t, err)
	assert.Equal(t, a, again, "same seed, same program")
	assert.NotEqual(t, a.Classes[0].Ops[0].Duration, other.Classes[0].Ops[0].Duration)
	assert.Len(t, a.Classes, 16)
	assert.NotEqual(t, a.Classes[0].Ops[0].Duration, a.Classes[1].Ops[0].Duration)
	var sum float64
	for _, c := range a.Classes {
		for _, o := range c.Ops[:160] {
			if o.Kind == workloads.Compute {
				assert.InDelta(t, 500, o.Duration.Microseconds(), 50)
				sum += o.Duration.Microseconds()
			}
		}
	}
	assert.InDelta(t, 500, sum/(16*80), 5, "the mean stays")
}

func TestStragglerIsAClassOfItsOwn(t *testing.T) {
	p := w3()
	p.Straggler = &synth.Straggler{Rank: 5, Factor: 1.5}
	out, err := p.Build(16, 1)
	require.NoError(t, err)
	require.Len(t, out.Classes, 2)
	assert.Equal(t, []int32{5}, out.Classes[1].Ranks)
	assert.Equal(t, 750*sim.Microsecond, out.Classes[1].Ops[0].Duration)
	assert.Equal(t, 500*sim.Microsecond, out.Classes[0].Ops[0].Duration)
}

// A pipeline of three stages: the first has nothing to receive, the last
// nothing to send, so there are three classes; a skipped operation passes its
// dependencies on.
func TestPipelineEndsSkip(t *testing.T) {
	p := &synth.Program{
		Groups: []synth.Group{{Name: "pp", Stride: 2}},
		Blocks: []synth.Block{{Name: "forward", Repeat: 2, Ops: []synth.Op{
			{Recv: &synth.P2P{Group: "pp", Offset: -1, Bytes: 10}},
			compute(sim.Microsecond),
			{Send: &synth.P2P{Group: "pp", Offset: 1, Bytes: 10}},
		}}},
	}
	out, err := p.Build(6, 1)
	require.NoError(t, err)
	require.Len(t, out.Classes, 3)
	require.NoError(t, out.Validate())
	assert.Equal(t, []int32{0, 1}, out.Classes[0].Ranks)
	kinds := func(c int) (k []workloads.OpKind) {
		for _, o := range out.Classes[c].Ops {
			k = append(k, o.Kind)
		}
		return
	}
	assert.Equal(t, []workloads.OpKind{workloads.Compute, workloads.Send, workloads.Compute, workloads.Send}, kinds(0))
	assert.Equal(t, []workloads.OpKind{workloads.Recv, workloads.Compute, workloads.Recv, workloads.Compute}, kinds(2))
	assert.Equal(t, []int32{0}, out.Classes[0].Ops[2].Deps, "the send is in the background")
	send := out.Classes[0].Ops[1]
	assert.Equal(t, int32(3), out.Peer(&send, 1))
}

func TestLabels(t *testing.T) {
	grads := allReduce("", 100)
	grads.Background, grads.Label = true, "grads"
	opt := compute(sim.Microsecond)
	opt.After = &[]string{"grads"}
	free := compute(sim.Microsecond)
	free.After = &[]string{}
	p := &synth.Program{Blocks: []synth.Block{
		{Name: "backward", Repeat: 3, Ops: []synth.Op{compute(1), grads}},
		{Name: "step", Ops: []synth.Op{opt, free}},
	}}
	out, err := p.Build(2, 1)
	require.NoError(t, err)
	ops := out.Classes[0].Ops
	assert.Equal(t, []int32{1, 3, 5}, ops[6].Deps, "from a later block a label means all of them")
	assert.Empty(t, ops[7].Deps)
}

func TestBadPrograms(t *testing.T) {
	one := func(o synth.Op) *synth.Program {
		return &synth.Program{
			Groups: []synth.Group{{Name: "tp", Size: 2}, {Name: "pair", Ranks: [][]int32{{0, 1}}}},
			Blocks: []synth.Block{{Name: "b", Ops: []synth.Op{compute(1), o}}}}
	}
	unknownStream := compute(1)
	unknownStream.Stream = "comptue"
	half := allReduce("tp", 1)
	half.At = map[string][]int32{"tp": {0}}
	nowhere := compute(1)
	nowhere.At = map[string][]int32{"tp": {9}}
	three := int32(9)
	after := compute(1)
	after.After = &[]string{"gone"}
	for name, c := range map[string]struct {
		p          *synth.Program
		path, want string
	}{
		"group size":    {&synth.Program{Groups: []synth.Group{{Name: "tp", Size: 3}}}, "groups.tp", "expected a divisor of the 4 ranks"},
		"rank":          {&synth.Program{Groups: []synth.Group{{Name: "x", Ranks: [][]int32{{0, 4}}}}}, "groups.x.ranks[0][1]", "rank 4 does not exist, expected 0 to 3"},
		"rank twice":    {&synth.Program{Groups: []synth.Group{{Name: "x", Ranks: [][]int32{{0, 1}, {1}}}}}, "groups.x.ranks[1][0]", "rank 1 is in two groups"},
		"group name":    {one(allReduce("tq", 1)), "blocks.b.ops[1].all_reduce.group", `group "tq" does not exist`},
		"root":          {one(synth.Op{Broadcast: &synth.Coll{Group: "tp", Bytes: 1, Root: 2}}), "blocks.b.ops[1].broadcast.root", "expected 0 to 1"},
		"stream":        {one(unknownStream), "blocks.b.ops[1].stream", `stream "comptue" does not exist`},
		"part of group": {one(half), "blocks.b.ops[1].all_reduce", "rank 0 joins and rank 1 of the same group"},
		"no such place": {one(nowhere), "blocks.b.ops[1].at.tp", "no rank is at position"},
		"peer":          {one(synth.Op{Send: &synth.P2P{To: &three, Bytes: 1}}), "blocks.b.ops[1].send.to", "rank 9 does not exist"},
		"label":         {one(after), "blocks.b.ops[1].after[0]", `label "gone" is on no operation`},
		"straggler":     {&synth.Program{Straggler: &synth.Straggler{Rank: 4, Factor: 2}}, "straggler.rank", "rank 4 does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.p.Build(4, 1)
			var e *synth.Error
			require.True(t, errors.As(err, &e), "%v", err)
			assert.Equal(t, c.path, e.Path)
			assert.Contains(t, e.Msg, c.want)
		})
	}
}

// Whatever the strides, a family of groups deals every rank out once, and
// neighbours in a group are a stride apart.
func TestFamiliesCoverTheWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int32Range(1, 6).Draw(t, "size")
		stride := rapid.Int32Range(1, 6).Draw(t, "stride")
		world := size * stride * rapid.Int32Range(1, 4).Draw(t, "blocks")
		p := &synth.Program{Groups: []synth.Group{{Name: "g", Size: size, Stride: stride}},
			Blocks: []synth.Block{{Name: "b", Ops: []synth.Op{allReduce("g", 1)}}}}
		out, err := p.Build(world, 0)
		require.NoError(t, err)
		seen := map[int32]int{}
		for _, g := range out.Comms[0].Groups {
			for i, r := range g {
				seen[r]++
				if i > 0 {
					assert.Equal(t, stride, r-g[i-1])
				}
			}
		}
		assert.NoError(t, out.Validate())
		assert.Len(t, seen, int(world))
		assert.Len(t, out.Classes, 1)
	})
}

func TestSkewedSplitsKeepTheBytes(t *testing.T) {
	p, err := synth.Repeated{Op: workloads.AllToAllV, Bytes: 1000, Skew: 3}.Build(8)
	require.NoError(t, err)
	s := p.Classes[0].Ops[0].Splits
	var sum sim.Bytes
	for _, b := range s {
		sum += b
	}
	assert.Equal(t, sim.Bytes(1000), sum)
	assert.Equal(t, []sim.Bytes{300, 100, 100, 100, 100, 100, 100, 100}, s)
}

func BenchmarkBuildTransformer512(b *testing.B) {
	p := w3()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Build(512, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuildTransformer512Jitter(b *testing.B) {
	p := w3()
	p.Jitter = 0.1
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Build(512, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleCollective() {
	p, err := synth.Collective(workloads.AllReduce, sim.GiB, 8, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Name, "in", len(p.Classes), "class of", len(p.Classes[0].Ranks), "ranks,", len(p.Classes[0].Ops), "operations")
	// Output: all_reduce of 1073741824 bytes in 1 class of 8 ranks, 2 operations
}
