package mscclpp

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/nccl"
	"github.com/weft-sim/weft/workloads/replay"
)

type m = map[string]any

// packetsOf writes an all-reduce in two steps of packets, per thread blocks for
// each pair of GPUs, as MSCCL++'s own does it: everybody's part to whom it
// belongs, who adds up and sends the sum to all.
func packetsOf(t testing.TB, n, per int) []byte {
	blocks := (n - 1) * per
	local := func(b string, chunk, count int) m { return m{"type": b, "index": chunk, "size": count} }
	away := func(id, chunk, count int) m { return m{"buffer_id": id, "index": chunk, "size": count} }
	nth := func(me, other int) int { // among the peers of me
		if other > me {
			return other - 1
		}
		return other
	}
	var gpus []m
	for g := range n {
		var tbs, remote []m
		var refs []int
		for k := range n - 1 {
			remote = append(remote, m{"rank": k + b2i(k >= g), "type": "s"})
			refs = append(refs, k)
		}
		for b := range blocks {
			k, j := b/per, b%per
			peer, share := k+b2i(k >= g), blocks/per
			add, send := []m{local("i", g*blocks+b, 1)}, []m{local("i", g*blocks+b, 1)}
			for q := range n - 1 {
				add = append(add, local("s", q*blocks+b, 1))
				send = append(send, away(1+q, (n-1)*blocks+nth(q+b2i(q >= g), g)*blocks+b, 1))
			}
			tbs = append(tbs, m{"id": b, "ops": []m{
				{"name": "ppkt", "channel_type": "memory", "src_buff": []m{local("i", peer*blocks+j*share, share)}, "dst_buff": []m{away(0, nth(peer, g)*blocks+j*share, share)}},
				{"name": "respkt", "channel_type": "memory", "src_buff": add, "dst_buff": send},
				{"name": "upkt", "src_buff": []m{local("s", (n-1+k)*blocks+j*share, share)}, "dst_buff": []m{local("i", peer*blocks+j*share, share)}},
			}, "remote_buffer_refs": []m{{"access_channel_type": "memory", "remote_buffer_ids": append([]int{k}, refs...)}}})
		}
		gpus = append(gpus, m{"id": g, "input_chunks": n * blocks, "output_chunks": n * blocks, "scratch_chunks": 2 * (n - 1) * blocks, "threadblocks": tbs, "remote_buffers": remote})
	}
	text, err := json.Marshal(m{"name": "packets", "collective": "allreduce", "protocol": "LL", "inplace": true, "gpus": gpus})
	require.NoError(t, err)
	return text
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// MSCCL++'s own kernel of that form, measured on eight H100 in a CUDA graph.
// Nothing here was fitted to it: thread blocks cost what NCCL's do.
//
// Source: microsoft/mscclpp 1f5f065d, test/deploy/perf_ndmv5.jsonl, kernel 6.
func TestPacketsAgainstMeasurements(t *testing.T) {
	p, err := Read("packets.json", packetsOf(t, 8, 4))
	require.NoError(t, err)
	_, err = p.Check()
	require.NoError(t, err)
	board := star(t, 8, 400*sim.GBps, 140*sim.Nanosecond) // 280 ns a way, as weft's dgx-h100 has
	model := &nccl.Model{Version: nccl.Latest, Summary: nccl.Summary{Ranks: 8, Nodes: 1, SM: 90}}
	model.Ring.TypeIntra = nccl.NVL
	pace := func(op workloads.Coll, c nccl.Choice, size sim.Bytes) collective.Pace {
		return model.Pace(op, c, size, nccl.Setting{Launch: nccl.CUDAGraph})
	}
	for _, c := range []struct {
		size sim.Bytes
		us   float64
	}{{24576, 6.18}, {49152, 6.62}, {73728, 6.91}} {
		got := timed(t, p, board, c.size, p.CostsOf(pace, c.size, 0), replay.Options{}).StepTime.Microseconds()
		t.Logf("%d bytes: measured %.2f us, predicted %.2f, %+.0f %%", c.size, c.us, got, 100*(got/c.us-1))
		assert.LessOrEqual(t, math.Abs(got/c.us-1), 0.15, "%d bytes: measured %.2f us, predicted %.2f", c.size, c.us, got)
	}
}
