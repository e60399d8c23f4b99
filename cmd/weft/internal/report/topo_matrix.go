package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
)

// NodeMatrix holds the words between the devices of a node.
type NodeMatrix struct{ *discover.Matrix }

// Matrix returns what `nvidia-smi topo -m` prints on the first node of a
// machine: the file's own words if it holds them, else those of the machine's
// PCIe tree and NVLinks. Of a machine with faults, and of a network file, it
// has the GPUs alone, by the ways that traffic takes.
func Matrix(hw *configs.Hardware) NodeMatrix {
	switch {
	case hw.Faulty:
	case hw.Dump != nil && hw.Dump.Hosts[0].Matrix != nil:
		return NodeMatrix{hw.Dump.Hosts[0].Matrix}
	case hw.Spec != nil:
		return NodeMatrix{discover.Relations(hw.Spec)}
	}
	pcie := &discover.Matrix{}
	if hw.Spec != nil {
		spec := *hw.Spec
		spec.Host.NVLink = nil
		pcie = discover.Relations(&spec)
	}
	return NodeMatrix{byRoutes(hw.Machine, pcie)}
}

// WriteMatrix prints the matrix of a machine as nvidia-smi does, legend
// included. The error of a node with too many GPUs comes before anything.
func WriteMatrix(hw *configs.Hardware) (func(io.Writer) error, error) {
	if n := matrixGPUs(hw); n > mostWritten {
		return nil, fmt.Errorf("show %s as a matrix: read a node with %d GPUs, expected at most %d; --format json has the kinds of ways", hw.Machine.Name, n, mostWritten)
	}
	return Matrix(hw).Write, nil
}

// mostWritten is the most GPUs of a node that are written as a matrix: a
// million words.
const mostWritten = 1024

// matrixGPUs returns how many GPUs [Matrix] has, or could have.
func matrixGPUs(hw *configs.Hardware) int {
	if hw.Spec != nil && !hw.Faulty {
		return hw.Spec.Host.GPUs / max(1, hw.Spec.Host.Trays)
	}
	g, n := hw.Machine.Graph, 0
	for _, r := range hw.Machine.Ranks {
		if g.Nodes[r].Host == g.Nodes[hw.Machine.Ranks[0]].Host {
			n++
		}
	}
	return n
}

// Write prints the matrix as nvidia-smi does, legend included.
func (m NodeMatrix) Write(w io.Writer) error { return m.Matrix.Write(w, false) }

// Known reports whether the matrix tells anything of two devices.
func (m NodeMatrix) Known() bool {
	for i := range m.Devices {
		for j := range i {
			if m.At(i, j).Known {
				return true
			}
		}
	}
	return false
}

// table draws the words between GPUs.
func (m NodeMatrix) table() string {
	columns := []Column{Left("")}
	for i := range m.GPUs {
		columns = append(columns, Right(m.Devices[i]))
	}
	tb := NewTable(columns...)
	for i := range m.GPUs {
		row := []string{m.Devices[i]}
		for j := range m.GPUs {
			row = append(row, m.At(i, j).String())
		}
		tb.Add(row...)
	}
	return tb.String()
}

// byRoutes makes the matrix of the GPUs of the first node from the routes
// between them. Kinds for which nvidia-smi has no word have that of their way
// over PCIe, if it is known.
func byRoutes(machine *topology.Machine, pcie *discover.Matrix) *discover.Matrix {
	g := machine.Graph
	var ranks []int32
	var units []int
	m := &discover.Matrix{}
	for r, node := range machine.Ranks {
		if n := g.Nodes[node]; n.Host == g.Nodes[machine.Ranks[0]].Host {
			ranks = append(ranks, int32(r))
			units = append(units, int(n.Unit))
			m.Devices = append(m.Devices, "GPU"+strconv.Itoa(int(n.Unit)))
		}
	}
	m.GPUs = len(ranks)
	var buf []topology.Hop
	for i, a := range ranks {
		for j, b := range ranks {
			var c discover.Cell
			if units[i] < pcie.GPUs && units[j] < pcie.GPUs {
				c = pcie.At(units[i], units[j])
			}
			if a == b {
				c.Known = true
			} else if p, err := machine.Route(a, b, buf); err == nil {
				buf = p.Hops
				switch {
				case p.Kind == topology.NVL:
					c = discover.Cell{Known: true, Kind: p.Kind, Links: nvlinks(g, p)}
				case p.Kind >= topology.PIX && p.Kind <= topology.SYS:
					c = discover.Cell{Known: true, Kind: p.Kind}
				}
			}
			m.Cells = append(m.Cells, c)
		}
	}
	return m
}

// nvlinks counts the links over which a path leaves its GPU.
func nvlinks(g *topology.Graph, p topology.Path) int {
	if len(p.Hops) == 0 {
		return 0
	}
	links := 0
	first, _ := g.Members(p.Hops[0].Resource)
	from := g.Links[first[0]].From
	for _, h := range p.Hops {
		members, _ := g.Members(h.Resource)
		for _, l := range members {
			if g.Links[l].From == from {
				links += int(g.Links[l].Width)
			}
		}
	}
	return links
}
