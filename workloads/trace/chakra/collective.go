package chakra

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// collective fills a collective and returns its group, or why it is dropped.
func (b *builder) collective(n *Node, op *workloads.Op) (group int32, why string, err error) {
	kind, ok := n.CommType, n.has(HasCommType)
	if !ok {
		if n.CPUOp {
			return 0, "host wrapper of a collective, carries no traffic", nil
		}
		// Old converters and the JSON form name the kind in the kernel only.
		if kind, ok = kindOf(n.Name); !ok {
			b.im.warn.add("%s: collective %s has no comm_type and its name tells none: dropped", b.t.File, n.label())
			return 0, "no comm_type", nil
		}
		b.im.repaired.add("collective", "kind taken from the kernel's name", 1, n.CommSize, n.Duration)
	}
	coll, known := collectives[kind]
	if !known {
		b.im.warn.add("%s: %s is not a collective that the format defines: dropped", b.t.File, kind)
		return 0, fmt.Sprintf("unknown %s", kind), nil
	}
	if !n.has(HasCommSize) && coll != workloads.Barrier {
		b.im.warn.add("%s: collectives without comm_size, such as %s: taken as empty", b.t.File, n.label())
	}
	group, err = b.group(n)
	if err != nil {
		return 0, "", err
	}
	ranks := b.im.groups[group].Ranks
	op.Kind, op.Coll, op.Comm = workloads.Collective, coll, group
	size := n.CommSize * b.im.scale
	switch coll {
	case workloads.AllGather, workloads.Gather: // the trace has one rank's shard
		if size > maxSize/int64(len(ranks)) {
			return 0, "", b.fault(n, fmt.Sprintf("comm_size %d on each of %d ranks", n.CommSize, len(ranks)), "at most 1 PiB in all", "")
		}
		size *= int64(len(ranks))
	case workloads.Barrier:
		size = 0
	}
	op.Bytes = sim.Bytes(size)
	if len(ranks) == 1 {
		b.im.alone++
		b.im.aloneBytes += n.CommSize
	}
	return group, "", nil
}

var collectives = map[CollType]workloads.Coll{
	AllReduce: workloads.AllReduce, Reduce: workloads.Reduce, AllGather: workloads.AllGather,
	Gather: workloads.Gather, Scatter: workloads.Scatter, Broadcast: workloads.Broadcast,
	AllToAll: workloads.AllToAll, ReduceScatter: workloads.ReduceScatter,
	ReduceScatterBlock: workloads.ReduceScatter, Barrier: workloads.Barrier,
}

// kindOf finds the collective that a kernel's name tells, as the PyTorch
// converter does: ncclKernel_AllReduce_RING_LL_Sum_float.
func kindOf(name string) (CollType, bool) {
	s := strings.ReplaceAll(strings.ToLower(name), "_", "")
	for _, k := range []struct {
		part string
		kind CollType
	}{
		{"allreduce", AllReduce}, {"alltoall", AllToAll}, {"allgather", AllGather}, {"reducescatter", ReduceScatter},
		{"broadcast", Broadcast}, {"sendrecv", AllToAll}, {"barrier", Barrier}, {"ncclkernelreduce", Reduce}, {"nccldevkernelreduce", Reduce},
	} {
		if strings.Contains(s, k.part) {
			return k.kind, true
		}
	}
	return 0, false
}

// group returns the group of a collective, which the rank must be in.
func (b *builder) group(n *Node) (int32, error) {
	im := b.im
	id := groupID(n.PGName)
	switch {
	case n.has(HasPGName) && n.PGName != "":
		g, ok := b.groupOf[id]
		if !ok {
			if len(b.groupOf) == 0 {
				return 0, b.fault(n, fmt.Sprintf("group %q, but there is no group file and the trace records no groups", n.PGName),
					`the members of the group`, "give "+b.im.opt.say("groups", "FILE")+`, a JSON file {"`+id+`": [ranks]}`)
			}
			return 0, b.fault(n, fmt.Sprintf("group %q, which is not among the %d known", n.PGName, len(b.groupOf)), "one of "+b.someGroups(), "")
		}
		if g < 0 {
			at := slices.IndexFunc(im.set.Groups, func(g Group) bool { return g.ID == id })
			g = im.intern(im.filled(im.set.Groups[at]))
			b.groupOf[id] = g
		}
		if !b.member[g] && !slices.Contains(im.groups[g].Ranks, b.t.Rank) {
			return 0, b.fault(n, fmt.Sprintf("group %s of ranks %s on rank %d", id, spans(im.groups[g].Ranks), b.t.Rank), "a group that the rank is in", "")
		}
		b.member[g] = true
		return g, nil
	case slices.Contains(n.InvolvedDim, false):
		return b.dims(n)
	}
	g, ok := b.groupOf["\x00world"]
	if !ok {
		g = im.intern(group{Group: Group{Ranks: im.all()}, name: "world"})
		b.groupOf["\x00world"] = g
	}
	return g, nil
}

// someGroups lists known groups for a message.
func (b *builder) someGroups() string {
	var ids []string
	for id := range b.groupOf {
		if !strings.HasPrefix(id, "\x00") {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, compareNames)
	if len(ids) > 8 {
		ids = append(ids[:8], "...")
	}
	return strings.Join(ids, ", ")
}

// dims returns the group of the ranks that differ only in the dimensions
// involved.
func (b *builder) dims(n *Node) (int32, error) {
	im := b.im
	dims := im.opt.Dims
	if len(dims) != len(n.InvolvedDim) {
		read := fmt.Sprintf("involved_dim %v, which leaves out a dimension", n.InvolvedDim)
		if len(dims) > 0 {
			read = fmt.Sprintf("involved_dim %v for dimensions %v", n.InvolvedDim, dims)
		}
		return 0, b.fault(n, read, "the sizes of the dimensions of the topology",
			fmt.Sprintf("give %s, %d numbers, the fastest first, whose product is the world (%d)",
				im.opt.say("dims", "["+strings.Repeat("N,", len(n.InvolvedDim)-1)+"N]"), len(n.InvolvedDim), im.world))
	}
	key := "\x00dims" + fmt.Sprint(n.InvolvedDim)
	if g, ok := b.groupOf[key]; ok {
		return g, nil
	}
	var names []string
	for d, in := range n.InvolvedDim {
		if in {
			names = append(names, fmt.Sprint(d))
		}
	}
	g := im.intern(group{Group: Group{Ranks: along(dims, n.InvolvedDim, b.t.Rank)}, name: "dims " + strings.Join(names, ","), involved: n.InvolvedDim})
	b.groupOf[key] = g
	return g, nil
}

// corner returns the lowest rank that differs from r only in the dimensions
// involved.
func corner(dims []int32, involved []bool, r int32) int32 {
	low, stride := r, int32(1)
	for d, size := range dims {
		if involved[d] {
			low -= r / stride % size * stride
		}
		stride *= size
	}
	return low
}

// along returns the ranks that differ from r only in the dimensions involved.
func along(dims []int32, involved []bool, r int32) []int32 {
	ranks := []int32{r}
	stride := int32(1)
	for d, size := range dims {
		if involved[d] {
			first := r / stride % size
			var wider []int32
			for x := range size {
				for _, q := range ranks {
					wider = append(wider, q+(x-first)*stride)
				}
			}
			ranks = wider
		}
		stride *= size
	}
	slices.Sort(ranks)
	return ranks
}
