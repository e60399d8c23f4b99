package nvlink

import (
	"errors"
	"fmt"

	"github.com/weft-sim/weft/topology"
)

// Validate returns all that is wrong with the spec for a domain of that many
// GPUs, or nil.
func (s *Spec) Validate(gpus int) error {
	var errs []error
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("nvlink: "+format, args...))
	}
	switch {
	case len(s.Planes) == 0 && len(s.Edges) == 0:
		add("neither planes nor edges; give the links of each GPU to each switch, e.g. 5, 4, 4, 5, or the links between GPUs, e.g. 0-1: 6")
	case len(s.Planes) > 0 && len(s.Edges) > 0:
		add("both planes and edges; a domain is switched or a mesh, not both")
	}
	if !(s.Link.Rate > 0) {
		add("rate of a link is %v B/s, must be positive", float64(s.Link.Rate))
	}
	if s.Ports < 0 {
		add("a switch has %d ports, must not be negative", s.Ports)
	}
	if s.Link.Latency < 0 || s.SwitchLatency < 0 {
		add("latency is negative: link %v, switch %v", s.Link.Latency, s.SwitchLatency)
	}
	for i, n := range s.Planes {
		if n < 1 {
			add("plane %d: %d links from each GPU, must be at least 1", i, n)
		}
	}
	s.validateTier(gpus, add)
	s.validatePorts(gpus, add)
	seen := make(map[[2]int]bool)
	for i, e := range s.Edges {
		a, b := min(e[0], e[1]), max(e[0], e[1])
		switch {
		case a < 0 || b >= gpus:
			add("edge %d: %d-%d names a GPU that does not exist; the GPUs are 0 to %d", i, e[0], e[1], gpus-1)
		case a == b:
			add("edge %d joins GPU %d to itself", i, a)
		case e[2] < 1:
			add("edge %d: %d-%d has %d links, must be at least 1", i, e[0], e[1], e[2])
		case seen[[2]int{a, b}]:
			add("edge %d: %d-%d is listed before; list each pair once, with all its links", i, e[0], e[1])
		}
		seen[[2]int{a, b}] = true
	}
	for _, d := range s.Down {
		switch {
		case len(s.Planes) == 0:
			add("down: GPU %d, plane %d: a mesh has no planes; lower the links of its edge", d.GPU, d.Plane)
		case d.GPU < 0 || d.GPU >= gpus || d.Plane < 0 || d.Plane >= len(s.Planes):
			add("down: GPU %d, plane %d does not exist; GPUs are 0 to %d, planes 0 to %d", d.GPU, d.Plane, gpus-1, len(s.Planes)-1)
		case d.Links < 1 || d.Links > s.Planes[d.Plane]:
			add("down: GPU %d, plane %d: %d links, must be 1 to %d", d.GPU, d.Plane, d.Links, s.Planes[d.Plane])
		}
	}
	return errors.Join(errs...)
}

// tierLink is one link of the second tier.
func (s *Spec) tierLink() topology.Wire {
	if s.Tier.Link.IsZero() {
		return s.Link
	}
	return s.Tier.Link
}

func (s *Spec) validateTier(gpus int, add func(string, ...any)) {
	t := s.Tier
	if t == nil {
		return
	}
	if len(s.Planes) == 0 {
		add("a tier, but no planes that it could join")
	}
	if t.Groups < 2 || gpus%max(1, t.Groups) != 0 {
		add("tier: %d GPUs in %d groups, must be two groups or more with as many GPUs in each", gpus, t.Groups)
	}
	if len(t.Uplinks) != len(s.Planes) {
		add("tier: uplinks of %d planes, but a group has %d planes", len(t.Uplinks), len(s.Planes))
	}
	if t.Switches != nil && len(t.Switches) != len(t.Uplinks) {
		add("tier: upper switches of %d planes, but uplinks of %d", len(t.Switches), len(t.Uplinks))
	}
	for p, n := range t.Uplinks {
		if n < 1 {
			add("tier: plane %d has %d uplinks, must be at least 1", p, n)
		}
		if p >= len(t.Switches) {
			continue
		}
		if k := t.Switches[p]; k < 1 || n%k != 0 {
			add("tier: plane %d has %d uplinks to %d switches, must be as many to each", p, n, k)
		}
	}
	if w := s.tierLink(); !(w.Rate > 0) || w.Latency < 0 || t.SwitchLatency < 0 {
		add("tier: a link has rate %v B/s and latency %v, an upper switch takes %v; the rate must be positive, a latency not negative",
			float64(w.Rate), w.Latency, t.SwitchLatency)
	}
}

// validatePorts holds the links of each switch against its ports.
func (s *Spec) validatePorts(gpus int, add func(string, ...any)) {
	t := s.Tier
	groups := 1
	if t != nil && t.Groups > 1 {
		groups = t.Groups
	}
	for p, n := range s.Planes {
		down, upwards := gpus/groups*n, 0
		if t != nil && p < len(t.Uplinks) {
			upwards = t.Uplinks[p]
			if t.Switches == nil {
				upwards *= groups - 1 // to each twin
			}
		}
		if s.Ports > 0 && down+upwards > s.Ports {
			add("plane %d: %d links of %d GPUs and %d to other switches, but a switch has %d ports", p, down, gpus/groups, upwards, s.Ports)
		}
		if t == nil || t.Ports <= 0 || p >= len(t.Switches) || p >= len(t.Uplinks) || t.Switches[p] < 1 {
			continue
		}
		if each := groups * t.Uplinks[p] / t.Switches[p]; each > t.Ports {
			add("tier: plane %d: %d links from %d groups to each upper switch, but one has %d ports", p, each, groups, t.Ports)
		}
	}
}
