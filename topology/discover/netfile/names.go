package netfile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/topology"
)

// prefixes tell the kind of a node by how its name begins, behind the last
// dot. The first that fits counts, so longer ones stand before shorter.
var prefixes = []struct {
	prefix string
	kind   topology.NodeKind
}{
	{"gpu", topology.GPU},
	{"nvswitch", topology.NVSwitch},
	{"pcie-sw", topology.PCIeSwitch},
	{"rc", topology.RootComplex},
	{"cpu", topology.Socket},
	{"mem", topology.HostMemory},
	{"nic", topology.NIC},
	{"mlx5_", topology.NIC},
	{"leaf", topology.Switch},
	{"spine", topology.Switch},
	{"core", topology.Switch},
	{"tor", topology.Switch},
	{"agg", topology.Switch},
	{"switch", topology.Switch},
	{"sw", topology.Switch},
}

// prefixList names them for a message.
func prefixList() string {
	var s []string
	for _, p := range prefixes {
		s = append(s, p.prefix)
	}
	return strings.Join(s, ", ")
}

func prefixWords() []string {
	var s []string
	for _, p := range prefixes {
		s = append(s, p.prefix)
	}
	return s
}

// kindOf tells the kind of a node by its name, and its number.
func kindOf(name string) (kind topology.NodeKind, unit int32, ok bool) {
	own := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	for _, p := range prefixes {
		rest, found := strings.CutPrefix(own, p.prefix)
		if !found {
			continue
		}
		if rest != "" && !isDigits(rest) && p.kind != topology.Switch {
			continue // "gpus", "nick": words, not numbers
		}
		n, _ := strconv.ParseInt(rest, 10, 32)
		return p.kind, int32(n), true
	}
	return 0, 0, false
}

// hostPrefix returns what goes before the names of a node's host: "n0." of
// "n0.gpu3", "" without a dot.
func hostPrefix(name string) string { return name[:strings.LastIndexByte(name, '.')+1] }

// natural compares names as people count: n2 before n10.
func natural(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			x, y := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if len(x) != len(y) {
				return len(x) - len(y)
			}
			if c := strings.Compare(x, y); c != 0 {
				return c
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// byName is the server of a node until numberHosts tells it by its name.
const byName = -2

// numberHosts numbers the servers of the nodes that are told by name: n7 is 7
// where all are of that form, otherwise in the order in which people count. A
// network switch belongs to none.
func numberHosts(g *topology.Graph) {
	var prefixes []string
	seen := make(map[string]int32)
	numbers := true
	for _, n := range g.Nodes {
		if n.Host != byName || n.Kind == topology.Switch {
			continue
		}
		prefix := hostPrefix(n.Name)
		if _, ok := seen[prefix]; ok {
			continue
		}
		k, ok := hostNumber(prefix)
		numbers = numbers && ok
		seen[prefix] = k
		prefixes = append(prefixes, prefix)
	}
	if !numbers {
		slices.SortFunc(prefixes, natural)
		for i, prefix := range prefixes {
			seen[prefix] = int32(i)
		}
	}
	for i := range g.Nodes {
		switch n := &g.Nodes[i]; {
		case n.Host != byName:
		case n.Kind == topology.Switch:
			n.Host = -1
		default:
			n.Host = seen[hostPrefix(n.Name)]
		}
	}
}

// hostNumber returns k of "n<k>.", the form in which weft names servers.
func hostNumber(prefix string) (int32, bool) {
	inner, ok := strings.CutPrefix(strings.TrimSuffix(prefix, "."), "n")
	if !ok || !isDigits(inner) || len(inner) > 1 && inner[0] == '0' {
		return 0, false
	}
	k, err := strconv.ParseInt(inner, 10, 32)
	return int32(k), err == nil
}
