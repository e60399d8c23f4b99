package machine

import (
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

// Spec is a machine: equal hosts and the network between them.
type Spec struct {
	Name  string
	Hosts int // 0 is 1
	Host  Host

	// Fabric joins the hosts; nil for a single host without a network.
	Fabric *fabric.Spec

	// Relay says when traffic between hosts that changes rails is handed to a
	// GPU on the other rail first (PXN in NCCL); the zero value is NCCL's.
	Relay Relay

	// Notes are sentences a report must repeat: assumed figures, fallbacks.
	Notes []string
}

// Host is one NVLink domain: a server, or a rack whose trays share their
// NVLink. To the fabric each tray is a host of its own: it has NICs of its
// own, and the fabric's hosts per leaf count trays.
type Host struct {
	GPUs  int
	Trays int // parts with a PCIe tree of their own; 0 is 1

	// NVLink joins all GPUs of the host; nil if there is none.
	NVLink *nvlink.Spec

	// PCIe is the tree of one tray, with GPUs/Trays GPUs. nil leaves CPUs and
	// NICs out; each GPU then has its own port to the fabric, if there is one.
	PCIe *pcie.Spec
}

// Relay says when a GPU hands its bytes over NVLink to the peer that is local
// to the NIC on the receiver's rail, rather than send them across rails. Only
// senders do; a receiver takes them from its own NIC. It says nothing on a
// network without rails, nor to hosts without NVLink.
type Relay uint8

// The relays. RelayAlways is PXN as NCCL has it by default
// (src/graph/paths.cc): the peer is of the same tray, NVLink reaches it without
// a hop between, and it reaches its NIC without host memory. Where no switch
// joins the rails, any peer that NVLink reaches will do.
const (
	RelayAlways   Relay = iota // wherever there is such a peer
	RelayIfNeeded              // only where no switch joins the rails
	RelayNever                 // NCCL_PXN_DISABLE=1; rails that nothing joins are then an error
)
