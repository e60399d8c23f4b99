package nccltests

import (
	"github.com/weft-sim/weft/sim"
)

// Log is a file of measurements: at least one table with at least one row.
type Log struct {
	Name   string
	Tables []*Table
	// Skipped counts the lines that say nothing of a test: the noise around.
	Skipped int
}

// Table is one run of a test.
type Table struct {
	Op   string // as nccl-tests calls it, without _perf; "" is not known
	Line int    // of its first row; 0 in a file without lines
	// Might lists the operations that the numbers allow, where the log does not
	// say it: Op then is the only one, or "".
	Might []string
	// Ranks is the number of GPUs, Hosts that of servers; 0 is not known.
	Ranks, Hosts int
	// Counted says that Ranks follows from the bandwidths, not from the log.
	Counted bool
	Devices []Device
	Settings
	Rows []Row
	// Average is the bus bandwidth at the foot of the table; 0 is none.
	Average sim.Rate
	// Bad is how many values were out of bounds by the foot of the table.
	Bad int64
	// Ended says that the foot of the table is there.
	Ended bool
	// Copies is how many processes printed a table of their own at once, which
	// is what a build without MPI does under mpirun: each ran alone.
	Copies int
	Notes  []string // sentences about how it was read
}

// Device is a GPU that took part.
type Device struct {
	Rank, Pid int
	Host      string
	Index     int    // on its host
	Bus       string // PCI bus, as printed: "0x1b" or "0000:1b:00"
	Name      string // "NVIDIA H100 80GB HBM3"
}

// Settings is what a test says about itself. What it does not say is zero.
type Settings struct {
	Threads, GPUs int // of a process: -t and -g
	Iterations    int
	Warmup        int
	Graph         int    // -G: launches in a CUDA graph
	Library       string // of NCCL, as printed: "2.27.3" or "22703"
	Launch        string // where weft printed the table: how kernels were launched
	System        string // where weft printed the table: the machine
	HostTime      bool   // times are the CPU's, of launches (-C)
}

// Row is one size.
type Row struct {
	Line   int
	Size   sim.Bytes // as nccl-tests counts it for the operation; may be 0
	Count  int64     // elements
	Type   string    // "float"
	RedOp  string    // "sum"; "" and "none" for data movement
	Root   int       // -1 without one
	Out    Run       // out of place
	In     Run       // in place; not there in logs of one half
	Rooted bool      // a root was printed
}

// Run is one half of a row.
type Run struct {
	Time         sim.Time // 0 is not measured
	AlgBW, BusBW sim.Rate
	// Wrong is how many values were wrong, where Checked says so.
	Wrong   int64
	Checked bool
	// Deviation is the largest error that old releases print in place of Wrong.
	Deviation float64
}

// Measured reports whether there are figures.
func (r Run) Measured() bool { return r.Time > 0 }

// Names returns the kinds of GPUs, in the order of their ranks, each once.
func (t *Table) Names() []string {
	var all []string
	seen := map[string]bool{}
	for _, d := range t.Devices {
		if !seen[d.Name] {
			seen[d.Name] = true
			all = append(all, d.Name)
		}
	}
	return all
}

// OneProcess reports whether one process and thread launched for several GPUs.
func (t *Table) OneProcess() bool { return t.GPUs > 1 && t.Threads <= 1 }
