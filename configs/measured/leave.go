package measured

import (
	"slices"
	"strings"
)

// Why a point does not count; what a case says stands in its own words.
const (
	WarmUp   = "first row of a sweep: warm-up"
	Spike    = "more than twice both its neighbours"
	FirstUse = "more than 1.3 times its larger neighbour: first use"
	Rounded  = "worked out from a rate of one or two digits"
	Placed   = "summed up otherwise: least or most of repeats"
)

// shortest is the number of sizes from which a run is a sweep, whose first row
// warms up; tests of single sizes warm up before.
const shortest = 4

// Left returns, for each point of the series, why it does not count, or "".
// Others are the series of the same table, which may hold another sample of a
// row.
func (s *Series) Left(others []*Series) []string {
	left := make([]string, len(s.Points))
	for i := range s.Points {
		left[i] = s.stated(&s.Points[i])
	}
	for from := 0; from < len(s.Points); {
		to := from + 1
		for to < len(s.Points) && s.Points[to].Placement == s.Points[from].Placement {
			to++
		}
		for i := from; i < to; i++ {
			if left[i] == "" {
				left[i] = s.odd(i, from, to, others)
			}
		}
		from = to
	}
	return left
}

// stated is what the case and the source say of a point.
func (s *Series) stated(p *Point) string {
	c := s.Case
	switch {
	case c.Skip != "":
		return c.Skip
	case c.NeverFit != "":
		return "never fit: " + c.NeverFit
	case c.Placement != "" && !like(c.Placement, p.Placement):
		return Placed
	case p.Coarse:
		return Rounded
	}
	for i := range c.LeaveOut {
		if c.LeaveOut[i].has(p) {
			return c.LeaveOut[i].Because
		}
	}
	return ""
}

// odd is what the neighbours say of the point i of a sweep over points from to
// to.
func (s *Series) odd(i, from, to int, others []*Series) string {
	p := s.Points
	if i == from && to-from >= shortest && s.warms(p[i].Placement) {
		return WarmUp
	}
	if i > from && i+1 < to && p[i].Time > 2*p[i-1].Time && p[i].Time > 2*p[i+1].Time {
		return Spike
	}
	if late(p, i, to) && !s.agreed(i, others) {
		return FirstUse
	}
	return ""
}

// warms reports whether the first row of a placement is the first that the test
// ran: out of place comes before in place, at each size.
func (s *Series) warms(placement string) bool {
	out := func(p Point) bool { return strings.HasPrefix(p.Placement, "out") }
	return !strings.HasPrefix(placement, "in") || !slices.ContainsFunc(s.Points, out)
}

// late reports whether a point takes more than 1.3 times as long as the next
// larger size.
func late(p []Point, i, to int) bool {
	return i+1 < to && 10*p[i].Time > 13*p[i+1].Time
}

// agreed reports whether another sample of a point is late as well: another
// placement, or another element type of the same version.
func (s *Series) agreed(i int, others []*Series) bool {
	for _, o := range others {
		if o.Key() != s.Key() || o.Variant != s.Variant {
			continue
		}
		for k := range o.Points {
			same := o == s && o.Points[k].Placement == s.Points[i].Placement
			if o.Points[k].Size != s.Points[i].Size || same {
				continue
			}
			if k+1 < len(o.Points) && o.Points[k+1].Placement == o.Points[k].Placement && late(o.Points, k, len(o.Points)) {
				return true
			}
		}
	}
	return false
}
