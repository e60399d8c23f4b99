package synth

import (
	"fmt"
	"slices"

	"github.com/weft-sim/weft/workloads"
)

// everyone is the communicator that an absent group name means.
const everyone = "world"

// comm is a communicator with the place of each rank in it.
type comm struct {
	name string
	id   int32   // index in workloads.Program.Comms
	at   []int32 // by rank: position in its group, or -1
	in   []int32 // by rank: group, or -1
	full bool    // every rank is in a group
}

// expand returns the groups of g among world ranks.
func (g *Group) expand(world int32) (groups [][]int32, err error) {
	if len(g.Ranks) > 0 {
		return g.Ranks, g.checkRanks(world)
	}
	stride, size := max(g.Stride, 1), g.Size
	if size == 0 {
		size = world / stride
	}
	span := int64(size) * int64(stride)
	if size == 0 || int64(world)%span != 0 {
		return nil, &Error{Path: "groups." + g.Name,
			Msg: fmt.Sprintf("read size %d, stride %d, which takes ranks in blocks of %d; expected a divisor of the %d ranks", size, stride, span, world)}
	}
	all := make([]int32, 0, world)
	for base := int32(0); base < world; base += int32(span) {
		for off := range stride {
			for i := range size {
				all = append(all, base+off+i*stride)
			}
		}
	}
	return slices.Collect(slices.Chunk(all, int(size))), nil
}

func (g *Group) checkRanks(world int32) error {
	seen := make([]bool, world)
	for i, ranks := range g.Ranks {
		path := fmt.Sprintf("groups.%s.ranks[%d]", g.Name, i)
		if len(ranks) == 0 {
			return &Error{Path: path, Msg: "read an empty group, expected ranks"}
		}
		for k, r := range ranks {
			at := fmt.Sprintf("%s[%d]", path, k)
			if r < 0 || r >= world {
				return &Error{Path: at, Msg: fmt.Sprintf("rank %d does not exist, expected 0 to %d", r, world-1)}
			}
			if seen[r] {
				return &Error{Path: at, Msg: fmt.Sprintf("rank %d is in two groups of %q, expected at most one", r, g.Name)}
			}
			seen[r] = true
		}
	}
	return nil
}

// dim returns the parallel dimension of a group, by its key or its name.
func (g *Group) dim() workloads.Dim {
	name := g.Dim
	if name == "" {
		name = g.Name
	}
	for d := workloads.TP; d <= workloads.EP; d++ {
		if d.String() == name {
			return d
		}
	}
	return workloads.Other
}

// add appends the communicator of g to the program.
func (b *builder) add(g *Group) error {
	groups, err := g.expand(b.world)
	if err != nil {
		return err
	}
	c := &comm{name: g.Name, id: int32(len(b.out.Comms)),
		at: filled(b.world, -1), in: filled(b.world, -1)}
	n := 0
	for gi, ranks := range groups {
		for i, r := range ranks {
			c.at[r], c.in[r] = int32(i), int32(gi)
		}
		n += len(ranks)
	}
	c.full = n == int(b.world)
	b.out.Comms = append(b.out.Comms, workloads.Comm{Name: g.Name, Dim: g.dim(), Groups: groups})
	b.comms = append(b.comms, c)
	return nil
}

func filled(n int32, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// comm finds a communicator by name; "" is all ranks.
func (b *builder) comm(name, path string) (*comm, error) {
	for _, c := range b.comms {
		if c.name == name {
			return c, nil
		}
	}
	if name == "" || name == everyone {
		if err := b.add(&Group{Name: everyone, Size: b.world}); err != nil {
			return nil, err
		}
		return b.comm(everyone, path)
	}
	var names []string
	for _, c := range b.comms {
		names = append(names, c.name)
	}
	return nil, &Error{Path: path, Msg: fmt.Sprintf("group %q does not exist", name), Near: name, Valid: names}
}
