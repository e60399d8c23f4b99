package nccl

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/workloads"
)

// shared reads a file of the reference collection, which is not in the
// repository: WEFT_SHARED, or beside it.
func shared(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("WEFT_SHARED")
	if dir == "" {
		root, err := os.Getwd()
		require.NoError(t, err)
		for !exists(filepath.Join(root, "go.mod")) {
			root = filepath.Dir(root)
		}
		dir = filepath.Join(root, "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("the reference collection is not here: %v", err)
	}
	return string(text)
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// found is a result of NCCL 2.30.7's own search.
type found struct {
	topo                      string
	nodes, ranks, sm, compute int
	p2p, perPeer, cross       int
	Graphs
}

var (
	headLine  = regexp.MustCompile(`\{topo: (\w+), nodes: (\d+), ranks: (\d+), sm: (\d+), .*coll: (\d+), nvls: \d+, p2p: (\d+), p2pp: (\d+)`)
	graphLine = regexp.MustCompile(`(ring|tree|nvls): \{ch: (\d+), bwIntra: ([\d.]+), bwInter: ([\d.]+), typeIntra: (\w+), typeInter: (\w+), pattern: (\d+), crossNic: (\d+), same: (\d)`)
)

// searched returns the results of the search that the collection holds.
func searched(t *testing.T) map[string]*found {
	t.Helper()
	all := map[string]*found{}
	var at *found
	for line := range strings.Lines(shared(t, "reference/nccl-tuning.yaml")) {
		if h := headLine.FindStringSubmatch(line); h != nil {
			at = &found{topo: h[1], nodes: integer(t, h[2]), ranks: integer(t, h[3]), sm: integer(t, h[4]), compute: integer(t, h[5]), p2p: integer(t, h[6]), perPeer: integer(t, h[7])}
			all[h[1]+"/"+h[2]] = at
		}
		for _, f := range graphLine.FindAllStringSubmatch(line, -1) {
			intra, err := ParsePath(f[5])
			require.NoError(t, err)
			inter, err := ParsePath(f[6])
			require.NoError(t, err)
			g := Graph{
				Channels: integer(t, f[2]), Intra: decimal(t, f[3]), Inter: decimal(t, f[4]), TypeIntra: intra, TypeInter: inter,
				Pattern: Pattern(integer(t, f[7])), Same: f[9] == "1",
			}
			if f[1] == "ring" {
				at.cross = integer(t, f[8])
			}
			*map[string]*Graph{"ring": &at.Ring, "tree": &at.Tree, "nvls": &at.NVLS}[f[1]] = g
		}
	}
	require.NotEmpty(t, all)
	return all
}

// rows returns the lines of a table of the collection.
func rows(t *testing.T, key string) [][]string {
	t.Helper()
	_, rest, ok := strings.Cut(shared(t, "reference/nccl-tuning.yaml"), "\n"+key+": |\n")
	require.True(t, ok)
	var all [][]string
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "  ") {
			break
		}
		all = append(all, strings.Split(strings.TrimSpace(line), ","))
	}
	require.NotEmpty(t, all)
	return all
}

func integer(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}

func decimal(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return f
}

// cpuOf is the make of the CPUs of the collection's systems.
func cpuOf(topo string) CPU {
	switch {
	case topo == "dgxa100", strings.HasSuffix(topo, "_amd"), strings.HasPrefix(topo, "a100_"):
		return AMD
	case strings.HasPrefix(topo, "gb200"):
		return ARM
	}
	return Intel
}

// fabricOf describes those of the collection's systems that have NVSwitches:
// links and NICs are those of the real machines.
func fabricOf(f *found) (Fabric, bool) {
	links := map[int]int{70: 6, 80: 12, 90: 18, 100: 18, 103: 18}[f.sm]
	fab := Fabric{Nodes: f.nodes, GPUs: f.ranks / f.nodes, SM: f.sm, Links: links, Switched: true, NICPath: PIX, NearNIC: 2}
	fab.NICs = fab.GPUs
	switch {
	case f.topo == "dgx1v", f.topo == "a6000_4_bridge", strings.HasPrefix(f.topo, "pcie"):
		return fab, false
	case f.topo == "h100nvl_2_bridge":
		fab.Links, fab.Switched = 12, false
	case strings.HasSuffix(f.topo, "_1sw"):
		fab.NearNIC = 1
	case strings.HasPrefix(f.topo, "gb200"):
		fab.NICPath = P2C
	}
	switch {
	case f.sm == 70:
		fab.NICs, fab.NICRate = 8, min(12.5, SlotRate(3, 16))
	case f.sm == 80:
		fab.NICRate = min(25, SlotRate(4, 16))
	case f.sm == 103:
		fab.NICRate = min(100, SlotRate(6, 16))
	default:
		fab.NICRate = min(50, SlotRate(5, 16))
	}
	return fab, true
}

var collOf = map[string]workloads.Coll{
	"AllReduce": workloads.AllReduce, "AllGather": workloads.AllGather, "ReduceScatter": workloads.ReduceScatter,
	"Broadcast": workloads.Broadcast, "Reduce": workloads.Reduce,
}

// older are channels that were searched for older releases.
var older = map[string]Graphs{}

func searchedAt(t *testing.T, v Version, topo string, nodes int) Graphs {
	t.Helper()
	key := fmt.Sprint(v, topo, nodes)
	if g, ok := older[key]; ok {
		return g
	}
	b := rigs[topo]
	if b.socketRate == 22 && v.before(27) {
		b.socketRate = 10 // which did not know Sapphire Rapids
	}
	m := b.machine(t, nodes)
	c, err := Search(v, m, everyRank(m), b.platform(), Env{NetOverhead: -1, NoNetIntra: true})
	require.NoError(t, err)
	older[key] = c.Graphs
	return c.Graphs
}

// modelOf returns the model of a system of the collection under a release.
func modelOf(t *testing.T, all map[string]*found, version, topo, nodes string) *Model {
	t.Helper()
	f := all[topo+"/"+nodes]
	require.NotNil(t, f, "%s on %s nodes", topo, nodes)
	v, err := ParseVersion(version)
	require.NoError(t, err)
	s := Summary{Ranks: f.ranks, Nodes: f.nodes, SM: f.sm, CPU: cpuOf(topo), Graphs: f.Graphs}
	if v != Latest { // what NCCL found is of the last release
		s.Graphs = searchedAt(t, v, topo, f.nodes)
	}
	m, err := New(v, s, Env{NetOverhead: -1})
	require.NoError(t, err)
	return m
}

func find[T fmt.Stringer](t *testing.T, name string, of []T) T {
	t.Helper()
	for _, v := range of {
		if v.String() == name {
			return v
		}
	}
	t.Fatalf("no %s", name)
	panic("unreachable")
}

func every[T ~uint8](n int) []T {
	var all []T
	for i := range n {
		all = append(all, T(i))
	}
	return all
}

// channelsOf returns the GPUs of each channel of a graph file, by graph.
func channelsOf(t *testing.T, xml string) map[string][][]int32 {
	t.Helper()
	all := map[string][][]int32{}
	graph := ""
	id, dev := regexp.MustCompile(`<graph id="(\d+)"`), regexp.MustCompile(`<gpu dev="(?:0x)?([0-9a-f]+)"`)
	for line := range strings.Lines(xml) {
		if m := id.FindStringSubmatch(line); m != nil {
			graph = m[1]
		}
		if strings.Contains(line, "<channel>") {
			all[graph] = append(all[graph], nil)
		}
		if m := dev.FindStringSubmatch(line); m != nil {
			n, err := strconv.ParseInt(m[1], 16, 32)
			require.NoError(t, err)
			last := len(all[graph]) - 1
			all[graph][last] = append(all[graph][last], int32(n))
		}
	}
	return all
}
