package discover

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// readLstopo reads the XML of hwloc's lstopo, of versions 1 to 3. hwloc lists
// every port of a PCIe switch as a bridge: below a host bridge comes a root
// port, then in turn the upper port of a switch and its lower ports.
func readLstopo(name string, content []byte) (*Dump, error) {
	r := lstopoReader{xmlFile: newXMLFile(Lstopo, name), seen: make(map[string]*element)}
	root, err := r.parse(content)
	if err != nil {
		return nil, err
	}
	if v, ok := root.attr("version"); ok && !slices.Contains([]string{"1", "2", "3"}, strings.SplitN(v, ".", 2)[0]) {
		r.fault(root, ErrSyntax, "", "hwloc version %s, expected 1, 2 or 3", clip(v))
	}
	r.version3 = strings.HasPrefix(root.get("version"), "3")
	r.rdma = r.hasRDMA(root)
	for _, e := range root.children {
		switch e.name {
		case "object":
			r.numaNodes(e)
			r.object(e, lstopoPlace{parent: -1})
		case "distances", "distances2", "distances2hetero":
			if e.get("name") == "NVLinkBandwidth" {
				r.note(Ignored, at(e), "the bandwidths of NVLinks, since they do not tell the number of links; `nvidia-smi topo -m` does")
			}
		}
	}
	h := &r.host
	if len(h.CPUs) == 0 && len(h.PCI) == 0 && len(r.faults) == 0 {
		r.fault(root, ErrNoMachine, "", "no NUMA node and no PCIe device in it")
	}
	r.tooMany(root, h)
	r.place()
	if len(h.GPUs) == 0 {
		r.note(Unknown, "", "no GPU is listed")
	} else {
		h.Partial = true
		r.note(Unknown, "", "NVLinks are not listed; `nvidia-smi topo -m` has them")
	}
	r.dump.Hosts = []Host{*h}
	return r.result()
}

type lstopoReader struct {
	*xmlFile
	host     Host
	seen     map[string]*element // PCIe devices by bus id
	version3 bool
	rdma     bool
}

// lstopoPlace is where in the tree an object is.
type lstopoPlace struct {
	parent int // index in Host.PCI, or -1
	nodes  []int
	depth  int // bridges of kind 1-1 above, below the host bridge
}

// numaNodes lists all NUMA nodes. They contain processors in version 1, and
// are leaves beside them since.
func (r *lstopoReader) numaNodes(e *element) {
	arch, name := info(e, "Architecture"), ""
	if e.get("type") == "Machine" {
		r.host.Name = info(e, "HostName")
	}
	var walk func(e *element, name string)
	walk = func(e *element, name string) {
		if n := info(e, "CPUModel"); n != "" {
			name = n
		}
		if e.get("type") == "NUMANode" {
			r.host.CPUs = append(r.host.CPUs, CPU{
				NUMA: r.integer(e, "os_index", -1, -1, 1<<20), Affinity: e.get("cpuset"), Arch: arch, Name: name,
			})
		}
		for _, c := range e.children {
			walk(c, name)
		}
	}
	walk(e, name)
	if len(r.host.CPUs) == 0 {
		r.host.CPUs = []CPU{{NUMA: 0, Affinity: e.get("cpuset"), Arch: arch, Name: name}}
	}
}

func info(e *element, name string) string {
	for _, c := range e.children {
		if c.name == "info" && c.get("name") == name {
			return c.get("value")
		}
	}
	return ""
}

func (r *lstopoReader) object(e *element, at lstopoPlace) {
	if set, ok := e.attr("nodeset"); ok {
		at.nodes = nodeset(set)
	}
	switch e.get("type") {
	case "Bridge":
		kind := e.get("bridge_type")
		p := PCI{Role: Port, BusID: e.get("pci_busid"), Class: 0x060400}
		switch {
		case strings.HasPrefix(kind, "0"):
			p.Role, p.Class = HostBridge, 0x060000
		case at.depth%2 == 1:
			p.Role = Switch
		}
		if p.Role != HostBridge {
			at.depth++
		}
		at.parent = r.pci(e, p, at)
	case "PCIDev":
		class, _, _ := strings.Cut(e.get("pci_type"), " ")
		p := PCI{Role: Endpoint, BusID: e.get("pci_busid")}
		if v, err := strconv.ParseUint(class, 16, 16); err == nil {
			p.Class = uint32(v) << 8
		} else {
			r.fault(e, ErrSyntax, "", "pci_type is %s, expected a class as in 0302 [10de:2330]", clip(e.get("pci_type")))
		}
		fmt.Sscanf(e.get("pci_type"), "%x [%x:%x]", new(int), &p.ID[0], &p.ID[1])
		at.parent = r.pci(e, p, at)
		r.device(e, at.parent)
	}
	for _, c := range e.children {
		if c.name == "object" {
			r.object(c, at)
		}
	}
}

// pci adds a vertex. Its CPU is a NUMA node, as -2 minus the number, until
// all of them are known.
func (r *lstopoReader) pci(e *element, p PCI, at lstopoPlace) int {
	p.Parent, p.CPU, p.Line = at.parent, -1, e.line
	if len(at.nodes) == 1 {
		p.CPU = -2 - at.nodes[0]
	}
	if p.Role != HostBridge {
		if first, ok := r.seen[p.BusID]; ok {
			r.fault(e, ErrContradiction, "give each host a file of its own", "bus id %s is listed twice, first on line %d", clip(p.BusID), first.line)
		}
		r.seen[p.BusID] = e
		p.Link.Rate = sim.Rate(r.float(e, "pci_link_speed") * 1e9)
	}
	r.host.PCI = append(r.host.PCI, p)
	return len(r.host.PCI) - 1
}

// device recognises a GPU or NIC by its class and by what the system calls it.
func (r *lstopoReader) device(e *element, self int) {
	p := r.host.PCI[self]
	var names []string
	rdma := ""
	for _, c := range e.children {
		if c.get("type") == "OSDev" {
			names = append(names, c.get("name"))
			if r.isRDMA(c) {
				rdma = c.get("name")
			}
		}
	}
	compute := slices.ContainsFunc(names, func(n string) bool {
		return strings.HasPrefix(n, "cuda") || strings.HasPrefix(n, "nvml") || strings.HasPrefix(n, "rsmi")
	})
	title := e.get("name")
	switch class := p.Class >> 8; {
	case compute, class == 0x0302, class == 0x0380, class == 0x1200, class == 0x0300 && (p.ID[0] == 0x10de || p.ID[0] == 0x1002):
		r.host.GPUs = append(r.host.GPUs, GPU{
			Index: len(r.host.GPUs), Rank: -1, Name: title, BusID: p.BusID, NUMA: -1, CPU: -1, PCI: self, PCIe: p.Link,
		})
	case class == 0x0300:
		r.note(Ignored, at(e), "%s (%s): a display adapter of the board, no GPU to compute on", p.BusID, clip(title))
	case class>>8 == 0x02, class == 0x0c06, rdma != "":
		name := rdma
		if name == "" && len(names) > 0 {
			name = names[0]
		}
		if r.rdma && rdma == "" {
			r.note(Ignored, at(e), "%s %s: Ethernet beside adapters that have RDMA", p.BusID, name)
			return
		}
		r.host.NICs = append(r.host.NICs, NIC{
			Name: name, Index: len(r.host.NICs), BusID: p.BusID, NUMA: -1, CPU: -1, PCI: self, PCIe: p.Link,
		})
	}
}

// hasRDMA reports whether any adapter below e has RDMA.
func (r *lstopoReader) hasRDMA(e *element) bool {
	return e.get("type") == "OSDev" && r.isRDMA(e) || slices.ContainsFunc(e.children, r.hasRDMA)
}

// isRDMA reports whether an OS device is an RDMA one: type 3 up to version 2,
// bit 32 since. Files of version 2 exist that call such devices networks, so
// the names are looked at as well.
func (r *lstopoReader) isRDMA(e *element) bool {
	if kind, err := strconv.Atoi(e.get("osdev_type")); err == nil {
		if r.version3 && kind&32 != 0 || !r.version3 && kind == 3 {
			return true
		}
	}
	n := e.get("name")
	for _, p := range []string{"mlx4_", "mlx5_", "hfi1_", "bnxt_re", "irdma", "rocep", "ibp", "efa_", "rdmap", "qib", "cxi"} {
		if strings.HasPrefix(n, p) {
			return true
		}
	}
	return false
}

// place gives devices the NUMA node of their place in the tree.
func (r *lstopoReader) place() {
	h := &r.host
	lost := 0
	index := make(map[int]int, len(h.CPUs))
	for i, c := range h.CPUs {
		index[-2-c.NUMA] = i
	}
	for i := range h.PCI {
		p := &h.PCI[i]
		if cpu, ok := index[p.CPU]; ok && p.CPU < -1 {
			p.CPU = cpu
		} else if p.CPU = -1; len(h.CPUs) == 1 {
			p.CPU = 0
		}
	}
	put := func(pci int, cpu, numa *int) {
		if *cpu = h.PCI[pci].CPU; *cpu >= 0 {
			*numa = h.CPUs[*cpu].NUMA
		} else {
			lost++
		}
	}
	for i := range h.GPUs {
		put(h.GPUs[i].PCI, &h.GPUs[i].CPU, &h.GPUs[i].NUMA)
	}
	for i := range h.NICs {
		put(h.NICs[i].PCI, &h.NICs[i].CPU, &h.NICs[i].NUMA)
	}
	if lost > 0 {
		r.note(Unknown, "", "the NUMA node of %d devices is not told", lost)
	}
}

// nodeset returns the NUMA nodes in a bit mask: groups of 32 bits in
// hexadecimal, the highest first. It is nil for what is no mask or too long.
func nodeset(text string) []int {
	groups := strings.Split(text, ",")
	if len(groups) > 64 {
		return nil
	}
	var nodes []int
	for i := len(groups) - 1; i >= 0; i-- {
		v, err := strconv.ParseUint(strings.TrimPrefix(groups[i], "0x"), 16, 32)
		if err != nil && groups[i] != "" {
			return nil
		}
		for ; v != 0; v &= v - 1 {
			nodes = append(nodes, 32*(len(groups)-1-i)+bits.TrailingZeros64(v))
		}
	}
	return nodes
}
