package pcie

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Spec is the PCIe tree of one server (or of one tray of a rack): sockets,
// host bridges, switches, and the GPUs and NICs that hang from them.
type Spec struct {
	// Sockets is the number of CPUs, or of NUMA nodes where a CPU has several.
	// Every two are joined by SocketLink.
	Sockets int

	// SocketLink joins two sockets with all its parallel links (UPI, xGMI):
	// Rate is what they carry together, Width how many they are.
	SocketLink topology.Wire

	// Memory joins each socket to its host memory. Rate is per direction;
	// reads and writes share the bus, so a bounce, which writes and reads
	// every byte, is right when Rate is half of what the bus carries.
	Memory topology.Wire

	// Bridges are the host bridges (root complexes), Switches the PCIe
	// switches, a switch listed after the switch that it hangs from.
	Bridges  []Bridge
	Switches []Slot

	// GPUs and NICs are the devices, in the order of their numbers.
	GPUs []Slot
	NICs []Slot

	// Traversal of a PCIe switch, of a host bridge, and of a socket's on-die
	// fabric.
	SwitchLatency, BridgeLatency, SocketLatency sim.Time

	// P2P says how far GPUs may reach each other without host memory, and GDR
	// how far a NIC may reach a GPU (GPUDirect RDMA). Beyond, bytes are
	// staged in host memory. Copies says how far a copy engine reaches, which
	// needs no more than the driver's leave: libraries stop earlier.
	P2P, GDR, Copies Reach

	// Staging is what bytes cost that are staged between two GPUs, beyond the
	// links that they cross.
	Staging Staging

	// PeerRate is the most that one direct transfer between GPUs of different
	// sockets reaches, however wide the links: what the sockets forward of
	// posted writes. 0 is no such limit.
	PeerRate sim.Rate

	// ACS makes peer traffic below a switch go up to the host bridge and down
	// again, as access control services do with an IOMMU.
	ACS bool
}

// Staging is what a transfer between two GPUs costs that is staged in host
// memory, beyond its bytes on each link. The zero value is nothing.
//
// Reads and writes of host memory get in each other's way: while one direction
// of a link is busy, so is a part of the other. Own is that part on the GPUs'
// own links, where read requests, completions and the GPU's two copy engines
// meet; Uplink is that on the links above a switch, where only requests do.
//
// A copy engine pays more, and only it ([Tree.Copies]): the driver hands each
// piece over from the copy into host memory to the copy out of it. Handover is
// that time for a MiB, in which the links of the transfer stand still. With
// Serial it moves one piece at a time, so that the two copies alternate
// instead of overlapping.
type Staging struct {
	Own, Uplink float64
	Handover    sim.Time
	Serial      bool
}

// Bridge is a host bridge of a socket. Its Link is the on-die way to the
// socket.
type Bridge struct {
	Socket int
	Link   topology.Wire
}

// Slot is where a device or a switch hangs, and its link upwards.
type Slot struct {
	Under Parent
	Link  topology.Wire
}

// Parent names the host bridge, switch or socket above a slot.
type Parent struct {
	Kind  ParentKind
	Index int // among the bridges, switches or sockets of the Spec
}

// ParentKind says what a slot hangs from.
type ParentKind uint8

// The kinds of parents. OnSocket is a chip-to-chip link (NVLink-C2C).
const (
	OnBridge ParentKind = iota
	OnSwitch
	OnSocket
)

// Reach says how far direct access between devices goes.
type Reach uint8

// The reaches, widest first.
const (
	Everywhere     Reach = iota
	WithinSocket         // through the host bridges of one socket (NODE)
	WithinBridge         // through one host bridge (PHB)
	WithinSwitches       // through switches only (PXB)
	WithinSwitch         // through one switch (PIX)
	Nowhere
)
