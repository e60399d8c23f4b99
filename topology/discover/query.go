package discover

import (
	"fmt"
	"strconv"
	"strings"
)

// readQuery reads the XML of `nvidia-smi -q -x`: GPUs with their names, PCIe
// links and the fabric manager's word. Of a link it takes the best that both
// ends can do, since that of an idle GPU runs slower.
func readQuery(name string, content []byte) (*Dump, error) {
	x := newXMLFile(SMIQuery, name)
	root, err := x.parse(content)
	if err != nil {
		return nil, err
	}
	h := Host{Partial: true}
	seen := make(map[string]*element)
	for _, e := range root.children {
		if e.name != "gpu" {
			continue
		}
		g := x.queryGPU(e, len(h.GPUs))
		if first, ok := seen[g.BusID]; ok {
			x.fault(e, ErrContradiction, "give the outputs of several hosts a file each",
				"GPU %s is listed twice, first on line %d", clip(g.BusID), first.line)
			continue
		}
		seen[g.BusID] = e
		h.GPUs = append(h.GPUs, g)
	}
	if !x.tooMany(root, &h) {
		x.queryHost(root, &h)
	}
	x.dump.Hosts = []Host{h}
	return x.result()
}

// queryHost notes what concerns the GPUs together.
func (x *xmlFile) queryHost(root *element, h *Host) {
	if len(h.GPUs) == 0 {
		if len(x.faults) == 0 {
			x.fault(root, ErrNoMachine, "", "no GPU is listed")
		}
		return
	}
	if n, err := strconv.Atoi(root.textOf("attached_gpus")); err == nil && n != len(h.GPUs) {
		x.note(Unknown, "", "%d GPUs are attached, but %d are listed (was one selected with -i?)", n, len(h.GPUs))
	}
	x.note(Unknown, "", "NVLinks, NICs and the way through PCIe are not listed; `nvidia-smi topo -m` has them")
	up := 0
	for _, g := range h.GPUs {
		if g.Fabric != nil && g.Fabric.up() {
			up++
		}
	}
	for i := range h.GPUs {
		g := &h.GPUs[i]
		switch {
		case g.Fabric == nil || g.Fabric.up():
		case up > 0:
			g.OffFabric = true
			x.note(Degraded, fmt.Sprintf("GPU%d", g.Index), "its fabric is %q (%s), where %d of its peers have completed: it is off the fabric", g.Fabric.State, g.Fabric.Status, up)
		default:
			x.note(Degraded, fmt.Sprintf("GPU%d", g.Index), "its fabric is %q (%s), not completed", g.Fabric.State, g.Fabric.Status)
		}
	}
	if f := h.GPUs[0].Fabric; f != nil && f.beyondHost() {
		x.note(Unknown, "", "the GPUs are in clique %d of NVLink domain %s, which other hosts may share; their number is not told", f.Clique, f.Cluster)
	}
}

// up reports whether the GPU has joined its NVLink domain.
func (f *Fabric) up() bool {
	return f.State == "Completed" && (f.Status == "" || f.Status == "Success")
}

// beyondHost reports whether the domain has an identity that hosts can share.
func (f *Fabric) beyondHost() bool { return strings.Trim(f.Cluster, "0-") != "" }

func (x *xmlFile) queryGPU(e *element, position int) GPU {
	g := GPU{Index: position, Rank: -1, NUMA: -1, CPU: -1, PCI: -1, Name: e.textOf("product_name"), BusID: e.get("id")}
	where := fmt.Sprintf("GPU%d", position)
	if told(g.Name) == "" {
		g.Name = ""
		x.note(Unknown, where, "has no product name")
	}
	info := e.find("pci", "pci_gpu_link_info")
	if info == nil {
		x.note(Unknown, where, "its PCIe link is not told")
	} else {
		g.PCIe.Gen = x.number(info, where, "", "pcie_gen", "max_link_gen")
		g.PCIe.Width = x.number(info, where, "x", "link_widths", "max_link_width")
	}
	if f := e.find("fabric"); f != nil && told(f.textOf("state")) != "" {
		g.Fabric = &Fabric{State: f.textOf("state"), Status: told(f.textOf("status")), Cluster: told(f.textOf("clusterUuid")), Clique: -1}
		if n, err := strconv.Atoi(f.textOf("cliqueId")); err == nil {
			g.Fabric.Clique = n
		}
	}
	return g
}

// told returns "" for what nvidia-smi prints where it has nothing to say.
func told(s string) string {
	switch s {
	case "N/A", "Unknown Error", "[N/A]", "[Not Supported]", "Requested functionality has been deprecated":
		return ""
	}
	return s
}

// number returns the small number at a path; one that is not told, or wild,
// is 0 and noted.
func (x *xmlFile) number(e *element, where, suffix string, path ...string) int {
	s := e.textOf(path...)
	n, err := strconv.Atoi(strings.TrimSuffix(s, suffix))
	if err != nil || n < 1 || n > 64 {
		x.note(Unknown, where, "%s is %s, expected a number from 1 to 64", path[len(path)-1], clip(s))
		return 0
	}
	return n
}
