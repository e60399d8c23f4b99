package nccl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/topology"
)

// Platform is what NCCL asks of a host beyond its wires.
type Platform struct {
	SM  int // compute capability of its GPUs, times ten
	CPU CPU
	// Sockets is GB/s between two sockets as NCCL plans with it; 0 is by the
	// make of the CPU: see [SocketRate].
	Sockets float64
	NoP2P   bool // the driver refuses access between GPUs over PCIe, as on GeForce
	NoGDR   bool // NICs reach no GPU memory
	// Translated is as in [Summary].
	Translated bool
	// GroupNICs says that the network plugin shows the NICs of a GPU as one and
	// stripes over them, as AWS's does for EFA where a GPU has several.
	//
	// Source: aws/aws-ofi-nccl, src/nccl_ofi_topo.c, grouping of NICs.
	GroupNICs bool
}

// SocketRate returns GB/s between two sockets of a host as NCCL plans with it.
// Of Intel's it takes Skylake to Ice Lake, since a machine does not tell the
// model: later ones are 22 (Sapphire Rapids) or 40 from 2.27 on, which
// [Platform] may say.
//
// Source: NVIDIA/nccl, src/graph/topo.h; AMD's since 2.19.
func SocketRate(v Version, c CPU) float64 {
	switch {
	case c == AMD && !v.before(19):
		return 16
	case c == Intel:
		return 10
	case c == ARM:
		return 6
	}
	return 5000
}

// spotKind says what NCCL takes a node for.
type spotKind uint8

const (
	spotGPU spotKind = iota
	spotNVS          // the NVSwitches of a domain, as one
	spotPCI          // a PCIe switch
	spotCPU          // a NUMA node with its host bridges
	spotNIC
	spotNet // a port, as the network plugin lists them
	spotKinds
	nowhere = spotKinds // where a channel comes from that begins at a GPU
)

// spot is a node of a view.
type spot struct {
	kind  spotKind
	index int32 // among those of its kind
	tray  int32 // that it is on
	edges []int32
	ways  [spotKinds][]way // to the spots of a kind; nil where none is reached
}

// edgeKind is a type of link.
type edgeKind uint8

const (
	edgeNVL edgeKind = iota
	edgeC2C
	edgePCI
	edgeSYS
	edgeNet
)

// edge is one direction of a link.
type edge struct {
	from, to, back int32
	kind           edgeKind
	rate           int32
}

// view is one node as NCCL sees it: its GPUs in a job, with rates of NCCL's
// own. Rates are MB/s in whole numbers, to which NCCL rounds what is left of a
// link.
type view struct {
	v     Version
	p     Platform
	env   Env
	spots []spot
	edges []edge
	kinds [spotKinds][]int32 // the spots of each kind
	trays int
	inter bool // the job has other nodes

	gpus    []topology.NodeID // of each GPU
	dev     []int32           // number of each GPU on its tray
	nets    []topology.NodeID // of each port
	netRate []int32
	netGPU  []int32 // the GPU that a port belongs to, -1 is none
	apart   []bool  // of two GPUs, that they meet over the network only
	like    *view   // that was searched for this one; nil is itself

	most, total int32 // the fastest way of a GPU outwards, and what its links carry together
}

func (w *view) add(kind spotKind, tray int32) int32 {
	id := int32(len(w.spots))
	w.spots = append(w.spots, spot{kind: kind, index: int32(len(w.kinds[kind])), tray: tray})
	w.kinds[kind] = append(w.kinds[kind], id)
	return id
}

// join adds both directions of a link, or widens it. The links of a spot stay
// in falling order of their rates, the older first, as NCCL sorts them.
func (w *view) join(a, b int32, kind edgeKind, rate int32) {
	ab := w.widen(a, b, kind, rate)
	ba := w.widen(b, a, kind, rate)
	w.edges[ab].back, w.edges[ba].back = ba, ab
}

func (w *view) widen(a, b int32, kind edgeKind, rate int32) int32 {
	list := w.spots[a].edges
	at := slices.IndexFunc(list, func(e int32) bool { return w.edges[e].to == b && w.edges[e].kind == kind })
	if at < 0 {
		at = len(list)
		list = append(list, int32(len(w.edges)))
		w.edges = append(w.edges, edge{from: a, to: b, kind: kind})
	}
	id := list[at]
	w.edges[id].rate += rate
	for ; at > 0 && w.edges[list[at-1]].rate < w.edges[id].rate; at-- {
		list[at] = list[at-1]
	}
	list[at] = id
	w.spots[a].edges = list
	return id
}

// key tells views apart that the search may find different channels for.
func (w *view) key() string {
	var b strings.Builder
	fmt.Fprintln(&b, w.inter, w.trays, w.dev, w.netRate)
	for i := range w.spots {
		fmt.Fprint(&b, w.spots[i].kind, w.spots[i].tray, w.spots[i].edges)
	}
	fmt.Fprint(&b, w.edges)
	return b.String()
}

// viewer makes views of the hosts of a machine.
type viewer struct {
	v    Version
	p    Platform
	env  Env
	m    *topology.Machine
	g    *topology.Graph
	out  [][]topology.LinkID // links in service that leave a node
	host [][]topology.NodeID // nodes in service of a host, by kind and unit
	tray []int32             // of a node, within its host
}

func newViewer(v Version, m *topology.Machine, p Platform, env Env) *viewer {
	g := m.Graph
	r := &viewer{v: v, p: p, env: env, m: m, g: g, out: make([][]topology.LinkID, len(g.Nodes)), host: make([][]topology.NodeID, m.Hosts), tray: make([]int32, len(g.Nodes))}
	for i, l := range g.Links {
		if !l.Down && !g.Nodes[l.From].Down && !g.Nodes[l.To].Down {
			r.out[l.From] = append(r.out[l.From], topology.LinkID(i))
		}
	}
	for i, n := range g.Nodes {
		if !n.Down && n.Host >= 0 && n.Host < m.Hosts {
			r.host[n.Host] = append(r.host[n.Host], topology.NodeID(i))
		}
		r.tray[i] = -1
	}
	for _, nodes := range r.host {
		slices.SortStableFunc(nodes, func(a, b topology.NodeID) int {
			return cmp.Or(cmp.Compare(g.Nodes[a].Kind, g.Nodes[b].Kind), cmp.Compare(g.Nodes[a].Unit, g.Nodes[b].Unit))
		})
		next, bare := int32(0), int32(-1)
		for _, n := range nodes {
			if r.g.Nodes[n].Kind != topology.GPU || r.tray[n] >= 0 {
				continue
			}
			switch parts := r.spread(n, next); {
			case parts > 1:
				next++
			case bare < 0: // nothing is said of its tray: all such are on one
				bare = next
				next++
			default:
				r.tray[n] = bare
			}
		}
	}
	return r
}

// spread marks all that hangs together without NVLink, the parts of one tray,
// and returns how many they are.
func (r *viewer) spread(from topology.NodeID, tray int32) int {
	r.tray[from] = tray
	parts := 1
	for queue := []topology.NodeID{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, id := range r.out[at] {
			to := r.g.Links[id].To
			switch r.g.Nodes[to].Kind {
			case topology.NVSwitch, topology.Switch:
				continue
			case topology.GPU:
				if r.g.Nodes[at].Kind == topology.GPU {
					continue
				}
			}
			if r.tray[to] < 0 {
				r.tray[to] = tray
				queue = append(queue, to)
				parts++
			}
		}
	}
	return parts
}

// mega rounds GB/s to MB/s.
func mega(rate float64) int32 { return int32(min(rate*1000+0.5, 1e9)) }

// slot returns what NCCL takes a PCIe link for.
func (r *viewer) slot(l topology.Link) int32 {
	generation := 0
	if _, err := fmt.Sscanf(r.g.Classes[l.Class].Name, "pcie%d", &generation); err == nil {
		return mega(SlotRate(generation, int(l.Width)))
	}
	return mega(float64(l.Rate) / 1e9) // a link of a file, under another name
}

// view makes the picture of the members of a job on one node.
func (r *viewer) view(members []topology.NodeID, inter bool) *view {
	w := &view{v: r.v, p: r.p, env: r.env, inter: inter}
	host := r.g.Nodes[members[0]].Host
	b := viewBuilder{r: r, w: w, spot: map[topology.NodeID]int32{}}
	w.gpus = slices.Clone(members)
	slices.SortFunc(w.gpus, func(a, b topology.NodeID) int { return cmp.Compare(r.g.Nodes[a].Unit, r.g.Nodes[b].Unit) })
	trays := map[int32]bool{}
	for _, gpu := range w.gpus {
		trays[r.tray[gpu]] = true
		b.spot[gpu] = w.add(spotGPU, r.tray[gpu])
		dev := int32(0)
		for _, n := range r.host[host] {
			if r.g.Nodes[n].Kind == topology.GPU && r.tray[n] == r.tray[gpu] && r.g.Nodes[n].Unit < r.g.Nodes[gpu].Unit {
				dev++
			}
		}
		w.dev = append(w.dev, dev)
	}
	w.trays = len(trays)
	b.nodes = slices.DeleteFunc(slices.Clone(r.host[host]), func(n topology.NodeID) bool { return !trays[r.tray[n]] })
	b.sockets()
	b.pcie()
	b.ports()
	b.nvlink()
	b.across()
	b.uplinksLast()
	return w
}
