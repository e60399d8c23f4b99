package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

var sample = Bench{
	Op: "all_reduce", System: "dgx-h100", GPUs: 8, Nodes: 1, Type: "float", RedOp: "sum", Root: -1, Version: "x",
	Rows: []BenchRow{
		{Size: 1 << 20, Count: 1 << 18, Time: 28010 * sim.Nanosecond, AlgBW: 37.44e9, BusBW: 65.51e9, Algo: "ring", Proto: "simple", WireBytes: 1835008, Bottleneck: "nvlink4"},
		{Size: 8 << 30, Count: 2 << 30, Time: 31605600 * sim.Nanosecond, AlgBW: 271.78e9, BusBW: 475.62e9, Algo: "ring", Proto: "simple", WireBytes: 15032385536, Bottleneck: "nvlink4"},
	},
}

// The expected lines are those of NVIDIA/nccl-tests, with N/A for the columns
// of wrong values; every blank counts.
func TestBenchTextIsNCCLTests(t *testing.T) {
	var b strings.Builder
	require.NoError(t, sample.Text(&b))
	want := `# weft x: all_reduce on dgx-h100, 8 GPUs, 1 node
# note: out-of-place and in-place are one run here, and no values are checked
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
     1048576        262144     float     sum      -1    28.01   37.44   65.51    N/A    28.01   37.44   65.51    N/A
  8589934592    2147483648     float     sum      -1  31605.6  271.78  475.62    N/A  31605.6  271.78  475.62    N/A
# Out of bounds values : N/A
# Avg bus bandwidth    : 270.565 
#
# Collective test concluded: all_reduce_perf
`
	assert.Equal(t, want, b.String())
}

func TestBenchCSV(t *testing.T) {
	var b strings.Builder
	require.NoError(t, sample.CSV(&b))
	assert.Equal(t, `size_bytes,count,type,redop,time_us,algbw_gbytes_per_s,busbw_gbytes_per_s,algo,proto,channels,wire_bytes_per_rank,bottleneck
1048576,262144,float,sum,28.01,37.44,65.51,ring,simple,,1835008,nvlink4
8589934592,2147483648,float,sum,31605.6,271.78,475.62,ring,simple,,15032385536,nvlink4
`, b.String())
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
