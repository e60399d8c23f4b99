package catalog

import (
	"cmp"

	"github.com/weft-sim/weft/sim"
)

// Source is a document, a program or a measurement that figures come from.
type Source struct {
	Name  string `yaml:"-"`
	Title string `yaml:"title" weft:"required"`
	Where string `yaml:"where" weft:"required"` // address or citation
	Kind  string `yaml:"kind" weft:"required"`  // who says so: vendor, user measurement, press
}

// GPU is what a kernel and a link meet in a GPU. Figures that a part does not
// have (bf16 on a V100) are not known.
type GPU struct {
	Name   string `yaml:"-"`
	Like   string `yaml:"like"` // record that other keys are taken from
	Title  string `yaml:"title" weft:"required"`
	Origin Origin `yaml:"origin" weft:"required"`
	Arch   string `yaml:"arch" weft:"required"` // pascal, volta, ampere, ada, hopper, blackwell, rubin

	Peak             Peaks             `yaml:"peak" weft:"required"`
	FLOPEfficiency   Figure[Ratio]     `yaml:"flop_efficiency" weft:"required"` // of Peak, by large matrix products
	Memory           Figure[sim.Bytes] `yaml:"memory" weft:"required"`
	MemoryKind       string            `yaml:"memory_kind"`
	MemoryRate       Figure[sim.Rate]  `yaml:"memory_rate" weft:"required"`
	MemoryEfficiency Figure[Ratio]     `yaml:"memory_efficiency" weft:"required"` // of MemoryRate, by large copies
	Launch           Figure[sim.Time]  `yaml:"launch" weft:"required"`            // shortest kernel
	L2               Figure[sim.Bytes] `yaml:"l2"`
	SMs              Figure[Count]     `yaml:"sms"`
	TDP              Figure[Watts]     `yaml:"tdp"`
	NVLink           *Ports            `yaml:"nvlink"`
	PCIe             *Slot             `yaml:"pcie"`
	C2C              string            `yaml:"c2c"`         // link to the CPU, in place of PCIe
	PeerAccess       Figure[Flag]      `yaml:"peer_access"` // the driver allows it over PCIe
	SerialStaging    Figure[Flag]      `yaml:"serial_staging"`

	Price Figure[Dollars]        `yaml:"price"` // of the part
	Rent  Figure[DollarsPerHour] `yaml:"rent"`  // of one GPU in a cloud
	Spot  Figure[DollarsPerHour] `yaml:"spot"`  // the same when it can be taken away
}

// Peaks are dense arithmetic rates by data type.
type Peaks struct {
	FP32 Figure[sim.FlopRate] `yaml:"fp32"`
	TF32 Figure[sim.FlopRate] `yaml:"tf32"`
	BF16 Figure[sim.FlopRate] `yaml:"bf16"`
	FP16 Figure[sim.FlopRate] `yaml:"fp16"`
	FP8  Figure[sim.FlopRate] `yaml:"fp8"`
	FP4  Figure[sim.FlopRate] `yaml:"fp4"`
}

// Ports are the links of one kind that a GPU has. With Bridge they end in
// connectors at the edge of a card: they carry something only where a bridge
// joins two or four cards. A system whose record wires no NVLink leaves either
// kind idle.
type Ports struct {
	Link   string        `yaml:"link" weft:"required"`
	Count  Figure[Count] `yaml:"count" weft:"required"`
	Bridge bool          `yaml:"bridge"`
}

// Slot is a PCIe connection: lanes of a generation.
type Slot struct {
	Link  string        `yaml:"link" weft:"required"`
	Lanes Figure[Count] `yaml:"lanes" weft:"required"`
}

// Link is one physical link or, for PCIe, one lane. Its rates are of one
// direction.
type Link struct {
	Name   string `yaml:"-"`
	Like   string `yaml:"like"` // record that other keys are taken from
	Title  string `yaml:"title" weft:"required"`
	Kind   string `yaml:"kind" weft:"required,enum=nvlink|pcie|socket|c2c|network|ideal"`
	Family string `yaml:"family"` // of a network: infiniband, ethernet; NICs and switches of one family go together
	Origin Origin `yaml:"origin" weft:"required"`

	Rate        Figure[sim.Rate]     `yaml:"rate"`        // nominal, as vendors give it but one way
	Raw         Figure[sim.Rate]     `yaml:"raw"`         // what the wire signals
	LineCode    Figure[Ratio]        `yaml:"line_code"`   // encoding and FEC
	Packet      *Packet              `yaml:"packet"`      // headers
	Calibration Figure[Ratio]        `yaml:"calibration"` // what copies reach of the rest
	Latency     Figure[sim.Time]     `yaml:"latency" weft:"required"`
	PerMetre    Figure[TimePerMetre] `yaml:"per_metre"` // of cable, beyond Latency
	Energy      Figure[EnergyPerBit] `yaml:"energy"`

	// Of PCIe, what staging in host memory costs: see pcie.Staging.
	Opposing Figure[Ratio]    `yaml:"opposing"`
	Handover Figure[sim.Time] `yaml:"handover"` // of a MiB

	// Of NVLink, the rate of one link that the kernels of a library reach.
	Kernels Figure[sim.Rate] `yaml:"kernels"`
}

// Check refuses a link without a rate.
func (l *Link) Check(report func(key, message string)) {
	if !l.Rate.Known() && !l.Raw.Known() {
		report("", "neither rate nor raw is given, expected at least one of them")
	}
}

// Packet is the largest packet of a link: bytes of payload, and bytes of
// everything around them.
type Packet struct {
	Payload  Figure[sim.Bytes] `yaml:"payload" weft:"required"`
	Overhead Figure[sim.Bytes] `yaml:"overhead" weft:"required"`
}

// Efficiency returns payload over payload and overhead.
func (p *Packet) Efficiency() float64 {
	return float64(p.Payload.Value()) / float64(p.Payload.Value()+p.Overhead.Value())
}

// Nominal returns the rate in the datasheet's sense, one way.
func (l *Link) Nominal() sim.Rate {
	if l.Rate.Known() {
		return l.Rate.Value()
	}
	return sim.Rate(float64(l.Raw.Value()) * l.lineCode())
}

// Usable returns what payload can reach, one way: see the package comment.
func (l *Link) Usable() sim.Rate {
	r := float64(l.Rate.Value())
	if l.Raw.Known() {
		r = float64(l.Raw.Value()) * l.lineCode()
	}
	if l.Packet != nil {
		r *= l.Packet.Efficiency()
	}
	if l.Calibration.Known() {
		r *= float64(l.Calibration.Value())
	}
	return sim.Rate(r)
}

func (l *Link) lineCode() float64 { return float64(cmp.Or(l.LineCode.Value(), 1)) }

// Switch is an NVSwitch, a PCIe switch or a network switch.
type Switch struct {
	Name   string `yaml:"-"`
	Like   string `yaml:"like"` // record that other keys are taken from
	Title  string `yaml:"title" weft:"required"`
	Kind   string `yaml:"kind" weft:"required,enum=nvswitch|pcie|network|ideal"`
	Link   string `yaml:"link"` // that its ports speak
	Origin Origin `yaml:"origin" weft:"required"`

	Ports       Figure[Count]    `yaml:"ports"` // 0 or not known: no limit
	Latency     Figure[sim.Time] `yaml:"latency" weft:"required"`
	Multicast   Figure[Flag]     `yaml:"multicast"`    // in-switch multicast and reduction
	UplinkLanes Figure[Count]    `yaml:"uplink_lanes"` // of a PCIe switch
	Opposing    Figure[Ratio]    `yaml:"opposing"`     // of a PCIe switch's uplink: see pcie.Staging
	Power       Figure[Watts]    `yaml:"power"`        // at most; without optics

	Energy Figure[EnergyPerBit] `yaml:"energy"` // from port to port
}

// Check asks a PCIe switch for its uplink.
func (s *Switch) Check(report func(key, message string)) {
	if s.Kind == "pcie" && (s.Link == "" || !s.UplinkLanes.Known()) {
		report("", "a PCIe switch also needs link and uplink_lanes")
	}
}

// NIC is a network adapter with one port in use.
type NIC struct {
	Name    string           `yaml:"-"`
	Like    string           `yaml:"like"` // record that other keys are taken from
	Title   string           `yaml:"title" weft:"required"`
	Link    string           `yaml:"link" weft:"required"`
	Origin  Origin           `yaml:"origin" weft:"required"`
	PCIe    Slot             `yaml:"pcie" weft:"required"`
	Latency Figure[sim.Time] `yaml:"latency" weft:"required"`
}

// CPU is one socket and its way to others.
type CPU struct {
	Name   string `yaml:"-"`
	Like   string `yaml:"like"` // record that other keys are taken from
	Title  string `yaml:"title" weft:"required"`
	Origin Origin `yaml:"origin" weft:"required"`

	Vendor           string           `yaml:"vendor" weft:"enum=intel|amd|nvidia"`
	PCIe             string           `yaml:"pcie" weft:"required"` // link of its root ports
	SocketLink       string           `yaml:"socket_link" weft:"required"`
	SocketLinks      Figure[Count]    `yaml:"socket_links" weft:"required"` // between two sockets
	MemoryRate       Figure[sim.Rate] `yaml:"memory_rate" weft:"required"`  // of the bus, reads and writes in sum
	MemoryEfficiency Figure[Ratio]    `yaml:"memory_efficiency" weft:"required"`
	MemoryLatency    Figure[sim.Time] `yaml:"memory_latency" weft:"required"`
	RootRate         Figure[sim.Rate] `yaml:"root_rate" weft:"required"` // on-die, host bridge to socket, per x16 port
	BridgeLatency    Figure[sim.Time] `yaml:"bridge_latency" weft:"required"`
	SocketLatency    Figure[sim.Time] `yaml:"socket_latency" weft:"required"`
	PeerRate         Figure[sim.Rate] `yaml:"peer_rate"` // of one direct transfer between sockets; not known is no limit
}
