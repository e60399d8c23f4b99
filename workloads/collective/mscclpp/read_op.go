package mscclpp

import (
	"slices"
	"strings"
)

// scope is what the numbers in the operations of a thread block refer to.
type scope struct {
	plan     *Plan
	gpu      int
	channels map[string][]int
	remote   map[string][]int
}

func (r *reader) op(s *scope, n *node) (op Op, ok bool) {
	if !r.known(n, "an operation", "name", "channel_type", "channel_ids", "src_buff", "dst_buff", "reduce_op", "tbg_info", "tb_group_info", "barrier_id", "num_threadblocks", "num_thread_blocks", "semaphore_ids", "iter_context", "ops") {
		return op, false
	}
	op.Line, op.Part = n.line, 1
	op.Name = r.text(n, "name")
	k, ok := known[op.Name]
	if !ok {
		switch {
		case slices.Contains(refused, op.Name):
			r.problem(n.get("name"), "%s is not modelled, expected %s", op.Name, strings.Join(modelled, ", "))
		case op.Name != "":
			r.problem(n.get("name"), "name: read %.40q, expected %s", op.Name, strings.Join(modelled, ", "))
		}
		return op, false
	}
	kind := "memory"
	if n.get("channel_type") != nil {
		kind = r.text(n, "channel_type", "memory", "port", "switch")
	}
	before := len(r.list)
	r.ranges(s, n, "src_buff", kind, &op.Src)
	r.ranges(s, n, "dst_buff", kind, &op.Dst)
	if v := n.get("tbg_info"); v != nil && r.known(v, "tbg_info", "tb_id", "tbg_size") {
		op.Part = int(r.number(v, "tbg_size", 1, mostBlocks, -1))
	}
	switch {
	case op.Name == "barrier":
		op.Barrier = int(r.number(n, "barrier_id", 0, mostChannels, -1))
		key := "num_threadblocks"
		if n.get(key) == nil && n.get("num_thread_blocks") != nil {
			key = "num_thread_blocks"
		}
		op.Meet = int(r.number(n, key, 1, mostBlocks, -1))
	case op.Name == "sem_acquire" || op.Name == "sem_release":
		op.Sems = r.numbers(n, "semaphore_ids", mostRanges, int64(len(s.plan.GPUs[s.gpu].Initial))-1)
		if len(op.Sems) == 0 {
			r.problem(n, "%s has no semaphore_ids, expected one at least", op.Name)
		}
	case k.signals || k.waits:
		for _, id := range r.numbers(n, "channel_ids", mostRanges, mostChannels) {
			if c, ok := r.channel(s, n, kind, id); ok {
				op.Channels = append(op.Channels, c)
			}
		}
		if len(op.Channels) == 0 && len(r.list) == before {
			r.problem(n, "%s has no channel_ids, expected one at least", op.Name)
		}
	}
	if k.data && len(r.list) == before {
		r.sound(s, n, &op, k)
	}
	return op, len(r.list) == before
}

// channel finds the other end of a channel of a thread block.
func (r *reader) channel(s *scope, n *node, kind string, id int) (c Channel, ok bool) {
	ids := s.channels[kind]
	if id >= len(ids) {
		r.problem(n, "channel_ids: read %d, expected 0 to %d, the %s channels of the thread block", id, len(ids)-1, kind)
		return c, false
	}
	g := &s.plan.GPUs[s.gpu]
	peers := g.Memory
	if kind == "port" {
		peers = g.Port
	}
	at := ids[id]
	if kind == "switch" || at >= len(peers) {
		r.problem(n, "channel %d of kind %s: GPU %d has %d that can be signalled, expected one of them", at, kind, s.gpu, len(peers))
		return c, false
	}
	nth := 0
	for _, p := range peers[:at] {
		if p == peers[at] {
			nth++
		}
	}
	return Channel{Peer: peers[at], Nth: nth, Port: kind == "port"}, true
}

// ranges reads chunks of buffers, those of other GPUs as the thread block knows
// them.
func (r *reader) ranges(s *scope, n *node, key, kind string, into *[]Range) {
	p := s.plan
	r.each(n, key, mostRanges, func(_ int, v *node) {
		if !r.known(v, "an entry of "+key, "type", "buffer_id", "switch_channel_id", "index", "size") {
			return
		}
		out := Range{Rank: s.gpu, Chunk: int(r.number(v, "index", 0, mostChunks, -1)), Count: int(r.number(v, "size", 1, mostChunks, -1))}
		ranks := []int{s.gpu}
		switch {
		case v.get("buffer_id") != nil:
			refs := s.remote[kind]
			id := int(r.number(v, "buffer_id", 0, mostChannels, -1))
			g := &p.GPUs[s.gpu]
			if id >= len(refs) || refs[id] >= len(g.Remote) {
				r.problem(v, "buffer_id: read %d, expected 0 to %d, the remote buffers of the thread block for %s channels", id, len(refs)-1, kind)
				return
			}
			rem := g.Remote[refs[id]]
			if rem.Rank == s.gpu {
				r.problem(v, "buffer_id %d is a buffer of the GPU itself, expected type in place of buffer_id", id)
				return
			}
			out.Rank, out.Buffer, ranks = rem.Rank, rem.Buffer, []int{rem.Rank}
		case v.get("switch_channel_id") != nil:
			ids := s.channels["switch"]
			id := int(r.number(v, "switch_channel_id", 0, mostChannels, -1))
			g := &p.GPUs[s.gpu]
			if id >= len(ids) || ids[id] >= len(g.Switch) {
				r.problem(v, "switch_channel_id: read %d, expected 0 to %d, the switch channels of the thread block", id, len(ids)-1)
				return
			}
			out.Buffer, out.Switch = g.Switch[ids[id]].Buffer, g.Switch[ids[id]].Ranks
			ranks = out.Switch
		default:
			out.Buffer = r.buffer(v, "type")
		}
		for _, rank := range ranks {
			chunks := p.chunks(rank, out.Buffer)
			if out.Chunk+out.Count > chunks {
				r.problem(v, "%s: chunks %d to %d of the %v of GPU %d, which has %d; expected chunks within it", key, out.Chunk, out.Chunk+out.Count-1, out.Buffer, rank, chunks)
				return
			}
		}
		*into = append(*into, out)
	})
}

// chunks is how many a buffer has, where in place input and output are one.
func (p *Plan) chunks(rank int, b Buffer) int {
	return p.GPUs[rank].Chunks[b]
}

// sound checks that an operation has what it moves.
func (r *reader) sound(s *scope, n *node, op *Op, k kind) {
	own := func(x Range) bool { return x.Rank == s.gpu && x.Switch == nil }
	local := func(all []Range) bool { return !slices.ContainsFunc(all, func(x Range) bool { return !own(x) }) }
	remote := func(all []Range) bool { return !slices.ContainsFunc(all, own) }
	expect := func(ok bool, what string) {
		if !ok {
			r.problem(n, "%s with %d sources and %d destinations, expected %s", op.Name, len(op.Src), len(op.Dst), what)
		}
	}
	some := len(op.Src) > 0 && len(op.Dst) > 0
	pairs := some && len(op.Src) == len(op.Dst)
	switch op.Name {
	case "put", "pws", "pwsf", "ppkt", "rppkt":
		expect(some && (pairs || len(op.Src) == 1) && local(op.Src) && remote(op.Dst), "own chunks, and as many of other GPUs, or one for all of them")
	case "get":
		expect(pairs && remote(op.Src) && local(op.Dst), "chunks of other GPUs, and as many of its own")
	case "copy", "cpkt", "upkt":
		expect(pairs && local(op.Src) && local(op.Dst), "own chunks, and as many others of its own")
	case "re", "repkt", "recpkt":
		expect(some && local(op.Src) && local(op.Dst), "own chunks to add up, and where the sum goes")
	case "rre":
		expect(some && own(op.Src[0]) && remote(op.Src[1:]) && local(op.Dst), "an own chunk, those of other GPUs, and where the sum goes")
	case "rres":
		expect(some && own(op.Src[0]) && remote(op.Src[1:]) && own(op.Dst[0]) && remote(op.Dst[1:]), "an own chunk, those of other GPUs, an own one for the sum and those of other GPUs")
	case "res", "respkt", "recspkt":
		expect(some && local(op.Src) && own(op.Dst[0]), "own chunks to add up, an own one for the sum, and those of other GPUs")
	case "glres":
		expect(len(op.Src) == 1 && len(op.Dst) == 1 && op.Src[0].Switch != nil && op.Dst[0].Switch != nil, "one of a switch channel each")
	}
	for _, x := range slices.Concat(op.Src, op.Dst) {
		if op.Name != "glres" && x.Switch != nil {
			r.problem(n, "%s on a switch channel is not modelled, expected glres", op.Name)
			return
		}
		if x.Count != op.Src[0].Count {
			r.problem(n, "%s moves %d chunks and %d, expected as many everywhere", op.Name, op.Src[0].Count, x.Count)
			return
		}
	}
	if len(op.Channels) > 0 && len(op.Channels) != len(op.Dst) && k.signals {
		r.problem(n, "%s to %d buffers with %d channels, expected a channel for each", op.Name, len(op.Dst), len(op.Channels))
	}
}
