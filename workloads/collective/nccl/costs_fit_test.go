package nccl

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"
)

var (
	calibrate = flag.Bool("calibrate", false, "fit the costs of kernels to the reference collection and write them")
	leave     = flag.String("leave", "", "with -calibrate: fit without the systems of that prefix, show only them, and write nothing")
	report    = flag.String("residuals", "", "print residuals: class, table or points")
)

// fitted is a number that is fitted, and what is known of it beforehand: a
// guess from the mechanism, and by which factor it may well be off.
type fitted struct {
	at            *float64
	guess, factor float64
}

// parameters are the numbers of a generation that are fitted.
func (k *Costs) parameters(g Generation) []fitted {
	var all []fitted
	start, step := [protocols]float64{6, 9, 9}, [protocols]float64{0.7, 1.2, 3}
	for p := range Protocol(protocols) {
		if p != LL128 || g > Pascal {
			all = append(all, fitted{&k.Start[p], start[p], 1.6}, fitted{&k.Step[p], step[p], 1.6}, fitted{&k.CTA[p], 14, 2})
		}
	}
	all = append(all,
		fitted{&k.Pass, 0.3, 2}, fitted{&k.Slice, 1, 2}, fitted{&k.Jitter, 1.2, 2},
		fitted{&k.Own[0], 0.45, 1.3}, fitted{&k.Own[1], 0.65, 1.3}, fitted{&k.Own[2], 0.15, 1.5},
		fitted{&k.Launch, 4.5, 1.3})
	if g >= Hopper {
		all = append(all, fitted{&k.NVLS.Start, 8, 1.5}, fitted{&k.NVLS.Loop, 4, 2}, fitted{&k.NVLS.Head, 1.5, 2}, fitted{&k.NVLS.CTA, 22, 2},
			fitted{&k.NVLS.Skew, 0.03, 2}, fitted{&k.NVLS.Depth, 0.65, 1.3}, fitted{&k.NVLS.Jitter, 0.3, 2})
	}
	return all
}

// unlikely is what departing from the guesses costs.
func unlikely(x []fitted) float64 {
	sum := 0.
	for _, f := range x {
		d := math.Log(*f.at/f.guess) / math.Log(f.factor)
		sum += d * d
	}
	return 0.0006 * sum
}

// nodeLoss is the mean over series and classes of how far off, in the logarithm;
// linear in what is large so that single rows do not rule.
func nodeLoss(all []nodeSeries, k *Costs, h *hostCosts) float64 {
	var sum, weight float64
	for i := range all {
		var s, n, count [3]float64
		for j := range all[i].points {
			p := &all[i].points[j]
			c := nodeClass(p.size)
			e := math.Abs(math.Log(p.predict(k, h) / p.us))
			w := 1.
			if all[i].old && p.size >= 128<<10 && c < 2 && all[i].on.sm >= 80 {
				w = 0.3
			}
			n[c] += w
			count[c]++
			s[c] += w * (math.Sqrt(e*e+1e-4) - 1e-2)
		}
		for c := range s {
			if n[c] > 0 {
				w := [3]float64{1, 1.5, 3}[c] * n[c] / count[c] // as the bars are tighter
				if all[i].ranks > 32 {
					w *= 3 // two racks stand for all
				}
				sum, weight = sum+w*s[c]/n[c], weight+w
			}
		}
	}
	return sum / weight
}

// nodeMinimize searches along one parameter after another in the logarithm,
// with steps that adapt, and then in directions at random from a fixed seed:
// slow, and seldom lost.
func nodeMinimize(x []fitted, f func() float64) float64 {
	best := f()
	step := make([]float64, len(x))
	r := rand.New(rand.NewPCG(1, 2))
	was := make([]float64, len(x))
	for restart := 0; restart < 4; restart++ {
		for i := range step {
			step[i] = 0.2
		}
		for round := 0; round < 60; round++ {
			for i := range x {
				at := x[i].at
				old := *at
				better := false
				for _, sign := range []float64{1, -1} {
					*at = old * math.Exp(sign*step[i])
					if v := f(); v < best-1e-9 {
						best, better = v, true
						break
					}
					*at = old
				}
				if better {
					step[i] *= 1.4
				} else {
					step[i] = max(step[i]*0.6, 2e-3)
				}
			}
		}
		size := 0.1
		for try := 0; try < 1500; try++ {
			for i := range x {
				was[i] = *x[i].at
				if r.IntN(3) == 0 {
					*x[i].at *= math.Exp(size * r.NormFloat64())
				}
			}
			if v := f(); v < best {
				best, size = v, min(size*1.5, 0.3)
				continue
			}
			size = max(size*0.97, 3e-3)
			for i := range x {
				*x[i].at = was[i]
			}
		}
	}
	return best
}

func TestCalibrate(t *testing.T) {
	if !*calibrate && *report == "" {
		t.Skip("run with -calibrate to fit the costs again, with -residuals=class|table|points to see how well they fit")
	}
	all := loadNode(t)
	fits, h := costs, host
	if *calibrate {
		for g := range Generation(generations) {
			var own []nodeSeries
			for _, s := range all {
				if GenerationOf(s.on.sm) == g && (*leave == "" || !strings.HasPrefix(s.on.name, *leave)) {
					own = append(own, s)
				}
			}
			k := &fits[g]
			x := k.parameters(g)
			v := nodeMinimize(x, func() float64 { return nodeLoss(own, k, &h) + unlikely(x) })
			fmt.Printf("%v: %d nodeSeries, nodeLoss %.4f", g, len(own), v)
		}
		v := nodeMinimize([]fitted{{at: &h.Thread}}, func() float64 {
			sum := 0.
			for g := range Generation(generations) {
				var own []nodeSeries
				for _, s := range all {
					if GenerationOf(s.on.sm) == g {
						own = append(own, s)
					}
				}
				sum += nodeLoss(own, &fits[g], &h)
			}
			return sum
		})
		t.Logf("host %+v nodeLoss %.4f", h, v)
		for g := range fits {
			t.Logf("%v %+v", Generation(g), fits[g])
		}
		if *leave == "" {
			nodeWrite(t, fits, h)
		} else {
			all = slices.DeleteFunc(all, func(s nodeSeries) bool { return !strings.HasPrefix(s.on.name, *leave) })
		}
	}
	nodeShow(t, all, &fits, &h)
}

// write writes the table of costs.
func nodeWrite(t *testing.T, k [generations]Costs, h hostCosts) {
	t.Helper()
	var b strings.Builder
	b.WriteString("package nccl\n\n// Written by: go test -run TestCalibrate -calibrate ./workloads/collective/nccl\n\n// costs are fitted on public tables of NCCL within one node, each series\n// counting the same. Status: derived. Pascal on DGX-1 (uuudown/Tartan), Volta\n// on DGX-1 and DGX-2 (VIA-Research/vTrain, a fork of nccl-tests), Ampere, Hopper\n// and Blackwell on 2 to 8 GPUs (ai-dynamo/aiconfigurator 095f58a51c4c,\n// Azure/AI-benchmarking-guide, stas00/ml-engineering, xxrjun/nccl-tests-cluster,\n// NVIDIA/dgxc-benchmarking, eunomia-bpf/nccl-eBPF) and on racks of 64 and 72\n// (dranet, coreweave/nccl-tests). Assumed: NVLS before Hopper and LL128 of\n// Pascal, which do not run.\n")
	b.WriteString("var costs = [generations]Costs{\n")
	three := func(x [3]float64) string { return fmt.Sprintf("[3]float64{%.4g, %.4g, %.4g}", x[0], x[1], x[2]) }
	for g, c := range k {
		fmt.Fprintf(&b, "\t%v: {\n\t\tStart: %s, Step: %s, CTA: %s,\n\t\tLaunch: %.4g, Pass: %.4g, Slice: %.4g, Own: %s, Jitter: %.4g,\n\t\tNVLS: NVLSCosts{Start: %.4g, Loop: %.4g, Head: %.4g, CTA: %.4g, Skew: %.4g, Depth: %.4g, Jitter: %.4g},\n\t},\n",
			Generation(g), three(c.Start), three(c.Step), three(c.CTA), c.Launch, c.Pass, c.Slice, three(c.Own), c.Jitter, c.NVLS.Start, c.NVLS.Loop, c.NVLS.Head, c.NVLS.CTA, c.NVLS.Skew, c.NVLS.Depth, c.NVLS.Jitter)
	}
	fmt.Fprintf(&b, "}\n\n// host is fitted with them, and PyTorch assumed: harnesses take 20 to 47 us.\nvar host = hostCosts{OneProcess: %.4g, PyTorch: %.4g, Python: %.4g, Thread: %.4g}\n", h.OneProcess, h.PyTorch, h.Python, h.Thread)
	if err := os.WriteFile("costs_table.go", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func nodeShow(t *testing.T, all []nodeSeries, k *[generations]Costs, h *hostCosts) {
	t.Helper()
	groups := map[string]*[3][]nodeResidual{}
	var order []string
	var b strings.Builder
	add := func(key string, c int, r nodeResidual) {
		if groups[key] == nil {
			groups[key] = new([3][]nodeResidual)
			order = append(order, key)
		}
		groups[key][c] = append(groups[key][c], r)
	}
	for i := range all {
		s := &all[i]
		var n [3]float64
		for j := range s.points {
			n[nodeClass(s.points[j].size)]++
		}
		for j := range s.points {
			p := &s.points[j]
			c := nodeClass(p.size)
			us := p.predict(&k[GenerationOf(s.on.sm)], h)
			r := nodeResidual{us/p.us - 1, 1 / n[c]}
			add("all", c, r)
			add("gen "+GenerationOf(s.on.sm).String(), c, r)
			add(fmt.Sprintf("sys %-12s %s", s.on.name, s.op), c, r)
			add(fmt.Sprintf("how %s %v/%v", GenerationOf(s.on.sm), p.c.Algorithm, p.c.Protocol), c, r)
			if *report == "table" || *report == "points" {
				add(fmt.Sprintf("tab %s %s/%d", s.nodeTable, s.op, s.ranks), c, r)
			}
			if *report == "points" {
				fmt.Fprintf(&b, "%-40s %s/%d %10d %v/%v/%d meas %.1f pred %.1f %+.1f%%\n", s.nodeTable, s.op, s.ranks, p.size, p.c.Algorithm, p.c.Protocol, p.c.Channels, p.us, us, 100*r.err)
			}
		}
	}
	sort.Strings(order)
	for _, key := range order {
		line := fmt.Sprintf("%-62s", key)
		for c := range nodeClasses {
			if len(groups[key][c]) == 0 {
				line += fmt.Sprintf("| %20s", "")
				continue
			}
			m, p, bias := nodeSummary(groups[key][c])
			line += fmt.Sprintf("| %5.1f /%5.1f  (%+5.1f)", m, p, bias)
		}
		b.WriteString(line + "\n")
	}
	fmt.Println(b.String())
}
