package nccltests

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// factor is that of bus bandwidth over algorithm bandwidth for an operation.
type factor uint8

const (
	one   factor = iota // 1
	most                // (n-1)/n
	twice               // 2(n-1)/n
)

// of returns the factor among n ranks.
func (f factor) of(n int) float64 {
	part := float64(n-1) / float64(n)
	switch f {
	case most:
		return part
	case twice:
		return 2 * part
	}
	return 1
}

// factors are those of the operations.
var factors = map[string]factor{
	"all_reduce": twice,
	"all_gather": most, "reduce_scatter": most, "alltoall": most, "alltoallv": most, "gather": most, "scatter": most, "hypercube": most,
	"broadcast": one, "reduce": one, "sendrecv": one,
}

// infer fills in what follows from the rest: hosts and ranks from the devices,
// the operation and the ranks from the bandwidths.
func (t *Table) infer(file string) {
	if t.Ranks == 0 {
		t.Ranks = len(t.Devices)
	}
	if t.Hosts == 0 && len(t.Devices) > 0 {
		t.Hosts = t.hosts()
	}
	if t.Copies > 1 {
		t.Notes = append(t.Notes, "several processes printed tables at once, as a build without MPI does under mpirun: each ran by itself, not with the others")
	}
	ratio, err := t.ratio()
	if t.Op == "" && err < 0.02 {
		t.Might = t.candidates(ratio, err)
		switch named := t.named(file); {
		case len(t.Might) == 1:
			t.Op = t.Might[0]
		case named != "":
			t.Op = named
			t.Notes = append(t.Notes, fmt.Sprintf("the log does not name its operation: of %s the file's name says %s", strings.Join(t.Might, ", "), named))
		}
	}
	if t.Ranks == 0 && err < 0.02 {
		f, ok := factors[t.Op]
		if !ok && len(t.Might) > 0 {
			f, ok = factors[t.Might[0]], true
		}
		if n := ranks(f, ratio, err); ok && n > 1 {
			t.Ranks, t.Counted = n, true
		}
	}
}

// named returns the one of the candidates that the name of the file holds.
func (t *Table) named(file string) string {
	name := strings.ReplaceAll(strings.ToLower(filepath.Base(file)), "allgather", "all_gather")
	found := ""
	for _, op := range t.Might {
		if strings.Contains(name, op) {
			if found != "" {
				return ""
			}
			found = op
		}
	}
	return found
}

// hosts counts the servers. Names may be hidden behind one, so a GPU that
// comes again is another host's.
func (t *Table) hosts() int {
	names := map[string]bool{}
	type place struct {
		host, bus string
		index     int
	}
	again := map[place]int{}
	most := 1
	for _, d := range t.Devices {
		names[d.Host] = true
		p := place{d.Host, d.Bus, d.Index}
		again[p]++
		most = max(most, again[p])
	}
	return max(len(names), most)
}

// ratio returns busbw over algbw, and by how much it may be off: it is that of
// the row that is printed with the most digits. An error of 1 is no ratio.
func (t *Table) ratio() (ratio, off float64) {
	off = 1
	for _, r := range t.Rows {
		for _, run := range [...]Run{r.Out, r.In} {
			if run.AlgBW <= 0 || run.BusBW <= 0 {
				continue
			}
			// Two decimals of GB/s at most: half a digit on either side.
			const digit = 0.005e9
			if e := digit/float64(run.AlgBW) + digit/float64(run.BusBW); e < off {
				off, ratio = e, float64(run.BusBW/run.AlgBW)
			}
		}
	}
	return ratio, off
}

// candidates returns the operations that a ratio allows.
func (t *Table) candidates(ratio, off float64) []string {
	last := t.Rows[len(t.Rows)-1]
	reduces := last.RedOp != "" && last.RedOp != "none"
	rooted := last.Rooted && last.Root >= 0
	var all []string
	for _, op := range tests {
		f := factors[op]
		switch op {
		case "hypercube", "alltoallv":
			continue // a ratio alone does not speak for what is seldom run
		case "gather", "scatter":
			if reduces || !rooted {
				continue
			}
		case "all_reduce", "reduce_scatter":
			if !reduces || rooted {
				continue
			}
		case "reduce":
			if !reduces || last.Rooted && !rooted {
				continue
			}
		case "broadcast":
			if reduces || last.Rooted && !rooted {
				continue
			}
		default:
			if reduces || rooted {
				continue
			}
		}
		if t.Ranks > 1 {
			if math.Abs(ratio/f.of(t.Ranks)-1) <= off+0.002 {
				all = append(all, op)
			}
			continue
		}
		if f == one && math.Abs(ratio-1) <= off || f != one && ranks(f, ratio, off) > 1 {
			all = append(all, op)
		}
	}
	return slices.Clip(all)
}

// ranks returns the number of ranks that gives a ratio, 0 if none or several
// do.
func ranks(f factor, ratio, off float64) int {
	if f == one {
		return 0
	}
	full := f.of(2) / 0.5
	part := ratio / full // (n-1)/n
	if part <= 0.4 || part >= 1 {
		return 0
	}
	n := int(math.Round(1 / (1 - part)))
	if n < 2 || math.Abs(f.of(n)/ratio-1) > off+1e-9 || n > 2 && math.Abs(f.of(n-1)/ratio-1) <= off || math.Abs(f.of(n+1)/ratio-1) <= off {
		return 0
	}
	return n
}

// Factor returns busbw over algbw for an operation among n ranks, and whether
// the operation is one of nccl-tests.
func Factor(op string, n int) (float64, bool) {
	f, ok := factors[op]
	if !ok || n < 1 {
		return 0, false
	}
	return f.of(n), true
}

// Of returns the time of a row for comparison: out of place, or in place where
// only that was measured, 0 for neither.
func (r *Row) Of() sim.Time {
	if r.Out.Measured() {
		return r.Out.Time
	}
	return r.In.Time
}
