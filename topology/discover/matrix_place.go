package discover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/topology"
)

// place puts the rows into a matrix, checks it, and makes a host of it.
func (r *matrixReader) place() {
	names := r.devices()
	n := len(names)
	m := &Matrix{Devices: names, Cells: make([]Cell, n*n), Columns: r.tail}
	for m.GPUs < n && gpuLabel.MatchString(names[m.GPUs]) {
		m.GPUs++
	}
	if i := slices.IndexFunc(names[m.GPUs:], gpuLabel.MatchString); i >= 0 {
		r.fault(r.headAt, 0, ErrSyntax, "", "column %s stands behind %s, expected the GPUs first", names[m.GPUs+i], names[m.GPUs])
		return
	}
	lines := make([]int, n)
	for k, row := range r.rows {
		i := slices.Index(names, row.label)
		if i < 0 {
			r.fault(row.line, 1, ErrSyntax, "", "row %s has no column", row.label)
			return
		}
		lines[i] = row.line
		if len(row.cells) < n {
			r.note(Unknown, fmt.Sprintf("line %d", row.line), "row %s ends after %d of %d cells", row.label, len(row.cells), n)
			r.cut = r.cut || k == len(r.rows)-1
		}
		copy(m.Cells[i*n:(i+1)*n], row.cells)
	}
	if r.check(m, lines); len(r.faults) > 0 {
		return
	}
	r.fill(m, lines)
	r.tails(m)
	for _, name := range names[m.GPUs:] {
		if full, ok := r.legend[name]; ok {
			m.Legend = append(m.Legend, full)
		} else if m.Legend != nil {
			m.Legend = append(m.Legend, "")
		}
	}
	r.dump.Hosts = []Host{r.host(m)}
}

// check verifies the diagonal and that the halves agree.
func (r *matrixReader) check(m *Matrix, lines []int) {
	n := len(m.Devices)
	for i := range n {
		for j := range n {
			c := m.At(i, j)
			switch {
			case !c.Known:
			case i == j && c.Kind != topology.Self:
				r.fault(lines[i], 0, ErrContradiction, "a cell may be missing, or two may have run together",
					"%s to itself is %s, expected X", m.Devices[i], c)
			case i != j && c.Kind == topology.Self:
				r.fault(lines[i], 0, ErrContradiction, "a cell may be missing, or two may have run together",
					"row %s has its X in column %d (%s), expected it in column %d", m.Devices[i], j+1, m.Devices[j], i+1)
			case c.Kind == topology.NVL && j >= m.GPUs:
				r.fault(lines[i], 0, ErrContradiction, "", "%s to %s is %s, but a NIC has no NVLink", m.Devices[i], m.Devices[j], c)
			}
		}
	}
	if len(r.faults) > 0 {
		return // what follows from a shift is not worth telling
	}
	for i := range n {
		for j := range i {
			a, b := m.At(j, i), m.At(i, j)
			if a.Known && b.Known && a != b {
				r.fault(lines[i], 0, ErrContradiction, "the halves of a matrix are equal; print it again",
					"%s to %s is %s, but %s to %s is %s on line %d", m.Devices[i], m.Devices[j], b, m.Devices[j], m.Devices[i], a, lines[j])
			}
		}
	}
}

// fill takes missing cells from the other half and notes the rest.
func (r *matrixReader) fill(m *Matrix, lines []int) {
	n := len(m.Devices)
	var rows, unknown []string
	filled, open := 0, 0
	for i := range n {
		if lines[i] == 0 {
			rows = append(rows, m.Devices[i])
		}
		for j := range n {
			c := &m.Cells[i*n+j]
			switch {
			case c.Known:
			case i == j:
				*c = Cell{Known: true}
			case m.Cells[j*n+i].Known:
				*c = m.Cells[j*n+i]
				filled++
			case i < j:
				if open++; open <= 6 {
					unknown = append(unknown, m.Devices[i]+"-"+m.Devices[j])
				}
			}
		}
	}
	if len(rows) > 0 {
		r.note(Repaired, "", "%d rows are missing (%s); %d cells were taken from the columns of other rows", len(rows), list(rows, 4), filled)
	} else if filled > 0 {
		r.note(Repaired, "", "%d cells that are missing were taken from the columns of other rows", filled)
	}
	if open > 0 {
		more := ""
		if open > len(unknown) {
			more = fmt.Sprintf(" and %d more", open-len(unknown))
		}
		r.note(Unknown, "", "%d pairs are in no row: %s%s", open, strings.Join(unknown, ", "), more)
	}
	if r.noNV && !slices.ContainsFunc(m.Cells, func(c Cell) bool { return c.Kind == topology.NVL }) {
		r.note(Unknown, "", "the legend does not explain NV#: printed with -mp, which hides NVLinks")
	}
}

// list joins names, at most so many of them.
func list(names []string, most int) string {
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// tails sorts out the columns of affinity. Where fewer words are left than
// the header has columns, some ran together, and only the first is kept.
func (r *matrixReader) tails(m *Matrix) {
	m.Affinity = make([]Affinity, m.GPUs)
	columns := r.tail
	for _, row := range r.rows {
		i := slices.Index(m.Devices, row.label)
		if i >= m.GPUs || len(row.tail) == 0 {
			continue
		}
		if r.header == nil {
			columns = max(columns, min(3, len(row.tail)))
			m.Columns = columns
		}
		a := &m.Affinity[i]
		a.CPUs = row.tail[0]
		if len(row.tail) < columns {
			r.note(Unknown, fmt.Sprintf("line %d", row.line),
				"%q holds fewer words than there are columns of affinity: some ran together, so that the NUMA node is not known", strings.Join(row.tail, " "))
			continue
		}
		if columns > 1 {
			a.NUMA = row.tail[1]
		}
		if columns > 2 {
			a.GPUNUMA = row.tail[2]
		}
	}
}

// host makes a host of the matrix.
func (r *matrixReader) host(m *Matrix) Host {
	h := Host{Matrix: m}
	cpus := make(map[string]int)
	for i := range m.GPUs {
		g := GPU{Index: i, Rank: -1, NUMA: -1, CPU: -1, PCI: -1}
		if n, err := strconv.Atoi(m.Devices[i][len("GPU"):]); err == nil {
			g.Index = n
		}
		a := m.Affinity[i]
		// A list is that of the CPU's own node and those of GPU memories.
		first := a.NUMA[:len(a.NUMA)-len(strings.TrimLeft(a.NUMA, "0123456789"))]
		if n, err := strconv.Atoi(first); err == nil {
			g.NUMA = n
		}
		if key := m.socketKey(i); key != "" {
			cpu, ok := cpus[key]
			if !ok {
				cpu = len(h.CPUs)
				cpus[key] = cpu
				h.CPUs = append(h.CPUs, CPU{NUMA: g.NUMA, Affinity: a.CPUs})
			}
			g.CPU = cpu
		}
		h.GPUs = append(h.GPUs, g)
	}
	for i, label := range m.Devices[m.GPUs:] {
		nic := NIC{Label: label, Index: i, NUMA: -1, CPU: -1, PCI: -1}
		if m.Legend != nil {
			nic.Name = m.Legend[i]
		} else if !strings.HasPrefix(label, "NIC") {
			nic.Name = label
		}
		h.NICs = append(h.NICs, nic)
	}
	r.links(&h)
	h.checkFabric(r.note, func(s string) string { return s })
	r.locality(&h)
	return h
}

// socketKey returns what two GPUs of one NUMA node have in common, "" if the
// matrix tells nothing.
func (m *Matrix) socketKey(i int) string {
	if i >= len(m.Affinity) {
		return ""
	}
	for _, s := range []string{m.Affinity[i].NUMA, m.Affinity[i].CPUs} {
		if told(s) != "" {
			return s
		}
	}
	return ""
}

// links reads the NV cells. They are the links of pairs, or, if they are more
// than a GPU can have (18 at most, in any generation) and every pair has what
// the poorer of the two has in all, its links to switches.
func (r *matrixReader) links(h *Host) {
	m := h.Matrix
	width := make([]int, m.GPUs) // to the best peer
	most := 0
	equal, full := true, true
	var first Cell
	for i := range m.GPUs {
		sum := 0
		for j := range m.GPUs {
			c := m.At(i, j)
			if c.Kind != topology.NVL {
				full = full && (i == j || !c.Known)
				continue
			}
			if sum += c.Links; first.Links == 0 {
				first = c
			}
			equal = equal && c == first
			width[i] = max(width[i], c.Links)
		}
		most = max(most, sum)
	}
	if most == 0 {
		return
	}
	switched := most > 18
	for i := range m.GPUs {
		for j := range i {
			if c := m.At(i, j); c.Known && c.Links != min(width[i], width[j]) {
				switched = false
			}
		}
	}
	if !switched && equal && full && m.GPUs < 8 {
		r.note(Assumed, "", "the GPUs are taken as joined directly, each pair by %d NVLinks; behind an NVSwitch of GPUs with %d links the words would be the same", first.Links, first.Links)
	}
	for i := range m.GPUs {
		g := &h.GPUs[i]
		for j := range m.GPUs {
			c := m.At(i, j)
			switch {
			case c.Kind != topology.NVL:
			case !switched:
				g.Links = append(g.Links, Link{Kind: NVLink, Count: c.Links, Peer: j})
			case len(g.Links) == 0:
				g.Links = []Link{{Kind: NVLink, Count: width[i], Peer: -1, Switch: true}}
			}
		}
	}
	if switched && len(h.GPUs) <= 4 {
		r.note(Unknown, "", "the GPUs are on NVSwitches that other hosts may share (a tray of a rack); the matrix does not tell")
	}
}

// locality notes where the words between GPUs and NICs say nothing.
func (r *matrixReader) locality(h *Host) {
	m := h.Matrix
	n := len(m.Devices)
	if m.GPUs < 2 || n-m.GPUs < 2 {
		return
	}
	word := m.At(0, m.GPUs)
	for i := range m.GPUs {
		for j := m.GPUs; j < n; j++ {
			if c := m.At(i, j); !c.Known || c != word {
				return
			}
		}
	}
	switch word.Kind {
	case topology.PHB:
		h.Hidden = true
		r.note(Unknown, "", "every GPU is PHB to every NIC: a virtual machine, whose hypervisor hides what is near what. Which NIC is next to which GPU is not known, nor is a host bridge shared")
	case topology.SYS:
		r.note(Unknown, "", "every NIC is SYS from every GPU: the matrix does not show which NIC is next to which GPU (usual on Grace hosts, whose GPU memories are NUMA nodes)")
	}
}
