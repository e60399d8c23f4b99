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
// two shares.
func (t *Tree) Route(a, b Device, buf []topology.Hop) topology.Path {
	p := topology.Path{Hops: buf[:0], Den: 1}
	if a == b {
		return p
	}
	if t.allowed(a, b) {
		t.walk(&p, a, b)
		return p
	}
	at := b
	if t.vertices[b].kind == topology.NIC {
		at = a
	}
	mem := t.Memory(t.Socket(at))
	t.walk(&p, a, mem)
	t.walk(&p, mem, b)
	p.Staged = true
	return p
}

// allowed reports whether a may reach b without host memory.
func (t *Tree) allowed(a, b Device) bool {
	ka, kb := t.vertices[a].kind, t.vertices[b].kind
	reach := Everywhere
	switch {
	case ka == topology.GPU && kb == topology.GPU:
		reach = t.spec.P2P
	case ka == topology.GPU && kb == topology.NIC, ka == topology.NIC && kb == topology.GPU:
		reach = t.spec.GDR
	}
	var p topology.Path
	t.walk(&p, a, b)
	if p.Kind == topology.C2C {
		return true
	}
	worst := [...]topology.PathKind{
		Everywhere: topology.SYS, WithinSocket: topology.NODE, WithinBridge: topology.PHB,
		WithinSwitches: topology.PXB, WithinSwitch: topology.PIX, Nowhere: topology.Self,
	}[reach]
	return p.Kind <= worst
}

// walk appends the way from a up to where the branches meet and down to b,
// adds its latency, and raises the kind of the path to the kind of this way.
func (t *Tree) walk(p *topology.Path, a, b Device) {
	top := t.meet(int32(a), int32(b))
	if t.spec.ACS && top >= 0 && t.vertices[top].kind == topology.PCIeSwitch {
		for t.vertices[top].kind == topology.PCIeSwitch {
			top = t.vertices[top].above
		}
	}
	var seen crossing
	v := int32(a)
	for v != top && t.vertices[v].above >= 0 {
		t.step(p, t.vertices[v].up)
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
		t.step(p, t.socketLinks[v][w])
	}
	for i := len(down) - 1; i >= 0; i-- {
		t.step(p, t.vertices[down[i]].down)
	}
	p.Kind = max(p.Kind, seen.kind(top < 0))
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

func (t *Tree) step(p *topology.Path, l topology.LinkID) {
	p.Hops = topology.AppendHop(p.Hops, topology.Hop{Resource: topology.ResourceID(l), Share: 1})
	p.Latency += t.g.Links[l].Latency
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
