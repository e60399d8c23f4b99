package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/topology/discover"
)

// gpuNamed returns the name of the catalogue's GPU that a person ("h100",
// "4090") or a driver ("NVIDIA H100 80GB HBM3") means, or "". What tells the
// model must all be in the word; form and memory decide between parts of one
// model, SXM before cards where nothing is said.
func gpuNamed(cat *catalog.Catalog, word string) string {
	have := strings.FieldsFunc(strings.ToLower(word), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	best, most := "", 0
	for _, name := range cat.GPUs() {
		if name == strings.ToLower(word) {
			return name
		}
		if score := alike(strings.Split(name, "-"), have); score > most {
			best, most = name, score
		}
	}
	return best
}

// alike scores a name of the catalogue, 0 if it is another model.
func alike(parts, have []string) int {
	hasForm := slices.ContainsFunc(have, func(h string) bool { return form(h) != "" })
	hasMemory := slices.ContainsFunc(have, isMemory)
	score := 100
	for _, p := range parts {
		switch f := form(p); {
		case f != "":
			switch {
			case slices.Contains(have, p):
				score += 5
			case slices.ContainsFunc(have, func(h string) bool { return form(h) == f }):
				score += 4
			case f == "sxm" && hasForm:
				score -= 8
			case f != "sxm":
				score -= 4
			}
		case isMemory(p):
			if slices.Contains(have, p) {
				score += 2
			} else if hasMemory {
				score--
			}
		case p == "rtx": // people leave it out
		case !slices.Contains(have, p):
			return 0
		default:
			score += 10
		}
	}
	return score
}

// model returns what of a GPU's name tells its model.
func model(name string) string {
	parts := slices.DeleteFunc(strings.Split(name, "-"), func(p string) bool { return form(p) != "" || isMemory(p) })
	return strings.Join(parts, "-")
}

// form returns which of the shapes of a model a part of its name tells.
func form(part string) string {
	for _, f := range []string{"sxm", "pcie", "nvl", "station", "server"} {
		if strings.HasPrefix(part, f) {
			return f
		}
	}
	return ""
}

func isMemory(part string) bool {
	digits, ok := strings.CutSuffix(part, "gb")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// bySM lists the GPUs of a compute capability (times 10, as NCCL writes it).
// C2C is those that hang from their CPU by a chip-to-chip link, Bridged those
// that NVLink joins in pairs.
var bySM = map[int]struct{ plain, c2c, bridged []string }{
	60:  {plain: []string{"p100-sxm2-16gb"}},
	70:  {plain: []string{"v100-sxm2-32gb"}},
	80:  {plain: []string{"a100-sxm4-80gb"}, bridged: []string{"a100-pcie-80gb"}},
	86:  {plain: []string{"a40", "rtx-a6000", "rtx-3090", "a10"}},
	89:  {plain: []string{"l40s", "l4", "rtx-4090", "rtx-6000-ada"}},
	90:  {plain: []string{"h100-sxm5-80gb"}, c2c: []string{"gh200-96gb"}, bridged: []string{"h100-nvl-94gb"}},
	100: {plain: []string{"b200-sxm6-180gb"}, c2c: []string{"gb200"}},
	103: {plain: []string{"b300-sxm6-288gb"}, c2c: []string{"gb300"}},
	120: {plain: []string{"rtx-5090", "rtx-pro-6000-server"}},
	121: {plain: []string{"gb10"}},
}

// kindOf returns the kinds of GPU that a dump's GPU can be: one if the dump
// tells, more or none if it does not.
func kindOf(cat *catalog.Catalog, h *discover.Host, g *discover.GPU) (kinds []string, why string) {
	switch {
	case g.Name != "":
		if name := gpuNamed(cat, g.Name); name != "" {
			return []string{name}, fmt.Sprintf("the GPU %q", g.Name)
		}
		return nil, fmt.Sprintf("the GPU %q", g.Name)
	case g.GFX != "":
		gfx := "gfx" + strings.TrimPrefix(g.GFX, "gfx")
		if gfx == "gfx942" {
			return []string{"mi325x"}, "an AMD " + gfx
		}
		return nil, "an AMD " + gfx
	}
	if k, ok := bySM[g.SM]; ok {
		why = fmt.Sprintf("a GPU of compute capability %d.%d", g.SM/10, g.SM%10)
		c2c, peers, switched := false, map[int]bool{}, false
		for _, l := range g.Links {
			c2c = c2c || l.Kind == discover.C2C
			switched = switched || l.Switch
			if l.Kind != discover.C2C && l.Peer >= 0 {
				peers[l.Peer] = true
			}
		}
		switch {
		case c2c && k.c2c != nil:
			return k.c2c, why + " on a chip-to-chip link"
		case !switched && len(peers) == 1 && len(h.GPUs) > 2 && k.bridged != nil:
			return k.bridged, why + " that NVLink joins to one other"
		case !h.Partial && k.bridged != nil && !slices.ContainsFunc(h.GPUs, func(g discover.GPU) bool { return g.NVLinks() > 0 }):
			return k.bridged, why + " without NVLink"
		}
		return k.plain, why
	}
	return nil, ""
}

// cpuOf returns the CPU of the catalogue that a dump's NUMA node is part of,
// or "". NCCL writes families as CPUID has them, base and extension added
// (AMD's Zen 2 is 143), hwloc as vendors count them (23).
func cpuOf(c *discover.CPU, gpu *catalog.GPU) string {
	intel := map[int]string{
		79: "xeon-e5-v4", 86: "xeon-e5-v4", 85: "xeon-sp2", 106: "xeon-sp3", 108: "xeon-sp3",
		143: "xeon-sp4", 207: "xeon-sp5", 173: "xeon-6700p",
	}
	switch {
	case strings.Contains(c.Arch, "arm") || strings.Contains(c.Arch, "aarch64"):
		switch {
		case gpu.Name == "gb10":
			return "gb10-cpu"
		case gpu.Arch == "rubin":
			return "vera"
		case gpu.C2C != "":
			return "grace"
		}
	case c.Vendor == "GenuineIntel" && c.Family == 6:
		return intel[c.Model]
	case c.Vendor == "AuthenticAMD":
		switch {
		case c.Family == 143 || c.Family == 23:
			return "epyc-rome"
		case (c.Family == 175 || c.Family == 25) && c.Model >= 16:
			return "epyc-genoa"
		case c.Family == 175 || c.Family == 25:
			return "epyc-milan"
		case c.Family == 191 || c.Family == 26:
			return "epyc-turin"
		}
	}
	return ""
}
