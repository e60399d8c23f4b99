package nccltests

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// types are the elements that nccl-tests and rccl-tests print.
var types = []string{
	"int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16",
	"fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2", "char", "int", "float16", "float32",
}

// head is the part of a row that is printed before the test of the size runs.
type head struct {
	row    Row
	fields int
}

// readHead reads size, count, type, and the operator and root where they are.
func readHead(f []string) (head, bool) {
	var h head
	if len(f) < 3 || !slices.Contains(types, f[2]) {
		return h, false
	}
	size, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil || size < 0 || size > 1<<50 {
		return h, false
	}
	count, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil || count < 0 || count > 1<<50 {
		return h, false
	}
	h.row = Row{Size: sim.Bytes(size), Count: count, Type: f[2], Root: -1}
	h.fields = 3
	if h.fields < len(f) && word(f[h.fields]) {
		h.row.RedOp = f[h.fields]
		h.fields++
	}
	return h, true
}

// word reports whether a field is a name such as "sum", which no number is.
func word(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' {
			return false
		}
	}
	return s != "" && s != "N/A" && !strings.EqualFold(s, "nan") && !strings.EqualFold(s, "inf")
}

// root takes the root off the fields after a head, if it is there.
func (h *head) root(rest []string, columns layout) []string {
	rooted := columns.root
	if columns.unknown() {
		// Groups have four columns, or eight with the spread of iterations.
		rooted = len(rest)%4 == 1
	}
	if !rooted || len(rest) == 0 {
		return rest
	}
	n, err := strconv.Atoi(rest[0])
	if err != nil || n < -1 || n > 1<<20 {
		return rest
	}
	h.row.Root, h.row.Rooted = n, true
	return rest[1:]
}

// layout is what the header of a table says of its columns. The zero value is
// not known.
type layout struct {
	read      bool
	root      bool
	deviation bool // the column after busbw is the largest error
	group     int  // columns of a half: 4, or 8 with the spread of iterations
}

func (l layout) unknown() bool { return !l.read }

// readLayout reads the line of the names of columns.
func readLayout(f []string) (layout, bool) {
	if !slices.Contains(f, "size") || !slices.Contains(f, "algbw") || !slices.Contains(f, "busbw") {
		return layout{}, false
	}
	l := layout{read: true, root: slices.Contains(f, "root"), deviation: slices.Contains(f, "error"), group: 4}
	if slices.Contains(f, "i_min") {
		l.group = 8
	}
	return l, true
}

// readRuns reads one half or two. It reports how many fields it took; a half
// that is not whole is not taken.
func readRuns(rest []string, columns layout) (out, in Run, taken int) {
	group := columns.group
	if group == 0 {
		group = 4
		if n := len(rest); n == 8 && spread(rest) || n == 16 {
			group = 8
		}
	}
	for i, run := range [...]*Run{&out, &in} {
		if len(rest) < (i+1)*group {
			break
		}
		got, ok := readRun(rest[i*group:], columns)
		if !ok {
			break
		}
		*run = got
		taken += group
	}
	return out, in, taken
}

// spread reports whether eight fields are one half with the spread of its
// iterations: the fifth is a time about as long as the first, where else it
// would be the time of the other half. What tells is the last, in per cent
// with a sign, or without a header nothing does.
func spread(f []string) bool { return strings.HasSuffix(f[7], "%") }

// readRun reads time, algbw, busbw and the wrong values.
func readRun(f []string, columns layout) (Run, bool) {
	var r Run
	us, ok := quantity(f[0], 1e12)
	if !ok {
		return r, false
	}
	alg, ok := quantity(f[1], 1e9)
	if !ok {
		return r, false
	}
	bus, ok := quantity(f[2], 1e9)
	if !ok {
		return r, false
	}
	r.Time = sim.Time(math.Round(us * float64(sim.Microsecond)))
	r.AlgBW, r.BusBW = sim.Rate(alg*1e9), sim.Rate(bus*1e9)
	if f[3] == "N/A" {
		return r, true
	}
	v, err := strconv.ParseFloat(f[3], 64)
	if err != nil || math.IsNaN(v) || v < 0 {
		return r, false
	}
	switch {
	case columns.deviation || v != math.Trunc(v):
		r.Deviation = v
	case v > 1<<60:
		return r, false
	default:
		r.Wrong, r.Checked = int64(v), true
	}
	return r, true
}

// quantity reads a number from zero to most.
func quantity(s string, most float64) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && v >= 0 && v <= most
}
