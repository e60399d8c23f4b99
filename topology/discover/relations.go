package discover

import (
	"fmt"
	"strconv"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

// Relations returns what `nvidia-smi topo -m` would print on the first host
// of a machine (its first tray, if it has several): the words between its
// GPUs and NICs. Where the spec has no PCIe tree, what NVLink does not join is
// not known. A GPU that hangs from its CPU by a chip-to-chip link, of which the
// tool does not know, counts as on a host bridge of its own.
func Relations(s *machine.Spec) *Matrix {
	h := &s.Host
	gpus := h.GPUs / max(1, h.Trays)
	m := &Matrix{GPUs: gpus, Columns: 3, Affinity: make([]Affinity, gpus)}
	for i := range gpus {
		m.Devices = append(m.Devices, "GPU"+strconv.Itoa(i))
		m.Affinity[i] = Affinity{CPUs: "N/A", NUMA: "N/A", GPUNUMA: "N/A"}
	}
	if h.PCIe != nil {
		for i := range h.PCIe.NICs {
			m.Devices = append(m.Devices, "NIC"+strconv.Itoa(i))
		}
		for i := range gpus {
			m.Affinity[i].NUMA = strconv.Itoa(trail(h.PCIe, h.PCIe.GPUs[i].Under).socket)
		}
	}
	n := len(m.Devices)
	m.Cells = make([]Cell, n*n)
	for i := range n {
		for j := range n {
			m.Cells[i*n+j] = relation(h, m, i, j)
		}
	}
	return m
}

func relation(h *machine.Host, m *Matrix, i, j int) Cell {
	if i == j {
		return Cell{Known: true}
	}
	if h.NVLink != nil && i < m.GPUs && j < m.GPUs {
		if n := links(h.NVLink, i, j); n > 0 {
			return Cell{Known: true, Kind: topology.NVL, Links: n}
		}
	}
	if h.PCIe == nil {
		return Cell{}
	}
	under := func(d int) pcie.Parent {
		if d < m.GPUs {
			return h.PCIe.GPUs[d].Under
		}
		return h.PCIe.NICs[d-m.GPUs].Under
	}
	return Cell{Known: true, Kind: word(trail(h.PCIe, under(i)), trail(h.PCIe, under(j)))}
}

// links returns the number of NVLinks between two GPUs: their direct ones, or
// what the poorer of the two has on the planes that both reach.
func links(s *nvlink.Spec, a, b int) int {
	n := 0
	for _, e := range s.Edges {
		if e[0] == a && e[1] == b || e[0] == b && e[1] == a {
			n += e[2]
		}
	}
	for p, width := range s.Planes {
		ofA, ofB := width, width
		for _, d := range s.Down {
			if d.Plane == p && d.GPU == a {
				ofA -= d.Links
			}
			if d.Plane == p && d.GPU == b {
				ofB -= d.Links
			}
		}
		n += max(0, min(ofA, ofB))
	}
	return n
}

// ancestry is what lies above a device, nearest first.
type ancestry struct {
	switches []int
	bridge   int // -1 if it hangs from the socket
	socket   int
}

func trail(s *pcie.Spec, p pcie.Parent) ancestry {
	a := ancestry{bridge: -1}
	for p.Kind == pcie.OnSwitch {
		a.switches = append(a.switches, p.Index)
		p = s.Switches[p.Index].Under
	}
	a.socket = p.Index
	if p.Kind == pcie.OnBridge {
		a.bridge = p.Index
		a.socket = s.Bridges[p.Index].Socket
	}
	return a
}

// word names the way between two devices by its highest point.
func word(a, b ancestry) topology.PathKind {
	switch {
	case a.socket != b.socket:
		return topology.SYS
	case a.bridge != b.bridge || a.bridge < 0:
		return topology.NODE
	}
	for i, x := range a.switches {
		for j, y := range b.switches {
			if x == y {
				if i == 0 && j == 0 {
					return topology.PIX
				}
				return topology.PXB
			}
		}
	}
	return topology.PHB
}

// Diff compares two matrices of the same devices and returns a sentence for
// each cell that both know and that differs.
func (m *Matrix) Diff(o *Matrix) []string {
	if len(m.Devices) != len(o.Devices) || m.GPUs != o.GPUs {
		return []string{fmt.Sprintf("%d GPUs and %d NICs, not %d and %d", o.GPUs, len(o.Devices)-o.GPUs, m.GPUs, len(m.Devices)-m.GPUs)}
	}
	var d []string
	for i := range m.Devices {
		for j := range m.Devices {
			if a, b := m.At(i, j), o.At(i, j); a.Known && b.Known && a != b {
				d = append(d, fmt.Sprintf("%s to %s is %s, not %s", m.Devices[i], m.Devices[j], b, a))
			}
		}
	}
	return d
}
