package fabric

import (
	"errors"
	"fmt"
	"math"
)

// plan is a network laid out: how many of each switch, and the cables of one
// switch to each of those above it.
type plan struct {
	rails        int // 1 unless rail-optimised
	hostsPerLeaf int
	leaves       int
	leavesPerPod int
	pods         int // 1 in two tiers

	uplinks    int // cables of a leaf to its spines
	spines     int // of a pod; none in one tier
	spineUp    int // cables of a spine to its cores
	cores      int // on the plane of one spine
	leafSpine  int // cables between a leaf and a spine
	spineCores int // cables between a spine and a core

	local, global int // dragonfly: cables between leaves of a pod, between pods
}

// Validate returns what is wrong with the spec for that many hosts of so many
// ports each, or nil.
func (s *Spec) Validate(hosts, ports int) error {
	_, err := s.plan(hosts, ports)
	return err
}

func (s *Spec) plan(hosts, ports int) (plan, error) {
	if err := s.check(hosts, ports); err != nil {
		return plan{}, err
	}
	p := plan{rails: 1, pods: 1, hostsPerLeaf: s.HostsPerLeaf}
	tiers := s.Tiers
	if tiers == 0 {
		tiers = 2
	}
	switch s.Kind {
	case SingleSwitch:
		tiers = 1
		p.hostsPerLeaf = hosts
	case RailOptimized, RailOnly:
		p.rails = s.Rails
		if p.rails == 0 {
			p.rails = ports
		}
		if s.Kind == RailOnly {
			tiers = 1
		}
	case Dragonfly:
		err := s.planGroups(&p, hosts, ports)
		return p, err
	}
	if err := s.planLeaves(&p, tiers, hosts, ports); err != nil {
		return plan{}, err
	}
	var err error
	switch tiers {
	case 2:
		p.leavesPerPod = p.leaves
		err = s.planSpines(&p, 0)
	case 3:
		err = s.planPods(&p)
	}
	return p, err
}

// down returns how many ports of the speed of Cable the hosts of a leaf take.
func (s *Spec) down(p *plan, hosts, ports int) int {
	perHost := (ports + p.rails - 1) / p.rails
	return whole(float64(hosts*perHost) * float64(s.Port.Rate) / float64(s.cable().Rate))
}

// up returns the cables upwards for so many ports downwards.
func up(down int, oversubscription float64) int {
	if oversubscription == 0 {
		oversubscription = 1
	}
	return whole(float64(down) / oversubscription)
}

// whole rounds up, but not for the rounding of a division.
func whole(x float64) int { return max(1, int(math.Ceil(x-1e-9))) }

func (s *Spec) planLeaves(p *plan, tiers, hosts, ports int) error {
	fits := func(h int) bool {
		n := s.down(p, h, ports)
		if tiers > 1 {
			n += up(n, s.Oversubscription)
		}
		return s.Radix == 0 || n <= s.Radix
	}
	if p.hostsPerLeaf == 0 {
		p.hostsPerLeaf = hosts
		for p.hostsPerLeaf > 1 && !fits(p.hostsPerLeaf) {
			p.hostsPerLeaf--
		}
	}
	p.hostsPerLeaf = min(p.hostsPerLeaf, hosts)
	if !fits(p.hostsPerLeaf) {
		n := s.down(p, p.hostsPerLeaf, ports)
		ups := 0
		if tiers > 1 {
			ups = up(n, s.Oversubscription)
		}
		return fmt.Errorf("fabric: a leaf for %d hosts needs %d ports down and %d up, its radix is %d; use fewer hosts per leaf or more tiers",
			p.hostsPerLeaf, n, ups, s.Radix)
	}
	sets := (hosts + p.hostsPerLeaf - 1) / p.hostsPerLeaf
	p.leaves = sets * p.rails
	if tiers == 1 && sets > 1 {
		return fmt.Errorf("fabric: %d hosts on leaves of %d hosts, and no tier of switches to join the leaves; use 2 tiers or more hosts per leaf",
			hosts, p.hostsPerLeaf)
	}
	if tiers > 1 {
		p.uplinks = up(s.down(p, p.hostsPerLeaf, ports), s.Oversubscription)
	}
	return nil
}

// planSpines chooses the spines of a pod, each with a share of its ports
// upwards (coreOver, 0 for the top tier): as few as the radix allows, and a
// divisor of a leaf's uplinks, so that all are equal.
func (s *Spec) planSpines(p *plan, coreOver float64) error {
	fits := func(n int) bool {
		down := p.leavesPerPod * p.uplinks / n
		total := down
		if coreOver > 0 {
			total += up(down, coreOver)
		}
		return p.uplinks%n == 0 && (s.Radix == 0 || total <= s.Radix)
	}
	p.spines = s.Spines
	if p.spines == 0 {
		p.spines = 1
		for p.spines < p.uplinks && !fits(p.spines) {
			p.spines++
		}
	}
	if !fits(p.spines) {
		return fmt.Errorf("fabric: %d leaves with %d uplinks each do not fit on %d spines of radix %d: the spines must divide the uplinks and hold them all; use 3 tiers, a larger radix or oversubscription",
			p.leavesPerPod, p.uplinks, p.spines, s.Radix)
	}
	p.leafSpine = p.uplinks / p.spines
	return nil
}

func (s *Spec) planPods(p *plan) error {
	over := s.CoreOversubscription
	if over == 0 {
		over = 1
	}
	p.leavesPerPod = s.LeavesPerPod
	if p.leavesPerPod == 0 {
		switch {
		case s.Radix > 0:
			p.leavesPerPod = p.rails * max(1, s.podSize(over)/p.rails)
		case s.Kind == RailOptimized:
			p.leavesPerPod = p.rails
		default:
			return errors.New("fabric: three tiers need leaves per pod or the radix of a switch")
		}
	}
	p.leavesPerPod = min(p.leavesPerPod, p.leaves)
	p.pods = (p.leaves + p.leavesPerPod - 1) / p.leavesPerPod
	if err := s.planSpines(p, over); err != nil {
		return err
	}
	p.spineUp = up(p.leavesPerPod*p.leafSpine, over)
	fits := func(n int) bool {
		return p.spineUp%n == 0 && (s.Radix == 0 || p.pods*p.spineUp/n <= s.Radix)
	}
	p.cores = s.Cores
	if p.cores == 0 {
		p.cores = 1
		for p.cores < p.spineUp && !fits(p.cores) {
			p.cores++
		}
	}
	if !fits(p.cores) {
		return fmt.Errorf("fabric: %d pods of %d leaves, whose spines have %d uplinks each, do not fit on %d cores of radix %d: the cores must divide the uplinks and hold them all; use a larger radix or oversubscription",
			p.pods, p.leavesPerPod, p.spineUp, p.cores, s.Radix)
	}
	p.spineCores = p.spineUp / p.cores
	return nil
}

// podSize returns the most leaves that spines of the radix can have below
// them, one cable to each, with as many up as the oversubscription wants.
func (s *Spec) podSize(over float64) int {
	n := 1
	for n < s.Radix && n+1+up(n+1, over) <= s.Radix {
		n++
	}
	return n
}
