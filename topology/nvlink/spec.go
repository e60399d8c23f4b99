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

	// SwitchLatency is the traversal of an NVSwitch.
	SwitchLatency sim.Time

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
