package mscclpp

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/msccl"
	"github.com/weft-sim/weft/workloads/replay"
)

// sharedFile reads a real file, and skips the test where there is none.
func sharedFile(t testing.TB, parts ...string) []byte {
	t.Helper()
	root, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, root, filepath.Dir(root), "no go.mod above the test")
		root = filepath.Dir(root)
	}
	shared := os.Getenv("WEFT_SHARED")
	if shared == "" {
		shared = filepath.Join(root, "..", "shared")
	}
	path := filepath.Join(append([]string{shared}, parts...)...)
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("%s is not there; WEFT_SHARED names the folder of real files", path)
	}
	require.NoError(t, err)
	return content
}

func star(t testing.TB, n int, rate sim.Rate, latency sim.Time) *topology.Machine {
	m, err := machine.Build(machine.Star(n, topology.Wire{Rate: rate, Latency: latency, Class: topology.Class{Name: "port"}}))
	require.NoError(t, err)
	return m
}

func timed(t testing.TB, p *Plan, m *topology.Machine, size sim.Bytes, c msccl.Costs, o replay.Options) *replay.Result {
	var ranks []int32
	for r := range p.GPUs {
		ranks = append(ranks, int32(r))
	}
	r, err := p.Expand(size, ranks, int32(len(m.Ranks)), c)
	require.NoError(t, err)
	require.NoError(t, r.Program.Validate())
	o.Send, o.Choose = r.Send, r.Choose
	res, err := replay.Run(context.Background(), r.Program, m, o)
	require.NoError(t, err)
	return res
}

// The counts were taken from the files by other means.
func TestRealFiles(t *testing.T) {
	for _, c := range []struct {
		file, op, protocol string
		gpus, blocks       int
		ops                map[string]int
		switched           bool
	}{
		{"allreduce.json", "all_reduce", "Simple", 2, 16, map[string]int{"rlxsignal": 16, "rlxwait": 16, "nop": 32, "rres": 16, "signal": 16, "wait": 16}, false},
		{"allreduce_packet.json", "all_reduce", "LL", 2, 4, map[string]int{"ppkt": 2, "respkt": 4, "upkt": 2}, false},
		{"reduce_nvls.json", "all_reduce", "Simple", 2, 2, map[string]int{"nop": 12, "rlxsignal": 4, "rlxwait": 4, "glres": 2}, true},
		{"transfer_pack.json", "all_gather", "LL", 2, 5, map[string]int{"ppkt": 1, "upkt": 2, "cpkt": 1, "rppkt": 1}, false},
	} {
		t.Run(c.file, func(t *testing.T) {
			p, err := Read(c.file, sharedFile(t, "traces", "mscclpp_plan", c.file))
			require.NoError(t, err)
			blocks, ops := 0, map[string]int{}
			for _, g := range p.GPUs {
				blocks += len(g.Blocks)
				for _, b := range g.Blocks {
					for _, o := range b.Ops {
						ops[o.Name]++
					}
				}
			}
			assert.Len(t, p.GPUs, c.gpus)
			assert.Equal(t, c.blocks, blocks)
			assert.Equal(t, c.ops, ops)
			assert.Equal(t, c.op, p.Op())
			assert.Equal(t, c.protocol, p.Protocol)
			_, err = p.Check()
			require.NoError(t, err)
			if c.switched {
				return
			}
			m := star(t, 2, 100*sim.GBps, 500*sim.Nanosecond)
			for _, size := range []sim.Bytes{1 << 10, 16 << 20} {
				res := timed(t, p, m, size, msccl.Costs{}, replay.Options{})
				off := timed(t, p, m, size, msccl.Costs{}, replay.Options{Collapse: replay.Off})
				require.Equal(t, off.StepTime, res.StepTime)
				t.Logf("%d bytes: %v", size, res.StepTime)
				assert.Greater(t, res.StepTime, sim.TransferTime(size/2, 100*sim.GBps))
				assert.Less(t, res.StepTime, 10*sim.Microsecond+sim.TransferTime(size*4, 100*sim.GBps))
			}
		})
	}
}

const swap = `{
  "name": "swap", "collective": "allgather", "protocol": "Simple", "inplace": true, "min_message_size": 16, "max_message_size": 18446744073709551615,
  "gpus": [
    {"id": 0, "input_chunks": 1, "output_chunks": 2, "scratch_chunks": 0,
     "threadblocks": [{"id": 0, "ops": [
        {"name": "put", "src_buff": [{"type": "o", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 0, "index": 0, "size": 1}], "channel_ids": [0], "channel_type": "memory"},
        {"name": "signal", "channel_ids": [0], "channel_type": "memory"},
        {"name": "wait", "channel_ids": [0], "channel_type": "memory"}],
       "channels": [{"channel_type": "memory", "channel_ids": [0]}], "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}]}],
     "channels": [{"channel_type": "memory", "connected_to": [1]}], "remote_buffers": [{"rank": 1, "type": "o", "access_channel_types": ["memory"]}]},
    {"id": 1, "input_chunks": 1, "output_chunks": 2, "scratch_chunks": 0,
     "threadblocks": [{"id": 0, "ops": [
        {"name": "pws", "src_buff": [{"type": "o", "index": 1, "size": 1}], "dst_buff": [{"buffer_id": 0, "index": 1, "size": 1}], "channel_ids": [0], "channel_type": "memory"},
        {"name": "wait", "channel_ids": [0], "channel_type": "memory"}],
       "channels": [{"channel_type": "memory", "channel_ids": [0]}], "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}]}],
     "channels": [{"channel_type": "memory", "connected_to": [0]}], "remote_buffers": [{"rank": 0, "type": "o", "access_channel_types": ["memory"]}]}
  ]
}`

// A put, a signal of 8 bytes behind it, and the way of two links.
func TestPutAndSignal(t *testing.T) {
	p, err := Read("swap.json", []byte(swap))
	require.NoError(t, err)
	_, err = p.Check()
	require.NoError(t, err)
	m := star(t, 2, 100*sim.GBps, 500*sim.Nanosecond)
	got := timed(t, p, m, 2*sim.MB, msccl.Costs{}, replay.Options{})
	require.InEpsilon(t, (1e6+8)/100e9+1e-6, got.StepTime.Seconds(), 1e-6)
	got = timed(t, p, m, 2*sim.MB, msccl.Costs{Start: sim.Microsecond, Message: func(sim.Bytes) collective.Pace {
		return collective.Pace{Step: 3 * sim.Microsecond, Limit: 10 * sim.GBps}
	}}, replay.Options{})
	require.InEpsilon(t, (1e6+8)/10e9+1e-6+4e-6, got.StepTime.Seconds(), 1e-6)
}

func TestWrongPlans(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"wrong place", `"dst_buff": [{"buffer_id": 0, "index": 0`, `"dst_buff": [{"buffer_id": 0, "index": 1`, "check MSCCL++ plan: bad.json: it is no all_gather: at its end chunk 1 of the output of rank 0 holds"},
		{"no signal", `{"name": "signal", "channel_ids": [0], "channel_type": "memory"},`, ``, "it hangs: line 14: thread block 0 of GPU 1 waits in operation 1, wait, for GPU 0 to signal on channel 0 between the two"},
		{"no such operation", `"name": "pws"`, `"name": "pwss"`, `line 13: name: read "pwss", expected nop, barrier, put`},
		{"not modelled", `{"name": "signal"`, `{"name": "gstore"`, "line 7: gstore is not modelled, expected nop"},
		{"no such channel", `"channel_ids": [0], "channel_type": "memory"},` + "\n" + `        {"name": "wait"`, `"channel_ids": [3], "channel_type": "memory"},` + "\n" + `        {"name": "wait"`, "line 7: channel_ids: read 3, expected 0 to 0, the memory channels of the thread block"},
		{"outside", `{"type": "o", "index": 0`, `{"type": "o", "index": 5`, "line 6: src_buff: chunks 5 to 5 of the output of GPU 0, which has 2"},
		{"unknown key", `"inplace"`, `"in_place"`, `the plan has a key "in_place", expected name, collective`},
		{"chunks", `"output_chunks": 2`, `"output_chunks": 3`, "a message of 3 chunks among 2 GPUs"},
		{"protocol", `"Simple"`, `"LL128"`, `protocol: read "LL128", expected Simple, LL`},
		{"text for a number", `"index": 0`, `"index": "0"`, `line 6: index: read "0", expected a whole number`},
		{"cut", "\n  ]\n}", "", "not well-formed JSON: the file ends early"},
		{"twice", `"inplace": true`, `"inplace": true, "inplace": true`, `"inplace" is there twice`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, swap, c.from)
			p, err := Read("bad.json", []byte(strings.Replace(swap, c.from, c.to, 1)))
			if err == nil {
				_, err = p.Check()
			}
			require.ErrorContains(t, err, c.want)
		})
	}
	p, err := Read("swap.json", []byte(swap))
	require.NoError(t, err)
	require.ErrorContains(t, p.Fits(8), "8 bytes, an input of 4 for each rank, but swap.json is for 16 to")
	_, err = p.Expand(64, []int32{0}, 1, msccl.Costs{})
	require.ErrorContains(t, err, "it is for 2 GPUs, and there are 1")
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(swap))
	f.Add([]byte(swap[:400]))
	f.Add([]byte("[]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		p, err := Read("fuzz.json", content)
		if err != nil {
			return
		}
		if _, err := p.Check(); err != nil {
			return
		}
		var ranks []int32
		for r := range p.GPUs {
			ranks = append(ranks, int32(r))
		}
		size := sim.Bytes(1 << 20)
		if p.Fits(size) != nil {
			return
		}
		r, err := p.Expand(size, ranks, int32(len(ranks)), msccl.Costs{})
		if err != nil {
			return
		}
		require.NoError(t, r.Program.Validate())
	})
}

func BenchmarkExpand(b *testing.B) {
	p, err := Read("swap.json", []byte(swap))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Expand(sim.MiB, []int32{0, 1}, 2, msccl.Costs{}); err != nil {
			b.Fatal(err)
		}
	}
}

// The seeds of the fuzz test are plans of every kind that hold what they promise.
func TestEveryKindOfPlan(t *testing.T) {
	const rate, lat = 100e9, 1e-6 // a way of two links
	for _, c := range []struct {
		file string
		want float64 // seconds for 2 MB without kernels
	}{
		{"packets", lat + 4e6/rate}, // twice as many bytes
		{"pull", 3*lat + 2e6/rate},  // a signal, a request and a signal; a half is read from and a half written to each
		{"get", 4*lat + 2e6/rate},   // a signal, a request, its answer and a signal
		{"switch", 0},
	} {
		t.Run(c.file, func(t *testing.T) {
			seed, err := os.ReadFile(filepath.Join("testdata", "fuzz", "FuzzRead", c.file))
			require.NoError(t, err)
			_, quoted, _ := strings.Cut(string(seed), "[]byte(")
			text, err := strconv.Unquote(strings.TrimSuffix(quoted, ")\n"))
			require.NoError(t, err)
			p, err := Read(c.file, []byte(text))
			require.NoError(t, err)
			_, err = p.Check()
			require.NoError(t, err)
			if p.Switched() {
				r, err := p.Expand(2*sim.MB, []int32{0, 1}, 2, msccl.Costs{})
				require.NoError(t, err)
				require.NoError(t, r.Program.Validate())
				require.Equal(t, 2*sim.MB, r.Program.Classes[0].Ops[len(r.Program.Classes[0].Ops)-3].Bytes, "the parts of both")
				return
			}
			m := star(t, 2, rate, sim.Microsecond/2)
			res := timed(t, p, m, 2*sim.MB, msccl.Costs{}, replay.Options{})
			off := timed(t, p, m, 2*sim.MB, msccl.Costs{}, replay.Options{Collapse: replay.Off})
			require.Equal(t, off.StepTime, res.StepTime)
			require.InDelta(t, c.want, res.StepTime.Seconds(), 1e-9, "%v", res.StepTime)
		})
	}
}
