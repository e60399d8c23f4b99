package catalog

import (
	"github.com/weft-sim/weft/sim"
)

// System is one host: a server, or a rack whose trays share their NVLink.
type System struct {
	Name   string `yaml:"-"`
	Like   string `yaml:"like"` // record that other keys are taken from
	Title  string `yaml:"title" weft:"required"`
	Origin Origin `yaml:"origin" weft:"required"`

	GPU     string        `yaml:"gpu" weft:"required"`
	GPUs    Figure[Count] `yaml:"gpus" weft:"required"`
	AnySize bool          `yaml:"any_size"` // GPUs is a default: the number is free
	Trays   Figure[Count] `yaml:"trays"`    // parts with CPUs of their own; not known is one

	NVLink  *SystemNVLink `yaml:"nvlink"`
	CPU     string        `yaml:"cpu"`
	Sockets Figure[Count] `yaml:"sockets"` // of a tray
	PCIe    *SystemPCIe   `yaml:"pcie"`
	NIC     string        `yaml:"nic"`
	NICs    Figure[Count] `yaml:"nics"` // of a tray

	P2P    Figure[Reach] `yaml:"p2p"` // not known is NCCL's default: see DefaultP2P
	GDR    Figure[Reach] `yaml:"gdr"`
	Copies Figure[Reach] `yaml:"copies"` // of a copy engine; not known is everywhere where the driver allows peer access
	Fabric string        `yaml:"fabric"` // between hosts, unless another is named

	Power *Power          `yaml:"power"`
	Price Figure[Dollars] `yaml:"price"` // of the host whole
}

// Power is what a host draws from the mains and what its supplies can give.
type Power struct {
	Max      Figure[Watts]    `yaml:"max"`     // as the vendor says to provision it
	Typical  Figure[Watts]    `yaml:"typical"` // under load, as measured or planned with
	Supplies Figure[Supplies] `yaml:"supplies"`
}

// SystemNVLink is the NVLink wiring of a host, either through switches or
// direct.
type SystemNVLink struct {
	Link   string        `yaml:"link" weft:"required"`
	Switch string        `yaml:"switch"`
	Planes Figure[Split] `yaml:"planes"`
	Edges  Figure[Edges] `yaml:"edges"`
	Tier   *SystemTier   `yaml:"tier"`
}

// SystemTier joins groups of GPUs, each with the planes of its own, plane by
// plane: directly, or through upper switches.
type SystemTier struct {
	Groups   Figure[Count] `yaml:"groups" weft:"required"`
	Uplinks  Figure[Split] `yaml:"uplinks" weft:"required"` // links that leave each plane of a group
	Switch   string        `yaml:"switch"`                  // of the upper tier; "" joins twins directly
	Switches Figure[Split] `yaml:"switches"`                // upper ones of each plane
}

// Check asks for the parts that belong together.
func (t *SystemTier) Check(report func(key, message string)) {
	if (t.Switch == "") != !t.Switches.Known() {
		report("", "switch and switches belong together")
	}
}

// Check refuses wiring that is neither or both.
func (n *SystemNVLink) Check(report func(key, message string)) {
	switch {
	case n.Planes.Known() == n.Edges.Known():
		report("", "expected either planes (with a switch) or edges")
	case n.Planes.Known() && n.Switch == "":
		report("", "planes without a switch, expected the name of one")
	case n.Tier != nil && !n.Planes.Known():
		report("tier", "a second tier joins planes, and there are none")
	}
}

// SystemPCIe is the PCIe tree of a tray. GPUs and NICs are dealt in order over
// the places that hold devices: the host bridges, or the switches below them.
type SystemPCIe struct {
	Switch   string        `yaml:"switch"`                // below each host bridge; "" hangs devices from the CPU
	Roots    Figure[Split] `yaml:"roots" weft:"required"` // host bridges on each socket
	Switches Figure[Count] `yaml:"switches"`              // with devices, below each host bridge; not known is one
	Layout   string        `yaml:"layout" weft:"enum=side-by-side|chain|tree|nested"`
	Uplink   string        `yaml:"uplink"` // link from the switches to the host bridge; "" is the slower of theirs
}

// The layouts of several switches below a host bridge. The empty one is
// sideBySide.
const (
	sideBySide = "side-by-side" // each has a port of the host bridge
	chain      = "chain"        // the first hangs from the host bridge, each further one from the one before
	tree       = "tree"         // all hang from one more switch, which hangs from the host bridge

	// nested is two switches, the second below the first: GPUs hang from the
	// first, NICs from the second.
	nested = "nested"
)

// Check refuses switches that nobody named.
func (p *SystemPCIe) Check(report func(key, message string)) {
	if p.Switch == "" && (p.Switches.Known() || p.Layout != "" || p.Uplink != "") {
		report("switch", "switches, layout and uplink need the name of a switch")
	}
	if p.Layout == nested && p.Switches.Value() != 2 {
		report("switches", "the layout nested is of 2 switches: for the GPUs, and below it for the NICs")
	}
}

// Check asks for the parts that belong together.
func (s *System) Check(report func(key, message string)) {
	if s.PCIe != nil && (s.CPU == "" || !s.Sockets.Known() || !s.GDR.Known()) {
		report("pcie", "a PCIe tree also needs cpu, sockets and gdr")
	}
	if s.PCIe == nil && s.NVLink == nil {
		report("", "neither nvlink nor pcie joins the GPUs, expected at least one")
	}
	if (s.NIC == "") != !s.NICs.Known() {
		report("", "nic and nics belong together")
	}
}

// PooledMemory returns the memory of all GPUs of a host together.
func (s *System) PooledMemory(g *GPU) sim.Bytes {
	return sim.Bytes(s.GPUs.Value()) * g.Memory.Value()
}
