package draw

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// rate writes a rate with three digits in GB/s or TB/s: "41.5 GB/s".
func rate(r sim.Rate) string {
	v, unit := float64(r)/1e9, " GB/s"
	switch {
	case v >= 10e3:
		v, unit = v/1e3, " TB/s"
	case v < 0.1:
		v, unit = v*1e3, " MB/s"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(max(v, 1e-9)))))
	return group(strconv.FormatFloat(v, 'f', min(digits, 3), 64)) + unit
}

// group puts commas between thousands.
func group(s string) string {
	whole, frac, dot := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dot {
		return whole + "." + frac
	}
	return whole
}

func count(n int) string { return group(strconv.Itoa(n)) }

// plural writes a number and what it counts.
func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "leaf"):
		return count(n) + " " + strings.TrimSuffix(what, "f") + "ves"
	case strings.HasSuffix(what, "ch"):
		return count(n) + " " + what + "es"
	case strings.HasSuffix(what, "memory"):
		return count(n) + " " + strings.TrimSuffix(what, "y") + "ies"
	}
	return count(n) + " " + what + "s"
}

// times writes a number of equal links: "18 × 41.5 GB/s".
func times(n int, r sim.Rate) string { return count(n) + " × " + rate(r) }

// ours are the names that weft's builders give to nodes, and what they are
// called in a picture.
var ours = []struct{ name, label string }{
	{"gpu", "GPU"}, {"nvswitch", "NVSwitch"}, {"nvspine", "NVSwitch"}, {"pcie-sw", "PCIe switch"},
	{"rc", "bridge"}, {"cpu", "CPU"}, {"mem", "memory"}, {"nic", "NIC"},
	{"leaf", "leaf"}, {"spine", "spine"}, {"core", "core"},
}

// label is what stands on a node: the name that its builder gave it, or that
// the user knows it by. In a thing that stands for its like, of many hosts, the
// host is left out.
func label(n topology.Node) string {
	name := strings.TrimPrefix(n.Name, fmt.Sprintf("n%d.", n.Host))
	for _, o := range ours {
		if unit, ok := strings.CutPrefix(name, o.name); ok {
			if _, err := strconv.Atoi(unit); err == nil {
				return o.label + " " + unit
			}
		}
	}
	return name
}

// short is the number on a chip that has no room for more.
func short(n topology.Node) string {
	l := label(n)
	if i := strings.LastIndexByte(l, ' '); i >= 0 {
		return l[i+1:]
	}
	return l
}

// advance is the width of a letter of a sans-serif font as part of its size,
// on the safe side.
const advance = 0.58

func textWidth(s string, size float64) float64 {
	n := 0
	for range s {
		n++
	}
	return float64(n) * size * advance
}

// fit cuts a text so that it fits a width.
func fit(s string, size, width float64) string {
	most := int(width / (size * advance))
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	if most < 2 {
		return ""
	}
	return string(r[:most-1]) + "…"
}

// wrap breaks a text into lines of so many letters, at its spaces but not at
// those that are not to be broken.
func wrap(s string, letters int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Split(s, " ") {
		if line != "" && len([]rune(line))+1+len([]rune(w)) > letters {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
