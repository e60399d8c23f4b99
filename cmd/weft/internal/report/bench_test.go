package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

var sampleBench = Bench{
	Op: "all_reduce", System: "dgx-h100", GPUs: 8, Nodes: 1, Library: "NCCL 2.30.7", NCCL: 23007, Launch: "process-per-gpu", Version: "x",
	Sweep: Sweep{Begin: 8, End: 8 << 30, Factor: 2, Threads: 1, PerThread: 1, Warmup: 1, Iterations: 20},
}

var sampleRows = []BenchRow{
	{Size: 8, Count: 2, Type: "float", RedOp: "sum", Root: -1, Out: Placed{Time: 15 * sim.Microsecond}, In: Placed{Time: 15 * sim.Microsecond}, Algo: "Ring", Proto: "LL", Channels: 1, WireBytes: 28, Bottleneck: "nvlink4"},
	inBoth(BenchRow{Size: 1 << 20, Count: 1 << 18, Type: "float", RedOp: "sum", Root: -1, Algo: "Ring", Proto: "LL", Channels: 24, WireBytes: 1835008, Bottleneck: "nvlink4"}, 28010*sim.Nanosecond, 37.44e9, 65.51e9),
	inBoth(BenchRow{Size: 8 << 30, Count: 2 << 30, Type: "float", RedOp: "sum", Root: -1, Algo: "NVLS", Proto: "Simple", Channels: 16, WireBytes: 15032385536, Bottleneck: "nvlink4"}, 31605600*sim.Nanosecond, 271.78e9, 475.62e9),
}

func inBoth(r BenchRow, t sim.Time, alg, bus sim.Rate) BenchRow {
	r.Out = Placed{t, alg, bus}
	r.In = r.Out
	return r
}

// printed returns what a table prints of rows.
func printed(t *testing.T, table BenchTable, out *strings.Builder, rows []BenchRow) string {
	t.Helper()
	require.NoError(t, table.Begin())
	for _, r := range rows {
		require.NoError(t, table.Row(r))
	}
	require.NoError(t, table.End())
	return out.String()
}

// The lines of the table and of its end are those of NVIDIA/nccl-tests with
// -c 0; every blank counts.
func TestBenchTextIsNCCLTests(t *testing.T) {
	var b strings.Builder
	got := printed(t, sampleBench.Table("text", &b, 0), &b, sampleRows)
	assert.Equal(t, `# weft x: all_reduce on dgx-h100, 8 GPUs, 1 node
# NCCL 2.30.7, launched process-per-gpu
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 0 graph: 0 unalign: 0
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
           8             2     float     sum      -1    15.00    0.00    0.00    N/A    15.00    0.00    0.00    N/A
     1048576        262144     float     sum      -1    28.01   37.44   65.51    N/A    28.01   37.44   65.51    N/A
  8589934592    2147483648     float     sum      -1  31605.6  271.78  475.62    N/A  31605.6  271.78  475.62    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 180.377 
#
#   from     to  algorithm    channels  busiest links
#    8 B  1 MiB  Ring/LL          1-24  nvlink4
#  8 GiB  8 GiB  NVLS/Simple        16  nvlink4
#
# Collective test concluded: all_reduce_perf
`, got)
}

func TestBenchTextFitsATerminal(t *testing.T) {
	b := sampleBench
	b.Warnings = []string{"a sentence that is longer than the eighty characters of a line is broken between two of its words"}
	for _, width := range []int{80, benchWidth - 1} {
		var out strings.Builder
		got := printed(t, b.Table("text", &out, width), &out, sampleRows)
		for line := range strings.Lines(got) {
			assert.LessOrEqual(t, len(line)-1, width, "in %d columns: %s", width, line)
		}
		assert.Contains(t, got, "  8589934592  31605.6  271.78  475.62  31605.6  271.78  475.62  NVLS/Simple\n")
	}
	var wide, any strings.Builder
	assert.Equal(t, printed(t, b.Table("text", &any, 0), &any, sampleRows), printed(t, b.Table("text", &wide, 120), &wide, sampleRows))
}

func TestBenchTextPutsTestsThatRunAlikeTogether(t *testing.T) {
	var rows []BenchRow
	for _, r := range []struct{ kind, op, algo string }{{"half", "sum", "NVLS"}, {"half", "prod", "Ring"}, {"float", "sum", "NVLS"}, {"float", "max", "Ring"}} {
		for _, size := range []sim.Bytes{1 << 20, 2 << 20} {
			rows = append(rows, BenchRow{Size: size, Type: r.kind, RedOp: r.op, Root: -1, Algo: r.algo, Proto: "Simple", Channels: 16, Bottleneck: "nvlink4"})
		}
	}
	var b strings.Builder
	assert.Contains(t, printed(t, sampleBench.Table("text", &b, 0), &b, rows), `
#   from     to  algorithm    channels  busiest links  of
#  1 MiB  2 MiB  NVLS/Simple        16  nvlink4        half sum and 1 more
#  1 MiB  2 MiB  Ring/Simple        16  nvlink4        half prod and 1 more
#
`)
}

func TestBenchCSV(t *testing.T) {
	var b strings.Builder
	rows := append([]BenchRow{}, sampleRows[1:]...)
	rows[0].Channels = 0
	assert.Equal(t, `size_bytes,count,type,redop,time_us,algbw_gbytes_per_s,busbw_gbytes_per_s,algo,proto,channels,wire_bytes_per_rank,bottleneck
1048576,262144,float,sum,28.01,37.44,65.51,ring,ll,,1835008,nvlink4
8589934592,2147483648,float,sum,31605.6,271.78,475.62,nvls,simple,16,15032385536,nvlink4
`, printed(t, sampleBench.Table("csv", &b, 0), &b, rows))
}

// What is printed before an interruption stays, save of JSON, which would be
// half a document.
func TestBenchRowsArePrintedAtOnce(t *testing.T) {
	for format, want := range map[string]string{"text": "65.51    N/A\n", "csv": "1835008,nvlink4\n", "json": ""} {
		var b strings.Builder
		table := sampleBench.Table(format, &b, 0)
		require.NoError(t, table.Begin())
		require.NoError(t, table.Row(sampleRows[1]))
		assert.True(t, strings.HasSuffix(b.String(), want), "%s: %q", format, b.String())
	}
}

func TestBenchJSON(t *testing.T) {
	var b strings.Builder
	rows := append([]BenchRow{}, sampleRows[1])
	rows[0].In = Placed{14005 * sim.Nanosecond, 74.88e9, 131.02e9}
	var doc map[string]any
	require.NoError(t, json.Unmarshal([]byte(printed(t, sampleBench.Table("json", &b, 0), &b, rows)), &doc))
	assert.Equal(t, "sum", doc["redop"])
	assert.Equal(t, "NCCL 2.30.7", doc["library"])
	assert.InDelta(t, (65.51+131.02)/2, doc["average_busbw_gbytes_per_s"], 1e-9)
	row := doc["rows"].([]any)[0].(map[string]any)
	assert.Equal(t, 28.01, row["time_us"])
	assert.Equal(t, 14.005, row["in_place_time_us"])
	assert.Equal(t, "ring", row["algo"])
	assert.Equal(t, []any{}, doc["warnings"])
}

// The layout is that of NVIDIA/nccl-tests 0fdb00a3, src/util.cu: no blanks,
// booleans and roots as text, six decimals.
func TestNCCLTestsJSON(t *testing.T) {
	var b strings.Builder
	table := &NCCLTestsJSON{Bench: &sampleBench, Args: []string{"weft", "bench"}, Env: []string{"NCCL_ALGO=Ring"}, W: &b,
		Devices: []Device{{Host: "node0", Index: 0, Name: "NVIDIA H100"}}}
	assert.Equal(t, `{"version":2,"start_time":"1970-01-01 00:00:00","args":["weft","bench"],"env":["NCCL_ALGO=Ring"],"nccl_version":23007,`+
		`"config":{"nthreads":1,"ngpus":1,"minimum_bytes":8,"maximum_bytes":8589934592,"step_factor":2,"warmup_iters":1,"iterations":20,`+
		`"aggregated_iterations":1,"validation":0,"graph":0,"blocking_collectives":"false","per_iter_timing":"false","parallel_init":"false",`+
		`"devices":[{"rank":0,"group":0,"pid":0,"hostname":"node0","device":0,"device_hex":"0000:00:00","device_info":"NVIDIA H100"}]},`+
		`"results":[{"size":1048576,"count":262144,"type":"float","redop":"sum","root":"    -1",`+
		`"out_of_place":{"time":28.010000,"alg_bw":37.440000,"bus_bw":65.510000,"nwrong":null},`+
		`"in_place":{"time":28.010000,"alg_bw":37.440000,"bus_bw":65.510000,"nwrong":null},"actual_iterations":20,"experiment_name":"all_reduce_perf"}],`+
		`"out_of_bounds":{"count":0,"okay":"true"},"average_bus_bandwidth":{"bandwidth":65.510000,"okay":"unchecked"},"errors":[],"end_time":"1970-01-01 00:00:00"}
`, printed(t, table, &b, sampleRows[1:2]))
}

func TestFitIsAsWideAsItsColumn(t *testing.T) {
	for _, c := range []struct {
		v     float64
		width int
		want  string
	}{{15, 7, "15.00"}, {31605.6, 7, "31605.6"}, {316056.4, 7, "316056"}, {3160564, 7, "3160564"}, {31605640, 7, "3.2e+07"}, {1234.5, 6, "1234.5"}} {
		assert.Equal(t, c.want, fit(c.v, c.width), "fit(%v, %d)", c.v, c.width)
	}
}
