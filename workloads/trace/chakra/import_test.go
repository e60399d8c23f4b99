package chakra

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// load imports the traces of ranks 0, 1, ...
func load(t *testing.T, opt Options, files ...[]byte) (*workloads.Program, *Report) {
	t.Helper()
	p, rep, err := Load(folder(files...), "job", opt)
	require.NoError(t, err)
	accounted(t, rep)
	require.Empty(t, run(p), "operations that never finish")
	return p, rep
}

// shape writes the operations of a class: name, stream, dependencies.
func shape(c workloads.Class) string {
	var parts []string
	for _, o := range c.Ops {
		parts = append(parts, fmt.Sprintf("%s@%s%v", o.Name, c.Streams[o.Stream].Name, o.Deps))
	}
	return strings.Join(parts, " ")
}

func called(n Node, name string) Node {
	n.Name = name
	return n
}

func item(list []Item, what, why string) Item {
	for _, i := range list {
		if strings.Contains(i.What, what) && strings.Contains(i.Why, why) {
			return i
		}
	}
	return Item{}
}

func TestDependencyPolicy(t *testing.T) {
	ctrl := func(n Node, deps ...uint64) Node {
		n.CtrlDeps = deps
		return n
	}
	for _, c := range []struct {
		name  string
		nodes []Node
		want  string
		warn  string
	}{
		{"data before control", []Node{comp(1, 1), ctrl(comp(2, 1, 1), 3), ctrl(comp(3, 1), 2)}, "comp@compute[] comp@compute[0] comp@compute[]", ""},
		{"control where it is all there is", []Node{comp(1, 1), ctrl(comp(2, 1), 1)}, "comp@compute[] comp@compute[0]", ""},
		{"control on itself", []Node{comp(1, 1), ctrl(comp(2, 1), 2, 1)}, "comp@compute[] comp@compute[0]", ""},
		{"control that dangles", []Node{comp(3, 1), ctrl(comp(2, 1), 9)}, "comp@compute[] comp@compute[0]", "one after the other"},
		{"control in a circle", []Node{ctrl(comp(1, 1), 2), ctrl(comp(2, 1), 1)}, "comp@compute[] comp@compute[0]", "one after the other"},
		{"forward and dangling and twice", []Node{comp(1, 1, 2, 2, 77), comp(2, 1)}, "comp@compute[] comp@compute[0]", ""},
		{"smallest id first of those ready", []Node{called(comp(9, 1), "nine"), called(comp(4, 1, 9), "four"), called(comp(7, 1), "seven")}, "seven@compute[] nine@compute[] four@compute[1]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, rep := load(t, Options{}, trace(c.nodes...))
			assert.Equal(t, c.want, shape(p.Classes[0]))
			if c.warn == "" {
				assert.Empty(t, rep.Warnings)
			} else {
				require.Len(t, rep.Warnings, 1)
				assert.Contains(t, rep.Warnings[0], c.warn)
			}
		})
	}
	_, rep := load(t, Options{}, trace(comp(1, 1, 2, 2, 77, 1), comp(2, 1)))
	assert.Equal(t, 1, item(rep.Repaired, "data dependency", "not in the file").Count)
	assert.Equal(t, 1, item(rep.Repaired, "dependency", "itself").Count)
	assert.Equal(t, 1, item(rep.Repaired, "dependency", "twice").Count)
}

func TestHostOperatorsCarryDependencies(t *testing.T) {
	p, rep := load(t, Options{}, trace(comp(1, 4), host(2, 1), host(3, 2), comp(4, 5, 3)))
	assert.Equal(t, "comp@compute[] comp@compute[0]", shape(p.Classes[0]))
	assert.Equal(t, Item{What: "COMP", Why: "host operator", Count: 2, Time: 6 * sim.Microsecond}, item(rep.Dropped, "COMP", "host"))

	// Twelve kernels behind a chain of host operators meet in a join, and the
	// edges stay few.
	var nodes []Node
	var all []uint64
	for i := range uint64(12) {
		nodes = append(nodes, comp(i+1, 1))
		all = append(all, i+1)
	}
	nodes = append(nodes, host(20, all...), host(21, 20), comp(22, 1, 21), comp(23, 1, 21))
	p, _ = load(t, Options{}, trace(nodes...))
	ops := p.Classes[0].Ops
	assert.Equal(t, "join", ops[12].Name)
	assert.Len(t, ops[12].Deps, 12)
	assert.Equal(t, []int32{12}, ops[13].Deps)
	assert.Equal(t, []int32{12}, ops[14].Deps)
}

func kernel(id uint64, stream int64, deps ...uint64) Node {
	return Node{ID: id, Name: fmt.Sprint("k", id), Type: Comp, Has: HasCPUOp | HasStream, Stream: stream, Duration: 10 * sim.Microsecond, DataDeps: deps}
}

func nccl(id uint64, stream int64, deps ...uint64) Node {
	n := collNode(id, AllReduce, 64, "", deps...)
	n.Name, n.Has, n.Stream = fmt.Sprint("nccl", id), n.Has|HasStream|HasCPUOp, stream
	return n
}

func TestRecordedStreams(t *testing.T) {
	wrapper := Node{ID: 4, Name: "c10d::allreduce_", Type: CommColl, Has: HasCPUOp, CPUOp: true}
	file := trace(host(1), kernel(2, 7, 1), kernel(3, 7, 1), wrapper, nccl(5, 14, 4), kernel(6, 7, 1), kernel(8, 7, 5, 2, 3))
	p, rep := load(t, Options{World: 2}, file)
	c := p.Classes[0]
	assert.Equal(t, []workloads.Stream{{Name: "stream 7", Order: workloads.InOrder}, {Name: "stream 14", Order: workloads.InOrder}}, c.Streams)
	// The collective waits for k3, the last kernel launched before it; k8
	// keeps its wait for the collective and not those that its stream implies.
	assert.Equal(t, "k2@stream 7[] k3@stream 7[] nccl5@stream 14[1] k6@stream 7[] k8@stream 7[2]", shape(c))
	assert.Equal(t, 1, item(rep.Dropped, "COMM_COLL", "host wrapper").Count)
	assert.Equal(t, 1, item(rep.Repaired, "collective", "launched before").Count)
	assert.Equal(t, 2, item(rep.Repaired, "dependency", "order of a stream").Count)

	p, _ = load(t, Options{World: 2, RecordedOnly: true}, file)
	assert.Contains(t, shape(p.Classes[0]), "nccl5@stream 14[]")
}

// Messages between kernels of a stream keep their place in it, side by side.
func TestMessagesOfARecordedStream(t *testing.T) {
	on := func(n Node) Node {
		n.Has, n.Stream = n.Has|HasStream, 9
		return n
	}
	p, _ := load(t, Options{},
		trace(kernel(1, 9), on(send(2, 1, 0, 8)), on(recv(3, 1, 0, 8)), kernel(4, 9)),
		trace(kernel(1, 9), on(send(2, 0, 0, 8)), on(recv(3, 0, 0, 8)), kernel(4, 9)))
	require.Len(t, p.Classes, 1)
	assert.Equal(t, "k1@stream 9[] send@p2p[0] recv@p2p[0] k4@stream 9[1 2]", shape(p.Classes[0]))
	assert.Equal(t, [][]int32{{1, 0}}, p.PeerMaps)
}

func TestMessagesWithoutPeerAreDropped(t *testing.T) {
	n := Node{ID: 2, Name: "ncclDevKernel_SendRecv", Type: CommSend, Has: HasCommSize, CommSize: 512, Duration: 9 * sim.Microsecond, DataDeps: []uint64{1}}
	p, rep := load(t, Options{}, trace(comp(1, 1), n, comp(3, 1, 2)))
	assert.Equal(t, "comp@compute[] comp@compute[0]", shape(p.Classes[0]))
	assert.Equal(t, Item{What: "COMM_SEND", Why: "no peer is recorded", Count: 1, Bytes: 512, Time: 9 * sim.Microsecond}, item(rep.Dropped, "COMM_SEND", ""))
	assert.Contains(t, rep.Warnings[0], "comm_src, comm_dst")
}

func TestUnknownIsKeptInTheReport(t *testing.T) {
	odd := collNode(2, 42, 100, "")
	p, rep := load(t, Options{}, trace(comp(1, 1), odd, Node{ID: 3, Name: "x", Type: 12, DataDeps: []uint64{1}}, comp(4, 1, 3)))
	assert.Equal(t, "comp@compute[] comp@compute[0]", shape(p.Classes[0]))
	assert.Equal(t, sim.Bytes(100), item(rep.Dropped, "COMM_COLL", "comm_type 42").Bytes)
	assert.Equal(t, 1, item(rep.Dropped, "type 12", "no such type").Count)
	assert.Len(t, rep.Warnings, 2)
}

func TestDurations(t *testing.T) {
	both := Node{ID: 1, Name: "both", Type: Comp, Has: HasNumOps | HasTensorSize, NumOps: 1000, TensorSize: 64, Duration: 5 * sim.Microsecond}
	sized := Node{ID: 2, Name: "sized", Type: Comp, Has: HasNumOps, NumOps: 7}
	load1 := Node{ID: 3, Name: "load", Type: MemLoad, Has: HasTensorSize, TensorSize: 128}
	store := Node{ID: 4, Name: "store", Type: MemStore, Duration: 2 * sim.Microsecond}
	p, _ := load(t, Options{}, trace(both, sized, load1, store, comp(5, 0)))
	ops := p.Classes[0].Ops
	assert.Equal(t, 5*sim.Microsecond, ops[0].Duration)
	assert.Equal(t, sim.Time(-1), ops[1].Duration)
	assert.Equal(t, 7.0, ops[1].FLOPs)
	assert.Equal(t, workloads.Copy, ops[2].Kind)
	assert.Equal(t, sim.Bytes(128), ops[2].Bytes)
	assert.Equal(t, workloads.Delay, ops[3].Kind)
	assert.Equal(t, 2*sim.Microsecond, ops[3].Duration)
	assert.Equal(t, sim.Time(0), ops[4].Duration)

	p, _ = load(t, Options{PreferRoofline: true, BytesPerElement: 2}, trace(both))
	assert.Equal(t, sim.Time(-1), p.Classes[0].Ops[0].Duration)
	assert.Equal(t, sim.Bytes(128), p.Classes[0].Ops[0].MemBytes)
}

// Sizes become those that nccl-tests prints; the table is in the doc of Op.
func TestSizesOfCollectives(t *testing.T) {
	var nodes []Node
	for k := AllReduce; k <= Barrier; k++ {
		nodes = append(nodes, collNode(uint64(k)+1, k, 100, ""))
	}
	file := trace(nodes...)
	p, _ := load(t, Options{}, file, file, file, file)
	want := map[workloads.Coll]sim.Bytes{workloads.AllReduce: 100, workloads.Reduce: 100, workloads.AllGather: 400, workloads.Gather: 400,
		workloads.Scatter: 100, workloads.Broadcast: 100, workloads.AllToAll: 100, workloads.ReduceScatter: 100, workloads.Barrier: 0}
	require.Len(t, p.Classes, 1)
	for _, o := range p.Classes[0].Ops {
		assert.Equal(t, want[o.Coll], o.Bytes, o.Coll)
	}
}

func TestGroupsOfDimensions(t *testing.T) {
	file := trace(withDims(collNode(1, AllReduce, 8, ""), true, false, true), withDims(collNode(2, AllReduce, 8, ""), false, true, false), withDims(collNode(3, AllReduce, 8, ""), false, false, false))
	p, rep := load(t, Options{Dims: []int32{2, 3, 2}}, file)
	require.Len(t, p.Classes, 1)
	assert.Equal(t, int32(12), p.World)
	assert.Len(t, rep.Copies, 11)
	// Rank = x + 2y + 6z. Ranks of one y differ in x and z.
	assert.Equal(t, [][]int32{{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11}}, sorted(p.Comms[0].Groups))
	assert.Equal(t, [][]int32{{0, 2, 4}, {1, 3, 5}, {6, 8, 10}, {7, 9, 11}}, sorted(p.Comms[1].Groups))
	assert.Len(t, p.Comms[2].Groups, 12)
}

func TestProcessGroupsOfPyTorch(t *testing.T) {
	for name, text := range map[string]string{
		"json in a list": `['[{"pg_name": "0", "pg_desc": "default_pg", "ranks": [], "group_size": 4}, {"pg_name": "1", "pg_desc": "TENSOR_MODEL_PARALLEL_GROUP", "ranks": [0, 1]}]']`,
		"escaped":        `["[{\"pg_name\": \"0\", \"ranks\": []}, {\"pg_name\": \"1\", \"pg_desc\": \"TENSOR_MODEL_PARALLEL_GROUP\", \"ranks\": [0, 1]}]"]`,
		"python":         `[{'pg_name': 0, 'ranks': []}, {'pg_name': 1, 'pg_desc': 'TENSOR_MODEL_PARALLEL_GROUP', 'ranks': [0, 1]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			init := Node{ID: 1, Name: processGroups, Type: Metadata, Inputs: text}
			p, rep := load(t, Options{World: 4}, trace(init, collNode(2, AllReduce, 8, "0"), collNode(3, AllGather, 8, "1")))
			require.Len(t, p.Comms, 2)
			assert.Equal(t, [][]int32{{0, 1, 2, 3}}, p.Comms[0].Groups)
			assert.Equal(t, workloads.TP, p.Comms[1].Dim)
			// The other tensor-parallel group is made for the copies.
			assert.Equal(t, [][]int32{{0, 1}, {2, 3}}, p.Comms[1].Groups)
			assert.Len(t, p.Classes, 1)
			assert.Len(t, rep.Copies, 3)
		})
	}
}

func TestSkippedFilesAreListed(t *testing.T) {
	fsys := folder(trace(comp(1, 1)))
	fsys["job/sys.json"] = &fstest.MapFile{Data: []byte(`{"a": 1}`)}
	fsys["job/notes.txt"] = &fstest.MapFile{Data: []byte("hello there")}
	_, rep, err := Load(fsys, "job", Options{})
	require.NoError(t, err)
	assert.Equal(t, []Skipped{{"job/notes.txt", "text"}, {"job/sys.json", "JSON of another kind"}}, rep.Skipped)
}

func TestContentDecidesNotTheName(t *testing.T) {
	nodes := []Node{comp(1, 5), comp(2, 6, 1)}
	var g0 writer
	for _, n := range nodes {
		n.TensorSize, n.NumOps = 1, 1
		g0.g0(n)
	}
	for name, data := range map[string][]byte{
		"t.0.et": gzipped(trace(nodes...)), "t.1.json": trace(nodes...), "t.2.eg": g0.Bytes(), "t.3": gzipped(asJSON(nodes...)), "10.bin": trace(nodes...)} {
		t.Run(name, func(t *testing.T) {
			s, err := Read(fstest.MapFS{name: {Data: data}}, name, Options{})
			require.NoError(t, err)
			assert.Len(t, s.Traces[0].Nodes, 2)
			assert.Equal(t, []uint64{1}, s.Traces[0].Nodes[1].DataDeps)
		})
	}
}

func TestRanksSortAsNumbers(t *testing.T) {
	fsys := fstest.MapFS{}
	for r := range 12 {
		fsys[fmt.Sprintf("job/t.%d.et", r)] = &fstest.MapFile{Data: trace(comp(1, int64(r+1)))}
	}
	s, err := Read(fsys, "job", Options{})
	require.NoError(t, err)
	for r, tr := range s.Traces {
		assert.Equal(t, int32(r), tr.Rank)
		assert.Equal(t, sim.Time(r+1)*sim.Microsecond, tr.Nodes[0].Duration)
	}
	for name, rank := range map[string]int32{"chakra.0.et.gz": 0, "rank-12.json": 12, "worker3_step7.et": 3, "et_5.et": 5, "8npus.2.et": 2, "plain.et": -1} {
		assert.Equal(t, rank, rankOf(name), name)
	}
}

// One trace of a large job: copies cost their rank, not their group.
func TestCopiesOfALargeWorld(t *testing.T) {
	const world = 1 << 16
	init := Node{ID: 1, Name: processGroups, Type: Metadata, Inputs: fmt.Sprintf(`[{"pg_name": "tp", "ranks": [0, 1, 2, 3, 4, 5, 6, 7]}, {"pg_name": "dp", "ranks": [0, %d]}, {"pg_name": "all", "ranks": []}]`, world/2)}
	p, _, err := Load(folder(trace(init, collNode(2, AllReduce, 8, "all"), collNode(3, AllReduce, 8, "tp"), collNode(4, AllReduce, 8, "dp"))), "job", Options{World: world})
	require.NoError(t, err)
	assert.Len(t, p.Classes, 1)
	assert.Len(t, p.Comms[1].Groups, world/8)
	assert.Len(t, p.Comms[2].Groups, world/2)
	assert.Equal(t, []int32{world/2 - 1, world - 1}, p.Comms[2].Groups[world/2-1])
}

// Whatever the dependencies, each operation stands after those it waits for,
// and what is written is what is read.
func TestRandomTraces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "nodes")
		perm := rapid.Permutation(rangeOf(n)).Draw(rt, "ids")
		nodes := make([]Node, n)
		for i := range nodes {
			nodes[i] = comp(uint64(perm[i]), int64(i+1))
			if rapid.Bool().Draw(rt, "host") && i > 0 {
				nodes[i] = host(uint64(perm[i]))
			}
			for range rapid.IntRange(0, 4).Draw(rt, "degree") {
				if i > 0 {
					nodes[i].DataDeps = append(nodes[i].DataDeps, uint64(perm[rapid.IntRange(0, i-1).Draw(rt, "dep")]))
				}
			}
		}
		file := trace(nodes...)
		s, err := Read(fstest.MapFS{"t.0.et": {Data: file}}, "t.0.et", Options{})
		require.NoError(rt, err)
		for i, got := range s.Traces[0].Nodes {
			got.Offset, got.Record = 0, 0
			require.Equal(rt, nodes[i], got)
		}
		p, _, err := Import(s, Options{})
		require.NoError(rt, err)
		for i, o := range p.Classes[0].Ops {
			for _, d := range o.Deps {
				require.Less(rt, d, int32(i))
			}
		}
		require.Empty(rt, run(p))
	})
}

func rangeOf(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// sorted orders groups by their first rank.
func sorted(groups [][]int32) [][]int32 {
	slices.SortFunc(groups, slices.Compare)
	return groups
}
