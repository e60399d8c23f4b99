package nccl

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	calibrateNet = flag.Bool("calibrate-net", false, "fit the costs of steps across the network, print and write them")
	leaveNet     = flag.String("leave-net", "", "with -calibrate-net: fit without the tables of that prefix, and write nothing")
)

// knob is a constant under fit.
type knob struct {
	name     string
	at       *float64
	low, top float64
}

func protocolKnobs(name string, v *[protocols]float64, low, top float64) []knob {
	var all []knob
	for p := range protocols {
		all = append(all, knob{fmt.Sprintf("%s[%v]", name, Protocol(p)), &v[p], low, top})
	}
	return all
}

func netKnobs(g Generation) []knob {
	k := &netCosts[g]
	all := protocolKnobs(g.String()+".Step", &k.Step, 0.2, 30)
	all = append(all, protocolKnobs(g.String()+".Post", &k.Post, 0.2, 20)...)
	all = append(all, protocolKnobs(g.String()+".Child", &k.Child, 0.2, 60)...)
	all = append(all, protocolKnobs(g.String()+".Ring", &k.Ring, 3, 40)...)
	all[len(all)-1].low = 16 // Simple: four NICs of 200 Gbit/s are full with eight channels
	least := 5.5
	if g == Hopper { // all-reduces of 256 MiB over two A3 Mega: 114 GB/s in 16 channels
		least = 7.5
	}
	all = append(all, protocolKnobs(g.String()+".Tree", &k.Tree, least, 40)...)
	return all
}

func nvlsTreeKnobs(g Generation) []knob {
	n := &netCosts[g].NVLSTree
	return []knob{
		{g.String() + ".NVLSTree.Step", &n.Step, 5, 60}, {g.String() + ".NVLSTree.Pair", &n.Pair, 5, 40}, {g.String() + ".NVLSTree.Many", &n.Many, 5, 40},
		{g.String() + ".NVLSTree.Fill", &n.Fill, 0, 6}, {g.String() + ".NVLSTree.Level", &n.Level, 0, 6},
	}
}

func pluginKnobs(net string, v *[4]float64) []knob {
	return []knob{{net + ".Base", &v[0], 0.01, 1000}, {net + ".Step", &v[1], 0.01, 200}, {net + ".Post", &v[2], 0.01, 200}, {net + ".Rate", &v[3], 0.7, 1}}
}

// misfit is the mean of |log(predicted / measured)| over classes of size of
// series, each of which counts the same.
func misfit(rows []netRow) float64 {
	var sum, weight float64
	for _, r := range rows {
		var class [3]struct{ sum, n float64 }
		for i, e := range r.errors() {
			at := &class[sizeClass(r.s[i].size)]
			at.sum += math.Abs(math.Log(1 + e))
			at.n++
		}
		for _, c := range class {
			if c.n > 0 {
				sum += r.c.weight() * c.sum / c.n
				weight += r.c.weight()
			}
		}
	}
	return sum / weight
}

// stiffness is what moving a constant by a factor of e from where it began
// must win in misfit: what the tables do not tell stays where it was.
const stiffness = 0.002

// fit moves the knobs, by logarithms and a few at a time at random, by ever
// smaller steps, to the least misfit.
func fit(rows []netRow, knobs []knob) {
	const moves = 12000
	random := rand.New(rand.NewPCG(1, 2))
	at, begin := make([]float64, len(knobs)), make([]float64, len(knobs))
	for i, k := range knobs {
		*k.at = min(max(*k.at, k.low), k.top)
		at[i], begin[i] = *k.at, *k.at
	}
	cost := func() float64 {
		c := misfit(rows)
		for i, k := range knobs {
			c += stiffness * math.Abs(math.Log(*k.at/begin[i]))
		}
		return c
	}
	best := cost()
	for n := range moves {
		step := math.Pow(0.01, float64(n)/moves)
		for range 1 + random.IntN(3) {
			k := knobs[random.IntN(len(knobs))]
			*k.at = min(max(*k.at*math.Exp(step*random.NormFloat64()), k.low), k.top)
		}
		if c := cost(); c < best {
			best = c
			for i, k := range knobs {
				at[i] = *k.at
			}
		}
		for i, k := range knobs {
			*k.at = at[i]
		}
	}
}

func TestCalibrateNet(t *testing.T) {
	if !*calibrateNet {
		t.Skip("without -calibrate-net")
	}
	rows := netRows(t)
	of := func(use func(c netCase) bool) (all []netRow) {
		for _, r := range rows {
			if use(r.c) && r.c.weight() > 0 && (*leaveNet == "" || !strings.HasPrefix(r.c.file, *leaveNet)) {
				all = append(all, r)
			}
		}
		return all
	}
	netCosts[Hopper] = NetCosts{
		Step: [3]float64{4, 8, 8}, Post: [3]float64{2.4, 4.5, 10}, Child: [3]float64{5, 6, 6}, Ring: [3]float64{20, 20, 22}, Tree: [3]float64{8, 8, 11},
		NVLSTree: NVLSTreeCosts{Step: 25, Pair: 15.6, Many: 10.9, Fill: 1.3, Level: .7},
	}
	var knobs []knob
	stage := func(name string, use func(c netCase) bool, k ...knob) {
		list := of(use)
		before := misfit(list)
		fit(list, k)
		t.Logf("%s: %d series, misfit %.4f -> %.4f", name, len(list), before, misfit(list))
		knobs = append(knobs, k...)
	}
	plain := func(g Generation) func(netCase) bool {
		return func(c netCase) bool { return !c.cloud && GenerationOf(c.fabric.SM) == g }
	}
	plugins := map[string]*[4]float64{} // base, step, post in us, rate
	for _, name := range []string{"efa-p4", "efa-p5", "efa-p6", "tcpx", "tcpxo"} {
		plugins[name] = &[4]float64{1, 1, 1, 1}
	}
	plugged = func(net string) Plugin {
		v := plugins[net]
		if v == nil {
			return netWires[net].plugin
		}
		return Plugin{Base: micros(v[0]), Step: micros(v[1]), Post: micros(v[2]), Rate: v[3]}
	}
	stage("Hopper", plain(Hopper), append(netKnobs(Hopper), nvlsTreeKnobs(Hopper)...)...)
	netCosts[Ampere] = netCosts[Hopper]
	stage("Ampere", plain(Ampere), netKnobs(Ampere)...)
	netCosts[Blackwell] = netCosts[Hopper]
	six, b := plugins["efa-p6"], &netCosts[Blackwell]
	// Its all-reduces are of a tuner's choice that is not NCCL's: they do not
	// tell what trees cost.
	blackwell := []knob{
		{"Blackwell.Step[LL]", &b.Step[LL], 0.2, 30}, {"Blackwell.Step[LL128]", &b.Step[LL128], 0.2, 15}, {"Blackwell.Step[Simple]", &b.Step[Simple], 0.2, 20},
		{"Blackwell.Post[LL]", &b.Post[LL], 0.2, 20}, {"Blackwell.Post[LL128]", &b.Post[LL128], 0.2, 20}, {"Blackwell.Post[Simple]", &b.Post[Simple], 0.2, 20},
		{"Blackwell.Ring[Simple]", &b.Ring[Simple], 16, 40},
	}
	stage("Blackwell", func(c netCase) bool { return GenerationOf(c.fabric.SM) == Blackwell }, append(blackwell, pluginKnobs("efa-p6", six)[1:3]...)...)
	netCosts[Volta] = netCosts[Ampere]
	stage("Volta", plain(Volta), knob{"Volta.Tree[Simple]", &netCosts[Volta].Tree[Simple], 1, 40}, knob{"Volta.Ring[Simple]", &netCosts[Volta].Ring[Simple], 1, 40})
	netCosts[Pascal] = netCosts[Volta]
	stage("Pascal", plain(Pascal), netKnobs(Pascal)...)
	for _, net := range []string{"efa-p4", "efa-p5", "tcpx", "tcpxo"} {
		stage(net, func(c netCase) bool { return c.net == net }, pluginKnobs(net, plugins[net])...)
	}
	for _, k := range knobs {
		t.Logf("%-28s %.4g", k.name, *k.at)
	}
	residuals(t, rows)
	if *leaveNet == "" {
		writeNetCosts(t)
	}
}

// writeNetCosts writes the fitted table.
func writeNetCosts(t *testing.T) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("package nccl\n\n// Written by: go test -run TestCalibrateNet -calibrate-net ./workloads/collective/nccl\n\n")
	b.WriteString(netSources + "var netCosts = [generations]NetCosts{\n")
	list := func(v [protocols]float64) string {
		return fmt.Sprintf("[3]float64{%.3g, %.3g, %.3g}", v[0], v[1], v[2])
	}
	for g := range Generation(generations) {
		k := &netCosts[g]
		n := &k.NVLSTree
		fmt.Fprintf(&b, "\t%v: {\n\t\tStep: %s, Post: %s, Child: %s,\n\t\tRing: %s, Tree: %s,\n", g, list(k.Step), list(k.Post), list(k.Child), list(k.Ring), list(k.Tree))
		fmt.Fprintf(&b, "\t\tNVLSTree: NVLSTreeCosts{Step: %.3g, Pair: %.4g, Many: %.4g, Fill: %.3g, Level: %.3g},\n\t},\n", n.Step, n.Pair, n.Many, n.Fill, n.Level)
	}
	b.WriteString("}\n")
	require.NoError(t, os.WriteFile("costs_net_table.go", b.Bytes(), 0o644))
}

const netSources = `// netCosts are fitted, status measured: Hopper on two to ten nodes of H100 with
// NDR InfiniBand and RoCE (NVIDIA/nccl-tests issue 309, xxrjun/nccl-tests-cluster,
// oci-hpc, cluster-toolkit), Ampere on two to sixteen of A100 with HDR (deepops,
// NVIDIA/nccl issue 812, NVIDIA/nccl-tests issue 150), Blackwell on two B200
// (dranet), Volta on two nodes of V100 (deepops, Azure's machine-learning
// guide), Pascal on two to eight of P100 with EDR (uuudown/Tartan). What a
// generation's tables do not tell is that of the one before it in this list.
`
