package configs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/pcie"
)

// Network is what lies between the nodes and how it is modelled.
type Network struct {
	Model  string `yaml:"model" weft:"enum=fluid|ideal,doc=fluid: transfers share links max-min fairly; ideal: each has the wires to itself"`
	Solver string `yaml:"solver" weft:"enum=incremental|full,doc=fluid: solve what a change can have touched (incremental) or all rates at every change (full); the answers are equal"`
	Relay  string `yaml:"relay" weft:"enum=always|if-needed|never,doc=on rails, bytes for another rail go over NVLink to the GPU by the NIC on the receiver's rail first (PXN): wherever there is one (always, as NCCL does, also when absent), where no switch joins the rails (if-needed), or never"`
	Fabric Fabric `yaml:"fabric" weft:"doc=the network between nodes: a name of the catalogue or an inline description"`

	Plugin *Plugin `yaml:"plugin" weft:"doc=what the network costs NCCL beyond its wires, in place of what the catalogue says of the fabric; keys left out are none"`
}

// Plugin is what a network and the plugin that drives it cost NCCL beyond the
// wires, compared with NCCL's own transport on InfiniBand.
type Plugin struct {
	Base sim.Time `yaml:"base" weft:"doc=once for each collective"`
	Step sim.Time `yaml:"step" weft:"doc=each crossing of the network"`
	Post sim.Time `yaml:"post" weft:"doc=each chunk that a connection sends, before it takes the next"`
	Rate float64  `yaml:"rate" weft:"positive,max=1,doc=part of the wires' rate that it reaches; all when absent"`
}

// Fabric is the network between nodes: a name of the catalogue, or an inline
// description, whose keys are those of [fabric.Spec].
type Fabric struct {
	Name          string   `yaml:"-"`
	Kind          string   `yaml:"kind" weft:"required,enum=single-switch|rail-optimized|rail-only|fat-tree|dragonfly,doc=one switch; NIC i of each node to a leaf of rail i, all joined by spines (rail-optimized) or not at all (rail-only); all NICs of a node to one leaf (fat-tree); groups of leaves, all joined, and groups, all joined (dragonfly)"`
	Bandwidth     sim.Rate `yaml:"bandwidth" weft:"required,positive,doc=usable rate of a port, per direction"`
	Latency       sim.Time `yaml:"latency" weft:"required,doc=of one link, from end to end, without its cable where that is given"`
	SwitchLatency sim.Time `yaml:"switch_latency" weft:"doc=traversal of a switch"`
	NICLatency    sim.Time `yaml:"nic_latency" weft:"doc=traversal of a NIC"`

	Tiers        int `yaml:"tiers" weft:"min=1,max=3,doc=levels of switches; 1 with rail-optimized is rails that nothing joins"`
	Rails        int `yaml:"rails" weft:"min=1,max=1024,doc=rails; NIC i is on rail i mod rails; one for each NIC of a node when absent, none in a dragonfly"`
	Radix        int `yaml:"radix" weft:"min=2,max=65536,doc=ports of a switch; no limit when absent"`
	HostsPerLeaf int `yaml:"hosts_per_leaf" weft:"min=1,max=1048576,doc=nodes (trays, in a rack) that share a leaf, or a set of leaves of all rails; as many as the radix allows when absent"`
	LeavesPerPod int `yaml:"leaves_per_pod" weft:"min=1,max=65536,doc=leaves that share their spines in three tiers, or switches of a dragonfly's group; by the radix when absent"`
	Spines       int `yaml:"spines" weft:"min=1,max=65536,doc=spines, of a pod in three tiers; as few as the radix allows when absent"`
	Cores        int `yaml:"cores" weft:"min=1,max=65536,doc=cores above each spine of a pod; as few as the radix allows when absent"`
	LocalLinks   int `yaml:"local_links" weft:"min=1,max=1024,doc=cables between two switches of a dragonfly's group; 1 when absent"`
	GlobalLinks  int `yaml:"global_links" weft:"min=1,max=65536,doc=cables between two groups of a dragonfly; one for each port to nodes, over oversubscription, when absent"`

	Oversubscription     float64 `yaml:"oversubscription" weft:"min=1,doc=rate to nodes over rate to spines of a leaf; 1 when absent"`
	CoreOversubscription float64 `yaml:"core_oversubscription" weft:"min=1,doc=rate to leaves over rate to cores of a spine; 1 when absent"`

	TrunkBandwidth sim.Rate `yaml:"trunk_bandwidth" weft:"positive,doc=usable rate of a link between switches, per direction; that of a port when absent"`
	TransferRate   sim.Rate `yaml:"transfer_rate" weft:"positive,doc=most that one transfer moves over one pair of ports, whatever the wires allow, such as over TCP"`
	Staged         bool     `yaml:"staged" weft:"doc=NICs reach host memory alone, so that bytes are staged there at both ends"`

	PortCable   Length `yaml:"port_cable" weft:"doc=length of the cables from NIC to leaf, such as 3m; 5 ns a metre come on top of latency"`
	TrunkCable  Length `yaml:"trunk_cable" weft:"doc=length of the cables between switches"`
	GlobalCable Length `yaml:"global_cable" weft:"doc=length of the cables between groups of a dragonfly; that of trunk_cable when absent"`

	Spread string `yaml:"spread" weft:"enum=ideal|ecmp,doc=how traffic is laid over equal ways: evenly (ideal, also when absent), or each flow on one way by a hash of seed (ecmp)"`
	Flows  int    `yaml:"flows" weft:"min=1,max=128,doc=flows of equal size between two ports under ecmp, such as NCCL's queue pairs; 1 when absent"`
}

// Length is a length of cable, in metres.
type Length float64

// UnmarshalText reads a length with its unit: "3m", "1.5 km".
func (l *Length) UnmarshalText(text []byte) error {
	number, scale := string(text), 0.0
	for _, u := range []struct {
		unit  string
		scale float64
	}{{"km", 1000}, {"m", 1}} {
		if n, ok := strings.CutSuffix(number, u.unit); ok && scale == 0 {
			number, scale = strings.TrimSpace(n), u.scale
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if v *= scale; err != nil || scale == 0 || !(v >= 0 && v <= 1e7) {
		return fmt.Errorf("read %q, expected a length with its unit, such as 5m, of at most 10000km", text)
	}
	*l = Length(v)
	return nil
}

// Short lets a fabric be written as its name.
func (f *Fabric) Short() any { return &f.Name }

// Check refuses a name that is empty, and keys that say nothing about the
// kind.
func (f *Fabric) Check(report func(key, message string)) {
	if f.Kind == "" {
		if strings.TrimSpace(f.Name) == "" {
			report("", fmt.Sprintf("read %q, expected a fabric of the catalogue, or an inline one", f.Name))
		}
		return
	}
	const single, rail, only, tree, dragon = string(fabric.SingleSwitch), string(fabric.RailOptimized), string(fabric.RailOnly), string(fabric.FatTree), string(fabric.Dragonfly)
	for _, k := range []struct {
		key   string
		set   bool
		kinds []string
	}{
		{"tiers", f.Tiers > 0, []string{rail, tree}},
		{"rails", f.Rails > 0, []string{rail, only, dragon}},
		{"radix", f.Radix > 0, []string{rail, only, tree, dragon}},
		{"hosts_per_leaf", f.HostsPerLeaf > 0, []string{rail, only, tree, dragon}},
		{"leaves_per_pod", f.LeavesPerPod > 0, []string{rail, tree, dragon}},
		{"spines", f.Spines > 0, []string{rail, tree}},
		{"cores", f.Cores > 0, []string{rail, tree}},
		{"local_links", f.LocalLinks > 0, []string{dragon}},
		{"global_links", f.GlobalLinks > 0, []string{dragon}},
		{"oversubscription", f.Oversubscription > 0, []string{rail, tree, dragon}},
		{"core_oversubscription", f.CoreOversubscription > 0, []string{rail, tree}},
		{"trunk_bandwidth", f.TrunkBandwidth > 0, []string{rail, tree, dragon}},
		{"trunk_cable", f.TrunkCable > 0, []string{rail, tree, dragon}},
		{"global_cable", f.GlobalCable > 0, []string{dragon}},
		{"spread", f.Spread != "", []string{rail, tree, dragon}},
		{"flows", f.Flows > 0, []string{rail, tree, dragon}},
	} {
		if k.set && !slices.Contains(k.kinds, f.Kind) {
			report(k.key, fmt.Sprintf("says nothing about a fabric of kind %s, expected one of kind %s, or without this key", f.Kind, strings.Join(k.kinds, ", ")))
		}
	}
	if f.Flows > 0 && f.Spread != string(fabric.ECMP) {
		report("flows", "flows are laid on ways one by one under spread: ecmp alone")
	}
	for _, k := range []struct {
		key string
		set bool
	}{{"cores", f.Cores > 0}, {"core_oversubscription", f.CoreOversubscription > 0}} {
		if k.set && f.Tiers != 3 && (f.Kind == rail || f.Kind == tree) {
			report(k.key, "cores stand above spines in three tiers, expected tiers: 3")
		}
	}
	if f.LeavesPerPod > 0 && f.Tiers != 3 && (f.Kind == rail || f.Kind == tree) {
		report("leaves_per_pod", "pods are parts of three tiers, expected tiers: 3")
	}
}

func (f *Fabric) spec() *fabric.Spec {
	s := &fabric.Spec{
		Kind: fabric.Kind(f.Kind), Tiers: f.Tiers, Rails: f.Rails, Radix: f.Radix, HostsPerLeaf: f.HostsPerLeaf, LeavesPerPod: f.LeavesPerPod,
		Oversubscription: f.Oversubscription, CoreOversubscription: f.CoreOversubscription, Spines: f.Spines, Cores: f.Cores,
		LocalLinks: f.LocalLinks, GlobalLinks: f.GlobalLinks, Flows: f.Flows, Staged: f.Staged, TransferRate: f.TransferRate,
		PortLength: float64(f.PortCable), CableLength: float64(f.TrunkCable), GlobalLength: float64(f.GlobalCable),
		Port:          topology.Wire{Rate: f.Bandwidth, Latency: f.Latency, Class: own("fabric", f.Bandwidth)},
		SwitchLatency: f.SwitchLatency, NICLatency: f.NICLatency,
	}
	if f.Spread == string(fabric.ECMP) {
		s.Spread = fabric.ECMP
	}
	if f.TrunkBandwidth > 0 {
		s.Cable = topology.Wire{Rate: f.TrunkBandwidth, Latency: f.Latency, Class: own("trunk", f.TrunkBandwidth)}
	}
	return s
}

// PCIe says how far devices reach each other over PCIe, in place of what is
// usual on the system.
type PCIe struct {
	P2P string `yaml:"p2p" weft:"enum=everywhere|within-socket|within-bridge|within-switches|within-switch|nowhere,doc=how far GPUs reach each other without host memory, as NCCL_P2P_LEVEL says it: SYS, NODE, PHB, PXB, PIX, LOC"`
	GDR string `yaml:"gdr" weft:"enum=everywhere|within-socket|within-bridge|within-switches|within-switch|nowhere,doc=how far GPUs and NICs reach each other without host memory, as NCCL_NET_GDR_LEVEL says it"`
	ACS *bool  `yaml:"acs" weft:"doc=peer traffic below a PCIe switch goes up to the host bridge and down again, as with an IOMMU"`
}

// reaches are the words of the keys p2p and gdr.
var reaches = func() map[string]pcie.Reach {
	words := map[string]pcie.Reach{}
	for r := pcie.Everywhere; r <= pcie.Nowhere; r++ {
		words[catalog.Reach(r).String()] = r
	}
	return words
}()

// adjust puts what the scenario says of routes over that of the system.
func (s *Scenario) adjust(spec *machine.Spec) error {
	switch s.Network.Relay {
	case "always":
		spec.Relay = machine.RelayAlways
	case "if-needed":
		spec.Relay = machine.RelayIfNeeded
	case "never":
		spec.Relay = machine.RelayNever
	}
	if spec.Fabric != nil {
		spec.Fabric.Seed = s.Seed
	}
	if s.PCIe == (PCIe{}) {
		return nil
	}
	if spec.Host.PCIe == nil {
		return s.tree.ErrorAt("pcie", "this system has no PCIe that is known, so nothing reaches over it", "leave pcie out")
	}
	p := *spec.Host.PCIe
	if s.PCIe.P2P != "" {
		p.P2P = reaches[s.PCIe.P2P]
	}
	if s.PCIe.GDR != "" {
		p.GDR = reaches[s.PCIe.GDR]
	}
	if s.PCIe.ACS != nil {
		p.ACS = *s.PCIe.ACS
	}
	spec.Host.PCIe = &p
	return nil
}
