package nccl

import (
	"slices"

	"github.com/weft-sim/weft/topology"
)

// viewBuilder turns the nodes and links of a host into those of NCCL.
type viewBuilder struct {
	r     *viewer
	w     *view
	nodes []topology.NodeID // of the trays that the job is on
	spot  map[topology.NodeID]int32
}

func (b *viewBuilder) kind(n topology.NodeID) topology.NodeKind { return b.r.g.Nodes[n].Kind }

// sockets adds CPUs. A host bridge is a part of its CPU.
func (b *viewBuilder) sockets() {
	for _, n := range b.nodes {
		if b.kind(n) == topology.Socket {
			b.spot[n] = b.w.add(spotCPU, b.r.tray[n])
		}
	}
	for _, n := range b.nodes {
		if b.kind(n) != topology.RootComplex {
			continue
		}
		at := slices.IndexFunc(b.r.out[n], func(id topology.LinkID) bool { return b.kind(b.r.g.Links[id].To) == topology.Socket })
		if at < 0 {
			b.spot[n] = b.w.add(spotCPU, b.r.tray[n])
			continue
		}
		b.spot[n] = b.spot[b.r.g.Links[b.r.out[n][at]].To]
	}
	for _, n := range b.nodes {
		if b.kind(n) == topology.PCIeSwitch {
			b.spot[n] = b.w.add(spotPCI, b.r.tray[n])
		}
	}
}

// pcie joins switches and GPUs upwards. A GPU without a place on PCIe gets one
// of its generation, on a CPU of its own tray.
func (b *viewBuilder) pcie() {
	for _, n := range b.nodes {
		if b.kind(n) == topology.PCIeSwitch {
			b.upward(n)
		}
	}
	for _, n := range b.w.gpus {
		if b.upward(n) {
			continue
		}
		cpu := slices.IndexFunc(b.w.kinds[spotCPU], func(c int32) bool { return b.w.spots[c].tray == b.r.tray[n] })
		if cpu < 0 {
			cpu = len(b.w.kinds[spotCPU])
			b.w.add(spotCPU, b.r.tray[n])
		}
		b.w.join(b.spot[n], b.w.kinds[spotCPU][cpu], edgePCI, mega(SlotRate(ownSlot(b.w.p.SM), 16)))
	}
}

// ownSlot is the PCIe generation of data centre GPUs of a generation.
//
// Source: NVIDIA data sheets of V100, A100, H100 and B200.
func ownSlot(sm int) int {
	switch {
	case sm < 80:
		return 3
	case sm < 90:
		return 4
	}
	return 5
}

// upward joins a node to the switch, host bridge or CPU above it.
func (b *viewBuilder) upward(n topology.NodeID) bool {
	done := false
	for _, id := range b.r.out[n] {
		l := b.r.g.Links[id]
		to, known := b.spot[l.To]
		if !known {
			continue
		}
		switch k := b.kind(l.To); {
		case k == topology.PCIeSwitch && (b.kind(n) != topology.PCIeSwitch || b.r.g.Nodes[l.To].Unit < b.r.g.Nodes[n].Unit),
			k == topology.RootComplex:
			b.w.join(b.spot[n], to, edgePCI, b.r.slot(l))
			done = true
		case k == topology.Socket && b.kind(n) == topology.GPU:
			rate := mega(float64(b.r.g.Classes[l.Class].Raw) * float64(max(l.Width, 1)) / 1e9)
			b.w.join(b.spot[n], to, edgeC2C, rate)
			done = true
		case k == topology.Socket:
			b.w.join(b.spot[n], to, edgePCI, b.r.slot(l))
			done = true
		}
	}
	return done
}

// ports adds NICs that are cabled, each with one port of all its cables. A GPU
// with a port of its own has it next to it.
func (b *viewBuilder) ports() {
	for _, n := range b.nodes {
		rate := b.cables(n)
		_, member := b.spot[n]
		switch {
		case rate == 0 || b.kind(n) != topology.NIC && (b.kind(n) != topology.GPU || !member):
			continue
		case b.kind(n) == topology.NIC:
			b.spot[n] = b.w.add(spotNIC, b.r.tray[n])
			if !b.upward(n) {
				continue
			}
		default:
			b.besideGPU(n, rate)
			continue
		}
		b.net(n, b.spot[n], rate)
	}
}

func (b *viewBuilder) net(n topology.NodeID, nic, rate int32) {
	net := b.w.add(spotNet, b.r.tray[n])
	b.w.join(nic, net, edgeNet, rate)
	b.w.nets = append(b.w.nets, n)
	b.w.netRate = append(b.w.netRate, rate)
}

// besideGPU puts a NIC and a switch above it between a GPU and its CPU.
func (b *viewBuilder) besideGPU(n topology.NodeID, rate int32) {
	gpu, tray := b.spot[n], b.r.tray[n]
	pci, nic := b.w.add(spotPCI, tray), b.w.add(spotNIC, tray)
	slot := mega(SlotRate(ownSlot(b.w.p.SM), 16))
	b.w.join(gpu, pci, edgePCI, max(slot, rate))
	b.w.join(nic, pci, edgePCI, max(slot, rate))
	b.net(n, nic, rate)
}

// cables returns what a node's links into the network carry.
func (b *viewBuilder) cables(n topology.NodeID) int32 {
	rate := 0.
	for _, id := range b.r.out[n] {
		if l := b.r.g.Links[id]; b.kind(l.To) == topology.Switch {
			rate += float64(b.r.g.Classes[l.Class].Raw) * float64(max(l.Width, 1)) / 1e9
		}
	}
	return mega(rate)
}

// nvlink joins GPUs to each other and to the NVSwitches.
func (b *viewBuilder) nvlink() {
	each := LinkRate(b.w.v, b.w.p.SM)
	nvs := int32(-1)
	for _, n := range b.w.gpus {
		for _, id := range b.r.out[n] {
			l := b.r.g.Links[id]
			rate := mega(each * float64(max(l.Width, 1)))
			switch b.kind(l.To) {
			case topology.NVSwitch:
				if nvs < 0 {
					nvs = b.w.add(spotNVS, -1)
				}
				b.w.join(b.spot[n], nvs, edgeNVL, rate)
			case topology.GPU:
				if to, ok := b.spot[l.To]; ok && b.spot[n] < to {
					b.w.join(b.spot[n], to, edgeNVL, rate)
				}
			}
		}
	}
}

// across joins the CPUs of a tray to one another.
func (b *viewBuilder) across() {
	rate := b.w.p.Sockets
	if rate == 0 {
		rate = SocketRate(b.w.v, b.w.p.CPU)
	}
	cpus := b.w.kinds[spotCPU]
	for i, a := range cpus {
		for _, c := range cpus[i+1:] {
			if b.w.spots[a].tray == b.w.spots[c].tray {
				b.w.join(a, c, edgeSYS, mega(rate))
			}
		}
	}
}

// uplinksLast moves the link upwards of whatever hangs from a CPU to the end,
// as NCCL does before it looks for paths.
func (b *viewBuilder) uplinksLast() {
	seen := make([]bool, len(b.w.spots))
	var sort func(at, up int32)
	sort = func(at, up int32) {
		seen[at] = true
		s := &b.w.spots[at]
		if up >= 0 {
			i := slices.IndexFunc(s.edges, func(e int32) bool { return b.w.edges[e].to == up })
			e := s.edges[i]
			s.edges = append(slices.Delete(s.edges, i, i+1), e)
		}
		for _, e := range s.edges {
			if to := b.w.edges[e].to; b.w.edges[e].kind == edgePCI && to != up && !seen[to] {
				sort(to, at)
			}
		}
	}
	for _, cpu := range b.w.kinds[spotCPU] {
		sort(cpu, -1)
	}
}
