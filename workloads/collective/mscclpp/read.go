package mscclpp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective/msccl/sums"
)

// Bounds of a plan, which keep a damaged file from filling memory. MSCCL++ has
// lower ones for the operations of a block (64) and channels (16 of a type);
// its compiler splits what exceeds them in newer releases.
const (
	mostContent  = 256 << 20
	mostGPUs     = 1024
	mostBlocks   = 512
	mostOps      = 4096
	mostChannels = 4096
	mostChunks   = 1 << 16
	mostMemory   = 1 << 21
	mostRanges   = 64
)

// Read reads a plan, plain or compressed by gzip. Name is used in errors, which
// tell of all problems, each with its line.
func Read(name string, content []byte) (*Plan, error) {
	if bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err == nil {
			content, err = io.ReadAll(io.LimitReader(z, mostContent+1))
		}
		if err == nil && len(content) > mostContent {
			err = fmt.Errorf("more than %d MiB uncompressed, expected less", mostContent>>20)
		}
		if err != nil {
			return nil, fmt.Errorf("read MSCCL++ plan: %s: uncompress: %w", name, err)
		}
	}
	r := &reader{file: name}
	root := r.document(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")))
	if root == nil {
		return nil, r.err()
	}
	p := r.plan(root)
	if err := r.err(); err != nil {
		return nil, err
	}
	return p, nil
}

var collOf = map[string]workloads.Coll{
	"allreduce": workloads.AllReduce, "allgather": workloads.AllGather, "reducescatter": workloads.ReduceScatter, "reduce_scatter": workloads.ReduceScatter,
	"alltoall": workloads.AllToAll, "broadcast": workloads.Broadcast, "reduce": workloads.Reduce,
}

func (r *reader) plan(n *node) *Plan {
	p := &Plan{File: r.file}
	if !r.known(n, "the plan", "name", "collective", "colletive", "protocol", "inplace", "reuse_resources", "gpus",
		"num_threads_per_block", "use_double_scratch_buffer", "buffer_alignment", "min_message_size", "max_message_size") {
		return p
	}
	key := "collective"
	if n.get(key) == nil && n.get("colletive") != nil {
		key = "colletive" // as an older compiler wrote it
	}
	p.Name = r.text(n, "name")
	coll := r.text(n, key)
	var ok bool
	if p.Coll, ok = collOf[coll]; !ok {
		p.Custom = true
	}
	p.Protocol = r.text(n, "protocol", "Simple", "LL")
	p.InPlace = r.flag(n, "inplace")
	r.flag(n, "reuse_resources")
	r.flag(n, "use_double_scratch_buffer")
	r.number(n, "num_threads_per_block", 1, 1024, 1024)
	r.number(n, "buffer_alignment", 1, 1<<20, 16)
	p.Least, p.Most = r.size(n, "min_message_size", 0), r.size(n, "max_message_size", workloads.MaxBytes)
	if n.get("gpus") == nil {
		r.problem(n, "no gpus, expected a list of them")
		return p
	}
	var at []*node
	r.each(n, "gpus", mostGPUs, func(i int, v *node) {
		at = append(at, v)
		p.GPUs = append(p.GPUs, GPU{})
	})
	if len(at) == 0 {
		r.problem(n, "no gpus, expected one at least")
		return p
	}
	for i, v := range at {
		r.resources(p, i, v)
	}
	memory := 0
	for i := range p.GPUs {
		for _, c := range p.GPUs[i].Chunks {
			memory += c
		}
	}
	if memory > mostMemory {
		r.problem(n, "the buffers of all GPUs have %d chunks, expected at most %d", memory, mostMemory)
	}
	r.shape(p, at)
	if len(r.list) > 0 {
		return p
	}
	for i, v := range at {
		r.each(v, "threadblocks", mostBlocks, func(b int, t *node) { r.block(p, i, b, t) })
	}
	return p
}

// size reads bytes; what no message has is the most there is.
func (r *reader) size(n *node, key string, absent sim.Bytes) sim.Bytes {
	v := n.get(key)
	if v == nil {
		return absent
	}
	num, ok := v.value.(json.Number)
	b, whole := new(big.Int).SetString(num.String(), 10)
	if !ok || !whole || b.Sign() < 0 || b.Cmp(new(big.Int).SetUint64(math.MaxUint64)) > 0 {
		r.problem(v, "%s: read %.40q, expected a number of bytes", key, fmt.Sprint(v.value))
		return absent
	}
	if b.Cmp(big.NewInt(int64(workloads.MaxBytes))) > 0 {
		return workloads.MaxBytes
	}
	return sim.Bytes(b.Int64())
}

// resources reads what the operations of a GPU refer to.
func (r *reader) resources(p *Plan, i int, n *node) {
	g := &p.GPUs[i]
	if !r.known(n, "a GPU", "id", "input_chunks", "output_chunks", "scratch_chunks", "threadblocks", "channels", "remote_buffers", "semaphores") {
		return
	}
	if id := r.number(n, "id", 0, mostGPUs, -1); int(id) != i && n.get("id") != nil {
		r.problem(n.get("id"), "id of a GPU: read %d, expected %d, the next in order", id, i)
	}
	for b, key := range []string{"input_chunks", "output_chunks", "scratch_chunks"} {
		g.Chunks[b] = int(r.number(n, key, 0, mostChunks, -1))
	}
	most := int64(len(p.GPUs) - 1)
	r.each(n, "channels", mostChannels, func(_ int, v *node) {
		if !r.known(v, "a channel", "channel_type", "connected_to", "buffer_type", "rank_groups") {
			return
		}
		switch r.text(v, "channel_type", "memory", "port", "switch") {
		case "memory":
			g.Memory = append(g.Memory, r.numbers(v, "connected_to", mostChannels, most)...)
		case "port":
			g.Port = append(g.Port, r.numbers(v, "connected_to", mostChannels, most)...)
		case "switch":
			buffer := r.buffer(v, "buffer_type")
			r.each(v, "rank_groups", mostChannels, func(_ int, w *node) {
				if !r.known(w, "a group of ranks", "size", "ranks") {
					return
				}
				ranks := r.numbers(w, "ranks", mostGPUs, most)
				size := r.number(w, "size", 1, mostGPUs, int64(len(ranks)))
				sorted := slices.Compact(slices.Sorted(slices.Values(ranks)))
				if int(size) != len(ranks) || len(sorted) != len(ranks) || !slices.Contains(ranks, i) {
					r.problem(w, "ranks of a switch channel: read %v with size %d, expected as many different ranks, GPU %d among them", ranks, size, i)
				}
				g.Switch = append(g.Switch, Switch{Buffer: buffer, Ranks: sorted})
			})
		}
	})
	for _, peer := range append(slices.Clone(g.Memory), g.Port...) {
		if peer == i {
			r.problem(n, "GPU %d has a channel to itself, expected other GPUs", i)
			break
		}
	}
	r.each(n, "remote_buffers", mostChannels, func(_ int, v *node) {
		if r.known(v, "a remote buffer", "rank", "type", "access_channel_types") {
			g.Remote = append(g.Remote, Remote{int(r.number(v, "rank", 0, most, -1)), r.buffer(v, "type")})
		}
	})
	r.each(n, "semaphores", mostChannels, func(_ int, v *node) {
		if r.known(v, "a semaphore", "init_value") {
			g.Initial = append(g.Initial, int(r.number(v, "init_value", 0, 1<<20, 0)))
		}
	})
}

func (r *reader) buffer(n *node, key string) Buffer {
	return Buffer(max(0, strings.Index("ios", cmp.Or(r.text(n, key, "i", "o", "s"), "i"))))
}

// shape checks the buffers against the collective.
func (r *reader) shape(p *Plan, at []*node) {
	if p.Custom {
		return
	}
	total, n := p.total(), len(p.GPUs)
	split := p.Coll == workloads.AllGather || p.Coll == workloads.ReduceScatter || p.Coll == workloads.AllToAll
	if total == 0 || split && total%n != 0 {
		r.problem(at[0], "a message of %d chunks among %d GPUs, expected an equal number for each in %v", total, n, p.Coll)
		return
	}
	in, out := sums.Sizes(p.Coll, n, total)
	for i := range p.GPUs {
		for b, want := range []int{in, out} {
			if got := p.GPUs[i].Chunks[b]; got != want && !(got == 0 && p.InPlace) {
				r.problem(at[i], "%v chunks of GPU %d: read %d, expected %d for %v of %d chunks", Buffer(b), i, got, want, p.Coll, total)
			}
		}
	}
}

// block reads a thread block.
func (r *reader) block(p *Plan, g, b int, n *node) {
	if !r.known(n, "a thread block", "id", "ops", "channels", "remote_buffer_refs") {
		return
	}
	if id := r.number(n, "id", 0, mostBlocks, -1); int(id) != b {
		r.problem(n, "id of a thread block: read %d, expected %d, the next in order", id, b)
	}
	s := scope{plan: p, gpu: g, channels: map[string][]int{}, remote: map[string][]int{}}
	r.each(n, "channels", mostChannels, func(_ int, v *node) {
		if r.known(v, "channels of a thread block", "channel_type", "channel_ids") {
			t := r.text(v, "channel_type", "memory", "port", "switch")
			s.channels[t] = append(s.channels[t], r.numbers(v, "channel_ids", mostChannels, mostChannels)...)
		}
	})
	r.each(n, "remote_buffer_refs", mostChannels, func(_ int, v *node) {
		if r.known(v, "remote buffers of a thread block", "access_channel_type", "remote_buffer_ids") {
			t := r.text(v, "access_channel_type", "memory", "port", "switch")
			s.remote[t] = append(s.remote[t], r.numbers(v, "remote_buffer_ids", mostChannels, mostChannels)...)
		}
	})
	var blk Block
	r.each(n, "ops", mostOps, func(_ int, v *node) {
		if op, ok := r.op(&s, v); ok {
			blk.Ops = append(blk.Ops, op)
		}
	})
	p.GPUs[g].Blocks = append(p.GPUs[g].Blocks, blk)
}
