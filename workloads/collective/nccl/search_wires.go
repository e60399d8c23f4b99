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

// pcie joins switches and GPUs upwards. A GPU without a place on PCIe, as one
// that a chip-to-chip link joins to its CPU, gets one of its generation, on
// that CPU or one of its own tray: NCCL counts it as what the GPU has.
func (b *viewBuilder) pcie() {
	for _, n := range b.nodes {
		if b.kind(n) == topology.PCIeSwitch {
			b.upward(n)
		}
	}
	for _, n := range b.w.gpus {
		b.upward(n)
		edges := b.w.spots[b.spot[n]].edges
		if slices.ContainsFunc(edges, func(e int32) bool { return b.w.edges[e].kind == edgePCI }) {
			continue
		}
		cpu := int32(-1)
		if len(edges) > 0 {
			cpu = b.w.edges[edges[0]].to
		} else if at := slices.IndexFunc(b.w.kinds[spotCPU], func(c int32) bool { return b.w.spots[c].tray == b.r.tray[n] }); at >= 0 {
			cpu = b.w.kinds[spotCPU][at]
		} else {
			cpu = b.w.add(spotCPU, b.r.tray[n])
		}
		b.w.join(b.spot[n], cpu, edgePCI, mega(SlotRate(ownSlot(b.w.p.SM), 16)))
	}
}

// ownSlot is the PCIe generation of data centre GPUs of a generation.
//
// Source: NVIDIA data sheets of V100, A100, H100, B200 and B300.
func ownSlot(sm int) int {
	switch {
	case sm < 80:
		return 3
	case sm < 90:
		return 4
	case sm < 103:
		return 5
	}
	return 6
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
		case rate == 0:
		case b.kind(n) == topology.NIC:
			b.spot[n] = b.w.add(spotNIC, b.r.tray[n])
			if b.upward(n) {
				b.net(n, b.spot[n], rate)
			}
		case b.kind(n) == topology.GPU && member:
			b.besideGPU(n, rate)
		}
	}
	if b.w.p.GroupNICs {
		b.group()
	}
}

// group makes one NIC of those that hang from one switch for each GPU there,
// as a network plugin does that stripes over them: the NICs are dealt in the
// order of their numbers, and the first of them stands for all.
func (b *viewBuilder) group() {
	w := b.w
	above := func(at int32) int32 {
		for _, e := range w.spots[at].edges {
			if k := w.spots[w.edges[e].to].kind; k == spotPCI || k == spotCPU {
				return w.edges[e].to
			}
		}
		return -1
	}
	all := map[int32]int{} // GPUs under a switch, members of the job or not
	for _, n := range b.nodes {
		if b.kind(n) != topology.GPU {
			continue
		}
		for _, id := range b.r.out[n] {
			if to, ok := b.spot[b.r.g.Links[id].To]; ok && w.spots[to].kind != spotGPU {
				all[to]++
			}
		}
	}
	under := map[int32][]int{} // ports of a switch
	var order []int32
	for n := range w.nets {
		up := above(w.nicOf(n))
		if under[up] == nil {
			order = append(order, up)
		}
		under[up] = append(under[up], n)
	}
	gone := make([]bool, len(w.nets))
	for _, up := range order {
		ports, gpus := under[up], all[up]
		if gpus == 0 || len(ports) <= gpus || len(ports)%gpus != 0 {
			continue
		}
		each := len(ports) / gpus
		for i, n := range ports {
			first := ports[i/each*each]
			if n == first {
				continue
			}
			gone[n] = true
			w.netRate[first] += w.netRate[n]
			for _, pair := range [][2]int32{{w.nicOf(first), w.nicOf(n)}, {w.net(first), w.net(n)}} {
				w.widenAll(pair[0], pair[1])
			}
		}
	}
	w.drop(gone)
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

// nicOf returns the NIC that a port is on.
func (w *view) nicOf(n int) int32 { return w.edges[w.spots[w.net(n)].edges[0]].to }

// widenAll adds what a spot's only kinds of links carry to those of another.
func (w *view) widenAll(to, from int32) {
	for _, e := range w.spots[from].edges {
		for _, f := range w.spots[to].edges {
			if w.edges[f].kind == w.edges[e].kind {
				w.edges[f].rate += w.edges[e].rate
				w.edges[w.edges[f].back].rate += w.edges[e].rate
				break
			}
		}
	}
}

// drop forgets ports.
func (w *view) drop(gone []bool) {
	var nets []topology.NodeID
	var rates, spots []int32
	for n, is := range gone {
		at := w.net(n)
		if is {
			for _, s := range []int32{w.nicOf(n), at} {
				w.cut(s)
			}
			continue
		}
		w.spots[at].index = int32(len(spots))
		nets, rates, spots = append(nets, w.nets[n]), append(rates, w.netRate[n]), append(spots, at)
	}
	w.nets, w.netRate, w.kinds[spotNet] = nets, rates, spots
}

// cut takes all links from a spot.
func (w *view) cut(at int32) {
	for _, e := range w.spots[at].edges {
		far := &w.spots[w.edges[e].to]
		far.edges = slices.DeleteFunc(far.edges, func(f int32) bool { return w.edges[f].to == at })
	}
	w.spots[at].edges = nil
}
