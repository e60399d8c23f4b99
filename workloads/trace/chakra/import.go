package chakra

import (
	"fmt"
	"slices"

	"github.com/weft-sim/weft/workloads"
)

// Import makes a program of the traces of a job. The program is valid: see
// [workloads.Program.Validate], whose errors are passed on, so that a send
// without a receive or a collective that a rank never joins comes as a
// [*workloads.UnmatchedError]. Other faults of the input are an [*Error].
func Import(s *Set, opt Options) (*workloads.Program, *Report, error) {
	if err := opt.Validate(); err != nil {
		return nil, nil, err
	}
	if err := s.Truncated(opt); err != nil && !opt.AcceptTruncated {
		return nil, nil, err
	}
	im := &importer{set: s, opt: opt, scale: max(opt.BytesPerElement, 1), byKey: map[string]int32{}, tiles: map[int32]tile{}, placed: map[[2]int64]int32{}}
	if err := im.findWorld(); err != nil {
		return nil, nil, err
	}
	for _, g := range s.Groups {
		if err := im.checkGroup(s.GroupFile, g); err != nil {
			return nil, nil, err
		}
	}
	for _, t := range s.Traces {
		if t.Truncated != nil {
			im.warn.add("%s", t.Truncated)
		}
		if t.SchemaAttr == stage && opt.BytesPerElement == 0 {
			im.warn.add("STAGE counts one byte an element unless made with mixed precision: sizes are taken as bytes; give %s (for bf16) if they are elements", opt.say("bytes_per_element", "2"))
		}
		r, err := im.rank(t)
		if err != nil {
			return nil, nil, err
		}
		im.ranks = append(im.ranks, r)
	}
	if err := im.copyMissing(); err != nil {
		return nil, nil, err
	}
	if im.alone > 0 {
		hint := ""
		if im.world == 1 {
			hint = ": the world is one rank, from " + im.worldFrom + "; give " + opt.say("world", "N") + " if the job had more"
		}
		im.warn.add("%d collectives (%d bytes) are in a group of one rank and move nothing%s", im.alone, im.aloneBytes, hint)
	}
	if opt.PreferRoofline && im.modelled == 0 && im.recorded > 0 {
		im.warn.add("no kernel of the trace records num_ops or tensor_size: the roofline can time nothing, and %s", ranAsRecorded(im.recorded))
	}
	if err := im.checkDims(); err != nil {
		return nil, nil, err
	}
	if err := im.match(); err != nil {
		return nil, nil, err
	}
	p := im.program()
	if len(p.Classes) == 0 || !slices.ContainsFunc(p.Classes, func(c workloads.Class) bool { return len(c.Ops) > 0 }) {
		return nil, nil, importError(s.Name, "no operation of a GPU", "at least one COMP or COMM node that is not a host operator (is_cpu_op)", "")
	}
	if err := p.Validate(); err != nil {
		for _, t := range s.Traces {
			if t.Truncated != nil {
				return nil, nil, fmt.Errorf("import trace %s, whose file %s is cut off: %w", s.Name, t.File, err)
			}
		}
		return nil, nil, fmt.Errorf("import trace %s: %w", s.Name, err)
	}
	return p, im.report(), nil
}

// importer is the state of one import.
type importer struct {
	set   *Set
	opt   Options
	scale int64

	world     int32
	worldFrom string

	groups []group
	byKey  map[string]int32 // group by id and ranks
	tiles  map[int32]tile
	placed map[[2]int64]int32 // group by the one it is like and its first rank

	ranks  []*rank // in rank order, copies among them
	copies []Copy

	kept, dropped, repaired tally
	warn                    warnings

	recorded   int   // kernels that run as long as recorded
	modelled   int   // kernels that a model times
	alone      int   // collectives in groups of one
	aloneBytes int64 // their sizes
}

// group is a communicator in use.
type group struct {
	Group
	name string // "pg 5", "world", "dims 0,2"
	// involved are the dimensions of a group that they make, nil for others.
	involved []bool
}

// rank is the work of one rank. Comm in its operations is an index in
// importer.groups until the program is made.
type rank struct {
	rank    int32
	trace   *Trace
	of      *rank // that it copies, nil for a rank with a file
	streams []workloads.Stream
	ops     []workloads.Op
	node    []int32 // position of the node of each operation, -1 for a join
	colls   []coll  // collectives by group, in order of first use
	p2p     int     // sends and receives
}

// coll is what a rank does in one group, in order.
type coll struct {
	group int32
	ops   []int32
	first int // collectives of the rank before the first of these
}

// findWorld infers the number of ranks and checks that all ranks are in it.
func (im *importer) findWorld() error {
	type evidence struct {
		world int64
		what  string
	}
	best := evidence{0, ""}
	see := func(world int64, what string) {
		if world > best.world {
			best = evidence{world, what}
		}
	}
	last := im.set.Traces[len(im.set.Traces)-1]
	if len(im.set.Traces) == int(last.Rank)+1 {
		see(int64(last.Rank)+1, fmt.Sprintf("the number of files, %d", len(im.set.Traces)))
	} else {
		see(int64(last.Rank)+1, fmt.Sprintf("the rank of %s", last.File))
	}
	product := int64(1)
	for _, d := range im.opt.Dims {
		product *= int64(d)
	}
	if len(im.opt.Dims) > 0 {
		see(product, fmt.Sprintf("the dimensions %v", im.opt.Dims))
	}
	for _, g := range im.set.Groups {
		for _, r := range g.Ranks {
			see(int64(r)+1, fmt.Sprintf("rank %d of group %s in %s", r, g.ID, im.set.GroupFile))
		}
	}
	for _, t := range im.set.Traces {
		see(t.NGPUs, "ngpus in "+t.File)
		gs, err := t.recordedGroups()
		if err != nil {
			return err
		}
		for _, g := range gs {
			for _, r := range g.Ranks {
				see(int64(r)+1, fmt.Sprintf("rank %d of process group %s in %s", r, g.ID, t.File))
			}
		}
		for i := range t.Nodes {
			if n := &t.Nodes[i]; n.Type == CommSend || n.Type == CommRecv {
				if p := n.peer(); p >= best.world && p < maxWorld {
					see(p+1, fmt.Sprintf("peer %d of node %s in %s", p, n.label(), t.File))
				}
			}
		}
	}
	if im.opt.World > 0 {
		if best.world > int64(im.opt.World) {
			return importError(im.set.Name, fmt.Sprintf("a world of %d ranks, but %s", im.opt.World, best.what),
				fmt.Sprintf("at least %d ranks", best.world), "")
		}
		im.world, im.worldFrom = im.opt.World, "the option world"
		return nil
	}
	if best.world > maxWorld {
		return importError(im.set.Name, fmt.Sprintf("%d ranks (%s)", best.world, best.what), fmt.Sprintf("at most %d", maxWorld), "give "+im.opt.say("world", "N"))
	}
	if len(im.opt.Dims) > 0 && best.world != product {
		return importError(im.set.Name, fmt.Sprintf("dimensions %v, which are %d ranks, but %s", im.opt.Dims, product, best.what),
			fmt.Sprintf("a product of at least %d", best.world), "")
	}
	im.world, im.worldFrom = int32(best.world), best.what
	return nil
}

// ranAsRecorded says what n kernels do.
func ranAsRecorded(n int) string {
	if n == 1 {
		return "the one that has a time runs as long as recorded"
	}
	return fmt.Sprintf("the %d that have a time run as long as recorded", n)
}

// maxWorld bounds an inferred world: a wrong number in a file must not become
// billions of ranks.
const maxWorld = 1 << 20

// intern returns the index of a group.
func (im *importer) intern(g group) int32 {
	key := g.name + fmt.Sprint(g.Ranks)
	if i, ok := im.byKey[key]; ok {
		return i
	}
	i := int32(len(im.groups))
	im.groups = append(im.groups, g)
	im.byKey[key] = i
	return i
}

// all returns the ranks of the world.
func (im *importer) all() []int32 {
	out := make([]int32, im.world)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// report writes what was done.
func (im *importer) report() *Report {
	r := &Report{Skipped: im.set.Skipped, World: im.world, WorldFrom: im.worldFrom, Copies: im.copies,
		RecordedKernels: im.recorded, ModelledKernels: im.modelled,
		Kept: im.kept.items, Dropped: im.dropped.items, Repaired: im.repaired.items, Warnings: im.warn.list}
	at := map[string]int{}
	for _, t := range im.set.Traces {
		r.Files = append(r.Files, FileReport{t.File, t.Rank, t.Summary()})
		for _, c := range t.Ignored {
			i, ok := at[c.Name]
			if !ok {
				i = len(r.Ignored)
				at[c.Name] = i
				r.Ignored = append(r.Ignored, Count{Name: c.Name})
			}
			r.Ignored[i].N += c.N
		}
	}
	return r
}
