package fabric

import (
	"errors"
	"fmt"
	"math"

	"github.com/weft-sim/weft/topology"
)

// check finds what is wrong with the fields by themselves.
func (s *Spec) check(hosts, ports int) error {
	var errs []error
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("fabric: "+format, args...))
	}
	switch s.Kind {
	case SingleSwitch:
	case RailOnly:
		if s.Rails < 0 || s.Rails > ports {
			add("%d rails for hosts with %d NICs, must be at most as many", s.Rails, ports)
		}
	case RailOptimized:
		if s.Tiers != 0 && (s.Tiers < 1 || s.Tiers > 3) {
			add("%d tiers, a rail-optimised network has 1, 2 or 3", s.Tiers)
		}
		if s.Rails < 0 || s.Rails > ports {
			add("%d rails for hosts with %d NICs, must be at most as many", s.Rails, ports)
		}
	case FatTree:
		if s.Tiers != 0 && (s.Tiers < 2 || s.Tiers > 3) {
			add("%d tiers, a fat tree has 2 or 3", s.Tiers)
		}
		if s.HostsPerLeaf == 0 && s.Radix == 0 {
			add("neither hosts per leaf nor the radix of a switch is given; a fat tree needs one of them")
		}
	case Dragonfly:
		if s.HostsPerLeaf == 0 && s.Radix == 0 {
			add("neither hosts per leaf nor the radix of a switch is given; a dragonfly needs one of them")
		}
	default:
		add("kind %q is unknown; the kinds are %q, %q, %q, %q, %q", s.Kind, SingleSwitch, RailOptimized, RailOnly, FatTree, Dragonfly)
	}
	if s.Spread != Ideal && s.Spread != ECMP {
		add("spread %q is unknown; leave it out for ideal spreading, or write %q", s.Spread, ECMP)
	}
	if hosts < 1 || ports < 1 {
		add("%d hosts with %d ports each, must be at least 1", hosts, ports)
	}
	for _, w := range []struct {
		what string
		wire topology.Wire
	}{{"port", s.Port}, {"cable", s.cable()}} {
		if !(w.wire.Rate > 0) {
			add("%s: rate is %v B/s, must be positive", w.what, float64(w.wire.Rate))
		}
		if w.wire.Latency < 0 {
			add("%s: latency is %v, must not be negative", w.what, w.wire.Latency)
		}
	}
	if s.SwitchLatency < 0 || s.NICLatency < 0 {
		add("latency is negative: switch %v, NIC %v", s.SwitchLatency, s.NICLatency)
	}
	for _, n := range []struct {
		what string
		n    int
	}{{"radix", s.Radix}, {"hosts per leaf", s.HostsPerLeaf}, {"leaves per pod", s.LeavesPerPod}, {"spines", s.Spines}, {"cores", s.Cores},
		{"local links", s.LocalLinks}, {"global links", s.GlobalLinks}, {"flows", s.Flows}} {
		if n.n < 0 {
			add("%s is %d, must not be negative", n.what, n.n)
		}
	}
	for _, x := range []float64{s.Oversubscription, s.CoreOversubscription} {
		if x < 0 || math.IsNaN(x) || math.IsInf(x, 0) {
			add("oversubscription is %v, must be a positive number; 1 is none, 2 halves the uplinks", x)
		}
	}
	for _, x := range []float64{s.PortLength, s.CableLength, s.GlobalLength} {
		if !(x >= 0) || x > 1e7 {
			add("length of a cable is %v m, must be 0 to 10,000 km", x)
		}
	}
	if r := float64(s.TransferRate); !(r >= 0) || math.IsInf(r, 0) {
		add("ceiling of a transfer is %v B/s, must be positive, or 0 for none", r)
	}
	return errors.Join(errs...)
}
