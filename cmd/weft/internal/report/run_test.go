package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads/replay"
	"github.com/weft-sim/weft/workloads/trace/chakra"
)

func answer() *Run {
	return &Run{
		Name: "a step", System: "dgx-h100", Nodes: 1, GPUs: 8, Ranks: 8, Network: "fluid", Check: "weft check", Version: "x",
		Result: &replay.Result{
			StepTime: 12_345_678_901,
			Breakdown: replay.Breakdown{
				Compute: 9_000_000_000,
				Exposed: []replay.Exposed{{Dim: "tp", Comm: "tp", Time: 3_000_000_000}, {Dim: "tp", Comm: "tp2", Time: 300_000_000}},
				Launch:  45_000_000, Wait: 678_901,
			},
			Ranks: replay.RankTimes{Compute: 9_000_000_000, ExposedComm: 3_000_000_000, Wait: 345_678_901, HiddenComm: 5 * sim.Microsecond},
			Busiest: []replay.LinkUse{
				{Class: "nvlink4", Name: "n0.gpu3 > n0.nvswitch", Links: 18, Bytes: 1.5e9, Rate: 450 * sim.GBps, Utilisation: 0.27, Peak: 0.27},
			},
			Colls: []replay.CollectiveUse{{
				Op: "all_reduce", Comm: "tp", Dim: "tp", Ranks: 8, Groups: 1, Bytes: 20 * sim.MiB, Count: 160, Algo: "ring", Proto: "simple",
				Time: 104 * sim.Microsecond, Bound: 81 * sim.Microsecond, BusBW: 353 * sim.GBps, WireBytes: 36700160,
			}},
			Warnings: []string{"a figure was extrapolated"},
		},
		Provenance: []catalog.Provenance{
			{Path: "links.nvlink4.latency", Value: "500ns", Source: "assumption", Status: catalog.Assumed, Note: "nobody published it"},
			{Path: "gpus.h100-sxm.memory", Value: "3.35TB/s", Source: "datasheet", Status: catalog.Datasheet},
		},
		Warnings: []string{"rank 3 is a copy of rank 0", "assumed: links.nvlink4.latency = 500ns (nobody published it)"},
	}
}

func TestRunText(t *testing.T) {
	var b strings.Builder
	require.NoError(t, answer().Text(&b, &term.Terminal{}))
	assert.Equal(t, `a step: 8 ranks on dgx-h100 (8 GPUs, 1 node), fluid network

Step time  12.3 ms

Where the step goes, along its critical path
                          time (ms)    share
  compute                      9.00   72.9 %  █████████████████▌
  tp communication             3.00   24.3 %  █████▉
  tp communication (tp2)       0.30    2.4 %  ▋
  launch                       0.04    0.4 %  ▏
  waiting                    < 0.01  < 0.1 %  ▏
  the step                    12.35  100.0 %

  A rank, on average: computes 72.9 %, communicates without computing 24.3 %, waits 2.8 %; another 5.00 us of communication is hidden under compute.

Busiest links
  link                   class    each way   carried    busy
  n0.gpu3 > n0.nvswitch  nvlink4  450 GB/s  1.40 GiB  27.0 %

Collectives
  operation   group  ranks  groups    size  count  algorithm  protocol  time (us)  at least (us)  busbw (GB/s)
  all_reduce  tp         8       1  20 MiB    160  ring       simple          104           81.0           353

Be careful
  ! rank 3 is a copy of rank 0
  ! a figure was extrapolated

2 figures from the catalogue, 1 of them assumed; `+"`weft check`"+` says where each comes from.
`, b.String())
}

// TestRunTextIsNarrow: on 80 columns no line is longer, and the numbers stay.
func TestRunTextIsNarrow(t *testing.T) {
	var b strings.Builder
	a := answer()
	a.Import = &chakra.Report{
		Kept: []chakra.Item{{What: "compute", Count: 1216}},
		Dropped: []chakra.Item{{What: "COMP", Why: "host operator", Count: 2000}, {What: "COMM_COLL", Why: "host operator", Count: 440},
			{What: "METADATA", Why: "describes, and does nothing", Count: 8}},
		Repaired: []chakra.Item{{What: "data dependency", Why: "on a node that is missing", Count: 1}},
	}
	a.Trace = "weft trace resnet"
	require.NoError(t, a.Text(&b, &term.Terminal{Width: 80, ASCII: true}))
	for line := range strings.Lines(b.String()) {
		assert.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 80, line)
	}
	for _, c := range b.String() {
		require.Less(t, c, rune(128), "a locale without such characters")
	}
	assert.Contains(t, b.String(), "  all_reduce  tp     20 MiB    160        104           81.0           353\n")
	assert.Contains(t, b.String(), "Import: kept 1,216 nodes, dropped 2,448 (2,440: host operator; 8: describes),\n"+
		"repaired 1 dependency (1: on a node that is missing); `weft trace resnet` says\nmore.\n")
}

// TestRunJSON holds the keys that design and docs promise, and that the parts
// add up to the step.
func TestRunJSON(t *testing.T) {
	var b strings.Builder
	require.NoError(t, answer().JSON(&b))
	var doc struct {
		StepTime  float64 `json:"step_time_s"`
		Breakdown struct {
			Compute float64            `json:"compute_s"`
			Exposed map[string]float64 `json:"exposed_comm_s"`
			Bubble  *float64           `json:"bubble_s"`
			Launch  float64            `json:"launch_s"`
			Wait    float64            `json:"wait_s"`
		} `json:"breakdown"`
		Links       []map[string]any `json:"links"`
		Collectives []map[string]any `json:"collectives"`
		Warnings    []string         `json:"warnings"`
		Provenance  []map[string]any `json:"provenance"`
		Version     string           `json:"weft_version"`
	}
	require.NoError(t, json.Unmarshal([]byte(b.String()), &doc))
	sum := doc.Breakdown.Compute + doc.Breakdown.Launch + doc.Breakdown.Wait + *doc.Breakdown.Bubble
	for _, dim := range []string{"tp", "pp", "dp", "cp", "ep", "other"} {
		require.Contains(t, doc.Breakdown.Exposed, dim)
		sum += doc.Breakdown.Exposed[dim]
	}
	assert.InDelta(t, doc.StepTime, sum, 1e-12)
	assert.InDelta(t, 3.3e-3, doc.Breakdown.Exposed["tp"], 1e-15, "groups of one dimension add up")
	for _, key := range []string{"op", "group", "bytes", "count", "algo", "proto", "time_s", "busbw"} {
		assert.Contains(t, doc.Collectives[0], key)
	}
	assert.InDelta(t, 353, doc.Collectives[0]["busbw"], 1e-9, "GB/s, as nccl-tests")
	assert.Equal(t, []string{"rank 3 is a copy of rank 0", "a figure was extrapolated"}, doc.Warnings,
		"that a figure is assumed stands in the provenance")
	assert.Equal(t, "assumed", doc.Provenance[0]["status"])
	assert.Equal(t, "x", doc.Version)
	assert.NotContains(t, b.String(), "null", "what is not computed is absent")
}

// TestGrave: what is assumed of a figure is counted elsewhere; what is assumed
// about a file is told.
func TestGrave(t *testing.T) {
	file := "assumed: the PCIe tree is the smallest that has the words of the matrix"
	assert.Equal(t, []string{file}, Grave([]string{"assumed: gpus.h100.latency = 1us (a guess)", file}))
}
