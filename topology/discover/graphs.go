package discover

import "github.com/weft-sim/weft/sim"

// Graph is one result of NCCL's search for channels: which way a ring or tree
// runs through a host. It says nothing about wires.
type Graph struct {
	ID           int // 0 ring, 1 tree, 2 collnet chain, 3 NVLS, 4 collnet direct
	Pattern      int // 1 balanced tree, 2 split tree, 3 tree, 4 ring, 5 NVLS, 6 collnet direct
	CrossNIC     int
	Channels     []Channel
	Wanted       int // nchannels as printed, which is len(Channels) in a sound file
	Intra, Inter sim.Rate
	LatencyInter sim.Time
	TypeIntra    string // LOC NVL NVB PIX PXB P2C PXN PHB SYS
	TypeInter    string
	SameChannels bool
}

// Channel is the order in which a channel visits devices.
type Channel []Stop

// Stop is a device on a channel.
type Stop struct {
	NIC  bool // else a GPU
	Host int  // within a multi-node NVLink clique
	Dev  int
	Rank int // -1 if the file does not tell
}
