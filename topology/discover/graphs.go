package discover

import (
	"math"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

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

// readGraphs reads the graph XML of NCCL.
func readGraphs(name string, content []byte) (*Dump, error) {
	x := newXMLFile(NCCLGraph, name)
	root, err := x.parse(content)
	if err != nil {
		return nil, err
	}
	if v, ok := root.attr("version"); ok && v != "1" {
		x.fault(root, ErrSyntax, "", "version %s, expected 1", clip(v))
	}
	for _, e := range root.children {
		if e.name == "graph" {
			x.dump.Graphs = append(x.dump.Graphs, x.graph(e))
		}
	}
	x.note(Unknown, "", "rings and trees that NCCL chose, not the wires that it chose from; the file of NCCL_TOPO_DUMP_FILE has those")
	return x.result()
}

func (x *xmlFile) graph(e *element) Graph {
	g := Graph{
		ID: x.integer(e, "id", -1, 0, 1<<10), Pattern: x.integer(e, "pattern", 0, 0, 1<<10),
		CrossNIC: x.integer(e, "crossnic", 0, 0, 2), Wanted: x.integer(e, "nchannels", 0, 0, 1<<10),
		Intra: sim.Rate(x.float(e, "speedintra") * 1e9), Inter: sim.Rate(x.float(e, "speedinter") * 1e9),
		LatencyInter: sim.Time(x.float(e, "latencyinter") * float64(sim.Microsecond)),
		TypeIntra:    e.get("typeintra"), TypeInter: e.get("typeinter"), SameChannels: e.get("samechannels") == "1",
	}
	for _, c := range e.children {
		if c.name != "channel" {
			continue
		}
		var ch Channel
		for _, s := range c.children {
			if s.name == "gpu" || s.name == "net" {
				ch = append(ch, x.stop(s))
			}
		}
		g.Channels = append(g.Channels, ch)
	}
	if g.Wanted != len(g.Channels) {
		x.note(Unknown, at(e), "graph %d has %d channels, but says nchannels=%d", g.ID, len(g.Channels), g.Wanted)
	}
	return g
}

// stop reads a device: hexadecimal, with the host of a clique in its top
// byte.
func (x *xmlFile) stop(e *element) Stop {
	s := Stop{NIC: e.name == "net", Rank: x.integer(e, "rank", -1, -1, 1<<30)}
	text, _ := e.attr("dev")
	v, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil || v&(1<<56-1) > math.MaxInt32 {
		x.fault(e, ErrSyntax, "", "<%s> has dev=%s, expected a hexadecimal number such as 0x7", e.name, clip(text))
		return s
	}
	s.Host, s.Dev = int(v>>56), int(v&(1<<56-1))
	return s
}

// float returns an attribute as a number from 0 to a million, 0 where it is
// absent.
func (x *xmlFile) float(e *element, name string) float64 {
	s, ok := e.attr(name)
	if !ok || s == "" {
		return 0
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= 1e6) {
		x.fault(e, ErrSyntax, "", "<%s> has %s=%s, expected a number from 0 to 1e6", e.name, name, clip(s))
		return 0
	}
	return f
}
