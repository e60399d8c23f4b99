package chakra

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// TestSampleFoldersImport imports every sample folder and holds the program
// against what is known of the job.
func TestSampleFoldersImport(t *testing.T) {
	fsys := os.DirFS(filepath.Join(samples(t), "chakra"))
	type collective struct {
		comm  string
		coll  workloads.Coll
		count int // per rank 0
		bytes sim.Bytes
	}
	for _, c := range []struct {
		path    string
		opt     Options
		world   int32
		classes int
		ops     int // of rank 0
		comms   []string
		colls   []collective // some of rank 0
		warn    string
	}{
		// The dimensions of a 2x2x2 torus, one group of two in each.
		{"comm_groups_T3D", Options{}, 8, 1, 5, []string{"pg 0,1,2,3", "pg 4,5,6,7", "pg 8,9,10,11"},
			[]collective{{"pg 0,1,2,3", workloads.AllReduce, 1, sim.MiB}}, ""},
		{"custom_ring_allreduce_8npus_1MB", Options{}, 8, 1, 35, nil, nil, ""},
		{"json", Options{}, 8, 1, 2, []string{"world"}, []collective{{"world", workloads.Broadcast, 1, 0}}, "without comm_size"},
		{"json/small_chakra.0.json", Options{World: 2}, 2, 1, 2, []string{"world"}, nil, "at least 8 ranks"},
		// A shard of 1 MiB on each of 4 ranks.
		{"microbench/all_gather_4npus_1MB", Options{}, 4, 1, 1, []string{"world"}, []collective{{"world", workloads.AllGather, 1, 4 * sim.MiB}}, ""},
		{"microbench/all_reduce_8npus_1MB", Options{}, 8, 1, 1, []string{"world"}, []collective{{"world", workloads.AllReduce, 1, sim.MiB}}, ""},
		{"microbench/all_to_all_8npus_1MB", Options{}, 8, 1, 1, []string{"world"}, []collective{{"world", workloads.AllToAll, 1, sim.MiB}}, ""},
		{"microbench/reduce_scatter_4npus_1MB", Options{}, 4, 1, 1, []string{"world"}, []collective{{"world", workloads.ReduceScatter, 1, sim.MiB}}, ""},
		// 3643 COMP and 21 COMM_COLL, of which 2434 and 14 run on the host.
		{"pytorch_converter_resnet_2gpu", Options{}, 1, 1, 1216, []string{"world"}, nil, "give world"},
		{"pytorch_converter_resnet_2gpu", Options{World: 2}, 2, 1, 1216, []string{"world"},
			[]collective{{"world", workloads.AllReduce, 5, 102228128}, {"world", workloads.Broadcast, 2, 212904}}, "a copy of rank 0"},
		{"stage_llama_dp2_tp2_pp2", Options{}, 8, 2, 96, []string{"pg 5,6,7,8", "pg 1,2,3,4"},
			[]collective{{"pg 5,6,7,8", workloads.AllGather, 12, 2 * 100663296}, {"pg 5,6,7,8", workloads.ReduceScatter, 8, 134217728}}, "one byte an element"},
		{"stage_llama_dp2_tp2_pp2", Options{BytesPerElement: 2}, 8, 2, 96, []string{"pg 5,6,7,8", "pg 1,2,3,4"},
			[]collective{{"pg 5,6,7,8", workloads.ReduceScatter, 8, 2 * 134217728}}, ""},
		{"stage_llama_tp8_notpsp", Options{}, 8, 1, 295, []string{"pg 9"}, []collective{{"pg 9", workloads.AllReduce, 34, 1078984704}}, "one byte"},
		{"stage_llama_tp8_notpsp/llama_tp8_notpsp.3.et", Options{}, 8, 1, 295, []string{"pg 9"}, nil, "ranks 0-2, 4-7 have no trace"},
		{"stage_moe_dp2_tp2_ep4", Options{}, 16, 1, 190, []string{"pg 33,34,35,36", "pg 9,10,...,16", "pg 1,2,...,8"},
			[]collective{{"pg 33,34,35,36", workloads.AllToAll, 8, 67108864}}, "one byte"},
		{"v0_eg_transformer_2stack_64npus", Options{}, 4, 1, 142, []string{"world"}, nil, ""},
		{"v0_eg_transformer_2stack_64npus", Options{World: 64, Dims: []int32{4, 4, 4}}, 64, 1, 142, []string{"world"},
			[]collective{{"world", workloads.AllGather, 20, 64 * 8388608000}}, "ranks 4-63 have no trace"},
		{"v4early_resnet50_DataParallel", Options{}, 2, 1, 215, []string{"world"}, []collective{{"world", workloads.AllReduce, 54, 102011648}}, ""},
	} {
		t.Run(c.path, func(t *testing.T) {
			p, rep, err := Load(fsys, c.path, c.opt)
			if c.world < 8 && c.path == "json/small_chakra.0.json" {
				wantError(t, err, c.warn)
				return
			}
			require.NoError(t, err)
			require.NoError(t, p.Validate())
			assert.Equal(t, c.world, p.World)
			assert.Len(t, p.Classes, c.classes)
			first := p.Classes[0]
			assert.Len(t, first.Ops, c.ops)
			var comms []string
			for _, cm := range p.Comms {
				comms = append(comms, cm.Name)
			}
			assert.Equal(t, c.comms, comms)
			for _, want := range c.colls {
				got := collective{comm: want.comm, coll: want.coll}
				for _, o := range first.Ops {
					if o.Kind == workloads.Collective && o.Coll == want.coll && p.Comms[o.Comm].Name == want.comm {
						got.count++
						got.bytes += o.Bytes
					}
				}
				assert.Equal(t, want, got)
			}
			warnings := strings.Join(rep.Warnings, "\n")
			if c.warn == "" {
				assert.Empty(t, warnings)
			}
			assert.Contains(t, warnings, c.warn)
			assert.Empty(t, run(p), "operations that never finish")
			accounted(t, rep)
		})
	}
}

// accounted checks that each node of the files is either kept or dropped.
func accounted(t *testing.T, rep *Report) {
	t.Helper()
	nodes, fates := 0, 0
	for _, f := range rep.Files {
		nodes += f.Summary.Nodes
	}
	for _, i := range slices.Concat(rep.Kept, rep.Dropped) {
		fates += i.Count
	}
	assert.Equal(t, nodes, fates, "nodes kept and dropped")
}

// run executes a program without time, as replay is to: streams in their
// order, a collective when all its members can, sends without waiting. It
// returns the names of operations that never finish.
func run(p *workloads.Program) []string {
	type message struct{ from, to, tag int32 }
	classOf := make([]*workloads.Class, p.World)
	for i := range p.Classes {
		for _, r := range p.Classes[i].Ranks {
			classOf[r] = &p.Classes[i]
		}
	}
	done := make([][]bool, p.World)
	head := make([][]int, p.World) // next of each in-order stream
	nth := make([][]int, p.World)  // number of a collective in its communicator
	for r := range p.World {
		c := classOf[r]
		done[r] = make([]bool, len(c.Ops))
		count := make([]int, len(p.Comms))
		for i, o := range c.Ops {
			nth[r] = append(nth[r], 0)
			if o.Kind == workloads.Collective {
				nth[r][i] = count[o.Comm]
				count[o.Comm]++
			}
		}
		head[r] = make([]int, len(c.Streams))
	}
	next := func(r int32, s int16) int {
		for i := head[r][s]; i < len(classOf[r].Ops); i++ {
			if classOf[r].Ops[i].Stream == s && !done[r][i] {
				head[r][s] = i
				return i
			}
		}
		return -1
	}
	ready := func(r int32, i int) bool {
		o := &classOf[r].Ops[i]
		for _, d := range o.Deps {
			if !done[r][d] {
				return false
			}
		}
		return classOf[r].Streams[o.Stream].Order != workloads.InOrder || next(r, o.Stream) == i
	}
	sent := map[message]int{}
	for progress := true; progress; {
		progress = false
		for r := range p.World {
			for i := range classOf[r].Ops {
				o := &classOf[r].Ops[i]
				if done[r][i] || !ready(r, i) {
					continue
				}
				switch o.Kind {
				case workloads.Collective:
					var group []int32
					for _, g := range p.Comms[o.Comm].Groups {
						if slices.Contains(g, r) {
							group = g
						}
					}
					var parts [][2]int
					for _, m := range group {
						for j := range classOf[m].Ops {
							if q := &classOf[m].Ops[j]; q.Kind == workloads.Collective && q.Comm == o.Comm && nth[m][j] == nth[r][i] && !done[m][j] && ready(m, j) {
								parts = append(parts, [2]int{int(m), j})
							}
						}
					}
					if len(parts) < len(group) {
						continue
					}
					for _, x := range parts {
						done[x[0]][x[1]] = true
					}
				case workloads.Send:
					sent[message{r, p.Peer(o, r), o.Tag}]++
				case workloads.Recv:
					m := message{p.Peer(o, r), r, o.Tag}
					if sent[m] == 0 {
						continue
					}
					sent[m]--
				}
				done[r][i], progress = true, true
			}
		}
	}
	var out []string
	for r := range p.World {
		for i, d := range done[r] {
			if !d {
				out = append(out, classOf[r].Ops[i].Name)
			}
		}
	}
	return out
}
