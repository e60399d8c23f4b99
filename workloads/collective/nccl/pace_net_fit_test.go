package nccl

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

var showNet = flag.String("show-net", "", "with -v: print every point of the tables of that prefix")

// netRow is a case with its measurements and what NCCL chooses for each.
type netRow struct {
	c  netCase
	m  *Model
	s  []netSample
	ch []Choice
}

func netRows(t *testing.T) []netRow {
	t.Helper()
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

// errors are predicted over measured, less one.
func (r netRow) errors() []float64 {
	var e []float64
	plugin := plugged(r.c.net)
	for i, x := range r.s {
		e = append(e, r.c.closed(r.m, r.ch[i], x.size, Setting{Launch: r.c.launch, Plugin: plugin})/x.us-1)
	}
	return e
}

// sizeClass is small, medium or large.
func sizeClass(s sim.Bytes) int {
	switch {
	case s < sim.MiB:
		return 0
	case s < 64*sim.MiB:
		return 1
	}
	return 2
}

// weighted is an error in percent with what it counts.
type weighted struct{ e, w float64 }

// quantileOf returns the error that a part q of all, by weight, do not pass.
func quantileOf(v []weighted, q float64, size bool) float64 {
	v = slices.Clone(v)
	total, at := 0., 0.
	for i := range v {
		if size {
			v[i].e = math.Abs(v[i].e)
		}
		total += v[i].w
	}
	slices.SortFunc(v, func(a, b weighted) int { return cmp.Compare(a.e, b.e) })
	for _, x := range v {
		if at += x.w; at >= q*total {
			return x.e
		}
	}
	return math.NaN()
}

// residuals prints medians and 90th percentiles of the errors' size, and their
// median, table by table and for small, medium and large messages, and returns
// the errors of tables on InfiniBand and the like, and of those on clouds'
// plugins.
func residuals(t *testing.T, rows []netRow) [2][3][]weighted {
	t.Helper()
	var pool [2][3][]weighted
	for _, r := range rows {
		var class [3][]weighted
		for i, e := range r.errors() {
			c := &class[sizeClass(r.s[i].size)]
			*c = append(*c, weighted{100 * e, 1})
			if *showNet != "" && strings.HasPrefix(r.c.file, *showNet) {
				t.Logf("  %11d %-8v %-6v %2d channels  measured %9.1f us  weft %9.1f us  %+5.0f %%",
					r.s[i].size, r.ch[i].Algorithm, r.ch[i].Protocol, r.ch[i].Channels, r.s[i].us, r.s[i].us*(1+e), 100*e)
			}
		}
		line := fmt.Sprintf("%-38s %-14v %3d", r.c.file, r.c.op, r.c.ranks)
		at := &pool[0]
		if r.c.cloud {
			at = &pool[1]
		}
		for i, c := range class {
			if len(c) == 0 {
				line += " |             "
				continue
			}
			line += fmt.Sprintf(" | %3.0f %3.0f %+4.0f", quantileOf(c, .5, true), quantileOf(c, .9, true), quantileOf(c, .5, false))
			for _, x := range c {
				at[i] = append(at[i], weighted{x.e, 1 / float64(len(c))})
			}
		}
		t.Log(line)
	}
	return pool
}

// The closed form of the time stays as near to the published tables as it is:
// the bounds, in percent, may only be lowered. Every series counts the same.
func TestNetResiduals(t *testing.T) {
	pool := residuals(t, netRows(t))
	for k, kind := range []struct {
		name             string
		median, p90, off [3]float64
	}{
		{"InfiniBand, RoCE", [3]float64{9, 6, 3}, [3]float64{51, 30, 17}, [3]float64{5, 5, 5}},
		{"Slingshot and clouds' plugins", [3]float64{15, 14, 7}, [3]float64{70, 36, 41}, [3]float64{5, 12, 5}},
	} {
		for i, class := range []string{"small", "medium", "large"} {
			v := pool[k][i]
			median, p90, off := quantileOf(v, .5, true), quantileOf(v, .9, true), quantileOf(v, .5, false)
			t.Logf("%s, %s: %.1f / %.1f, bias %+.1f", kind.name, class, median, p90, off)
			assert.LessOrEqual(t, median, kind.median[i], "%s, %s messages: median", kind.name, class)
			assert.LessOrEqual(t, p90, kind.p90[i], "%s, %s messages: 90th percentile", kind.name, class)
			assert.LessOrEqual(t, math.Abs(off), kind.off[i], "%s, %s messages: bias", kind.name, class)
		}
	}
}
