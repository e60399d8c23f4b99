package nccl

import (
	"fmt"

	"github.com/weft-sim/weft/topology"
)

// Describe returns how NCCL sees a machine, if all GPUs of a host meet in one
// NVSwitch fabric or are a pair on direct links. sm is their compute
// capability times ten. It refuses what needs NCCL's search in full.
func Describe(m *topology.Machine, sm int) (Fabric, error) {
	d := describer{m: m, g: m.Graph, out: make([][]topology.LinkID, len(m.Graph.Nodes))}
	d.f = Fabric{Nodes: int(m.Hosts), GPUs: len(m.Ranks) / int(m.Hosts), SM: sm}
	for i, l := range d.g.Links {
		if !l.Down {
			d.out[l.From] = append(d.out[l.From], topology.LinkID(i))
		}
	}
	if err := d.links(); err != nil {
		return d.f, err
	}
	if d.f.Nodes == 1 {
		return d.f, nil
	}
	return d.f, d.nics()
}

type describer struct {
	m   *topology.Machine
	g   *topology.Graph
	f   Fabric
	out [][]topology.LinkID // links in service that leave a node
}

// irregular is the error of a machine without a closed form.
func irregular(format string, args ...any) error {
	return fmt.Errorf("search channels as NCCL: %s; a closed form is known where all GPUs of a host meet in one NVSwitch fabric with equal links. "+
		"Elsewhere NCCL's own result is needed: run a job with NCCL_GRAPH_DUMP_FILE=graph.xml and hand that file over", fmt.Sprintf(format, args...))
}

func (d *describer) links() error {
	if d.f.GPUs < 2 {
		return irregular("a host has one GPU")
	}
	survey := d.m.Survey()
	if len(survey.Domains) != d.f.Nodes || survey.LargestDomain() != d.f.GPUs || len(survey.WithoutNVLink) > 0 {
		return irregular("NVLink does not join the %d GPUs of each host", d.f.GPUs)
	}
	for r, gpu := range d.m.Ranks {
		direct, switched := 0, 0
		for _, id := range d.out[gpu] {
			switch l := d.g.Links[id]; d.g.Nodes[l.To].Kind {
			case topology.GPU:
				direct += int(l.Width)
			case topology.NVSwitch:
				switched += int(l.Width)
			}
		}
		links := switched + direct
		switch {
		case direct > 0 && (switched > 0 || d.f.GPUs > 2):
			return irregular("GPUs are wired to one another directly")
		case r > 0 && links != d.f.Links:
			return irregular("%s has %d NVLinks and %s has %d", d.g.Nodes[d.m.Ranks[0]].Name, d.f.Links, d.g.Nodes[gpu].Name, links)
		}
		d.f.Links, d.f.Switched = links, switched > 0
	}
	return nil
}

// nics describes the NICs of the first host, and holds the others against it.
func (d *describer) nics() error {
	perHost := make([]int, d.f.Nodes)
	d.f.NearNIC = d.f.GPUs
	for i, n := range d.g.Nodes {
		if n.Kind != topology.NIC || n.Down {
			continue
		}
		port, slot, cabled := d.nic(topology.NodeID(i))
		if !cabled {
			continue
		}
		rate := min(port, slot)
		path, near := d.nearest(topology.NodeID(i))
		if near == 0 {
			return irregular("no GPU reaches %s", n.Name)
		}
		perHost[n.Host]++
		if d.f.NICRate > 0 && (rate != d.f.NICRate || path != d.f.NICPath) {
			return irregular("%s is not like the NICs before it", n.Name)
		}
		d.f.NICRate, d.f.NICPath, d.f.NearNIC = rate, path, min(d.f.NearNIC, near)
	}
	for h, n := range perHost {
		if n != perHost[0] {
			return irregular("host 0 has %d NICs and host %d has %d", perHost[0], h, n)
		}
	}
	d.f.NICs = perHost[0]
	if d.f.NICs == 0 {
		return irregular("there are several hosts and no NICs")
	}
	return nil
}

// nic returns the rates of a NIC's ports, in sum, and of its slot.
func (d *describer) nic(n topology.NodeID) (port, slot float64, cabled bool) {
	for _, id := range d.out[n] {
		l := d.g.Links[id]
		class := d.g.Classes[l.Class]
		switch d.g.Nodes[l.To].Kind {
		case topology.Switch:
			port += float64(class.Raw) * float64(max(l.Width, 1)) / 1e9
			cabled = true
		case topology.PCIeSwitch, topology.RootComplex:
			generation := 0
			if _, err := fmt.Sscanf(class.Name, "pcie%d", &generation); err != nil {
				slot += float64(l.Rate) / 1e9 // a link of a file, under another name
				break
			}
			slot += SlotRate(generation, int(l.Width))
		}
	}
	if slot == 0 {
		slot = port
	}
	return port, slot, cabled
}

// nearest returns the type of the path from a NIC to its nearest GPUs, and how
// many those are.
func (d *describer) nearest(nic topology.NodeID) (PathType, int) {
	seen := map[topology.NodeID]bool{nic: true}
	best, count := DIS, 0
	for queue := []place{{node: nic}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, id := range d.out[at.node] {
			l := d.g.Links[id]
			if seen[l.To] {
				continue
			}
			next := at
			next.node = l.To
			switch d.g.Nodes[l.To].Kind {
			case topology.GPU:
				seen[l.To] = true
				switch path := at.path(d.g.Nodes[at.node].Kind == topology.Socket); {
				case path < best:
					best, count = path, 1
				case path == best:
					count++
				}
				continue
			case topology.PCIeSwitch:
				next.switches++
			case topology.RootComplex:
				next.bridges++
			case topology.Socket:
				next.sockets++
			default:
				continue
			}
			seen[l.To] = true
			queue = append(queue, next)
		}
	}
	return best, count
}

// place is where a walk from a NIC is, and what it passed.
type place struct {
	node                       topology.NodeID
	switches, bridges, sockets int
}

// path returns NCCL's word for the way to a GPU that is joined to a place;
// chip says that it is by a chip-to-chip link.
func (p place) path(chip bool) PathType {
	switch {
	case p.sockets > 1:
		return SYS
	case chip:
		return P2C
	case p.bridges > 0:
		return PHB
	case p.switches > 1:
		return PXB
	}
	return PIX
}
