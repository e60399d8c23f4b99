package topology

import (
	"cmp"
	"slices"

	"github.com/weft-sim/weft/sim"
)

// Survey is what an architect looks for in a machine, as data. Ranks and
// nodes are in rising order.
type Survey struct {
	// Domains are the sets of ranks that NVLink joins, directly or not, largest
	// first; a GPU without NVLink is in none.
	Domains [][]int32

	// WithoutNVLink are the ranks without any NVLink.
	WithoutNVLink []int32

	// Pairs says that NVLink joins pairs on hosts that have more GPUs: bridges.
	Pairs bool

	// Uplinks are the switches that take in more from below than they pass on
	// upwards.
	Uplinks []Uplink

	// Far are the ranks whose nearest NIC is behind another host bridge (NODE)
	// or on another socket (SYS).
	Far []FarNIC

	// Off are nodes out of service, or that nothing joins to the rest of their
	// kind: NVSwitches, NICs without a cable where others have one.
	Off []NodeID

	// Short are the ranks with fewer links to NVSwitches than the most of their
	// domain.
	Short []int32
}

// Uplink is switches of one kind whose links downwards carry more than their
// links upwards. Both rates are of one switch.
//
// Down counts hosts (or lower switches) of a network switch, the GPUs of an
// NVSwitch, and of a PCIe switch the GPUs alone, since a NIC's traffic to them
// does not go up. The up side of an NVSwitch without a tier above is its
// twins. Switches of a dragonfly have none.
type Uplink struct {
	Switches []NodeID
	Down, Up sim.Rate
}

// Ratio is Down over Up: 2 is "2:1".
func (u Uplink) Ratio() float64 { return float64(u.Down / u.Up) }

// FarNIC is a GPU and the nearest NIC of its host.
type FarNIC struct {
	Rank int32
	NIC  NodeID
	Kind PathKind
}

// LargestDomain returns the number of GPUs of the largest NVLink domain, 0
// without NVLink.
func (s *Survey) LargestDomain() int {
	if len(s.Domains) == 0 {
		return 0
	}
	return len(s.Domains[0])
}

// Survey looks the machine over. It costs a few passes over its links.
func (m *Machine) Survey() *Survey {
	v := surveyor{m: m, g: m.Graph, s: &Survey{}, out: make([][]int32, len(m.Graph.Nodes))}
	for i, l := range m.Graph.Links {
		if !l.Down {
			v.out[l.From] = append(v.out[l.From], int32(i))
		}
	}
	v.domains()
	v.uplinks()
	v.nics()
	v.off()
	return v.s
}

type surveyor struct {
	m   *Machine
	g   *Graph
	s   *Survey
	out [][]int32 // links in service that leave a node
}

func (v *surveyor) kind(n NodeID) NodeKind { return v.g.Nodes[n].Kind }

func (v *surveyor) domains() {
	domain := make([]int32, len(v.g.Nodes)) // 0 is none yet
	rankOf := make(map[NodeID]int32, len(v.m.Ranks))
	for r, n := range v.m.Ranks {
		rankOf[n] = int32(r)
	}
	perHost := map[int32]int{}
	for r, start := range v.m.Ranks {
		perHost[v.g.Nodes[start].Host]++
		if domain[start] != 0 {
			continue
		}
		domain[start] = int32(r) + 1
		ranks, queue := []int32{int32(r)}, []NodeID{start}
		for len(queue) > 0 {
			n := queue[0]
			queue = queue[1:]
			for _, id := range v.out[n] {
				l := &v.g.Links[id]
				if !v.g.nvlink(l) || domain[l.To] != 0 {
					continue
				}
				domain[l.To] = int32(r) + 1
				queue = append(queue, l.To)
				if rank, ok := rankOf[l.To]; ok {
					ranks = append(ranks, rank)
				}
			}
		}
		if len(ranks) == 1 {
			v.s.WithoutNVLink = append(v.s.WithoutNVLink, ranks[0])
			continue
		}
		slices.Sort(ranks)
		v.s.Domains = append(v.s.Domains, ranks)
	}
	slices.SortStableFunc(v.s.Domains, func(a, b []int32) int { return len(b) - len(a) })
	for _, d := range v.s.Domains {
		most := 0
		var links []int
		for _, r := range d {
			_, n := v.egress(v.m.Ranks[r], NVSwitch)
			links, most = append(links, n), max(most, n)
		}
		for i, r := range d {
			if links[i] < most {
				v.s.Short = append(v.s.Short, r)
			}
		}
	}
	slices.Sort(v.s.Short)
	if v.s.LargestDomain() == 2 {
		for _, d := range v.s.Domains {
			v.s.Pairs = v.s.Pairs || perHost[v.g.Nodes[v.m.Ranks[d[0]]].Host] > 2
		}
	}
}

func (v *surveyor) egress(n NodeID, kinds ...NodeKind) (rate sim.Rate, width int) {
	for _, id := range v.out[n] {
		if l := v.g.Links[id]; slices.Contains(kinds, v.kind(l.To)) {
			rate += l.Rate
			width += int(l.Width)
		}
	}
	return rate, width
}

// uplinks compares what switches take in from below with what they pass on.
func (v *surveyor) uplinks() {
	level := v.levels()
	type key struct {
		kind     NodeKind
		level    int32
		down, up sim.Rate
	}
	at := map[key]int{}
	for i, n := range v.g.Nodes {
		if n.Down || n.Kind != Switch && n.Kind != NVSwitch && n.Kind != PCIeSwitch {
			continue
		}
		var down, up, beside sim.Rate
		for _, id := range v.out[i] {
			l := v.g.Links[id]
			to := v.kind(l.To)
			switch {
			case to == NIC && n.Kind == PCIeSwitch:
			case level[l.To] < level[i]:
				down += l.Rate
			case level[l.To] > level[i]:
				up += l.Rate
			case n.Kind == NVSwitch:
				beside += l.Rate
			}
		}
		if up == 0 {
			up = beside
		}
		if up == 0 || down <= up*(1+1e-9) {
			continue
		}
		k := key{n.Kind, level[i], down, up}
		if _, ok := at[k]; !ok {
			at[k] = len(v.s.Uplinks)
			v.s.Uplinks = append(v.s.Uplinks, Uplink{Down: down, Up: up})
		}
		u := &v.s.Uplinks[at[k]]
		u.Switches = append(u.Switches, NodeID(i))
	}
}

// levels counts how far switches are from what plugs into them: GPUs and NICs
// are 0, a leaf is 1, a spine 2. PCIe is counted from the host bridge, which
// is above every switch.
func (v *surveyor) levels() []int32 {
	const top = 1 << 20
	level := make([]int32, len(v.g.Nodes))
	var queue []NodeID
	for i, n := range v.g.Nodes {
		level[i] = -1
		switch n.Kind {
		case GPU, NIC, HostMemory:
			level[i] = 0
		case RootComplex, Socket:
			level[i] = top
			queue = append(queue, NodeID(i))
		}
	}
	spread := func(step int32, through ...NodeKind) {
		for len(queue) > 0 {
			n := queue[0]
			queue = queue[1:]
			for _, id := range v.out[n] {
				to := v.g.Links[id].To
				if level[to] < 0 && slices.Contains(through, v.kind(to)) {
					level[to] = level[n] + step
					queue = append(queue, to)
				}
			}
		}
	}
	spread(-1, PCIeSwitch)
	for i, n := range v.g.Nodes {
		if n.Kind == GPU || n.Kind == NIC {
			queue = append(queue, NodeID(i))
		}
	}
	spread(1, Switch, NVSwitch)
	return level
}

// nics finds the nearest NIC of each GPU.
func (v *surveyor) nics() {
	type place struct {
		node              NodeID
		switches, bridges int
		sockets           bool
	}
	kind := func(p place) PathKind {
		switch {
		case p.sockets:
			return SYS
		case p.bridges > 1:
			return NODE
		case p.bridges == 1:
			return PHB
		case p.switches > 1:
			return PXB
		}
		return PIX
	}
	seen := make([]int32, len(v.g.Nodes))
	for r, gpu := range v.m.Ranks {
		mark := int32(r) + 1
		best := FarNIC{Rank: int32(r), NIC: -1}
		queue := []place{{node: gpu}}
		seen[gpu] = mark
		for len(queue) > 0 {
			p := queue[0]
			queue = queue[1:]
			for _, id := range v.out[p.node] {
				to := v.g.Links[id].To
				if seen[to] == mark {
					continue
				}
				q := p
				q.node = to
				switch v.kind(to) {
				case NIC:
					seen[to] = mark
					if k := kind(p); best.NIC < 0 || k < best.Kind {
						best.NIC, best.Kind = to, k
					}
					continue
				case PCIeSwitch:
					q.switches++
				case RootComplex:
					q.bridges++
				case Socket:
					q.sockets = p.sockets || v.kind(p.node) == Socket
				default:
					continue
				}
				seen[to] = mark
				queue = append(queue, q)
			}
		}
		if best.NIC >= 0 && best.Kind >= NODE {
			v.s.Far = append(v.s.Far, best)
		}
	}
}

// off lists what is out of service or joined to nothing of its kind.
func (v *surveyor) off() {
	network := false
	for _, n := range v.g.Nodes {
		network = network || n.Kind == Switch
	}
	for i, n := range v.g.Nodes {
		off := n.Down
		switch n.Kind {
		case NVSwitch:
			_, gpus := v.egress(NodeID(i), GPU, NVSwitch)
			off = off || gpus == 0
		case NIC:
			_, cables := v.egress(NodeID(i), Switch)
			off = off || network && cables == 0
		}
		if off {
			v.s.Off = append(v.s.Off, NodeID(i))
		}
	}
	slices.SortStableFunc(v.s.Off, func(a, b NodeID) int { return cmp.Compare(v.kind(a), v.kind(b)) })
}
