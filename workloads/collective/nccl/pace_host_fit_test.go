package nccl

import (
	"flag"
	"fmt"
	"go/format"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

var (
	calibrateHost = flag.Bool("calibrate-host", false, "fit the costs over PCIe and of sends and receives to the reference collection and write them")
	showHost      = flag.String("show-host", "", "print the points of tables whose name contains this")
)

type pairSeries struct {
	c    pairCase
	m    *Model
	rows []pairRow
}

func pairAll(t *testing.T) []pairSeries {
	var all []pairSeries
	for _, c := range pairCases() {
		all = append(all, pairSeries{c, c.model(t), c.samples(t)})
	}
	return all
}

func pairClass(s sim.Bytes) int {
	switch {
	case s < sim.MiB:
		return 0
	case s < 64*sim.MiB:
		return 1
	}
	return 2
}

func pairQuantile(v []float64, w []float64, q float64) float64 {
	order := make([]int, len(v))
	total := 0.
	for i := range v {
		order[i] = i
		total += w[i]
	}
	slices.SortFunc(order, func(a, b int) int {
		if v[a] < v[b] {
			return -1
		}
		return 1
	})
	at := 0.
	for _, i := range order {
		if at += w[i]; at >= q*total-1e-12 {
			return v[i]
		}
	}
	return math.NaN()
}

// TestHostResiduals prints, for each series, the median and the 90th percentile
// of the error and its bias in per cent, small | medium | large.
func TestHostResiduals(t *testing.T) {
	all := pairAll(t)
	if *calibrateHost {
		pairFit(t, all)
	}
	type pool struct{ abs, signed, w []float64 }
	kinds := map[string]*[3]pool{"pcie": {}, "node": {}, "multi": {}}
	for _, s := range all {
		var cl [3]pool
		for _, r := range s.rows {
			p := s.c.closed(s.m, r.size)
			e := 100 * (p/r.us - 1)
			at := &cl[pairClass(r.size)]
			at.abs, at.signed, at.w = append(at.abs, math.Abs(e)), append(at.signed, e), append(at.w, 1)
			if *showHost != "" && strings.Contains(s.c.file, *showHost) {
				t.Logf("   %s %d: %12d measured %10.1f weft %10.1f %+5.0f %%", s.c.op, s.c.ranks, r.size, r.us, p, e)
			}
		}
		line := fmt.Sprintf("%-6s%-44s %-14s %3d", s.c.kind, s.c.file, s.c.op, s.c.ranks)
		for i := range cl {
			if len(cl[i].abs) == 0 {
				line += " |       -     "
				continue
			}
			line += fmt.Sprintf(" | %3.0f %3.0f %+4.0f", pairQuantile(cl[i].abs, cl[i].w, .5), pairQuantile(cl[i].abs, cl[i].w, .9), pairQuantile(cl[i].signed, cl[i].w, .5))
			if s.c.skip {
				continue
			}
			k := &kinds[s.c.kind][i]
			for j := range cl[i].abs {
				k.abs, k.signed, k.w = append(k.abs, cl[i].abs[j]), append(k.signed, cl[i].signed[j]), append(k.w, 1/float64(len(cl[i].abs)))
			}
		}
		t.Log(line)
	}
	for _, kind := range []string{"pcie", "node", "multi"} {
		line := fmt.Sprintf("%-6s", kind)
		for _, k := range kinds[kind] {
			line += fmt.Sprintf(" | %.0f/%.0f %+.0f", pairQuantile(k.abs, k.w, .5), pairQuantile(k.abs, k.w, .9), pairQuantile(k.signed, k.w, .5))
		}
		t.Log(line)
	}
}

// pairLoss is the mean over series and classes of how far off times are, in
// the logarithm.
func pairLoss(all []pairSeries) float64 {
	var sum, weight float64
	for _, s := range all {
		if s.c.skip {
			continue
		}
		var l, n [3]float64
		for _, r := range s.rows {
			c := pairClass(r.size)
			e := math.Log(s.c.closed(s.m, r.size) / r.us)
			l[c] += math.Sqrt(e*e+1e-4) - 1e-2
			n[c]++
		}
		for c := range l {
			if n[c] > 0 {
				w := [3]float64{1, 1.5, 3}[c] // as the bars are tighter
				sum, weight = sum+w*l[c]/n[c], weight+w
			}
		}
	}
	return sum / weight
}

// pairParameter is a number that is fitted, within what it may mean.
type pairParameter struct {
	at       *float64
	low, top float64
}

// pairFit fits each generation to its own tables, and what proxies and NICs
// take to all.
func pairFit(t *testing.T, all []pairSeries) {
	for g := range Generation(generations) {
		var of []pairSeries
		kinds := map[string]bool{}
		for _, s := range all {
			if GenerationOf(s.c.sm) == g && s.c.kind != "multi" {
				of = append(of, s)
				kinds[s.c.kind] = true
			}
		}
		h, k := &hostCostsOf[g], &peerCosts[g]
		var x []pairParameter
		leastStaged := 10.
		if g >= Ampere {
			leastStaged = 24 // 4 A100 by way of host memory, microsoft/vidur 7d47513363
		}
		if kinds["pcie"] {
			x = append(x, pairParameter{&h.Start[LL], 2, 12}, pairParameter{&h.Start[Simple], 4, 20}, pairParameter{&h.Peer[LL], 4, 15}, pairParameter{&h.Peer[Simple], 5, 25},
				pairParameter{&h.Step[LL], .2, 3}, pairParameter{&h.Step[Simple], .5, 10}, pairParameter{&h.StagedStep[LL], .2, 3}, pairParameter{&h.StagedStep[Simple], .5, 10},
				pairParameter{&h.CTA[LL], 2, 20}, pairParameter{&h.CTA[Simple], 4, 20}, pairParameter{&h.Staged, leastStaged, 60}, pairParameter{&h.Direct, 10, 60},
				pairParameter{&h.Own, 10, 100}, pairParameter{&h.Jitter, .2, 5})
		}
		if kinds["node"] {
			x = append(x, pairParameter{&k.Start[LL], 4, 15}, pairParameter{&k.Start[Simple], 5, 20}, pairParameter{&k.CTA[LL], 5, 30}, pairParameter{&k.CTA[Simple], mostCTA[g] * .95, mostCTA[g]},
				pairParameter{&k.Own, .01, .5}, pairParameter{&k.Drain, .2, 1}, pairParameter{&k.OneWay, 1, 2}, pairParameter{&k.Uneven[0], .01, .3}, pairParameter{&k.Uneven[1], .01, .3})
			if k.Block > 0 {
				x = append(x, pairParameter{&k.Block, .01, 1})
			}
		}
		if len(x) > 0 {
			pairSearch(t, g.String(), of, x)
		}
	}
	var of []pairSeries
	for _, s := range all {
		if s.c.kind == "multi" {
			of = append(of, s)
		}
	}
	n := &peerNet
	// Kernels other than NCCL's have 48.5 GB/s of such NICs between 16 H100
	// (microsoft/mscclpp 1f5f065d), NCCL's 44.8 to 46.9: all is taken as the former.
	pairSearch(t, "network", of, []pairParameter{{&n.Start, 5, 30}, {&n.CTA, 10, 40}, {&n.NIC, .975, 1}, {&n.Pair, .6, 1}, {&n.Fill, .2, 5}})
	// What no table tells is taken over from the generation next to it.
	hostCostsOf[Pascal], hostCostsOf[Hopper] = hostCostsOf[Volta], hostCostsOf[Blackwell]
	pairWrite(t)
}

// mostCTA is what a thread block sends at most, and all but a little of it: sends
// and receives of one peer over a known number of channels (10 to 12 on A100, 19
// to 20.5 on H100), and what alltoall has of two GPUs on Blackwell.
var mostCTA = [generations]float64{10, 11, 11.9, 20.5, 22}

// pairWrite writes the costs.
func pairWrite(t *testing.T) {
	var b strings.Builder
	b.WriteString("package nccl\n\n// Fitted: go test -run TestHostResiduals -calibrate-host ./workloads/collective/nccl. Of\n" +
		"// Pascal over PCIe Volta is taken, and of Hopper Blackwell; sends and receives of\n" +
		"// Pascal and Volta over NVLink are assumed, between Ampere and what rings have.\n\nvar hostCostsOf = [generations]HostCosts{\n")
	three := func(v [protocols]float64) string {
		return fmt.Sprintf("[3]float64{LL: %.3g, Simple: %.3g}", v[LL], v[Simple])
	}
	for g := range Generation(generations) {
		h := hostCostsOf[g]
		fmt.Fprintf(&b, "\t%v: {\n\t\tStart: %s, Peer: %s,\n\t\tStep: %s, StagedStep: %s,\n\t\tCTA: %s, Staged: %.3g, Direct: %.3g, Own: %.3g, Jitter: %.3g,\n\t},\n",
			g, three(h.Start), three(h.Peer), three(h.Step), three(h.StagedStep), three(h.CTA), h.Staged, h.Direct, h.Own, h.Jitter)
	}
	b.WriteString("}\n\nvar peerCosts = [generations]PeerCosts{\n")
	for g := range Generation(generations) {
		k := peerCosts[g]
		fmt.Fprintf(&b, "\t%v: {\n\t\tStart: %s, Block: %.3g,\n\t\tCTA: %s, OneWay: %.3g, Own: %.3g, Drain: %.3g, Uneven: [2]float64{%.3g, %.3g},\n\t},\n",
			g, three(k.Start), k.Block, three(k.CTA), k.OneWay, k.Own, k.Drain, k.Uneven[0], k.Uneven[1])
	}
	n := peerNet
	fmt.Fprintf(&b, "}\n\nvar peerNet = PeerNetCosts{Start: %.3g, CTA: %.3g, NIC: %.3g, Pair: %.3g, Fill: %.3g}\n", n.Start, n.CTA, n.NIC, n.Pair, n.Fill)
	src, err := format.Source([]byte(b.String()))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("costs_host_table.go", src, 0o644))
}

// pairSearch goes along one parameter after another, in the logarithm, with
// steps that shrink.
func pairSearch(t *testing.T, what string, of []pairSeries, x []pairParameter) {
	for _, p := range x {
		*p.at = min(max(*p.at, p.low), p.top)
	}
	before := pairLoss(of)
	best := before
	step := make([]float64, len(x))
	for i := range step {
		step[i] = 0.3
	}
	for range 60 {
		for i, p := range x {
			was, better := *p.at, false
			for _, sign := range []float64{1, -1} {
				*p.at = min(max(was*math.Exp(sign*step[i]), p.low), p.top)
				if v := pairLoss(of); v < best-1e-9 {
					best, better = v, true
					break
				}
				*p.at = was
			}
			if better {
				step[i] *= 1.3
			} else {
				step[i] *= 0.6
			}
		}
		if slices.Max(step) < 1e-3 {
			break
		}
	}
	t.Logf("%s: loss %.4f to %.4f", what, before, best)
}
