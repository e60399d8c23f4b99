package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/sim"
)

// Figure prints v with three significant digits and no exponent: "0.0123",
// "4.50", "123", "12300". Zero is "0".
func Figure(v float64) string {
	if v == 0 {
		return "0"
	}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return "-"
	}
	digits := int(math.Floor(math.Log10(math.Abs(v)))) + 1
	decimals := min(max(3-digits, 0), 12)
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	// Rounding may carry into a new digit: 9.996 is 10.0, not 10.00.
	if w := strings.TrimLeft(strings.ReplaceAll(strings.TrimPrefix(s, "-"), ".", ""), "0"); len(w) > 3 && decimals > 0 {
		s = strconv.FormatFloat(v, 'f', decimals-1, 64)
	}
	return s
}

// unit is a scale for a quantity: one of it is size base units.
type unit struct {
	size float64
	name string
}

var timeUnits = []unit{{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}}

// pick returns the largest unit in which v is at least one.
func pick(units []unit, v float64) unit {
	for _, u := range units {
		if math.Abs(v) >= u.size {
			return u
		}
	}
	return units[len(units)-1]
}

// Duration prints t with three significant digits and its unit: "12.3 ms".
func Duration(t sim.Time) string {
	if t == 0 {
		return "0 s"
	}
	u := pick(timeUnits, float64(t))
	return Figure(float64(t)/u.size) + " " + u.name
}

var (
	rateUnits = []unit{{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "KB/s"}, {1, "B/s"}}
	binaries  = []unit{{1 << 50, "PiB"}, {1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}
)

// Rate prints r with three significant digits and its unit: "450 GB/s".
func Rate(r sim.Rate) string {
	if r >= 1e12 && r < 1e13 { // links are compared in GB/s: 1800, not 1.80 TB/s
		return Figure(float64(r)/1e9) + " GB/s"
	}
	u := pick(rateUnits, float64(r))
	return Figure(float64(r)/u.size) + " " + u.name
}

// Size prints a size of whole bytes in binary units: whole if it is a multiple
// ("20 MiB"), else with three significant digits ("3.91 MiB"). Amounts of bytes
// are binary on every page, and rates decimal, as nccl-tests and data sheets
// have them.
func Size(b sim.Bytes) string {
	for _, u := range binaries {
		n := float64(b) / u.size
		if n >= 1 && n == math.Trunc(n) {
			return strconv.FormatFloat(n, 'f', 0, 64) + " " + u.name
		}
		if n >= 1 {
			break
		}
	}
	return Volume(float64(b))
}

// Volume prints an amount of bytes, which need not be whole, with three
// significant digits in binary units: "1.40 GiB".
func Volume(b float64) string {
	u := pick(binaries, b)
	if u.size == 1 {
		return strconv.FormatFloat(b, 'f', 0, 64) + " B"
	}
	return Figure(b/u.size) + " " + u.name
}

// Percent prints a share with one decimal: "12.3 %". What is above nothing and
// would print as nothing is "< 0.1 %".
func Percent(share float64) string {
	if share > 0 && share < 0.0005 {
		return "< 0.1 %"
	}
	return strconv.FormatFloat(share*100, 'f', 1, 64) + " %"
}

// Count prints n with commas between thousands, as read aloud.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// bar draws share as [Bar] does, in the characters that the terminal has.
func bar(t *term.Terminal, share float64, width int) string {
	if !t.ASCII {
		return t.Accent(Bar(share, width))
	}
	if !(share > 0) {
		return ""
	}
	return t.Accent(strings.Repeat("#", max(int(math.Round(min(share, 1)*float64(width))), 1)))
}

// eighths are the parts of a block, none to seven.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Bar draws share, of one, as a bar of at most width characters.
func Bar(share float64, width int) string {
	if !(share > 0) {
		return ""
	}
	n := int(math.Round(min(share, 1) * float64(width) * 8))
	if n == 0 {
		n = 1 // there, if barely
	}
	return strings.Repeat("█", n/8) + eighths[n%8]
}

// Plural returns "1 GPU", "8 GPUs".
func Plural(n int, noun string) string {
	s := Count(int64(n)) + " " + noun
	if n == 1 {
		return s
	}
	switch {
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "s"):
		return s + "es"
	case strings.HasSuffix(noun, "y"):
		return strings.TrimSuffix(s, "y") + "ies"
	}
	return s + "s"
}
