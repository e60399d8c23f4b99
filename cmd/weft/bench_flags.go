package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// sweep is what the flags of nccl-tests ask for.
type sweep struct {
	begin, end, step size
	factor           float64
	gpus             positive // of a thread
	threads          positive // of a process
	types            *choice
	ops              *choice
	root             rank
	iters, warmup    count
	check, graph     count
	average, cpuTime count
}

// newSweep returns the sweep of no flags. Where nccl-tests runs one size, it is
// all that matter, and all GPUs where nccl-tests takes one.
func newSweep() sweep {
	return sweep{
		begin: 1 << 20, end: 8 << 30, factor: 2, iters: 20, warmup: 1, average: 1,
		types: &choice{value: "float", allowed: append(typeNames(), all)}, ops: &choice{value: "sum", allowed: append(redOps[:], all)},
	}
}

// flags gives a verb the flags of nccl-tests, by their names.
func (sw *sweep) flags(f *pflag.FlagSet) {
	f.VarP(&sw.begin, "minbytes", "b", "smallest `size`: 1MiB, or as nccl-tests takes it, 8 or 1M")
	f.VarP(&sw.end, "maxbytes", "e", "largest `size`")
	f.Float64VarP(&sw.factor, "stepfactor", "f", sw.factor, "`factor` from a size to the next")
	f.VarP(&sw.step, "stepbytes", "i", "`size` to add from a size to the next, in place of -f")
	f.VarP(&sw.gpus, "ngpus", "g", "`number` of GPUs of each node that take part (default all); more than one are of one process, unless --launch says otherwise")
	f.VarP(&sw.threads, "nthreads", "t", "`number` of threads of the process of a node, each with -g GPUs (1 unless given)")
	f.VarP(sw.types, "datatype", "d", "`type` of an element, such as half, or all")
	f.VarP(sw.ops, "op", "o", "`reduction`: "+strings.Join(redOps[:], ", ")+", or all")
	f.VarP(&sw.root, "root", "r", "`rank` of the root, or all")
	f.VarP(&sw.graph, "cudagraph", "G", "`launches` of a CUDA graph; above 0 it is --launch graph")
	f.VarP(&sw.iters, "iters", "n", "`runs` that are timed: all are alike, so it changes nothing")
	f.VarP(&sw.warmup, "warmup_iters", "w", "`runs` before those: changes nothing")
	f.VarP(&sw.check, "check", "c", "`runs` whose values are checked: there are none, so it changes nothing")
	f.VarP(&sw.average, "average", "a", "0 to 3, the `ranks` whose time is printed: the collective's, so it changes nothing")
	f.VarP(&sw.cpuTime, "report_cputime", "C", "`0`: the time of CPUs is not simulated")
}

// idle are the flags of nccl-tests that change nothing in a simulation.
var idle = []string{"iters", "warmup_iters", "check", "average"}

// idleNote says which flags were given and change nothing, if any.
func idleNote(f *pflag.FlagSet) []string {
	var given []string
	for _, name := range idle {
		if flag := f.Lookup(name); flag.Changed {
			given = append(given, "-"+flag.Shorthand)
		}
	}
	if given == nil {
		return nil
	}
	verb := "changes"
	if len(given) > 1 {
		verb = "change"
	}
	return []string{fmt.Sprintf("%s %s nothing here: a simulated run takes the same time again, on all ranks, and no values are checked", strings.Join(given, ", "), verb)}
}

// taken says which flags took part of a node's GPUs.
func (sw *sweep) taken() string {
	switch {
	case sw.threads == 0:
		return "-g"
	case sw.gpus == 0:
		return "-t"
	}
	return "-g x -t"
}

// perNode returns how many GPUs of a node take part, 0 for all.
func (sw *sweep) perNode() int {
	if sw.gpus == 0 && sw.threads == 0 {
		return 0
	}
	return max(int(sw.gpus), 1) * max(int(sw.threads), 1)
}

// mostSizes bounds the rows of a table, which somebody reads.
const mostSizes = 10_000

func (sw *sweep) checked(cmd *cobra.Command) error {
	f := cmd.Flags()
	switch {
	case sw.end <= 0:
		return usage(cmd, "-e: read %d bytes, expected a size above zero such as 8 or 1MiB", sw.end)
	case sw.begin <= 0:
		return usage(cmd, "-b: read %d bytes, expected a size above zero such as 8 or 1MiB", sw.begin)
	case sw.begin > sw.end:
		return usage(cmd, "-b %s is above -e %s: expected the smallest size first", sw.begin.String(), sw.end.String())
	case sim.Bytes(sw.end) > workloads.MaxBytes:
		return usage(cmd, "-e: read %s, expected at most %s", sw.end.String(), report.Size(workloads.MaxBytes))
	case f.Changed("stepbytes") && f.Changed("stepfactor"):
		return usage(cmd, "-i %s and -f %v: sizes grow by bytes or by a factor, expected one of them", sw.step.String(), sw.factor)
	case f.Changed("stepbytes") && sw.step <= 0:
		return usage(cmd, "-i: read %d bytes, expected a size above zero such as 1MiB", sw.step)
	case !(sw.factor > 1) || math.IsInf(sw.factor, 1):
		return usage(cmd, "-f: read %v, expected a factor above 1 such as 2", sw.factor)
	case f.Changed("average") && sw.average > 3:
		return usage(cmd, "-a: read %d, expected 0 (rank 0), 1 (mean), 2 (least) or 3 (most)", sw.average)
	case sw.cpuTime > 0:
		return usage(cmd, "-C %d: the time of CPUs is not simulated, expected 0", sw.cpuTime)
	case f.Changed("iters") && sw.iters < 1:
		return usage(cmd, "-n: read %d, expected at least 1", sw.iters)
	}
	if len(sw.sizes()) > mostSizes {
		return usage(cmd, "from -b %s to -e %s by %s there are more than %s sizes; expected a larger step, such as -f 2",
			sw.begin.String(), sw.end.String(), sw.stride(), report.Count(mostSizes))
	}
	return nil
}

// stride prints what leads from a size to the next.
func (sw *sweep) stride() string {
	if sw.step > 0 {
		return "-i " + sw.step.String()
	}
	return fmt.Sprintf("-f %v", sw.factor)
}

// sizes lists the sizes of the sweep, one more than mostSizes if there are more.
func (sw *sweep) sizes() []sim.Bytes {
	var all []sim.Bytes
	for s := sim.Bytes(sw.begin); len(all) <= mostSizes; {
		all = append(all, s)
		next := float64(s) * sw.factor
		if sw.step > 0 {
			next = float64(s + sim.Bytes(sw.step))
		}
		if next > float64(sw.end) {
			break
		}
		s = max(sim.Bytes(next), s+1)
	}
	return all
}

// size is the value of -b, -e and -i. Beside sizes with a unit it takes those
// of nccl-tests: bytes without one, and K, M, G for powers of 1024.
type size sim.Bytes

// String prints the size as Set takes it, or nothing for a flag not given.
func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strings.ReplaceAll(report.Size(sim.Bytes(*s)), " ", "")
}

// Type names the kind of value in help.
func (s *size) Type() string { return "size" }

// Set reads a size.
func (s *size) Set(text string) error {
	digits := strings.TrimRight(text, "kKmMgG")
	n, err := strconv.ParseInt(digits, 10, 64)
	if errors.Is(err, strconv.ErrRange) && len(text)-len(digits) <= 1 {
		return fmt.Errorf("read %q, expected a size below 8 EiB", text)
	}
	if err == nil && len(text)-len(digits) <= 1 {
		shift := 0
		if digits != text {
			shift = 10 * (1 + strings.Index("KMG", strings.ToUpper(text[len(digits):])))
		}
		if n<<shift>>shift != n {
			return fmt.Errorf("read %q, expected a size below 8 EiB", text)
		}
		*s = size(n << shift)
		return nil
	}
	b, err := sim.ParseBytes(text)
	*s = size(b)
	return err
}

// count is the value of a flag that takes a whole number of zero or more.
type count int

// String prints the number.
func (c *count) String() string { return strconv.Itoa(int(*c)) }

// Type names the kind of value in help.
func (c *count) Type() string { return "number" }

// Set reads the number.
func (c *count) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("read %q, expected a whole number of at least 0", s)
	}
	*c = count(n)
	return nil
}

// all is the word of nccl-tests for each type, reduction or root in turn.
const all = "all"

// rank is the value of -r: a rank, or all of them.
type rank struct {
	at    int
	every bool
}

// String prints the rank.
func (r *rank) String() string {
	if r.every {
		return all
	}
	return strconv.Itoa(r.at)
}

// Type names the kind of value in help.
func (r *rank) Type() string { return "rank" }

// Set reads a rank, or the word for all; -1 is all to nccl-tests.
func (r *rank) Set(s string) error {
	if s == all || s == "-1" {
		*r = rank{every: true}
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("read %q, expected a rank of 0 or more, or all", s)
	}
	*r = rank{at: int(n)}
	return nil
}
