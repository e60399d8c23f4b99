package netfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// aggregation reports whether a device is the SHARP unit of a switch.
func (d *ibDevice) aggregation() bool { return strings.Contains(d.text, "Aggregation Node") }

func (f *ibNet) net(a Assume) (*Net, error) {
	n := &Net{Format: f.s.format, Name: f.s.name, Graph: &topology.Graph{}}
	nodes := f.addNodes(n)
	once, sharp := f.addCables(n, nodes, a)
	n.fact("Switch records", f.switches)
	n.fact("Ca records", f.adapters)
	n.fact("port lines", f.portLines)
	n.fact("aggregation nodes", sharp)
	n.fact("adapters", len(n.NICs))
	n.fact("cables", len(f.cables)-sharp)
	if len(n.NICs) == 0 {
		return nil, f.s.fail(ErrNoTopology, 0, 0, "no adapter of a server", "Ca blocks", "")
	}
	if err := n.Graph.Validate(); err != nil {
		return nil, f.s.fail(ErrContradiction, 0, 0, err.Error(), "a network in one piece", "is the file cut short, or are there several fabrics in it?")
	}
	if once > 0 {
		n.note("%d of %d cables of %s are told by one end only: is the file cut short?", once, len(f.cables), n.Name)
	}
	if sharp > 0 {
		n.note("%d aggregation nodes (SHARP units of switches) of %s are no servers and are left out", sharp, n.Name)
	}
	n.note("%s names no GPUs", n.Name)
	n.note("latencies are not in %s; assumed: cable %v, switch %v, adapter %v", n.Name, a.Cable, a.Switch, a.NIC)
	n.note("rates of %s are data rates of the links (lanes x generation): no packet overhead is taken off", n.Name)
	return n, nil
}

// addNodes adds switches in the order of the file, then adapters host by host
// as people count. It returns the node of each device, -1 for what is left out.
func (f *ibNet) addNodes(n *Net) []topology.NodeID {
	nodes := make([]topology.NodeID, len(f.devices))
	names := make(map[string]bool)
	unit := int32(0)
	var adapters []int32
	for i := range f.devices {
		d := &f.devices[i]
		nodes[i] = -1
		switch {
		case d.aggregation():
		case !d.isSwitch:
			adapters = append(adapters, int32(i))
		default:
			// "MF0;switch001:MQM9701/U1" is chassis 0, switch001, a QM9701, unit 1.
			name := d.text
			if _, after, ok := strings.Cut(name, ";"); ok {
				name = after
			}
			name, _, _ = strings.Cut(name, ":")
			nodes[i] = n.Graph.AddNode(topology.Node{Kind: topology.Switch, Name: unique(names, plain(name, d.guid)), Host: -1, Unit: unit})
			unit++
		}
	}
	host := func(i int32) string {
		name, _, _ := strings.Cut(f.devices[i].text, " ")
		return plain(name, f.devices[i].guid)
	}
	slices.SortStableFunc(adapters, func(a, b int32) int {
		if c := natural(host(a), host(b)); c != 0 {
			return c
		}
		if c := natural(f.devices[a].text, f.devices[b].text); c != 0 {
			return c
		}
		return strings.Compare(f.devices[a].guid, f.devices[b].guid)
	})
	last := ""
	for _, i := range adapters {
		h := host(i)
		if h != last || n.Hosts == 0 {
			last, unit = h, 0
			n.Hosts++
		}
		device := fmt.Sprintf("nic%d", unit)
		if w := strings.Fields(f.devices[i].text); len(w) == 2 {
			device = w[1]
		}
		nodes[i] = n.Graph.AddNode(topology.Node{Kind: topology.NIC, Name: unique(names, h+"."+device), Host: int32(n.Hosts - 1), Unit: unit})
		n.NICs = append(n.NICs, nodes[i])
		unit++
	}
	return nodes
}

// plain returns a name without blanks, or the other one if it is empty.
func plain(name, other string) string {
	if name = strings.Join(strings.Fields(name), "-"); name == "" {
		return other
	}
	return name
}

// unique returns the name, or the name with a number that makes it unique.
func unique(taken map[string]bool, name string) string {
	free := name
	for i := 2; taken[free]; i++ {
		free = fmt.Sprintf("%s-%d", name, i)
	}
	taken[free] = true
	return free
}

// addCables adds a link for all cables of one speed between two devices. It
// returns how many cables were told once only, and how many go to SHARP units.
func (f *ibNet) addCables(n *Net, nodes []topology.NodeID, a Assume) (once, sharp int) {
	type pair struct {
		a, b  topology.NodeID
		speed string
	}
	g := n.Graph
	links := make(map[pair]topology.LinkID)
	classes := newClasses(g)
	latency := func(to topology.NodeID) sim.Time {
		if g.Nodes[to].Kind == topology.Switch {
			return a.Cable + a.Switch
		}
		return a.Cable + a.NIC
	}
	for _, c := range f.cables {
		if !c.twice {
			once++
		}
		from, to := nodes[c.a.device], nodes[c.b.device]
		if from < 0 || to < 0 {
			sharp++
			continue
		}
		from, to = min(from, to), max(from, to)
		raw, _ := laneSpeed(c.speed)
		key := pair{from, to, c.speed}
		if l, ok := links[key]; ok {
			for _, id := range []topology.LinkID{l, l + 1} {
				g.Links[id].Width++
				g.Links[id].Rate += raw
			}
			continue
		}
		class := classes.id("infiniband-"+strings.ToLower(c.speed), raw, "derived: lanes x data rate of the generation")
		l := topology.Link{From: from, To: to, Rate: raw, Latency: latency(to), Class: class, Width: 1}
		if g.Nodes[from].Kind == topology.NIC {
			l.Latency += a.NIC
		}
		links[key] = g.AddLink(l)
		l.From, l.To, l.Latency = to, from, latency(from)
		if g.Nodes[to].Kind == topology.NIC {
			l.Latency += a.NIC
		}
		g.AddLink(l)
	}
	return once, sharp
}
