package catalog

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
)

// Fabric is a network between hosts.
type Fabric struct {
	Name   string `yaml:"-"`
	Like   string `yaml:"like"` // record that other keys are taken from
	Title  string `yaml:"title" weft:"required"`
	Kind   string `yaml:"kind" weft:"required,enum=single-switch|rail-optimized|rail-only|fat-tree|dragonfly"`
	Switch string `yaml:"switch" weft:"required"`
	Link   string `yaml:"link" weft:"required"`
	Origin Origin `yaml:"origin" weft:"required"`

	Tiers            Figure[Count]    `yaml:"tiers"`
	Oversubscription Figure[Count]    `yaml:"oversubscription"` // rate down over rate up of a leaf
	HostsPerLeaf     Figure[Count]    `yaml:"hosts_per_leaf"`
	LeavesPerPod     Figure[Count]    `yaml:"leaves_per_pod"` // of three tiers, or of a dragonfly's group
	PortCable        Figure[Metres]   `yaml:"port_cable"`     // NIC to leaf
	TrunkCable       Figure[Metres]   `yaml:"trunk_cable"`    // switch to switch
	GlobalCable      Figure[Metres]   `yaml:"global_cable"`   // group to group of a dragonfly; not known is TrunkCable
	Spread           string           `yaml:"spread" weft:"enum=ecmp"`
	Staged           Figure[Flag]     `yaml:"staged"`        // NICs reach host memory alone
	TransferRate     Figure[sim.Rate] `yaml:"transfer_rate"` // most of one transfer over one pair of ports
	Plugin           *FabricPlugin    `yaml:"plugin"`        // not known is NCCL's own transport on InfiniBand
}

// fabric turns a fabric's record into a specification for hosts whose ports
// have a link of their own and a latency.
func (r *resolver) fabric(f *Fabric, sw *Switch, trunk, port *Link, nic sim.Time) *fabric.Spec {
	spec := &fabric.Spec{
		Kind:             fabric.Kind(f.Kind),
		Tiers:            int(use(r, f.Tiers)),
		Radix:            int(use(r, sw.Ports)),
		HostsPerLeaf:     int(use(r, f.HostsPerLeaf)),
		LeavesPerPod:     int(use(r, f.LeavesPerPod)),
		Oversubscription: float64(use(r, f.Oversubscription)),
		Spread:           fabric.Spread(f.Spread),
		Staged:           bool(use(r, f.Staged)),
		TransferRate:     use(r, f.TransferRate),
		Port:             r.cable(port, f.PortCable),
		Cable:            r.cable(trunk, f.TrunkCable),
		SwitchLatency:    use(r, sw.Latency),
		NICLatency:       nic,
	}
	if f.GlobalCable.Known() {
		// The trunk's length is in Cable already: what is left are the further metres.
		spec.GlobalLength = max(0, float64(use(r, f.GlobalCable)-f.TrunkCable.Value()))
	}
	return spec
}

// cable returns a network link with a cable of a length.
func (r *resolver) cable(l *Link, length Figure[Metres]) topology.Wire {
	w := r.wire(l, 1)
	if l.PerMetre.Known() && length.Known() {
		w.Latency += sim.Time(float64(use(r, length)) * float64(use(r, l.PerMetre)))
	}
	return w
}
