package nccltests

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// tests are the programs of nccl-tests, by their names without _perf.
var tests = []string{
	"all_gather", "all_reduce", "alltoallv", "alltoall", "broadcast", "gather", "hypercube", "reduce_scatter", "reduce", "scatter", "sendrecv",
}

var (
	program    = regexp.MustCompile(`\b(` + strings.Join(tests, "|") + `)_perf\b`)
	parameters = regexp.MustCompile(`^#\s*nThreads?:? (\d+) nGpus:? (\d+) `)
	parameter  = regexp.MustCompile(`(warmup iters|iters|graph): ?(\d+)`)
	device     = regexp.MustCompile(`^#\s*Rank\s+(\d+)(?:\s+Group\s+\d+)?\s+Pid\s+(\d+)\s+on\s+(\S+)\s+device\s+(\d+)\s+\[([^\]]*)\]\s*(.*)$`)
	library    = regexp.MustCompile(`nccl-library=(\d+)`)
	banner     = regexp.MustCompile(`NCCL version (\d+\.\d+\.\d+)`)
	average    = regexp.MustCompile(`^#\s*Avg bus bandwidth\s*:\s*(\S+)`)
	bounds     = regexp.MustCompile(`^#\s*Out of bounds values\s*:\s*(\d+)`)
	launched   = regexp.MustCompile(`^# NCCL (\d+\.\d+\.\d+), launched (\S+)$`) // of weft
	weft       = regexp.MustCompile(`^# weft \S+: (\S+) on (.+), ([\d,]+) GPUs?, ([\d,]+) nodes?$`)
)

// stream is what one speaker has said so far.
type stream struct {
	open    []*Table // without their foot; more than one where processes mix
	op      string   // of a command line or a start line, for the next table
	lib     string
	columns layout
	half    *head // the beginning of a row that something cut off
	after   bool  // the foot of a table has been seen since its rows
}

// text reads the tables of printed logs.
type text struct {
	log     *Log
	streams map[string]*stream
}

func readText(content []byte) *Log {
	t := text{log: &Log{}, streams: map[string]*stream{}}
	n := 0
	for line := range bytes.Lines(content) {
		n++
		whole := bytes.HasSuffix(line, []byte("\n"))
		who, said := strip(string(line))
		s := t.streams[who]
		if s == nil {
			if len(t.streams) >= 1<<16 {
				t.log.Skipped++ // no job has as many ranks that print
				continue
			}
			s = &stream{}
			t.streams[who] = s
		}
		if !t.line(s, n, said, whole) {
			t.log.Skipped++
		}
	}
	return t.log
}

// line reads a line and reports whether it says something of a test.
func (t *text) line(s *stream, n int, said string, whole bool) bool {
	said = strings.TrimRight(said, " \t")
	if i := strings.Index(said, "# "); i > 0 && device.MatchString(said[i:]) {
		said = said[i:] // behind a prefix that is not known
	}
	if strings.HasPrefix(said, "#") {
		return t.comment(s, said)
	}
	if m := find(banner, said, "NCCL version"); m != nil {
		s.lib = m[1]
		if k := len(s.open); k > 0 && s.open[k-1].Library == "" {
			s.open[k-1].Library = m[1]
		}
		return true
	}
	if m := find(program, said, "_perf"); m != nil {
		s.op = m[1]
		return true
	}
	return t.row(s, n, said, whole)
}

// comment reads what nccl-tests print after #.
func (t *text) comment(s *stream, said string) bool {
	if columns, ok := readLayout(strings.Fields(said[1:])); ok {
		s.columns = columns
		if len(s.open) == 0 || s.after {
			t.begin(s)
		}
		return true
	}
	if m := weft.FindStringSubmatch(said); m != nil {
		table := t.begin(s)
		table.Op, table.System = m[1], m[2]
		table.Ranks, table.Hosts = count(m[3]), count(m[4])
		return true
	}
	if m := launched.FindStringSubmatch(said); m != nil && len(s.open) > 0 {
		table := s.open[len(s.open)-1]
		table.Library, table.Launch = m[1], m[2]
		return true
	}
	if m := parameters.FindStringSubmatch(said); m != nil {
		table := t.begin(s)
		table.Threads, table.GPUs = number(m[1]), number(m[2])
		for _, p := range parameter.FindAllStringSubmatch(said, -1) {
			switch p[1] {
			case "iters":
				table.Iterations = number(p[2])
			case "warmup iters":
				table.Warmup = number(p[2])
			case "graph":
				table.Graph = number(p[2])
			}
		}
		return true
	}
	if m := device.FindStringSubmatch(said); m != nil {
		if len(s.open) == 0 || s.after {
			t.begin(s)
		}
		table := s.open[len(s.open)-1]
		if len(table.Devices) < 1<<20 {
			table.Devices = append(table.Devices, Device{Rank: number(m[1]), Pid: number(m[2]), Host: m[3], Index: number(m[4]), Bus: m[5], Name: m[6]})
		}
		return true
	}
	if m := library.FindStringSubmatch(said); m != nil {
		s.lib = m[1]
	}
	if m := program.FindStringSubmatch(said); m != nil {
		if strings.Contains(said, "concluded") {
			t.conclude(s, m[1])
		} else {
			s.op = m[1]
		}
		return true
	}
	if strings.Contains(said, "cputime") || strings.Contains(said, "CPU time") {
		if k := len(s.open); k > 0 {
			s.open[k-1].HostTime = true
		}
	}
	return t.foot(s, said)
}

// foot reads the lines below a table.
func (t *text) foot(s *stream, said string) bool {
	bad, avg := bounds.FindStringSubmatch(said), average.FindStringSubmatch(said)
	if bad == nil && avg == nil && !strings.Contains(said, "Out of bounds values") {
		return strings.TrimSpace(said) == "#" || strings.Contains(said, "Using devices") || strings.Contains(said, "out-of-place") ||
			strings.Contains(said, "(us)") || strings.Contains(said, "nccl-tests version")
	}
	s.half = nil
	for _, table := range s.open {
		if len(table.Rows) == 0 || avg != nil && table.Average > 0 || avg == nil && table.Ended {
			continue
		}
		table.Ended = true
		if bad != nil {
			table.Bad = int64(number(bad[1]))
		}
		if avg != nil {
			if v, ok := quantity(avg[1], 1e9); ok {
				table.Average = sim.Rate(v * 1e9)
			}
		}
		break
	}
	s.after = !slices.ContainsFunc(s.open, func(o *Table) bool { return len(o.Rows) > 0 && !o.Ended })
	return true
}

// conclude takes the name of a test from its last line.
func (t *text) conclude(s *stream, op string) {
	for _, table := range s.open {
		if table.Op == "" {
			table.Op = op
		}
	}
	s.half = nil
	if s.after || len(s.open) < 2 {
		s.open, s.after = nil, false
	}
}

// begin opens a table. A second one before the first has rows means that
// several processes print at once.
func (t *text) begin(s *stream) *Table {
	if k := len(s.open); k > 0 {
		last := s.open[k-1]
		if len(last.Rows) == 0 && len(last.Devices) == 0 && last.Threads == 0 {
			return last // of the line before: a banner, then the parameters
		}
		if s.after || len(last.Rows) > 0 {
			s.open, s.after = nil, false
		}
	}
	s.half = nil
	table := &Table{Op: s.op, Settings: Settings{Library: s.lib}}
	if len(s.open) < 1024 {
		s.open = append(s.open, table)
		t.log.Tables = append(t.log.Tables, table)
	}
	return table
}

// row reads a line that may be a row, or half of one.
func (t *text) row(s *stream, n int, said string, whole bool) bool {
	f := strings.Fields(said)
	h, ok := readHead(f)
	if !ok {
		if s.half == nil || len(f) == 0 {
			return false
		}
		if out, in, taken := readRuns(f, s.columns); taken > 0 {
			h, s.half = *s.half, nil
			t.add(s, h.row, out, in)
			return true
		}
		return false
	}
	h.row.Line = n
	rest := h.root(f[h.fields:], s.columns)
	out, in, taken := readRuns(rest, s.columns)
	if taken == 0 {
		s.half = &h // NCCL_DEBUG prints between the head of a row and its figures
		if !whole {
			t.cut(s, n)
		}
		return true
	}
	s.half = nil
	if !whole && taken < len(rest) {
		t.cut(s, n)
	}
	t.add(s, h.row, out, in)
	return true
}

// cut notes that a file ends inside a row.
func (t *text) cut(s *stream, n int) {
	if k := len(s.open); k > 0 {
		s.open[k-1].Notes = append(s.open[k-1].Notes, fmt.Sprintf("the file ends inside a row (line %d)", n))
	}
}

// add puts a row into the table that it belongs to: where several processes
// print at once, the first that has not come as far.
func (t *text) add(s *stream, r Row, out, in Run) {
	if len(s.open) == 0 || s.after {
		if s.after {
			s.open, s.after = nil, false
		}
		t.begin(s)
	}
	table := s.open[0]
	if k := len(table.Rows); len(s.open) == 1 && k > 0 && r.Size < table.Rows[k-1].Size {
		// Sizes only grow: without a header between, this is another run.
		next := &Table{Op: s.op, Ranks: table.Ranks, Hosts: table.Hosts, Devices: table.Devices, Settings: table.Settings}
		t.log.Tables = append(t.log.Tables, next)
		s.open[0], table = next, next
	}
	if len(s.open) > 1 {
		for _, o := range s.open {
			if k := len(o.Rows); k == 0 || o.Rows[k-1].Size < r.Size {
				table = o
				break
			}
		}
	}
	if len(table.Rows) == 0 {
		table.Line = r.Line
		if table.Op == "" {
			table.Op = s.op
		}
	}
	r.Out, r.In = out, in
	if len(s.open) > 1 {
		table.Copies = len(s.open)
	}
	table.Rows = append(table.Rows, r)
}

// find is FindStringSubmatch for lines that hold a word.
func find(p *regexp.Regexp, line, word string) []string {
	if !strings.Contains(line, word) {
		return nil
	}
	return p.FindStringSubmatch(line)
}

// number reads digits that a pattern has found; what is too large is the
// largest.
func number(s string) int {
	n, _ := strconv.Atoi(s) // digits only: what is out of range is clamped
	return n
}

// count reads a number with commas between thousands.
func count(s string) int { return number(strings.ReplaceAll(s, ",", "")) }
