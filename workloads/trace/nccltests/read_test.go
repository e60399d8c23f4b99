package nccltests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

const now = `# nccl-tests version 2.17.1 nccl-headers=22703 nccl-library=22703
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 8 minBytes 1048576 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
#  Rank  0 Group  0 Pid   1234 on       node device  0 [0000:1b:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   1234 on       node device  1 [0000:43:00] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
     1048576        262144     float     sum      -1    28.01   37.44   37.44       0    28.11   37.30   37.30       0
  8589934592    2147483648     float     sum      -1  31605.6  271.78  271.78       0  31605.6  271.78  271.78       0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 154.545 
#
# Collective test concluded: all_reduce_perf
`

func parse(t *testing.T, text string) *Log {
	t.Helper()
	l, err := Parse("log", []byte(text))
	require.NoError(t, err)
	return l
}

func single(t *testing.T, text string) *Table {
	t.Helper()
	l := parse(t, text)
	require.Len(t, l.Tables, 1)
	return l.Tables[0]
}

func TestTableOfToday(t *testing.T) {
	l := parse(t, now)
	require.Len(t, l.Tables, 1)
	assert.Zero(t, l.Skipped)
	a := l.Tables[0]
	assert.Equal(t, "all_reduce", a.Op)
	assert.Equal(t, 2, a.Ranks)
	assert.Equal(t, 1, a.Hosts)
	assert.Equal(t, []string{"NVIDIA H100 80GB HBM3"}, a.Names())
	assert.True(t, a.OneProcess())
	assert.Equal(t, "22703", a.Library)
	assert.True(t, a.Ended)
	assert.InDelta(t, 154.545e9, float64(a.Average), 1)
	require.Len(t, a.Rows, 2)
	assert.Equal(t, Row{
		Line: 12, Size: sim.MiB, Count: 262144, Type: "float", RedOp: "sum", Root: -1, Rooted: true,
		Out: Run{Time: 28_010_000, AlgBW: 37.44e9, BusBW: 37.44e9, Checked: true},
		In:  Run{Time: 28_110_000, AlgBW: 37.30e9, BusBW: 37.30e9, Checked: true},
	}, a.Rows[0])
	assert.Empty(t, a.Check())
}

// Each text is one way in which a row of 1 MiB with 28.01 us out of place
// reaches us.
func TestLayouts(t *testing.T) {
	const head = "     1048576        262144     float     sum      -1"
	const tail = "    28.01   37.44   65.51       0    28.20   37.18   65.07       0"
	spread := "    28.01   37.44   65.51       0    27.00   30.00   29.90    1.20    28.20   37.18   65.07       0    27.00   30.00   29.90    1.20"
	for _, c := range []struct{ name, text string }{
		{"a row alone", head + tail},
		{"out of place alone", head + "    28.01   37.44   65.51       0"},
		{"Windows lines", strings.ReplaceAll(now, "\n", "\r\n")},
		{"Open MPI", prefixed(now, "[1,0]<stdout>:")},
		{"Open MPI with times", prefixed(now, "Mon Jan  1 00:00:00 2024[1,0]<stdout>:")},
		{"Open MPI 5", prefixed(now, "[prterun-node-1234@1,0]<stdout>: ")},
		{"srun -l", prefixed(now, "0: ")},
		{"srun -l, many tasks", prefixed(now, "  0: ")},
		{"mpich", prefixed(now, "[0] ")},
		{"torchrun", prefixed(now, "[default0]:")},
		{"kubectl --timestamps", prefixed(now, "2024-05-01T10:11:12.123456789Z ")},
		{"pdsh", prefixed(now, "node-17: ")},
		{"compose", prefixed(now, "worker-0  | ")},
		{"time, host and rank", prefixed(now, "2024-05-01 10:11:12,123 node-17: [1,3]<stdout>:")},
		{"colours", "\x1b[32m" + head + tail + "\x1b[0m"},
		{"a row that NCCL_DEBUG cuts", head + "node:1:1 [0] NCCL INFO Launch mode Parallel\n" + tail},
		{"a row that NCCL_DEBUG cuts, with a line between", head + "\nnode:1:1 [0] NCCL INFO comm 0x5 rank 0\n" + tail},
		{"iterations", "#       size         count      type   redop    root     time   algbw   busbw  #wrong   i_min   i_max   i_p99   i_cv%     time   algbw   busbw  #wrong\n" + head + spread},
		{"iterations without a header", head + spread},
		{"2021", "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n" +
			"     1048576        262144   float     sum    28.01   37.44   65.51    N/A    28.20   37.18   65.07    N/A"},
		{"2021 with errors", "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n" +
			"     1048576        262144   float     sum    28.01   37.44   65.51  2e-07    28.20   37.18   65.07  0e+00"},
		{"2021 without an operator", "     1048576         32768   float            28.01   37.44   32.76    N/A    28.20   37.18   32.53    N/A"},
		{"a root", "     1048576        262144   float     sum       0    28.01   37.44   37.44    N/A    28.20   37.18   37.18    N/A"},
		{"CSV of weft", "size_bytes,count,type,redop,time_us,algbw_gbytes_per_s,busbw_gbytes_per_s,algo,proto,channels,wire_bytes_per_rank,bottleneck\n1048576,262144,float,sum,28.01,37.44,65.51,ring,ll128,24,1966080,nvlink4\n"},
		{"JSON of weft", `{"op":"all_reduce","system":"dgx-h100","nodes":1,"gpus":8,"rows":[{"size_bytes":1048576,"count":262144,"time_us":28.01,"algbw_gbytes_per_s":37.44,"busbw_gbytes_per_s":65.51}]}`},
		{"-J", `{"version":"2.17","args":"./all_reduce_perf -g 8","config":{"nthreads":1,"ngpus":8,"graph":"false"},"results":[{"size":1048576,"count":262144,"type":"float","redop":"sum","root":-1,"out_of_place":{"time":28.01,"alg_bw":37.44,"bus_bw":65.51,"nwrong":0},"in_place":{"time":"28.2","alg_bw":"37.18","bus_bw":"65.07","nwrong":"0"}}],"end_time":"x"}`},
		{"a byte order mark", "\xef\xbb\xbf" + now},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := single(t, c.text)
			r := a.Rows[0]
			assert.Equal(t, sim.MiB, r.Size)
			assert.EqualValues(t, 28_010_000, r.Out.Time)
			assert.EqualValues(t, 28_010_000, r.Of())
			assert.InDelta(t, 37.44e9, float64(r.Out.AlgBW), 1e3)
			if r.In.Measured() {
				assert.InDelta(t, 28.15e6, float64(r.In.Time), 0.06e6)
			}
		})
	}
}

func prefixed(text, prefix string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(prefix + line)
	}
	return b.String()
}

func TestTablesAfterEachOther(t *testing.T) {
	noise := "+ mpirun -np 8 ./build/all_gather_perf -b 1M\nnode:1:1 [0] NCCL INFO Bootstrap : Using eth0\n"
	l := parse(t, now+noise+strings.ReplaceAll(now, "all_reduce", "all_gather")+"bye\n")
	require.Len(t, l.Tables, 2)
	assert.Equal(t, "all_reduce", l.Tables[0].Op)
	assert.Equal(t, "all_gather", l.Tables[1].Op)
	assert.Equal(t, 2, l.Skipped, "NCCL INFO, and bye")
	for _, a := range l.Tables {
		assert.Len(t, a.Rows, 2)
		assert.Len(t, a.Devices, 2)
	}
}

func TestRowsThatBeginAgainAreAnotherRun(t *testing.T) {
	var rows string
	for line := range strings.Lines(now) {
		if line[0] != '#' {
			rows += line
		}
	}
	l := parse(t, rows+rows)
	require.Len(t, l.Tables, 2)
	assert.Len(t, l.Tables[1].Rows, 2)
}

func TestRanksThatEachPrint(t *testing.T) {
	var mixed strings.Builder
	for line := range strings.Lines(now) {
		for rank := range 3 {
			fmt.Fprintf(&mixed, "[1,%d]<stdout>:%s", rank, line)
		}
	}
	l := parse(t, mixed.String())
	require.Len(t, l.Tables, 3, "the prefix says who speaks")
	for _, a := range l.Tables {
		assert.Len(t, a.Rows, 2)
	}
	mixed.Reset()
	for line := range strings.Lines(now) {
		mixed.WriteString(line + line)
	}
	l = parse(t, mixed.String())
	require.Len(t, l.Tables, 2, "no prefix")
	for _, a := range l.Tables {
		assert.Len(t, a.Rows, 2)
		assert.Equal(t, 2, a.Copies)
		assert.Contains(t, strings.Join(a.Notes, "\n"), "without MPI")
	}
}

func TestTruncated(t *testing.T) {
	end := strings.Index(now, "# Out of bounds")
	for cut := strings.Index(now, "  8589934592"); cut < end; cut++ {
		a := single(t, now[:cut])
		assert.False(t, a.Ended)
		for _, r := range a.Rows {
			assert.Contains(t, []sim.Bytes{sim.MiB, 8 * sim.GiB}, r.Size)
			assert.Contains(t, []sim.Time{28_010_000, 31_605_600_000}, r.Out.Time, "cut at %d", cut)
		}
	}
}

func TestInference(t *testing.T) {
	row := func(redop string, root int, factor float64) string {
		return fmt.Sprintf("1073741824 268435456 float %s %d 10000.0 107.37 %.2f 0 10000.0 107.37 %.2f 0\n", redop, root, 107.37*factor, 107.37*factor)
	}
	for _, c := range []struct {
		name, text string
		op         string
		might      []string
		ranks      int
	}{
		{"all_reduce of 8", row("sum", -1, 1.75), "all_reduce", []string{"all_reduce"}, 8},
		{"all_reduce of 16", row("sum", -1, 1.875), "all_reduce", []string{"all_reduce"}, 16},
		{"reduce_scatter of 8", row("sum", -1, 0.875), "reduce_scatter", []string{"reduce_scatter"}, 8},
		{"reduce", row("sum", 0, 1), "reduce", []string{"reduce"}, 0},
		{"broadcast", row("none", 0, 1), "broadcast", []string{"broadcast"}, 0},
		{"sendrecv", row("none", -1, 1), "sendrecv", []string{"sendrecv"}, 0},
		{"all_gather or alltoall", row("none", -1, 0.75), "", []string{"all_gather", "alltoall"}, 4},
		{"a command line", "./all_gather_perf -b 1G\n" + row("none", -1, 0.75), "all_gather", nil, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := single(t, c.text)
			assert.Equal(t, c.op, a.Op)
			assert.Equal(t, c.might, a.Might)
			assert.Equal(t, c.ranks, a.Ranks)
		})
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"blanks", " \n\n", "the file is empty"},
		{"binary", "\x7fELF\x00\x00", "no text"},
		{"other text", "hello\nworld\n", `it begins with "hello"`},
		{"a matrix", "\tGPU0\tGPU1\nGPU0\t X \tNV4\n", "no row of nccl-tests"},
		{"no row", now[:strings.Index(now, "     1048576")], "no row of its table"},
		{"broken JSON", `{"results": [`, "ends early"},
		{"wrong JSON", "{\n\"results\": 5}", "log:2"},
		{"empty JSON", "{}", "without results"},
		{"a size below zero", `{"results":[{"size":-1,"out_of_place":{"time":1,"alg_bw":1,"bus_bw":1}}]}`, "expected 0 to 2^50"},
		{"a time that is none", `{"results":[{"size":1,"out_of_place":{"time":"x","alg_bw":1,"bus_bw":1}}]}`, "expected a number"},
		{"a column is missing", "size_bytes,count,type\n1,1,float\n", "redop is missing"},
		{"a number that is none", "size_bytes,count,type,redop,time_us,algbw_gbytes_per_s,busbw_gbytes_per_s\n1,1,float,sum,x,1,1\n", "log:2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("log", []byte(c.text))
			require.ErrorContains(t, err, c.want)
			var e *Error
			require.ErrorAs(t, err, &e)
		})
	}
}

func TestLinesThatAreNoRows(t *testing.T) {
	for _, line := range []string{
		"-8 2 float sum -1 1 1 1 0", "8 2 float sum -1 nan 1 1 0", "8 2 float sum -1 inf 1 1 0", "8 2 float sum -1 -3 1 1 0",
		"8 2 flaot sum -1 1 1 1 0", "99999999999999999999 2 float sum -1 1 1 1 0", "8 2 float sum -1 1e300 1 1 0",
	} {
		_, err := Parse("log", []byte(line+"\n"))
		assert.Error(t, err, line)
	}
}

// TestSharedLogs counts the rows of real logs and compares them with what was
// counted apart from this reader.
func TestSharedLogs(t *testing.T) {
	dir := sharedDir(t, "traces/nccl_tests")
	expected := expectations(t)
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, n := range names {
		want, ok := expected[n.Name()]
		if !ok {
			continue
		}
		t.Run(n.Name(), func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(dir, n.Name()))
			require.NoError(t, err)
			l, err := Parse(n.Name(), content)
			require.NoError(t, err)
			require.Len(t, l.Tables, 1)
			a := l.Tables[0]
			assert.Equal(t, want.ranks, a.Ranks)
			assert.Len(t, a.Rows, want.rows)
			assert.Equal(t, want.first, a.Rows[0].Size)
			assert.Equal(t, want.last, a.Rows[len(a.Rows)-1].Size)
			assert.InDelta(t, want.average*1e9, float64(a.Average), 1e3)
			assert.Equal(t, want.ranks/8, a.Hosts)
			switch {
			case strings.Contains(n.Name(), "alltoall"):
				assert.Equal(t, "alltoall", a.Op, "the numbers allow all_gather too; the name of the file tells")
			case strings.Contains(n.Name(), "_reduce."):
				assert.Equal(t, "reduce", a.Op)
			default:
				assert.Equal(t, "all_reduce", a.Op)
			}
			for _, f := range a.Check() {
				assert.NotEqual(t, Wrong, f.Kind)
				assert.NotEqual(t, Inconsistent, f.Kind, f.Text)
			}
		})
	}
}

// FuzzParse feeds foreign bytes. The reader must not panic, must say what is
// wrong with a known type of error, and what it returns must be sound.
func FuzzParse(f *testing.F) {
	f.Add([]byte(now))
	f.Add([]byte(prefixed(now, "[1,0]<stdout>:")))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse("log", data)
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			return
		}
		require.NotEmpty(t, l.Tables)
		for _, a := range l.Tables {
			require.NotEmpty(t, a.Rows)
			require.True(t, a.Ranks >= 0 && a.Hosts >= 0)
			for _, r := range a.Rows {
				require.True(t, r.Size >= 0 && r.Out.Time >= 0 && r.In.Time >= 0 && r.Out.AlgBW >= 0)
			}
			a.Check()
			for _, r := range a.Usable() {
				require.Positive(t, r.Size)
				require.Positive(t, r.Of())
			}
		}
		_, err = json.Marshal(l)
		require.NoError(t, err)
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte(strings.Repeat(now, 100))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse("log", text); err != nil {
			b.Fatal(err)
		}
	}
}

func Example() {
	l, err := Read("all_reduce.log", strings.NewReader(now))
	if err != nil {
		panic(err)
	}
	for _, t := range l.Tables {
		fmt.Println(t.Op, t.Ranks, t.Names())
		for _, r := range t.Usable() {
			fmt.Printf("%v %v %.2f GB/s\n", r.Size, r.Of(), r.Out.BusBW/sim.GBps)
		}
	}
	// Output:
	// all_reduce 2 [NVIDIA H100 80GB HBM3]
	// 1MiB 28.01us 37.44 GB/s
	// 8GiB 31.6056ms 271.78 GB/s
}
