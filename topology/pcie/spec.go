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
	// staged in host memory.
	P2P, GDR Reach

	// ACS makes peer traffic below a switch go up to the host bridge and down
	// again, as access control services do with an IOMMU.
	ACS bool
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
