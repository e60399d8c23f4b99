package topology

import (
	"errors"
	"fmt"
	"math"

	"github.com/weft-sim/weft/sim"
)

// CheckRoutes routes pairs of ranks, all of them up to 128 ranks and an even
// sample beyond, and returns what is wrong: a pair without a route, or a path
// that does not lead from the one to the other (see [Graph.CheckPath]). At
// most ten problems are listed.
func (m *Machine) CheckRoutes() error {
	const whole, most = 128, 10
	n := int32(len(m.Ranks))
	step := max(1, n/whole)
	var errs []error
	var buf []Hop
	for a := int32(0); a < n; a += step {
		for b := int32(0); b < n; b += step {
			// A stride alone would only meet the same GPU of each host.
			dst := (b + a/step) % n
			p, err := m.Route(a, dst, buf)
			if err == nil {
				err = m.Graph.CheckPath(p, m.Ranks[a], m.Ranks[dst])
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("check routes of %s: %w", m.Name, err))
			}
			if len(errs) == most {
				return errors.Join(errs...)
			}
			buf = p.Hops
		}
	}
	return errors.Join(errs...)
}

// CheckPath returns an error unless all that leaves a arrives at b: the bytes
// of the path's hops that enter any other node must leave it again.
func (g *Graph) CheckPath(p Path, a, b NodeID) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("path from %s to %s: %s", g.Nodes[a].Name, g.Nodes[b].Name, fmt.Sprintf(format, args...))
	}
	if p.Den < 1 {
		return fail("its shares are parts of %d", p.Den)
	}
	if a == b {
		if len(p.Hops) > 0 {
			return fail("a path to itself has %d hops", len(p.Hops))
		}
		return nil
	}
	var touched []NodeID
	net := make(map[NodeID]float64)
	add := func(n NodeID, x float64) {
		if _, ok := net[n]; !ok {
			touched = append(touched, n)
		}
		net[n] += x
	}
	for _, h := range p.Hops {
		if h.Resource < 0 || int(h.Resource) >= g.Resources() || h.Share < 1 {
			return fail("hop on resource %d with share %d", h.Resource, h.Share)
		}
		links, shares := g.Members(h.Resource)
		var sum int32
		for _, s := range shares {
			sum += s
		}
		for i, l := range links {
			part := float64(h.Share) / float64(p.Den) * float64(shares[i]) / float64(sum)
			add(g.Links[l].From, -part)
			add(g.Links[l].To, part)
		}
	}
	add(a, 1)
	add(b, -1)
	for _, n := range touched {
		if math.Abs(net[n]) > 1e-9 {
			return fail("%g of what enters %s stays there (hops: %s)", net[n], g.Nodes[n].Name, g.hopNames(p))
		}
	}
	return nil
}

func (g *Graph) hopNames(p Path) string {
	s := ""
	for i, h := range p.Hops {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%d/%d of %s", h.Share, p.Den, g.ResourceName(h.Resource))
	}
	return s
}

// Bottleneck returns the resource that limits a lone transfer on the path,
// and the rate that it allows: the least of capacity x Den / Share, and of
// the path's own ceiling, which is resource -1. What a path holds counts like
// what it carries, on resources that carry nothing of it as well. A path
// without hops has no limit: rate 0.
func (g *Graph) Bottleneck(p Path) (ResourceID, sim.Rate) {
	worst, rate := ResourceID(-1), p.Rate
	least := func(id ResourceID, share int32) {
		r := g.Capacity(id) * sim.Rate(p.Den) / sim.Rate(share)
		if rate == 0 || r < rate {
			worst, rate = id, r
		}
	}
	// Both lists are short: a few hops each.
	of := func(hops []Hop, id ResourceID) (share int32) {
		for _, h := range hops {
			if h.Resource == id {
				share += h.Share
			}
		}
		return share
	}
	for _, h := range p.Hops {
		least(h.Resource, h.Share+of(p.Held, h.Resource))
	}
	for _, h := range p.Held {
		if of(p.Hops, h.Resource) == 0 {
			least(h.Resource, of(p.Held, h.Resource))
		}
	}
	return worst, rate
}

// AppendHop adds a hop to a path's hops. Where the path crosses a resource a
// second time, the shares add up.
func AppendHop(hops []Hop, h Hop) []Hop {
	for i := range hops {
		if hops[i].Resource == h.Resource {
			hops[i].Share += h.Share
			return hops
		}
	}
	return append(hops, h)
}

// Reduce cuts a path's shares by what they have in common with its Den.
func (p *Path) Reduce() {
	d := p.Den
	for _, h := range p.Hops {
		for s := h.Share; s != 0; {
			d, s = s, d%s
		}
	}
	if d <= 1 {
		return
	}
	p.Den /= d
	for i := range p.Hops {
		p.Hops[i].Share /= d
	}
}
