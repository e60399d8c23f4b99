package chakra

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// Bounds beyond which a number is a fault of the file.
const (
	maxSize = int64(workloads.MaxBytes) // of one operation
	joinAt  = 8                         // dependencies carried before a join stands for them
	maxTag  = int64(1)<<31 - 1          // of a message
)

// rank makes the operations of one trace.
func (im *importer) rank(t *Trace) (*rank, error) {
	e, order, err := im.order(t)
	if err != nil {
		return nil, err
	}
	b := &builder{im: im, t: t, r: &rank{rank: t.Rank, trace: t}, streamOf: map[string]int16{}, cuda: map[int64]int16{},
		front: make([][]int32, len(t.Nodes)), groupOf: map[string]int32{}, collOf: map[int32]int{}, member: map[int32]bool{}, mark: make([]int32, 0, len(t.Nodes))}
	if err := b.groups(); err != nil {
		return nil, err
	}
	b.findStreams()
	for step, i := range order {
		deps := b.carry(int32(step), e.of(int(i)))
		if err := b.node(i, deps); err != nil {
			return nil, err
		}
	}
	return b.r, nil
}

// builder makes the operations of one rank.
type builder struct {
	im *importer
	t  *Trace
	r  *rank

	groupOf  map[string]int32 // pg_name to group
	collOf   map[int32]int    // group to rank.colls
	member   map[int32]bool   // groups that the rank is known to be in
	streamOf map[string]int16
	cuda     map[int64]int16 // recorded stream to stream
	recorded bool            // kernels have a stream of their own
	main     int64           // the recorded stream with most kernels
	tails    []tail

	front  [][]int32 // operations that a node stands for
	ones   []int32   // chunk that lists of one are cut from
	mark   []int32   // step at which an operation was last seen, +1
	lastIn []int32   // scratch: last dependency in each stream
}

// tail is the end of a recorded stream.
type tail struct {
	last int32   // operation, -1 at the beginning
	p2p  []int32 // sends and receives after it
}

// groups resolves the groups that the rank can name: those of its own
// metadata, else those of the group file.
func (b *builder) groups() error {
	im := b.im
	own, err := b.t.recordedGroups()
	if err != nil {
		return err
	}
	for _, g := range im.set.Groups {
		b.groupOf[g.ID] = -1 // known, made when used
	}
	for _, g := range own {
		if err := im.checkGroup(b.t.File, g); err != nil {
			return err
		}
		b.groupOf[g.ID] = im.intern(im.filled(g))
	}
	return nil
}

// filled gives a group its name, and the ranks of the world if it lists none.
func (im *importer) filled(g Group) group {
	out := group{Group: g, name: "pg " + g.ID}
	if len(g.Ranks) == 0 {
		out.Ranks = im.all()
	}
	return out
}

// findStreams finds whether device kernels record their stream.
func (b *builder) findStreams() {
	kernels := map[int64]int{}
	for i := range b.t.Nodes {
		n := &b.t.Nodes[i]
		s, ok := n.stream()
		if !ok || n.CPUOp || !n.Type.Known() || n.Type == Metadata {
			continue
		}
		b.recorded = true
		if n.Type == Comp {
			kernels[s]++
			if c := kernels[s]; c > kernels[b.main] || (c == kernels[b.main] && s < b.main) {
				b.main = s
			}
		}
	}
}

// stream returns the recorded stream; the PyTorch converter before mid-2024
// has it in tid.
func (n *Node) stream() (int64, bool) {
	if n.has(HasStream) {
		return n.Stream, true
	}
	return n.TID, n.has(HasTID)
}

// carry returns the operations that a node with these dependencies waits for,
// each once, those of dropped nodes included.
func (b *builder) carry(step int32, deps []int32) []int32 {
	var out []int32
	again := 0
	for _, d := range deps {
		for _, o := range b.front[d] {
			if b.mark[o] == step+1 {
				again++
				continue
			}
			b.mark[o] = step + 1
			out = append(out, o)
		}
	}
	b.im.repaired.add("dependency", "twice, or through several host operators", again, 0, 0)
	return out
}

// node turns one node into an operation, or passes its dependencies on.
func (b *builder) node(i int32, deps []int32) error {
	n := &b.t.Nodes[i]
	if err := b.sane(n); err != nil {
		return err
	}
	op := workloads.Op{Name: n.Name, Deps: deps}
	dropped, what := &b.im.dropped, n.Type.String()
	switch {
	case !n.Type.Known():
		dropped.add(what, "the format defines no such type", 1, n.CommSize, n.Duration)
		b.im.warn.add("%s: node type %d is unknown: dropped, its dependencies kept", b.t.File, n.Type)
		return b.pass(i, deps)
	case n.Type == Metadata:
		dropped.add(what, "no work", 1, 0, n.Duration)
		return b.pass(i, deps)
	case n.Type == CommColl:
		group, why, err := b.collective(n, &op)
		if err != nil {
			return err
		}
		if why != "" {
			dropped.add(what, why, 1, n.CommSize, n.Duration)
			return b.pass(i, deps)
		}
		b.im.kept.add("collective "+op.Coll.String(), "", 1, n.CommSize, n.Duration)
		return b.emit(i, op, group)
	case n.Type == CommSend || n.Type == CommRecv:
		if n.peer() < 0 {
			why := "no peer is recorded"
			if n.CPUOp {
				why = "host operator"
			} else {
				b.im.warn.add("%s: sends or receives without a peer (comm_src, comm_dst): the PyTorch converter does not write it; they are dropped", b.t.File)
			}
			dropped.add(what, why, 1, n.CommSize, n.Duration)
			return b.pass(i, deps)
		}
		if err := b.message(n, &op); err != nil {
			return err
		}
		b.im.kept.add(strings.ToLower(strings.TrimPrefix(what, "COMM_")), "", 1, n.CommSize, n.Duration)
		b.r.p2p++
		return b.emit(i, op, -1)
	case n.CPUOp:
		dropped.add(what, "host operator", 1, 0, n.Duration)
		return b.pass(i, deps)
	}
	b.work(n, &op)
	return b.emit(i, op, -1)
}

// fault is an error at a node.
func (b *builder) fault(n *Node, read, want, hint string) error {
	e := importError(b.t.File, read, want, hint)
	e.Record, e.Offset, e.Node = n.Record, n.Offset, n.label()
	return e
}

// sane refuses numbers that no trace can mean.
func (b *builder) sane(n *Node) error {
	for _, v := range []struct {
		name  string
		value int64
		max   int64
		unit  string
	}{
		{"comm_size", n.CommSize, maxSize / b.im.scale, "bytes"},
		{"tensor_size", n.TensorSize, maxSize / b.im.scale, "bytes"},
		{"num_ops", n.NumOps, 1<<63 - 1, "operations"},
	} {
		if v.value < 0 || v.value > v.max {
			return b.fault(n, fmt.Sprintf("%s %d", v.name, v.value), fmt.Sprintf("0 to %d %s", v.max, v.unit), "")
		}
	}
	return nil
}

// work fills a computation or a copy.
func (b *builder) work(n *Node, op *workloads.Op) {
	op.FLOPs = float64(n.NumOps)
	op.MemBytes = sim.Bytes(n.TensorSize * b.im.scale)
	op.Duration = n.Duration
	kept := &b.im.kept
	timed := n.Duration > 0
	if n.Type == MemLoad || n.Type == MemStore {
		if n.TensorSize > 0 {
			*op = workloads.Op{Name: op.Name, Deps: op.Deps, Kind: workloads.Copy, Bytes: op.MemBytes}
			kept.add("copy", "", 1, n.TensorSize, n.Duration)
			return
		}
		op.Kind = workloads.Delay
		kept.add("copy without a size, as its recorded time", "", 1, 0, n.Duration)
		return
	}
	op.Kind = workloads.Compute
	sized := n.NumOps > 0 || n.TensorSize > 0
	switch {
	case timed && !(sized && b.im.opt.PreferRoofline):
		b.im.recorded++
		kept.add("compute, recorded time", "", 1, n.TensorSize, n.Duration)
	case sized:
		op.Duration = -1
		b.im.modelled++
		kept.add("compute, time from num_ops and tensor_size", "", 1, n.TensorSize, n.Duration)
	default:
		kept.add("compute without time or size, free", "", 1, 0, 0)
	}
}

// message fills a send or receive.
func (b *builder) message(n *Node, op *workloads.Op) error {
	peer := n.peer()
	switch {
	case peer >= int64(b.im.world):
		return b.fault(n, fmt.Sprintf("peer %d", peer), fmt.Sprintf("ranks 0 to %d", b.im.world-1), "give "+b.im.opt.say("world", fmt.Sprint(peer+1)))
	case peer == int64(b.t.Rank):
		return b.fault(n, fmt.Sprintf("peer %d, the rank itself", peer), "another rank", "the rank comes from the file name: check it")
	case n.CommTag < -maxTag || n.CommTag > maxTag:
		return b.fault(n, fmt.Sprintf("tag %d", n.CommTag), "a number of 32 bits", "")
	}
	op.Kind = workloads.Send
	if n.Type == CommRecv {
		op.Kind = workloads.Recv
	}
	op.Peer, op.Tag, op.Bytes = int32(peer), int32(n.CommTag), sim.Bytes(n.CommSize*b.im.scale)
	return nil
}

// pass lets the node's dependents wait for what it waits for. More than a few
// operations are joined in one that takes no time, so that what is carried
// stays linear in the size of the trace.
func (b *builder) pass(i int32, deps []int32) error {
	if len(deps) > joinAt {
		b.put(-1, workloads.Op{Name: "join", Kind: workloads.Delay, Deps: deps, Stream: b.stream("join", workloads.Concurrent)})
		deps = []int32{int32(len(b.r.ops) - 1)}
	}
	b.front[i] = deps
	return nil
}

// put appends an operation.
func (b *builder) put(node int32, op workloads.Op) {
	b.r.ops = append(b.r.ops, op)
	b.r.node = append(b.r.node, node)
	b.mark = append(b.mark, 0)
}
