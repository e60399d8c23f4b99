package discover

import (
	"strconv"

	"github.com/weft-sim/weft/topology"
)

// Matrix holds the words between the devices of a host, as `nvidia-smi topo
// -m` prints them: GPUs first, then NICs.
type Matrix struct {
	Devices []string // labels: GPU0, NIC0 or mlx5_0
	GPUs    int      // how many of the devices are GPUs
	Cells   []Cell   // row by row, len(Devices) squared

	// Affinity holds, for each GPU, what is printed behind its cells; Columns
	// is how many of its columns the matrix has, 0 to 3.
	Affinity []Affinity
	Columns  int

	// Legend is what the names of NICs stand for, in the order of the NIC
	// columns; nil if the matrix has no such legend.
	Legend []string
}

// Affinity is the tail of a GPU's row, as printed.
type Affinity struct {
	CPUs    string // "0-55,112-167"
	NUMA    string // "0", "0,3-9,11-17", "N/A"
	GPUNUMA string // "N/A", or the NUMA node of the GPU's own memory
}

// Cell is what lies between two devices. The zero Cell is not known.
type Cell struct {
	Known bool
	Kind  topology.PathKind // Self, NVL, PIX, PXB, PHB, NODE or SYS
	Links int               // of kind NVL: how many NVLinks
}

// String returns the word that nvidia-smi prints, or "?".
func (c Cell) String() string {
	switch {
	case !c.Known:
		return "?"
	case c.Kind == topology.Self:
		return "X"
	case c.Kind == topology.NVL:
		return "NV" + strconv.Itoa(c.Links)
	}
	return c.Kind.String()
}

// At returns the cell of row i and column j.
func (m *Matrix) At(i, j int) Cell { return m.Cells[i*len(m.Devices)+j] }

// Complete reports whether every cell is known.
func (m *Matrix) Complete() bool {
	for _, c := range m.Cells {
		if !c.Known {
			return false
		}
	}
	return true
}
