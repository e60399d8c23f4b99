package discover

import "fmt"

// meshLinks returns how many links of a GPU lead to GPUs and switches,
// whatever they are called.
func (g *GPU) meshLinks() int {
	n := 0
	for _, l := range g.Links {
		if l.Kind != C2C {
			n += l.Count
		}
	}
	return n
}

// switched reports whether any GPU has links to a switch.
func (h *Host) switched() bool {
	for _, g := range h.GPUs {
		for _, l := range g.Links {
			if l.Switch {
				return true
			}
		}
	}
	return false
}

// checkFabric marks the GPUs that have lost the NVLink of their peers.
func (h *Host) checkFabric(note func(NoteKind, string, string, ...any), where func(string) string) {
	most := 0
	for i := range h.GPUs {
		most = max(most, h.GPUs[i].meshLinks())
	}
	if most == 0 {
		return
	}
	for i := range h.GPUs {
		g := &h.GPUs[i]
		switch n := g.meshLinks(); {
		case n == 0:
			g.OffFabric = true
			note(Degraded, where(fmt.Sprintf("GPU%d", g.Index)), "has no NVLink, where its peers have %d links: it is off the fabric, and all its traffic takes PCIe", most)
		case n < most && h.switched():
			note(Degraded, where(fmt.Sprintf("GPU%d", g.Index)), "has %d NVLinks, where its peers have %d", n, most)
		}
	}
}
