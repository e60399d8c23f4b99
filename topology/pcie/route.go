package pcie

import (
	"github.com/weft-sim/weft/topology"
)

// Route returns the path from one device to another, with its hops in
// buf[:0]. Access that the spec's P2P (between GPUs) or GDR (between a GPU
// and a NIC) does not allow is staged in host memory: of the receiver's
// socket between GPUs, as NCCL's shared-memory transport has it, and of the
// GPU's socket to and from a NIC.
//
// A staged path crosses PCIe upwards, is written to memory, read from memory
// and crosses PCIe downwards; what it crosses twice in one direction carries
// two shares. Its kind remains that of the direct way: how far the two are
// apart. Where that memory is out of service it is the other end's, and then
// that of any other socket.
//
// ok is false where links out of service part the two; it is true in any tree
// as it was built.
func (t *Tree) Route(a, b Device, buf []topology.Hop) (p topology.Path, ok bool) {
	p = topology.Path{Hops: buf[:0], Den: 1}
	if a == b {
		return p, true
	}
	peers := t.vertices[a].kind == topology.GPU && t.vertices[b].kind == topology.GPU
	direct, ok := t.Direct(a, b, buf)
	if ok && t.allows(a, b, direct.Kind) {
		if peers && direct.Kind == topology.SYS {
			direct.Rate = t.spec.PeerRate
		}
		return direct, true
	}
	if t.spec.Memory.IsZero() {
		return p, false
	}
	near, far := t.Socket(b), t.Socket(a)
	if t.vertices[b].kind == topology.NIC {
		near, far = far, near
	}
	for k := range 2 + t.spec.Sockets {
		socket := k - 2
		switch k {
		case 0:
			socket = near
		case 1:
			socket = far
		}
		mem := t.Memory(socket)
		staged := topology.Path{Hops: p.Hops, Den: 1, Staged: true}
		if t.walk(&staged, a, mem) && t.walk(&staged, mem, b) {
			staged.Kind = direct.Kind
			if peers {
				t.hold(&staged, int32(a), int32(b))
			}
			return staged, true
		}
	}
	return p, false
}

// Direct returns the way from one device to another without host memory,
// whether or not it may be taken, and whether all its links are in service.
func (t *Tree) Direct(a, b Device, buf []topology.Hop) (p topology.Path, ok bool) {
	p = topology.Path{Hops: buf[:0], Den: 1}
	ok = t.walk(&p, a, b)
	return p, ok
}

// allows reports whether a may reach b over a path of that kind without host
// memory.
func (t *Tree) allows(a, b Device, kind topology.PathKind) bool {
	ka, kb := t.vertices[a].kind, t.vertices[b].kind
	reach := Everywhere
	switch {
	case ka == topology.GPU && kb == topology.GPU:
		reach = t.spec.P2P
	case ka == topology.GPU && kb == topology.NIC, ka == topology.NIC && kb == topology.GPU:
		reach = t.spec.GDR
	}
	worst := [...]topology.PathKind{
		Everywhere: topology.SYS, WithinSocket: topology.NODE, WithinBridge: topology.PHB,
		WithinSwitches: topology.PXB, WithinSwitch: topology.PIX, Nowhere: topology.Self,
	}[reach]
	return kind == topology.C2C || kind <= worst
}

// walk appends the way from a up to where the branches meet and down to b,
// adds its latency, and raises the kind of the path to the kind of this way.
// It returns false if a link on the way is out of service.
func (t *Tree) walk(p *topology.Path, a, b Device) bool {
	top := t.meet(int32(a), int32(b))
	if t.spec.ACS && top >= 0 && t.vertices[top].kind == topology.PCIeSwitch {
		for t.vertices[top].kind == topology.PCIeSwitch {
			top = t.vertices[top].above
		}
	}
	ok := true
	var seen crossing
	v := int32(a)
	for v != top && t.vertices[v].above >= 0 {
		ok = t.step(p, t.vertices[v].up) && ok
		v = t.vertices[v].above
		seen.cross(t.vertices[v].kind)
	}
	down := make([]int32, 0, 8)
	w := int32(b)
	for w != top && t.vertices[w].above >= 0 {
		down = append(down, w)
		w = t.vertices[w].above
		if w != top {
			seen.cross(t.vertices[w].kind)
		}
	}
	if top < 0 {
		ok = t.cross(p, v, w) && ok
	}
	for i := len(down) - 1; i >= 0; i-- {
		ok = t.step(p, t.vertices[down[i]].down) && ok
	}
	p.Kind = max(p.Kind, seen.kind(top < 0))
	return ok
}

// cross appends the way between two sockets: the link between them, or, where
// that is out of service, those over the first socket that has both.
func (t *Tree) cross(p *topology.Path, v, w int32) bool {
	links := t.socketLinks
	if !t.down(links[v][w]) {
		return t.step(p, links[v][w])
	}
	for via := range links {
		if u := int32(via); u != v && u != w && !t.down(links[v][u]) && !t.down(links[u][w]) {
			return t.step(p, links[v][u]) && t.step(p, links[u][w])
		}
	}
	return false
}

// meet returns the lowest vertex above both, or -1 on different sockets.
func (t *Tree) meet(a, b int32) int32 {
	for a != b {
		if t.vertices[a].depth < t.vertices[b].depth {
			a, b = b, a
		}
		a = t.vertices[a].above
		if a < 0 {
			return -1
		}
	}
	return a
}

// step appends a link, and returns false if it is out of service.
func (t *Tree) step(p *topology.Path, l topology.LinkID) bool {
	l += t.shift
	p.Hops = topology.AppendHop(p.Hops, topology.Hop{Resource: topology.ResourceID(l), Share: 1})
	p.Latency += t.g.Links[l].Latency
	return !t.g.Links[l].Down
}

func (t *Tree) down(l topology.LinkID) bool { return t.g.Links[l+t.shift].Down }

// Reroute returns the tree of another host, or of the same one, on a graph
// where links are slower, later or out of service. The links of that host
// follow those of t by the given distance; its paths hold their own numbers.
func (t *Tree) Reroute(g *topology.Graph, links topology.LinkID) *Tree {
	n := *t
	n.g, n.shift = g, links
	return &n
}

// crossing counts what a way crosses between its ends.
type crossing struct {
	switches, bridges int
}

func (c *crossing) cross(k topology.NodeKind) {
	switch k {
	case topology.PCIeSwitch:
		c.switches++
	case topology.RootComplex:
		c.bridges++
	}
}

// kind names a way by its highest point, in the words of nvidia-smi.
func (c crossing) kind(sockets bool) topology.PathKind {
	switch {
	case sockets:
		return topology.SYS
	case c.bridges > 1:
		return topology.NODE
	case c.bridges == 1:
		return topology.PHB
	case c.switches > 1:
		return topology.PXB
	case c.switches == 1:
		return topology.PIX
	}
	return topology.C2C
}
