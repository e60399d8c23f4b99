package nvlink

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Spec is the NVLink wiring among the GPUs of one NVLink domain: a board of
// eight, a rack of 72. It is either switched (Planes) or a mesh (Edges),
// never both; pairs joined by bridges are a mesh.
type Spec struct {
	// Planes holds, for each NVSwitch, the number of links that every GPU has
	// to it: {5, 4, 4, 5} for an HGX H100, eighteen times 1 for an NVL72.
	Planes []int

	// Edges holds GPU, GPU and the number of links between them, each pair
	// once: {0, 1, 6} of an HGX H100 with four GPUs.
	Edges [][3]int

	// Link is one NVLink. Its Rate is that of one link, per direction.
	Link topology.Wire

	// SwitchLatency is the traversal of an NVSwitch, Ports the links that one
	// holds; 0 is not known, and no limit.
	SwitchLatency sim.Time
	Ports         int

	// Tier joins groups of GPUs that have planes of their own; nil if every GPU
	// is on every plane.
	Tier *Tier

	// BalanceRelays spreads a pair of a mesh without a link over all peers that
	// are equally wide. Otherwise the lowest number relays, as NCCL has it.
	BalanceRelays bool

	// Down lists links out of service between a GPU and a plane. As soon as
	// there is one, the GPUs no longer see equal planes and every path of the
	// domain is sprayed plane by plane (see [Wiring.Route]). In a machine of
	// several hosts it holds for every host.
	Down []Down
}

// Down says how many of a GPU's links to a plane are out of service.
type Down struct {
	GPU, Plane, Links int
}

// Tier is the second tier of a switched domain: the GPUs form groups of equal
// size, in the order of their numbers, each with its own NVSwitches, of which
// [Spec.Planes] describes those of one group. Plane p of a group is joined to
// plane p of the others: directly, or by the upper switches of plane p.
//
// A GPU spreads its bytes over the planes by its links, whatever the planes
// have upwards, so the plane with the fewest uplinks for its links limits.
type Tier struct {
	Groups int

	// Uplinks holds, for each plane, the links that leave it: to its twin in
	// each other group (8 in a DGX-2), or, with Switches, upwards in all
	// ({20, 16, 16, 20} in the NVLink network of 256 H100).
	Uplinks []int

	// Switches holds, for each plane, the upper switches that its uplinks are
	// spread over evenly; nil joins twins directly.
	Switches []int

	// Link is one link of the tier; zero is Spec.Link. SwitchLatency is the
	// traversal of an upper switch, Ports the links that one holds (0 is no limit).
	Link          topology.Wire
	SwitchLatency sim.Time
	Ports         int
}
