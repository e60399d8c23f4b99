package topology

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
)

func (k NodeKind) String() string {
	return [...]string{"GPU", "NVSwitch", "PCIe switch", "host bridge", "CPU", "host memory", "NIC", "switch"}[k]
}

// NodeKinds is the number of kinds of nodes.
const NodeKinds = int(Switch) + 1

// Count returns the number of nodes of each kind that are in service, indexed
// by [NodeKind].
func (g *Graph) Count() [NodeKinds]int {
	var n [NodeKinds]int
	for _, node := range g.Nodes {
		if !node.Down {
			n[node.Kind]++
		}
	}
	return n
}

// Node returns the node of that name, by search.
func (g *Graph) Node(name string) (NodeID, bool) {
	for i, n := range g.Nodes {
		if n.Name == name {
			return NodeID(i), true
		}
	}
	return 0, false
}

// ResourceName names a resource for a person: its two ends, and the physical
// links that it stands for: "n0.gpu3 > n0.nvswitch (18 nvlink4 links)". The
// far (or near) end of a trunk is what its members' ends have in common.
func (g *Graph) ResourceName(r ResourceID) string {
	if r < 0 || int(r) >= g.Resources() {
		return fmt.Sprintf("resource %d", r)
	}
	links, _ := g.Members(r)
	first := g.Links[links[0]]
	from, to := g.Nodes[first.From].Name, g.Nodes[first.To].Name
	var width int32
	for _, id := range links {
		l := g.Links[id]
		width += l.Width
		from = commonName(from, g.Nodes[l.From].Name)
		to = commonName(to, g.Nodes[l.To].Name)
	}
	class := g.Classes[first.Class].Name
	if g.lanes(first) {
		return fmt.Sprintf("%s > %s (%s x%d)", from, to, class, width)
	}
	plural := "s"
	if width == 1 {
		plural = ""
	}
	return fmt.Sprintf("%s > %s (%d %s link%s)", from, to, width, class, plural)
}

// lanes reports whether the width of a link counts lanes: on PCIe.
func (g *Graph) lanes(l Link) bool {
	pcie := func(k NodeKind) bool { return k == PCIeSwitch || k == RootComplex }
	from, to := g.Nodes[l.From].Kind, g.Nodes[l.To].Kind
	return (pcie(from) || pcie(to)) && from != Socket && to != Socket
}

// commonName returns the name of a set of nodes from the names of two:
// "n0.nvswitch0" and "n0.nvswitch3" are "n0.nvswitch". Names that begin with
// nothing in common are "several".
func commonName(a, b string) string {
	if a == b {
		return a
	}
	digits := "0123456789"
	a, b = strings.TrimRight(a, digits), strings.TrimRight(b, digits)
	for !strings.HasPrefix(b, a) {
		a = a[:len(a)-1]
	}
	if a == "" {
		return "several"
	}
	return a
}

// ClassTotal is what a machine has of one class of links.
type ClassTotal struct {
	Class ClassID
	Links int      // physical links (lanes count as one link), both directions as one
	Rate  sim.Rate // their sum, per direction
}

// PhysicalLinks returns how many cables or traces a link stands for: the Width
// of parallel NVLinks, but one for the lanes of a PCIe link.
func (g *Graph) PhysicalLinks(l LinkID) int {
	if g.lanes(g.Links[l]) {
		return 1
	}
	return max(int(g.Links[l].Width), 1)
}

// ByClass adds up the links in service by class, in the order of the classes.
func (g *Graph) ByClass() []ClassTotal {
	totals := make([]ClassTotal, len(g.Classes))
	for i := range totals {
		totals[i].Class = ClassID(i)
	}
	for _, l := range g.Links {
		if l.Down {
			continue
		}
		t := &totals[l.Class]
		if g.lanes(l) {
			t.Links++
		} else {
			t.Links += int(l.Width)
		}
		t.Rate += l.Rate
	}
	for i := range totals {
		totals[i].Links /= 2
		totals[i].Rate /= 2
	}
	return totals
}

// Egress returns the sum of the rates of the links in service that leave a
// node for nodes of the given kinds, and their number (their widths added up).
func (g *Graph) Egress(n NodeID, kinds ...NodeKind) (rate sim.Rate, width int) {
	for _, l := range g.Links {
		if l.From != n || l.Down {
			continue
		}
		for _, k := range kinds {
			if g.Nodes[l.To].Kind == k {
				rate += l.Rate
				width += int(l.Width)
				break
			}
		}
	}
	return rate, width
}

// GPUEgress returns what a GPU can send over NVLink, per direction, and over
// how many links; zero without NVLink.
func (m *Machine) GPUEgress(rank int32) (rate sim.Rate, links int) {
	for i := range m.Graph.Links {
		if l := &m.Graph.Links[i]; l.From == m.Ranks[rank] && !l.Down && m.Graph.nvlink(l) {
			rate += l.Rate
			links += int(l.Width)
		}
	}
	return rate, links
}

// nvlink reports whether a link is of NVLink, C2C left out: to or from an
// NVSwitch, or direct between two GPUs of a host. A direct link between hosts
// is a network.
func (g *Graph) nvlink(l *Link) bool {
	from, to := &g.Nodes[l.From], &g.Nodes[l.To]
	switch {
	case from.Kind == NVSwitch:
		return to.Kind == GPU || to.Kind == NVSwitch
	case from.Kind != GPU:
		return false
	}
	return to.Kind == NVSwitch || to.Kind == GPU && from.Host == to.Host
}

// ResourceName names a resource: see [Graph.ResourceName].
func (m *Machine) ResourceName(r ResourceID) string { return m.Graph.ResourceName(r) }
