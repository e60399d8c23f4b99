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

	broken bool // its groups do not fit the ranks
}

// expand returns the groups of g among the ranks, or none when it does not fit.
func (b *builder) expand(g *Group) [][]int32 {
	if len(g.Ranks) > 0 {
		if !b.ranksFit(g) {
			return nil
		}
		return g.Ranks
	}
	stride, size := max(g.Stride, 1), g.Size
	if size == 0 {
		size = b.world / stride
	}
	span := int64(size) * int64(stride)
	if size == 0 || int64(b.world)%span != 0 {
		b.fail("groups."+g.Name, "read size %d, stride %d, which takes ranks in blocks of %d; expected a divisor of the %s",
			size, stride, span, ranks(b.world))
		return nil
	}
	all := make([]int32, 0, b.world)
	for base := int32(0); base < b.world; base += int32(span) {
		for off := range stride {
			for i := range size {
				all = append(all, base+off+i*stride)
			}
		}
	}
	return slices.Collect(slices.Chunk(all, int(size)))
}

// ranks writes a number of them.
func ranks(n int32) string {
	if n == 1 {
		return "1 rank"
	}
	return fmt.Sprintf("%d ranks", n)
}

// ranksFit checks groups that are written out.
func (b *builder) ranksFit(g *Group) bool {
	seen := make([]bool, b.world)
	before := len(b.errs)
	for i, ranks := range g.Ranks {
		path := fmt.Sprintf("groups.%s.ranks[%d]", g.Name, i)
		if len(ranks) == 0 {
			b.fail(path, "read an empty group, expected ranks")
		}
		for k, r := range ranks {
			at := fmt.Sprintf("%s[%d]", path, k)
			switch {
			case r < 0 || r >= b.world:
				b.fail(at, "rank %d does not exist, expected 0 to %d", r, b.world-1)
			case seen[r]:
				b.fail(at, "rank %d is in two groups of %q, expected at most one", r, g.Name)
			default:
				seen[r] = true
			}
		}
	}
	return len(b.errs) == before
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

// add appends the communicator of g to the program. One that does not fit has
// no groups, and is passed over by what names it.
func (b *builder) add(g *Group) *comm {
	groups := b.expand(g)
	c := &comm{name: g.Name, id: int32(len(b.out.Comms)), broken: groups == nil,
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
	return c
}

func filled(n int32, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// comm finds a communicator by name; "" is all ranks. It is nil for one that
// does not exist or does not fit, which is an error found before.
func (b *builder) comm(name string) *comm {
	for _, c := range b.comms {
		if c.name == name || name == "" && c.name == everyone {
			if c.broken {
				return nil
			}
			return c
		}
	}
	if name == "" || name == everyone {
		return b.add(&Group{Name: everyone, Size: b.world})
	}
	return nil
}
