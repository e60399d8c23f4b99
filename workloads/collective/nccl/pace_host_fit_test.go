package nccl

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weft-sim/weft/sim"
)

var (
	calibrateHost = flag.Bool("calibrate-host", false, "fit the costs over PCIe and of sends and receives to the reference collection, and print them")
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

// pairFit fits each generation to its own tables.
func pairFit(t *testing.T, all []pairSeries) {
	for g := range Generation(generations) {
		var of []pairSeries
		kinds := map[string]bool{}
		for _, s := range all {
			if GenerationOf(s.c.sm) == g {
				of = append(of, s)
				kinds[s.c.kind] = true
			}
		}
		if len(of) == 0 {
			continue
		}
		h, k := &hostCostsOf[g], &peerCosts[g]
		var x []*float64
		if kinds["pcie"] {
			x = append(x, &h.Start[LL], &h.Start[Simple], &h.Peer[LL], &h.Peer[Simple], &h.Step[LL], &h.Step[Simple], &h.StagedStep[LL], &h.StagedStep[Simple],
				&h.CTA[LL], &h.CTA[Simple], &h.Staged, &h.Own, &h.Jitter)
		}
		if kinds["node"] {
			x = append(x, &k.Start[LL], &k.Start[Simple], &k.CTA[LL], &k.CTA[Simple], &k.Drain, &k.OneWay, &k.Uneven[0], &k.Uneven[1])
			if k.Block > 0 {
				x = append(x, &k.Block)
			}
		}
		if kinds["multi"] {
			x = append(x, &k.Net.Start, &k.Net.CTA, &k.Net.NIC, &k.Net.Pair, &k.Net.Fill)
		}
		best := pairLoss(of)
		t.Logf("%v: loss %.4f before", g, best)
		step := make([]float64, len(x))
		for i := range step {
			step[i] = 0.3
		}
		for range 60 {
			moved := false
			for i, at := range x {
				was, better := *at, false
				for _, sign := range []float64{1, -1} {
					*at = was * math.Exp(sign*step[i])
					if v := pairLoss(of); v < best-1e-9 && k.Net.NIC <= 1 && k.Net.Pair <= 1 && k.Uneven[0] < .5 && k.Uneven[1] < .5 {
						best, better, moved = v, true, true
						break
					}
					*at = was
				}
				if better {
					step[i] *= 1.3
				} else {
					step[i] *= 0.6
				}
			}
			if !moved && slices.Max(step) < 1e-3 {
				break
			}
		}
		t.Logf("%v: loss %.4f\n%+v\n%+v", g, best, *h, *k)
	}
}
