package discover

import "github.com/weft-sim/weft/sim"

// Dump is what a file says about one or more hosts.
type Dump struct {
	Format Format
	Source string // name of the file, for messages
	Hosts  []Host
	Graphs []Graph // of a [NCCLGraph], which describes no hosts
	Notes  []Note
}

// NoteKind says why a [Note] was made.
type NoteKind string

// The kinds of notes.
const (
	Repaired NoteKind = "repaired" // the file was damaged, and mended without loss
	Unknown  NoteKind = "unknown"  // the file does not say
	Degraded NoteKind = "degraded" // the machine itself looks broken or slower than its peers
	Ignored  NoteKind = "ignored"  // the file says it, and it is not used
	Assumed  NoteKind = "assumed"  // filled in by a rule that could be wrong
)

// Note is a sentence that a report on the dump must repeat.
type Note struct {
	Kind  NoteKind
	Where string // "line 7", "GPU2", or "" for the whole file
	Text  string
}

func (n Note) String() string {
	if n.Where == "" {
		return string(n.Kind) + ": " + n.Text
	}
	return string(n.Kind) + ": " + n.Where + ": " + n.Text
}

// Host is one server, or one tray of a rack. What its format does not tell is
// zero, or -1 for an index.
type Host struct {
	Name   string // host name or host hash
	CPUs   []CPU
	GPUs   []GPU
	NICs   []NIC
	PCI    []PCI   // parents before children; nil where the format has no tree
	Matrix *Matrix // the words between devices; nil where the format has none

	// Partial is set where the file lists PCIe devices but leaves the GPUs'
	// NVLinks to be found at run time, as the files of clouds do.
	Partial bool

	// Hidden is set where a hypervisor seems to hide which devices are near
	// each other: every GPU has the same word to every NIC.
	Hidden bool
}

// CPU is a NUMA node with its part of a processor.
type CPU struct {
	NUMA          int // -1 if unknown
	Affinity      string
	Arch, Vendor  string // as NCCL writes them: x86_64, GenuineIntel
	Name          string
	Family, Model int
}

// GPU is one GPU of a host.
type GPU struct {
	Index int    // number that NVML or the matrix gives it
	Rank  int    // in the communicator that was dumped, or -1
	Name  string // product name, as printed
	SM    int    // compute capability x 10, as printed; 0 if unknown
	GFX   string // of an AMD GPU: "910" or "gfx942", as printed
	BusID string
	NUMA  int // -1 if unknown
	CPU   int // index in Host.CPUs, or -1
	PCI   int // index in Host.PCI, or -1
	PCIe  PCIeLink
	Links []Link
	GDR   bool

	// Fabric is what the fabric manager reports; nil if nothing.
	Fabric *Fabric

	// OffFabric is set on a GPU without NVLink beside peers that have it.
	OffFabric bool
}

// NVLinks returns how many NVLinks the GPU has in all, wherever they lead.
func (g *GPU) NVLinks() int {
	n := 0
	for _, l := range g.Links {
		if l.Kind == NVLink {
			n += l.Count
		}
	}
	return n
}

// LinkKind names what a GPU is linked by, besides PCIe.
type LinkKind string

// The kinds of links.
const (
	NVLink LinkKind = "nvlink"
	XGMI   LinkKind = "xgmi"
	C2C    LinkKind = "c2c" // to the GPU's own CPU
)

// Link is a set of parallel links from a GPU to one place.
type Link struct {
	Kind  LinkKind
	Count int

	// Peer is the position in Host.GPUs of the GPU at the other end, or -1.
	// Switch is set if the other end is an NVSwitch. Target is its bus id as
	// printed; "" if the format names none, [Invisible] if the dump says that
	// it cannot be seen.
	Peer   int
	Switch bool
	Target string

	// Rate is that of one link, per direction, where the dump tells it.
	Rate sim.Rate
}

// Invisible is the target of NVLinks to switches that the host cannot see.
const Invisible = "invisible"

// Fabric is the fabric manager's word on a GPU: GPUs with the same cluster
// and clique, on whatever host, are in one NVLink domain.
type Fabric struct {
	State   string // Completed, In Progress, Not Started
	Status  string // Success or what failed
	Cluster string // UUID; all zero where the domain is one host
	Clique  int    // -1 if not told
}

// NIC is one port to the network.
type NIC struct {
	Name  string // mlx5_0; "" where the matrix has no legend of NICs
	Label string // column of the matrix: NIC0, or mlx5_0 in old ones
	Index int    // number of the plugin's device, or the position in the matrix
	Speed sim.Rate
	BusID string
	GUID  string
	NUMA  int // -1 if unknown
	CPU   int // index in Host.CPUs, or -1
	PCI   int // index in Host.PCI; -1 for a virtual NIC or where there is no tree
	PCIe  PCIeLink
	GDR   bool
}

// PCIeLink is a PCIe link as far as a dump tells: Gen 0 and Width 0 are
// unknown.
type PCIeLink struct {
	Gen, Width int

	// Rate is set where only the product of the two is told (hwloc), as it is
	// told: per direction, after the line code.
	Rate sim.Rate
}

// PCIRole says what a vertex of a PCIe tree does.
type PCIRole string

// The roles. A port passes a link through and is no crossing of its own: a
// root port, or a port of a switch that is listed already.
const (
	HostBridge PCIRole = "host bridge"
	Switch     PCIRole = "switch"
	Port       PCIRole = "port"
	Endpoint   PCIRole = "endpoint"
)

// PCI is a vertex of a host's PCIe tree.
type PCI struct {
	Role   PCIRole
	BusID  string
	Class  uint32    // 24 bits: 0x060400 is a bridge
	ID     [4]uint16 // vendor, device, and the same of the subsystem
	Parent int       // index in Host.PCI; -1 directly below the CPU
	CPU    int       // index in Host.CPUs, or -1
	Link   PCIeLink  // upwards
	Line   int       // of the file
}
