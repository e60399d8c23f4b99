package netfile

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/shortest"
)

// Net is what a file says of a network.
type Net struct {
	Format Format
	Name   string

	Graph *topology.Graph   // valid: it passes Validate
	GPUs  []topology.NodeID // in rank order; none where the file names none
	NICs  []topology.NodeID // in the order of the hosts
	Hosts int               // servers
	Relay bool              // GPUs forward what is for others
	Route topology.Router   // as the format's own simulator routes; nil: shortest paths
	Facts []Fact            // what was counted, for the reader's own check
	Notes []string          // what was assumed or repaired; a report must repeat it
}

// Fact is one thing counted in a file, in the file's own words.
type Fact struct {
	What  string
	Count int
}

// Fact returns a count by its words, 0 if it was not counted.
func (n *Net) Fact(what string) int {
	for _, f := range n.Facts {
		if f.What == what {
			return f.Count
		}
	}
	return 0
}

func (n *Net) fact(what string, count int) { n.Facts = append(n.Facts, Fact{what, count}) }

func (n *Net) note(format string, args ...any) {
	n.Notes = append(n.Notes, fmt.Sprintf(format, args...))
}

// Machine makes a machine of the network. Its routes are those of the file's
// own simulator where these are known and o asks for nothing else, or
// shortest paths as o says; o.Relay is set where the file needs it. Notes of
// the file come before those of o.
func (n *Net) Machine(o shortest.Options) (*topology.Machine, error) {
	if o.Name == "" {
		o.Name = n.Name
	}
	o.Notes = append(append([]string(nil), n.Notes...), o.Notes...)
	o.Relay = o.Relay || n.Relay
	if len(n.GPUs) == 0 {
		return nil, fmt.Errorf("make machine of %s: a %s names no GPUs; say how many each of its %d hosts has (AttachGPUs)", n.Name, n.Format, n.Hosts)
	}
	if n.Route != nil && !o.OnePath && len(o.Prefer) == 0 && o.Ways == 0 {
		return &topology.Machine{
			Name: o.Name, Graph: n.Graph, Ranks: n.GPUs, Hosts: int32(n.Hosts), Router: n.Route, Notes: o.Notes,
		}, nil
	}
	return shortest.Build(n.Graph, n.GPUs, o)
}

// Attachment is the GPUs of each host of a network whose file names none.
type Attachment struct {
	PerHost int
	PCIe    topology.Wire // from a GPU to its NIC
	NVLink  topology.Wire // from a GPU to a switch that joins the host's GPUs; zero: none
}

// AttachGPUs adds GPUs to each host that has NICs. GPU i hangs from NIC
// i x NICs / GPUs of its host. Ranks run host by host.
func (n *Net) AttachGPUs(a Attachment) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("attach GPUs to %s: %s", n.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case len(n.GPUs) > 0:
		return fail("it has %d already", len(n.GPUs))
	case len(n.NICs) == 0:
		return fail("it has no NICs to attach them to")
	case len(n.Graph.Trunks) > 0:
		return fail("its trunks would be renumbered; attach GPUs before adding trunks")
	case a.PerHost < 1 || a.PerHost > 1024:
		return fail("%d GPUs in a host, must be from 1 to 1024", a.PerHost)
	case !(a.PCIe.Rate > 0) || a.PCIe.Latency < 0:
		return fail("the link from GPU to NIC has rate %v and latency %v, must be above 0 and at least 0", a.PCIe.Rate, a.PCIe.Latency)
	case !a.NVLink.IsZero() && (!(a.NVLink.Rate > 0) || a.NVLink.Latency < 0):
		return fail("NVLink has rate %v and latency %v, must be above 0 and at least 0", a.NVLink.Rate, a.NVLink.Latency)
	}
	g := *n.Graph
	var gpus []topology.NodeID
	for first := 0; first < len(n.NICs); {
		host := g.Nodes[n.NICs[first]].Host
		last := first
		for last < len(n.NICs) && g.Nodes[n.NICs[last]].Host == host {
			last++
		}
		prefix := hostPrefix(g.Nodes[n.NICs[first]].Name)
		var plane topology.NodeID
		if !a.NVLink.IsZero() {
			plane = g.AddNode(topology.Node{Kind: topology.NVSwitch, Name: prefix + "nvswitch0", Host: host})
		}
		for i := range a.PerHost {
			gpu := g.AddNode(topology.Node{Kind: topology.GPU, Name: fmt.Sprintf("%sgpu%d", prefix, i), Host: host, Unit: int32(i)})
			gpus = append(gpus, gpu)
			addWire(&g, gpu, n.NICs[first+i*(last-first)/a.PerHost], a.PCIe)
			if !a.NVLink.IsZero() {
				addWire(&g, gpu, plane, a.NVLink)
			}
		}
		first = last
	}
	if err := g.Validate(); err != nil {
		return fail("%v", err)
	}
	*n.Graph, n.GPUs = g, gpus
	n.note("%d GPUs in each host were added; %s does not name any", a.PerHost, n.Name)
	return nil
}

func addWire(g *topology.Graph, a, b topology.NodeID, w topology.Wire) {
	width := max(1, w.Width)
	g.AddDuplex(topology.Link{From: a, To: b, Rate: w.Rate, Latency: w.Latency, Class: g.AddClass(w.Class), Width: width})
}

// classes numbers the link classes of a graph by name. A file may have one
// for each link, so they are looked up and not searched.
type classes struct {
	g   *topology.Graph
	ids map[string]topology.ClassID
}

func newClasses(g *topology.Graph) *classes {
	return &classes{g: g, ids: make(map[string]topology.ClassID)}
}

func (c *classes) id(name string, raw sim.Rate, note string) topology.ClassID {
	id, ok := c.ids[name]
	if !ok {
		id = topology.ClassID(len(c.g.Classes))
		c.g.Classes = append(c.g.Classes, topology.Class{Name: name, Raw: raw, Note: note})
		c.ids[name] = id
	}
	return id
}

// Assume fills in what files leave open. What is zero is the default given;
// whatever is used is said in the notes.
type Assume struct {
	Cable  sim.Time // latency of a network cable: 100 ns, 20 m of fibre at 5 ns/m (assumed)
	Switch sim.Time // traversal of an InfiniBand switch: 130 ns (datasheet of Quantum QM8700, HDR)
	NIC    sim.Time // traversal of an adapter, one side: 300 ns (half of 0.6 us adapter to adapter, HDR)

	// Port is a network link of which the file says nothing at all: one NDR
	// cable, 400 Gbit/s (assumed).
	Port sim.Rate
}

func (a Assume) withDefaults() Assume {
	if a.Cable == 0 {
		a.Cable = 100 * sim.Nanosecond
	}
	if a.Switch == 0 {
		a.Switch = 130 * sim.Nanosecond
	}
	if a.NIC == 0 {
		a.NIC = 300 * sim.Nanosecond
	}
	if a.Port == 0 {
		a.Port = 50 * sim.GBps
	}
	return a
}
