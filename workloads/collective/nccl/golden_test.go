package nccl

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// near holds a figure against one of two decimals, to six digits.
func near(t *testing.T, want string, got float64, row []string) bool {
	t.Helper()
	w := decimal(t, want)
	return assert.InDelta(t, w, got, 0.005+1e-6*w, "%v", row)
}

func TestLatencyAndBandwidthOfEveryGoldenRow(t *testing.T) {
	all, passed := searched(t), map[string]int{}
	seen := map[string]bool{}
	lines := rows(t, "golden_lat_bw_csv")
	for _, r := range lines {
		m := modelOf(t, all, r[0], r[1], r[2])
		e := m.Estimate(collOf[r[3]], find(t, r[4], every[Algorithm](algorithms)), find(t, r[5], every[Protocol](protocols)), sim.MiB)
		if assert.Empty(t, e.Off, "%v", r) && near(t, r[6], e.Latency, r) && near(t, r[7], e.Bandwidth, r) {
			passed[r[0]]++
		}
		seen[fmt.Sprint(r[:6])] = true
	}
	// What has no row is off.
	for _, r := range lines {
		m := modelOf(t, all, r[0], r[1], r[2])
		for _, e := range m.Estimates(collOf[r[3]], sim.MiB) {
			key := fmt.Sprint([]string{r[0], r[1], r[2], r[3], e.Algorithm.String(), e.Protocol.String()})
			assert.Equal(t, seen[key], e.Off == "", "%s: %s", key, e.Off)
		}
	}
	t.Log(passed)
}

func TestChoiceOfEverySelectionRow(t *testing.T) {
	all := searched(t)
	lines := rows(t, "selection_csv")
	passed := map[string]int{}
	for i := 0; i < len(lines); {
		r := lines[i]
		m := modelOf(t, all, r[0], r[1], r[2])
		got, err := m.Crossovers(collOf[r[3]], 8, 8<<30)
		require.NoError(t, err)
		for _, c := range got {
			have := []string{r[0], r[1], r[2], r[3], fmt.Sprint(int64(c.From)), c.Algorithm.String(), c.Protocol.String()}
			if !assert.Less(t, i, len(lines), "%v", have) || !assert.Equal(t, lines[i][:7], have) || !near(t, lines[i][7], c.Time, have) {
				for i < len(lines) && fmt.Sprint(lines[i][:4]) == fmt.Sprint(r[:4]) {
					i++
				}
				break
			}
			passed[r[0]]++
			i++
		}
	}
	t.Log(passed)
}

func TestGraphsOfEveryNVSwitchSystem(t *testing.T) {
	n := 0
	for name, f := range searched(t) {
		fab, ok := fabricOf(f)
		if !ok {
			continue
		}
		got, err := fab.Graphs(Latest)
		require.NoError(t, err, name)
		want := f.Graphs
		if f.topo == "dgxb200_1sw" && f.nodes > 1 {
			// A ring reaches a second NIC through a GPU (PXN), which the model
			// treats as it does PIX from Hopper on.
			want.Ring.TypeInter = PIX
		}
		if want.NVLS.Channels == 0 {
			want.NVLS = got.NVLS
			assert.Zero(t, got.NVLS.Channels, name)
		}
		assert.Equal(t, want, got, name)
		m, err := New(Latest, Summary{Ranks: f.ranks, Nodes: f.nodes, SM: f.sm, Graphs: got}, Env{NetOverhead: -1})
		require.NoError(t, err)
		assert.Equal(t, f.compute, m.Channels(), name)
		n++
	}
	t.Log(n, "results of the search")
}

// The log of NVIDIA/nccl issue 1453 (3 nodes of 8 H100, Intel) prints
// 25.331232, 25.874907 and 26.549810 us for Tree with LL.
func TestTimesOfAPublishedLog(t *testing.T) {
	fab := Fabric{Nodes: 3, GPUs: 8, SM: 90, Links: 18, Switched: true, NICs: 8, NICRate: 48, NICPath: PIX, NearNIC: 1}
	v := Version{2, 22, 3}
	g, err := fab.Graphs(v)
	require.NoError(t, err)
	m, err := New(v, Summary{Ranks: 24, Nodes: 3, SM: 90, CPU: Intel, Graphs: g}, Env{NetOverhead: -1})
	require.NoError(t, err)
	for size, want := range map[sim.Bytes]float64{1024: 25.331230, 4096: 25.874902, 8192: 26.549804} {
		e := m.Estimate(workloads.AllReduce, Tree, LL, size)
		assert.InEpsilon(t, want, e.Time, 5e-7, "%d bytes", size)
	}
}
