package workloads

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
)

// sound is a program without faults: two classes of two ranks, groups across
// and within them, a pipeline between them.
func sound() *Program {
	streams := []Stream{{"compute", InOrder}, {"comm", AnyReady}, {"p2p", Concurrent}}
	return &Program{
		Name: "sound", World: 4,
		Comms:    []Comm{{Name: "tp", Dim: TP, Groups: [][]int32{{0, 1}, {2, 3}}}, {Name: "dp", Dim: DP, Groups: [][]int32{{2, 0}, {1, 3}}}},
		PeerMaps: [][]int32{{2, 3, -1, -1}, {-1, -1, 0, 1}},
		Classes: []Class{
			{Name: "first", Ranks: []int32{0, 1}, Streams: streams, Ops: []Op{
				{Name: "matmul", Kind: Compute, Duration: 5},
				{Name: "gather", Kind: Collective, Stream: 1, Coll: AllGather, Bytes: 64, Deps: []int32{0}},
				{Name: "forward", Kind: Send, Stream: 2, PeerMap: 1, Bytes: 8, Deps: []int32{1}},
				{Name: "a2a", Kind: Collective, Stream: 1, Coll: AllToAllV, Splits: []sim.Bytes{1, 2}},
				{Name: "grads", Kind: Collective, Stream: 1, Coll: Broadcast, Comm: 1, Root: 1, Bytes: 32},
			}},
			{Name: "second", Ranks: []int32{2, 3}, Streams: streams, Ops: []Op{
				{Name: "forward", Kind: Recv, Stream: 2, PeerMap: 2, Bytes: 8},
				{Name: "gather", Kind: Collective, Stream: 1, Coll: AllGather, Bytes: 64, Deps: []int32{0}},
				{Name: "a2a", Kind: Collective, Stream: 1, Coll: AllToAllV, Splits: []sim.Bytes{7, 0}},
				{Name: "grads", Kind: Collective, Stream: 1, Coll: Broadcast, Comm: 1, Root: 1, Bytes: 32},
			}},
		},
	}
}

func TestSoundProgramIsValid(t *testing.T) {
	require.NoError(t, sound().Validate())
}

func TestValidateFinds(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*Program)
		want  string
	}{
		{"no world", func(p *Program) { p.World = 0 }, "a world of 0 ranks"},
		{"a rank in no class", func(p *Program) { p.World = 5; p.PeerMaps = nil; p.Classes[0].Ops = p.Classes[0].Ops[:1] }, "rank 4 is in no class"},
		{"a rank in two", func(p *Program) { p.Classes[1].Ranks[0] = 1 }, `class "second": rank 1, which is in class "first" already`},
		{"a rank outside", func(p *Program) { p.Classes[1].Ranks[0] = 9 }, `class "second": rank 9; expected 0 to 3`},
		{"a class of nobody", func(p *Program) { p.Classes = append(p.Classes, Class{Name: "empty"}) }, `class "empty" has no ranks`},
		{"a group rank outside", func(p *Program) { p.Comms[0].Groups[0][1] = 4 }, `communicator "tp": group 0 has rank 4`},
		{"a group rank twice", func(p *Program) { p.Comms[0].Groups[1][1] = 2 }, `communicator "tp": rank 2 twice`},
		{"an empty group", func(p *Program) { p.Comms[0].Groups = append(p.Comms[0].Groups, nil) }, "group 2 has no ranks"},
		{"a short peer map", func(p *Program) { p.PeerMaps[1] = []int32{1} }, "peer map 2 has 1 ranks; expected 4"},
		{"a peer outside", func(p *Program) { p.PeerMaps[0][1] = 7 }, `op 2 ("forward"): peer 7 of rank 1; expected 0 to 3`},
		{"a peer map outside", func(p *Program) { p.Classes[0].Ops[2].PeerMap = 3 }, "peer map 3; the program has 2"},
		{"a stream outside", func(p *Program) { p.Classes[0].Ops[0].Stream = 3 }, `op 0 ("matmul"): stream 3; the class has 3`},
		{"an order outside", func(p *Program) { p.Classes[0].Streams[0].Order = 9 }, "has order 9"},
		{"a dependency outside", func(p *Program) { p.Classes[0].Ops[1].Deps[0] = 5 }, `op 1 ("gather"): depends on op 5; the class has 5`},
		{"a communicator outside", func(p *Program) { p.Classes[0].Ops[1].Comm = 2 }, "communicator 2; the program has 2"},
		{"a rank not in the group", func(p *Program) { p.Comms[0].Groups = [][]int32{{0, 1}} }, `communicator "tp", which rank 2 is not in`},
		{"a root outside", func(p *Program) { p.Classes[0].Ops[4].Root = 2 }, `op 4 ("grads"): root 2; expected 0 to 1`},
		{"splits of another length", func(p *Program) { p.Classes[1].Ops[2].Splits = []sim.Bytes{1, 2, 3} }, "alltoallv with 3 splits"},
		{"splits on others", func(p *Program) { p.Classes[0].Ops[1].Splits = []sim.Bytes{1} }, "splits on all_gather"},
		{"a negative split", func(p *Program) { p.Classes[0].Ops[3].Splits[1] = -2 }, "a split of -2 bytes"},
		{"negative bytes", func(p *Program) { p.Classes[0].Ops[1].Bytes = -1 }, `op 1 ("gather"): -1 bytes`},
		{"bytes beyond reason", func(p *Program) { p.Classes[0].Ops[1].Bytes = MaxBytes + 1 }, `op 1 ("gather"): 1125899906842625 bytes, 0 bytes of memory; expected at most 1125899906842624 (1 PiB)`},
		{"memory beyond reason", func(p *Program) { p.Classes[0].Ops[0].MemBytes = 1 << 62 }, "4611686018427387904 bytes of memory; expected at most"},
		{"a split beyond reason", func(p *Program) { p.Classes[0].Ops[3].Splits[1] = 1 << 62 }, "a split of 4611686018427387904 bytes; expected 0 to 1125899906842624"},
		{"a negative delay", func(p *Program) { p.Classes[0].Ops[0].Kind, p.Classes[0].Ops[0].Duration = Delay, -1 }, "a delay of"},
		{"an unknown kind", func(p *Program) { p.Classes[0].Ops[0].Kind = 77 }, "kind 77"},
		{"an unknown collective", func(p *Program) { p.Classes[0].Ops[1].Coll = 77 }, "collective 77"},
		{"a cycle", func(p *Program) {
			p.Classes[0].Ops[0].Deps = []int32{2}
		}, `a cycle of dependencies: op 0 ("matmul") waits for op 2 ("forward") waits for op 1 ("gather") waits for op 0 ("matmul")`},
		{"a cycle through a stream", func(p *Program) {
			p.Classes[0].Ops[1].Stream, p.Classes[0].Ops[0].Deps = 0, []int32{3}
			p.Classes[0].Ops[3].Deps = []int32{1}
		}, `op 0 ("matmul") waits for op 3 ("a2a") waits for op 1 ("gather") waits for op 0 ("matmul")`},
		{"sizes that differ", func(p *Program) { p.Classes[1].Ops[3].Bytes = 33 },
			`communicator "dp": collective 1 of rank 0, op 4 ("grads"), is broadcast of 32 bytes from position 1; expected broadcast of 33 bytes from position 1, as on rank 2, op 3 ("grads")`},
		{"kinds that differ", func(p *Program) { p.Classes[1].Ops[3].Coll = Reduce }, "is broadcast of 32 bytes from position 1; expected reduce"},
		{"roots that differ", func(p *Program) { p.Classes[1].Ops[3].Root = 0 }, "expected broadcast of 32 bytes from position 0"},
		{"messages of other sizes", func(p *Program) { p.Classes[1].Ops[0].Bytes = 9 }, `message 1 from rank 0 to rank 2 with tag 0: 8 bytes sent by op 2 ("forward"), 9 expected by op 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sound()
			c.spoil(p)
			err := p.Validate()
			var invalid *InvalidError
			require.ErrorAs(t, err, &invalid)
			assert.Contains(t, err.Error(), "validate program sound")
			assert.Contains(t, err.Error(), c.want)
		})
	}
}

func TestValidateFindsWhoWaitsForWhom(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*Program)
		want  Wait
	}{
		{"a collective never joined", func(p *Program) { p.Classes[1].Ops = p.Classes[1].Ops[:3] },
			Wait{Ranks: []int32{0}, For: []int32{2}, Op: "grads",
				What: `rank 0 waits in collective 1 of communicator "dp", broadcast of 32 bytes from position 1 ("grads"), for rank 2, which joins 0 of 1`}},
		{"a send without a receive", func(p *Program) { p.Classes[0].Ops[2].Tag = 5; p.Classes[1].Ops[0] = Op{Name: "nothing"} },
			Wait{Ranks: []int32{0}, For: []int32{2}, Op: "forward",
				What: `rank 0 waits in send 1 with tag 5, op 2 ("forward"), for rank 2, which receives 0 of 1`}},
		{"a receive without a send", func(p *Program) { p.Classes[0].Ops[2] = Op{Name: "nothing"} },
			Wait{Ranks: []int32{2}, For: []int32{0}, Op: "forward",
				What: `rank 2 waits in receive 1 with tag 0, op 0 ("forward"), for rank 0, which sends 0 of 1`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sound()
			c.spoil(p)
			err := p.Validate()
			var u *UnmatchedError
			require.ErrorAs(t, err, &u)
			assert.Equal(t, c.want, u.Waits[0])
			assert.Len(t, u.Waits, 2, "the same in the other group or pair")
			assert.Contains(t, err.Error(), "would wait forever")
		})
	}
}

func TestProblemsAreCapped(t *testing.T) {
	p := sound()
	for range 50 {
		p.Classes[0].Ops = append(p.Classes[0].Ops, Op{Name: "lost", Stream: 44})
	}
	err := p.Validate()
	var invalid *InvalidError
	require.ErrorAs(t, err, &invalid)
	assert.Len(t, invalid.Problems, 20)
	assert.Equal(t, 30, invalid.More)
	assert.Contains(t, err.Error(), "50 problems")
	assert.Contains(t, err.Error(), "and 30 more")
}

// Sends to one peer through two peer maps are one queue: the maps' operations
// interleave in program order.
func TestPeerMapsThatAgreeShareAQueue(t *testing.T) {
	p := &Program{Name: "maps", World: 2, PeerMaps: [][]int32{{1, -1}, {1, -1}}, Classes: []Class{
		{Ranks: []int32{0}, Streams: make([]Stream, 1), Ops: []Op{{Kind: Send, PeerMap: 1, Bytes: 1}, {Kind: Send, PeerMap: 2, Bytes: 2}, {Kind: Send, PeerMap: 1, Bytes: 3}, {Kind: Send, Peer: 1, Bytes: 4}}},
		{Ranks: []int32{1}, Streams: make([]Stream, 1), Ops: []Op{{Kind: Recv, Bytes: 1}, {Kind: Recv, Bytes: 2}, {Kind: Recv, Bytes: 3}, {Kind: Recv, Bytes: 4}}},
	}}
	require.NoError(t, p.Validate())
	p.Classes[1].Ops[1].Bytes = 3
	require.ErrorContains(t, p.Validate(), "message 2 from rank 0 to rank 1 with tag 0: 2 bytes sent")
}

// A random fault in an index or amount never goes unseen and never panics.
func TestRandomFaults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := sound()
		c := &p.Classes[rapid.IntRange(0, 1).Draw(rt, "class")]
		o := &c.Ops[rapid.IntRange(0, len(c.Ops)-1).Draw(rt, "op")]
		v := rapid.SampledFrom([]int32{-1 << 31, -7, 100, 1<<31 - 1}).Draw(rt, "value")
		what := rapid.SampledFrom([]string{"stream", "dep", "comm", "root", "bytes", "peer", "kind", "rank", "group"}).Draw(rt, "what")
		sure := true
		switch what {
		case "stream":
			o.Stream = int16(v | 1<<14)
		case "dep":
			o.Deps = append(o.Deps, v)
		case "comm":
			o.Comm, sure = v, o.Kind == Collective
		case "root":
			o.Root, sure = v, o.Kind == Collective && o.Coll == Broadcast
		case "bytes":
			o.Bytes, sure = sim.Bytes(v), v < 0
		case "peer":
			o.PeerMap, sure = v, o.Kind == Send || o.Kind == Recv
		case "kind":
			o.Kind = OpKind(v | 128)
		case "rank":
			c.Ranks[0] = v
		case "group":
			p.Comms[0].Groups[0][0] = v
		}
		err := p.Validate()
		if sure {
			var i *InvalidError
			require.True(rt, errors.As(err, &i), "%s %d: %v", what, v, err)
		}
	})
}

func TestValidateIsFast(t *testing.T) {
	if testing.Short() {
		t.Skip("a program of a million operations")
	}
	require.NoError(t, big(1_000_000).Validate())
}

// big is one class of many operations, a collective every fourth.
func big(ops int) *Program {
	c := Class{Name: "all", Ranks: make([]int32, 64), Streams: []Stream{{"compute", InOrder}, {"comm", AnyReady}}}
	for r := range c.Ranks {
		c.Ranks[r] = int32(r)
	}
	for i := range int32(ops) {
		o := Op{Name: "op", Kind: Compute, Duration: 1}
		if i%4 == 3 {
			o = Op{Name: "op", Kind: Collective, Stream: 1, Coll: AllReduce, Bytes: 1 << 20, Deps: []int32{i - 1}}
		}
		c.Ops = append(c.Ops, o)
	}
	return &Program{Name: "big", World: 64, Classes: []Class{c}, Comms: []Comm{{Name: "world", Groups: [][]int32{c.Ranks}}}}
}

func BenchmarkValidate(b *testing.B) {
	p := big(1_000_000)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := p.Validate(); err != nil {
			b.Fatal(err)
		}
		n += len(p.Classes[0].Ops)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "ops/s")
}

// A collective that a rank never joins.
func ExampleProgram_Validate() {
	all := []Op{{Name: "gradients", Kind: Collective, Coll: AllReduce, Bytes: 1024}}
	streams := []Stream{{Name: "comm"}}
	p := &Program{
		Name: "lost", World: 2,
		Comms: []Comm{{Name: "dp", Groups: [][]int32{{0, 1}}}},
		Classes: []Class{
			{Name: "rank 0", Ranks: []int32{0}, Streams: streams, Ops: all},
			{Name: "rank 1", Ranks: []int32{1}, Streams: streams},
		},
	}
	fmt.Println(p.Validate())
	// Output:
	// validate program lost: it would wait forever: rank 0 waits in collective 1 of communicator "dp", all_reduce of 1024 bytes ("gradients"), for rank 1, which joins 0 of 1
}
