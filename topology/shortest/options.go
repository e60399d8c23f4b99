package shortest

import (
	"errors"
	"fmt"

	"github.com/weft-sim/weft/topology"
)

// Options say how a graph is routed. The zero value spreads over all shortest
// paths and lets no GPU forward.
type Options struct {
	Name string // of the machine

	// Relay lets GPUs forward what is for other GPUs, as rings, meshes and
	// tori of GPUs must.
	Relay bool

	// Prefer names link classes, the best first, at most three; all others are
	// worse than these. A path with fewer links of a worse class wins, however
	// long it is on better ones: with Relay and Prefer of NVLink, a GPU sends
	// over NVLink to the peer on the right rail rather than through a spine.
	Prefer []string

	// OnePath sends all that one rank sends to another over a single path,
	// chosen by hash of Seed and the two ranks, as ECMP does with one flow.
	OnePath bool
	Seed    uint64

	// Ways bounds the links that a transfer is spread over at equal distance
	// from its source; 0 is 64. Where there are more, some are chosen by hash
	// of Seed and the two ranks.
	Ways int

	Notes []string // sentences a report must repeat
}

// parts is the denominator of all spreads: 2^10 x 3^2 x 5, so that spreads
// over 2 to 6, 8, 9, 10, 12, 15, 16 ... links, and products of these, come out
// even. Others are even to one part in 46,080 at each node. It is one number
// for all pairs since replay needs a common denominator of at most 2^16.
const parts = 46080

const (
	defaultWays = 64
	maxPrefer   = 3
)

func (o *Options) check(g *topology.Graph, ranks []topology.NodeID) error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Ways < 0 || o.Ways > parts {
		add("%d ways, must be from 1 to %d, or 0 for %d", o.Ways, parts, defaultWays)
	}
	if len(o.Prefer) > maxPrefer {
		add("%d preferred classes, must be at most %d", len(o.Prefer), maxPrefer)
	}
	for i, name := range o.Prefer {
		for _, other := range o.Prefer[:i] {
			if name == other {
				add("class %q is preferred twice", name)
			}
		}
		if !hasClass(g, name) {
			add("no link is of the preferred class %q; the classes are %s", name, classNames(g))
		}
	}
	if len(ranks) == 0 {
		add("no ranks: nothing sends; name at least one GPU")
	}
	seen := make(map[topology.NodeID]int, len(ranks))
	for r, n := range ranks {
		if n < 0 || int(n) >= len(g.Nodes) {
			add("rank %d is node %d, but the nodes are 0 to %d", r, n, len(g.Nodes)-1)
			continue
		}
		if k := g.Nodes[n].Kind; k != topology.GPU && k != topology.NIC && k != topology.HostMemory {
			add("rank %d is %s, a %v; must be a GPU, or a NIC or host memory in its place", r, g.Nodes[n].Name, k)
		}
		if other, dup := seen[n]; dup {
			add("ranks %d and %d are both %s", other, r, g.Nodes[n].Name)
		}
		seen[n] = r
		if len(errs) > 10 {
			break
		}
	}
	return errors.Join(errs...)
}

func hasClass(g *topology.Graph, name string) bool {
	for _, c := range g.Classes {
		if c.Name == name {
			return true
		}
	}
	return false
}

func classNames(g *topology.Graph) string {
	s := ""
	for i, c := range g.Classes {
		if i > 0 {
			s += ", "
		}
		if i == 8 {
			return s + "..."
		}
		s += c.Name
	}
	return s
}
