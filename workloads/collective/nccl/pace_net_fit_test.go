package nccl

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

type netRow struct {
	c  netCase
	m  *Model
	s  []netSample
	ch []Choice
}

func netRows(t *testing.T) []netRow {
	var all []netRow
	for _, c := range netCases() {
		r := netRow{c: c, m: c.model(t), s: c.samples(t)}
		for _, x := range r.s {
			ch, err := r.m.Choose(c.op, x.size)
			require.NoError(t, err)
			r.ch = append(r.ch, ch)
		}
		all = append(all, r)
	}
	return all
}

// plugged is the plugin of a network.
var plugged = func(net string) Plugin { return netWires[net].plugin }

func (r netRow) errors() []float64 {
	var e []float64
	plugin := plugged(r.c.net)
	for i, x := range r.s {
		e = append(e, r.c.closed(r.m, r.ch[i], x.size, Setting{Launch: r.c.launch, Plugin: plugin})/x.us-1)
	}
	return e
}

func sizeClass(s sim.Bytes) int {
	switch {
	case s < sim.MiB:
		return 0
	case s < 64*sim.MiB:
		return 1
	}
	return 2
}

func netQuantile(v []float64, q float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[min(len(v)-1, int(q*float64(len(v))))]
}

func TestNetResiduals(t *testing.T) { residuals(t, netRows(t)) }

func residuals(t *testing.T, rows []netRow) {
	type wp struct{ e, w float64 }
	pool := map[string][3][]wp{}
	for _, r := range rows {
		e := r.errors()
		line := fmt.Sprintf("%-40s %-14s %3d", r.c.file, r.c.op, r.c.ranks)
		for cl := range 3 {
			var a, s []float64
			for i, x := range r.s {
				if sizeClass(x.size) == cl {
					a = append(a, 100*math.Abs(e[i]))
					s = append(s, 100*e[i])
				}
			}
			if len(a) == 0 {
				line += " |      -        "
				continue
			}
			line += fmt.Sprintf(" | %3.0f %3.0f %+4.0f", netQuantile(a, .5), netQuantile(a, .9), netQuantile(s, .5))
			kind := map[bool]string{true: "cloud", false: "multi"}[r.c.cloud]
			pp := pool[kind]
			for _, x := range s {
				pp[cl] = append(pp[cl], wp{x, 1 / float64(len(s))})
			}
			pool[kind] = pp
		}
		t.Log(line)
		if f := os.Getenv("NET_SHOW"); f != "" && strings.Contains(r.c.file, f) {
			for i, x := range r.s {
				t.Logf("    %10d %-8v %-6v %2d ch  measured %9.1f  weft %9.1f  %+5.0f %%", x.size, r.ch[i].Algorithm, r.ch[i].Protocol, r.ch[i].Channels, x.us, x.us*(1+e[i]), 100*e[i])
			}
		}
	}
	wq := func(v []wp, q float64, abs bool) float64 {
		v = slices.Clone(v)
		total := 0.
		for i := range v {
			if abs {
				v[i].e = math.Abs(v[i].e)
			}
			total += v[i].w
		}
		slices.SortFunc(v, func(a, b wp) int {
			if a.e < b.e {
				return -1
			}
			return 1
		})
		at := 0.
		for _, x := range v {
			if at += x.w; at >= q*total {
				return x.e
			}
		}
		return math.NaN()
	}
	for _, k := range []string{"multi", "cloud"} {
		line := k
		for cl := range 3 {
			line += fmt.Sprintf(" | %.0f/%.0f %+.0f", wq(pool[k][cl], .5, true), wq(pool[k][cl], .9, true), wq(pool[k][cl], .5, false))
		}
		t.Log(line)
	}
}
