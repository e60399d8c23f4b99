package discover

import (
	"bufio"
	"fmt"
	"io"
)

// legend is what nvidia-smi (of driver 450 and later) prints below a matrix.
const legend = `
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
`

// Write prints the matrix as `nvidia-smi topo -m` does: tabs between columns,
// blanks around X, an empty column before the last, the legends. underline
// adds the escape codes that the tool puts around the header, also when its
// output is no terminal. Cells that are not known are printed as "?", which
// the tool never does and which a line of the legend then explains.
func (m *Matrix) Write(w io.Writer, underline bool) error {
	b := bufio.NewWriter(w)
	b.WriteByte('\t')
	if underline {
		b.WriteString("\x1b[4m")
	}
	for i, d := range m.Devices {
		if i > 0 {
			b.WriteByte('\t')
		}
		b.WriteString(d)
	}
	for _, c := range []string{"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"}[:m.Columns] {
		b.WriteString("\t" + c)
	}
	if underline {
		b.WriteString("\x1b[0m")
	}
	b.WriteByte('\n')
	for i, d := range m.Devices {
		b.WriteString(d)
		for j := range m.Devices {
			b.WriteByte('\t')
			if c := m.At(i, j); i == j {
				b.WriteString(" X ")
			} else {
				b.WriteString(c.String())
			}
		}
		var a Affinity
		if i < len(m.Affinity) {
			a = m.Affinity[i]
		}
		for _, s := range []string{"\t" + a.CPUs, "\t" + a.NUMA, "\t\t" + a.GPUNUMA}[:m.Columns] {
			b.WriteString(s)
		}
		b.WriteByte('\n')
	}
	b.WriteString(legend)
	if !m.Complete() {
		b.WriteString("  ?    = Not known\n")
	}
	if len(m.Legend) > 0 {
		b.WriteString("\nNIC Legend:\n\n")
		for i, n := range m.Legend {
			fmt.Fprintf(b, "  %s: %s\n", m.Devices[m.GPUs+i], n)
		}
	}
	return b.Flush()
}
