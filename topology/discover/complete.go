package discover

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

// Completer knows what dumps do not tell: a catalogue, with the word of the
// user where a dump does not even name the GPU. A method returns an error
// that says what the user could add.
type Completer interface {
	// NVLink returns one NVLink (or xGMI link) of a GPU and, if the domain is
	// switched, the traversal of a switch, how the GPU's links are divided over
	// the planes, and the second tier if there is one. Edges and Down are
	// filled in by the caller. If Links is 0 it returns all that a board of
	// such GPUs has, edges too, or the zero Spec for a board without NVLink.
	NVLink(NVLinkQuestion) (nvlink.Spec, error)

	// Slot returns the link above a GPU, a NIC or a PCIe switch.
	Slot(SlotQuestion) (topology.Wire, error)

	// Board returns what belongs to the host's processors and board.
	Board(h *Host) (Board, error)
}

// NVLinkQuestion asks for the NVLinks of a domain.
type NVLinkQuestion struct {
	Host     *Host
	GPU      *GPU // one that has its links
	Kind     LinkKind
	Switched bool
	Links    int // of each GPU; 0 if the dump does not tell, nor whether there are any
	GPUs     int // in the domain
}

// SlotQuestion asks for the link from a device upwards. Exactly one of GPU,
// NIC and Switch is set.
type SlotQuestion struct {
	Host   *Host
	GPU    *GPU
	NIC    *NIC
	Switch bool
	PCIe   PCIeLink // as far as it is told
	C2C    *Link    // set if the link is chip to chip, to the CPU
	Below  int      // of a switch: GPUs and NICs below it
}

// Board is what a host has besides devices and their links. See [pcie.Spec].
type Board struct {
	SocketLink, Memory topology.Wire
	Bridge             topology.Wire // of a host bridge, to its socket

	SwitchLatency, BridgeLatency, SocketLatency sim.Time

	P2P, GDR pcie.Reach
	ACS      bool
}
