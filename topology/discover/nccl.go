package discover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// readNCCL reads the topology XML of NCCL (version 1) and RCCL (version 2).
//
// One file may hold several hosts whose bus ids and NUMA numbers are the
// same, so nothing is looked up but within a host. Elements and attributes
// that are not known are passed over, as NCCL does.
func readNCCL(name string, content []byte) (*Dump, error) {
	r := ncclReader{xmlFile: newXMLFile(NCCLTopo, name)}
	root, err := r.parse(content)
	if err != nil {
		return nil, err
	}
	if v, ok := root.attr("version"); ok && v != "1" && v != "2" {
		r.fault(root, ErrSyntax, "", "version %s, expected 1 (NCCL) or 2 (RCCL)", clip(v))
	}
	for _, e := range root.children {
		if e.name == "cpu" {
			r.cpu(e)
		}
	}
	if len(r.hosts) == 0 && len(r.faults) == 0 {
		r.fault(root, ErrNoMachine, "", "<system> has no <cpu>, so there is nothing in it")
	}
	for _, h := range r.hosts {
		if r.tooMany(root, &h.Host) {
			break
		}
		h.finish()
		r.dump.Hosts = append(r.dump.Hosts, h.Host)
	}
	return r.result()
}

type ncclReader struct {
	*xmlFile
	hosts []*ncclHost
}

// ncclHost is a host being read.
type ncclHost struct {
	Host
	r        *ncclReader
	seen     map[string]*element // by bus id
	links    []ncclLinks
	told     map[string]bool // switches that are noted to be listed again
	elements int             // gpu elements
}

// ncclLinks are the links of a GPU, resolved when all GPUs are known.
type ncclLinks struct {
	busID string
	from  *element
}

// where names a device in a note; the host is named if there are several.
func (h *ncclHost) where(what string) string {
	if len(h.r.hosts) > 1 && h.Name != "" {
		return h.Name + " " + what
	}
	return what
}

func (r *ncclReader) cpu(e *element) {
	hash := e.get("host_hash")
	var h *ncclHost
	for _, have := range r.hosts {
		if have.Name == hash {
			h = have
		}
	}
	if h == nil && len(r.hosts) == maxDevices || h != nil && len(h.CPUs) == maxDevices {
		r.fault(e, ErrTooLarge, "", "more than %d hosts, or NUMA nodes of one", maxDevices)
		return
	}
	if h == nil {
		h = &ncclHost{Host: Host{Name: hash}, r: r, seen: make(map[string]*element), told: make(map[string]bool)}
		r.hosts = append(r.hosts, h)
	}
	c := CPU{
		NUMA: r.integer(e, "numaid", -1, -1, 1<<20), Affinity: e.get("affinity"),
		Arch: e.get("arch"), Vendor: strings.TrimSpace(e.get("vendor")),
		Family: r.integer(e, "familyid", 0, 0, 1<<20), Model: r.integer(e, "modelid", 0, 0, 1<<20),
	}
	if i := slices.IndexFunc(h.CPUs, func(o CPU) bool { return o.NUMA == c.NUMA }); i >= 0 {
		r.fault(e, ErrContradiction, "give the hosts of a fused file a host_hash each",
			"NUMA node %d is listed twice on one host", c.NUMA)
		return
	}
	h.CPUs = append(h.CPUs, c)
	for _, child := range e.children {
		switch child.name {
		case "pci":
			h.pci(child, -1)
		case "nic":
			h.nets(child, -1)
		}
	}
}

// pci reads a device or switch and what hangs below it.
func (h *ncclHost) pci(e *element, parent int) {
	bus := e.get("busid")
	if bus == "" {
		h.r.fault(e, ErrSyntax, "", "<pci> has no busid")
		return
	}
	class := uint32(h.r.hex(e, "class", 0xffffff))
	gpu := class>>16 == 0x03 || class>>8 == 0x1200
	nic := class>>16 == 0x02
	// The parts of a partitioned switch may go by one bus id; a device is one.
	isSwitch := !gpu && !nic && e.find("gpu") == nil && e.find("nic") == nil
	first, again := h.seen[bus]
	switch {
	case again && isSwitch && !h.told[bus]:
		h.told[bus] = true
		h.r.note(Repaired, h.where(at(e)), "switch %s is listed before, on line %d; each is taken as a switch of its own", bus, first.line)
	case again && isSwitch:
	case again:
		h.r.fault(e, ErrContradiction, "the hosts of a fused file are told apart by the host_hash of their <cpu> elements",
			"bus id %s is listed twice on one host, first on line %d", clip(bus), first.line)
		return
	}
	h.seen[bus] = e
	p := PCI{
		BusID: bus, Parent: parent, CPU: len(h.CPUs) - 1, Line: e.line,
		Class: class, Link: h.link(e),
	}
	for i, a := range []string{"vendor", "device", "subsystem_vendor", "subsystem_device"} {
		p.ID[i] = uint16(h.r.hex(e, a, 0xffff))
	}
	p.Role = Switch
	if gpu || nic || p.Class>>8 == 0x0680 {
		p.Role = Endpoint
	}
	self := len(h.PCI)
	h.PCI = append(h.PCI, p)
	devices := 0
	for _, c := range e.children {
		switch c.name {
		case "gpu":
			h.gpu(c, self)
			devices++
		case "nic":
			h.nets(c, self)
			devices++
		case "pci":
			h.pci(c, self)
		}
	}
	switch {
	case devices > 0:
		h.PCI[self].Role = Endpoint
	case gpu:
		h.GPUs = append(h.GPUs, h.bareGPU(self))
	case nic:
		h.NICs = append(h.NICs, NIC{Index: -1, BusID: bus, NUMA: h.numa(), CPU: p.CPU, PCI: self, PCIe: p.Link})
	}
}

// numa is the NUMA node of the CPU being read.
func (h *ncclHost) numa() int { return h.CPUs[len(h.CPUs)-1].NUMA }

// link reads link_speed and link_width: "16 GT/s" and "16.0 GT/s PCIe" alike.
func (h *ncclHost) link(e *element) PCIeLink {
	l := PCIeLink{Width: h.r.integer(e, "link_width", 0, 0, 64)}
	text := e.get("link_speed")
	l.Gen = generation(text)
	if text != "" && l.Gen == 0 && !strings.HasPrefix(strings.ToLower(text), "unknown") {
		h.r.note(Unknown, at(e), "link speed %s is none of 2.5, 5, 8, 16, 32, 64 or 128 GT/s", clip(text))
	}
	return l
}

// generation returns the PCIe generation of a signalling rate, 0 if it is none.
func generation(text string) int {
	f := strings.Fields(text)
	if len(f) < 2 || f[1] != "GT/s" {
		return 0
	}
	gt, err := strconv.ParseFloat(f[0], 64)
	if err != nil {
		return 0
	}
	return 1 + slices.Index([]float64{2.5, 5, 8, 16, 32, 64, 128}, gt)
}

func (h *ncclHost) bareGPU(pci int) GPU {
	p := h.PCI[pci]
	return GPU{Index: len(h.GPUs), Rank: -1, BusID: p.BusID, NUMA: h.numa(), CPU: p.CPU, PCI: pci, PCIe: p.Link}
}

func (h *ncclHost) gpu(e *element, pci int) {
	g := h.bareGPU(pci)
	g.Index = h.r.integer(e, "dev", g.Index, 0, 1<<20)
	g.Rank = h.r.integer(e, "rank", -1, -1, 1<<30)
	g.SM = h.r.integer(e, "sm", 0, 0, 1<<20)
	g.GFX = e.get("gcn")
	g.GDR = e.get("gdr") == "1"
	h.elements++
	h.GPUs = append(h.GPUs, g)
	h.links = append(h.links, ncclLinks{busID: g.BusID, from: e})
}

// nets reads the ports of an adapter; pci is -1 for a virtual one.
func (h *ncclHost) nets(e *element, pci int) {
	for _, c := range e.children {
		if c.name != "net" {
			continue
		}
		n := NIC{
			Name: c.get("name"), Index: h.r.integer(c, "dev", -1, 0, 1<<20), GUID: c.get("guid"),
			GDR: c.get("gdr") == "1", NUMA: h.numa(), CPU: len(h.CPUs) - 1, PCI: pci,
		}
		if pci >= 0 {
			n.BusID, n.PCIe = h.PCI[pci].BusID, h.PCI[pci].Link
		} else {
			h.r.note(Unknown, at(c), "NIC %s hangs from no PCIe device: a virtual NIC, whose way is not told", n.Name)
		}
		mbit := h.r.integer(c, "speed", 0, -1<<40, 1<<40)
		if mbit <= 0 {
			mbit = 10_000
			h.r.note(Assumed, at(c), "NIC %s has no speed; NCCL takes 10 Gb/s, and so is done here", n.Name)
		}
		n.Speed = sim.Rate(mbit) * 1e6 / 8
		h.NICs = append(h.NICs, n)
	}
}

// finish puts the GPUs in order and joins their links.
func (h *ncclHost) finish() {
	h.order()
	position := make(map[string]int, len(h.GPUs))
	for i, g := range h.GPUs {
		if _, twice := position[g.BusID]; !twice {
			position[g.BusID] = i
		}
	}
	for _, l := range h.links {
		i := slices.IndexFunc(h.GPUs, func(g GPU) bool { return g.BusID == l.busID && g.Links == nil })
		if i < 0 {
			continue // a further partition of a GPU that has its links
		}
		for _, e := range l.from.children {
			switch e.name {
			case "nvlink", "xgmi", "c2c":
				h.addLink(i, e, position)
			}
		}
	}
	h.partial()
	h.checkMesh()
	h.checkFabric(h.r.note, h.where)
}

// order sorts the GPUs by their number, or by rank where the file joins
// several servers under one host and the numbers repeat.
func (h *ncclHost) order() {
	for _, key := range []func(GPU) int{func(g GPU) int { return g.Index }, func(g GPU) int { return g.Rank }} {
		seen := make(map[int]bool, len(h.GPUs))
		for _, g := range h.GPUs {
			seen[key(g)] = true
		}
		if len(seen) == len(h.GPUs) {
			slices.SortStableFunc(h.GPUs, func(a, b GPU) int { return key(a) - key(b) })
			return
		}
	}
	h.r.note(Unknown, h.where(""), "neither numbers nor ranks tell the GPUs apart; they are taken in the order of the file")
}

func (h *ncclHost) addLink(i int, e *element, position map[string]int) {
	g := &h.GPUs[i]
	where := h.where(fmt.Sprintf("GPU%d (line %d)", g.Index, e.line))
	l := Link{Kind: LinkKind(e.name), Peer: -1, Target: e.get("target"), Count: h.r.integer(e, "count", 1, 0, 1<<10)}
	if len(g.Links) == maxDevices {
		h.r.fault(e, ErrTooLarge, "", "a GPU with links to more than %d places", maxDevices)
		return
	}
	if l.Count == 0 {
		h.r.note(Degraded, where, "%s of 0 links: it is down, or was never there; left out", e.name)
		return
	}
	if l.Kind == C2C {
		l.Rate = sim.Rate(h.r.integer(e, "bw", 0, 0, 1<<40)) * 1e6
		g.Links = append(g.Links, l)
		return
	}
	class := h.r.hex(e, "tclass", 0xffffff)
	peer, known := position[l.Target]
	switch {
	case known && peer == i:
		h.r.note(Ignored, where, "%s of %d links from the GPU to itself; NCCL makes nothing of it, and neither is it used here", e.name, l.Count)
		return
	case known:
		l.Peer = peer
	case strings.HasPrefix(l.Target, "fffffff:"):
		l.Target, l.Switch = Invisible, true
	case class>>8 == 0x0680 && class != 0x068001:
		l.Switch = true
	case class == 0x068001:
		l.Kind = C2C
	default:
		h.r.note(Ignored, where, "%s of %d links to %s, which is no GPU of this file", e.name, l.Count, clip(l.Target))
		return
	}
	g.Links = append(g.Links, l)
}

// partial recognises files that leave GPUs and NVLinks to be detected: no gpu
// elements, or devices without identity and without links. A file that says
// anything of NVLink, if only that it is down, has them all.
func (h *ncclHost) partial() {
	bare := len(h.GPUs) > 0
	for _, l := range h.links {
		bare = bare && !slices.ContainsFunc(l.from.children, func(e *element) bool { return e.name == "nvlink" || e.name == "xgmi" })
	}
	for _, g := range h.GPUs {
		bare = bare && len(g.Links) == 0 && g.GFX == "" && (g.PCI < 0 || h.PCI[g.PCI].ID[0] == 0)
	}
	switch {
	case len(h.GPUs) == 0:
		h.r.note(Unknown, h.where(""), "no GPU is listed")
	case h.elements == 0:
		h.Partial = true
		h.r.note(Unknown, h.where(""), "%d GPUs are listed as PCIe devices only; NCCL finds their kind, numbers and NVLinks when it runs", len(h.GPUs))
	case bare:
		h.Partial = true
		h.r.note(Unknown, h.where(""), "NVLinks are not listed; NCCL finds them when it runs")
	case h.elements < len(h.GPUs):
		h.r.note(Unknown, h.where(""), "%d of %d GPUs are listed as PCIe devices only", len(h.GPUs)-h.elements, len(h.GPUs))
	}
}

// checkMesh compares what the two ends of a link between GPUs say.
func (h *ncclHost) checkMesh() {
	count := func(a, b int) int {
		n := 0
		for _, l := range h.GPUs[a].Links {
			if l.Peer == b {
				n += l.Count
			}
		}
		return n
	}
	for a := range h.GPUs {
		for _, l := range h.GPUs[a].Links {
			b := l.Peer
			if b < 0 {
				continue
			}
			there, back := count(a, b), count(b, a)
			if back == 0 {
				h.r.note(Repaired, h.where(fmt.Sprintf("GPU%d", h.GPUs[b].Index)), "lists no link to GPU%d, which lists %d to it; taken as %d", h.GPUs[a].Index, there, there)
				h.GPUs[b].Links = append(h.GPUs[b].Links, Link{Kind: l.Kind, Count: there, Peer: a, Target: h.GPUs[a].BusID})
			} else if a < b && there != back {
				h.r.note(Degraded, h.where(fmt.Sprintf("GPU%d", h.GPUs[a].Index)), "lists %d links to GPU%d, which lists %d back; the smaller number is used", there, h.GPUs[b].Index, back)
			}
		}
	}
}
