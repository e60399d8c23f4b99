package measured

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

// TestShippedSeries holds what comes with weft against what a score needs.
func TestShippedSeries(t *testing.T) {
	series, err := Load()
	require.NoError(t, err)
	tables, kinds := map[string]bool{}, map[string]bool{}
	for _, s := range series {
		tables[s.Table.ID] = true
		assert.NotEmpty(t, s.Table.Source, s.Table.ID)
		assert.NotContains(t, s.Table.Source, "stored", s.Table.ID)
		assert.Contains(t, []string{"high", "medium", "low"}, s.Table.Trust, s.Table.ID)
		assert.True(t, simulated(s.Op), "%s: operation %q", s.Table.ID, s.Op)
		if s.Case.Skip == "" {
			kinds[s.Case.Kind] = true
			_, _, err := s.Case.machines(s.Run)
			assert.NoError(t, err)
		}
		for i, p := range s.Points {
			assert.Positive(t, p.Size)
			assert.Positive(t, p.Time)
			if i > 0 && s.Points[i-1].Placement == p.Placement {
				assert.LessOrEqual(t, s.Points[i-1].Size, p.Size, "%s: sizes rise", s.Key())
			}
		}
	}
	assert.Greater(t, len(tables), 150)
	for _, k := range Kinds() {
		assert.True(t, kinds[k], k)
	}
}

// TestShippedCasesCanBeBuilt predicts one size of each question.
func TestShippedCasesCanBeBuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a hundred machines")
	}
	series, err := Load()
	require.NoError(t, err)
	samples, err := Compare(context.Background(), series, func(ctx context.Context, s *Series, sizes []sim.Bytes) ([]Prediction, error) {
		one, err := new(Simulator).Predict(ctx, s, sizes[:1])
		if err != nil {
			return nil, err
		}
		return slices.Repeat(one, len(sizes)), nil
	}, nil)
	require.NoError(t, err)
	for i := range samples {
		if samples[i].Left == "" {
			require.Positive(t, samples[i].Prediction.Time, samples[i].Series.Key())
		}
	}
}

const ownCase = `cases:
  - tables: [mine]
    op: all_reduce
    ranks: [8]
    kind: nvlink-node
    system: dgx-h100
    collectives: {library: nccl, version: "2.27", launch: one-process}
`

func own(caseText, csv string) ([]*Series, error) {
	return LoadFrom(fstest.MapFS{"mine.yaml": {Data: []byte(caseText)}}, fstest.MapFS{"mine.csv": {Data: []byte(csv)}})
}

func TestOwnTables(t *testing.T) {
	t.Run("size and time alone", func(t *testing.T) {
		series, err := own(ownCase, "size_bytes,time_us\n1024,13.5\n512,13.1\n")
		require.NoError(t, err)
		require.Len(t, series, 1)
		s := series[0]
		assert.Equal(t, "mine all_reduce 8 1", s.Key())
		assert.Equal(t, "one-process", s.Case.Launch())
		assert.Equal(t, []Point{{Size: 512, Time: 13100 * sim.Nanosecond, Placement: "out"}, {Size: 1024, Time: 13500 * sim.Nanosecond, Placement: "out"}}, s.Points)
	})
	t.Run("columns of a published table", func(t *testing.T) {
		series, err := own(strings.Replace(ownCase, "    op: all_reduce\n    ranks: [8]\n", "", 1),
			"# id: mine\nsize_bytes,ranks,nodes,gpu,op,dtype,placement,time_us,algbw_gbps,busbw_gbps,algo,proto\n"+
				"0,8,1,H100,all_gather,float,out,,,12,,\n"+
				"1048576,8,1,H100,all_gather,float,out,20,,,,\n"+
				"1048576,8,1,H100,all_gather,float,in,,,45.875,,\n"+
				"2097152,8,1,H100,all_gather,float,in,,,0.2,,\n")
		require.NoError(t, err)
		require.Len(t, series, 1)
		s := series[0]
		assert.Equal(t, "all_gather", s.Op)
		assert.Equal(t, "float", s.Type)
		require.Len(t, s.Points, 3)
		assert.Equal(t, 20*sim.Microsecond, s.Points[0].Time)
		// 1 MiB x 7/8 / 45.875 GB/s = 20.0 us
		assert.InDelta(t, 20, s.Points[1].Time.Microseconds(), 0.01)
		assert.False(t, s.Points[1].Coarse)
		assert.True(t, s.Points[2].Coarse, "0.2 GB/s may be 0.15 or 0.25")
	})
	for _, c := range []struct{ name, cases, csv, want string }{
		{"no case", strings.Replace(ownCase, "mine", "other", 1), "size_bytes,time_us\n1,1\n", `no case names the table "mine"`},
		{"no size", ownCase, "sizebytes,time_us\n1,1\n", "no column size_bytes"},
		{"no time", ownCase, "size_bytes,tme_us\n1,1\n", "no column time_us"},
		{"empty", ownCase, "", "expected a line with the columns"},
		{"no rows", ownCase, "size_bytes,time_us\n", "no rows"},
		{"negative time", ownCase, "size_bytes,time_us\n8,-1\n", `line 2: time_us: read "-1"`},
		{"no number", ownCase, "size_bytes,time_us\n8,NaN\n", `read "NaN"`},
		{"size", ownCase, "size_bytes,time_us\n8M,1\n", `size_bytes "8M"`},
		{"operation", strings.Replace(ownCase, "    op: all_reduce\n", "", 1), "size_bytes,time_us\n8,1\n", "read operation"},
		{"ranks", strings.Replace(ownCase, "    ranks: [8]\n", "", 1), "size_bytes,time_us\n8,1\n", "read ranks"},
		{"fields", ownCase, "size_bytes,time_us\n8,1,2\n", "wrong number of fields"},
		{"case key", strings.Replace(ownCase, "kind:", "knd:", 1), "size_bytes,time_us\n8,1\n", `did you mean "kind"`},
		{"case kind", strings.Replace(ownCase, "kind: nvlink-node", "kind: nvlink", 1), "size_bytes,time_us\n8,1\n", "nvlink-node"},
		{"case without system", strings.Replace(ownCase, "    system: dgx-h100\n", "", 1), "size_bytes,time_us\n8,1\n", "expected system"},
		{"case unused", ownCase + strings.TrimPrefix(ownCase, "cases:\n"), "size_bytes,time_us\n8,1\n", "matches no table that an earlier one does not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := own(c.cases, c.csv)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
		})
	}
	_, err := LoadFrom(fstest.MapFS{}, fstest.MapFS{})
	assert.ErrorContains(t, err, "no *.yaml")
}

// TestUnbuildableCase says which table asks for a machine that cannot be.
func TestUnbuildableCase(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"dgx-h100", "dgx-h1000", "dgx-h100"},
		{"ranks: [8]", "ranks: [9]", "9 GPUs of each dgx-h100, but it has 8"},
		{"system: dgx-h100", "system: dgx-h100\n    gpus: [0, 1, 2]", "gpus names 3 of each machine, but the table has 8"},
		{"system: dgx-h100", "system: dgx-h100\n    gpus: [0, 1, 2, 3, 4, 5, 6, 8]", "read 8, expected 0 to 7"},
		{"system: dgx-h100", "system: dgx-h100\n    machines: 3", "8 GPUs on 3 machines"},
	} {
		series, err := own(strings.Replace(ownCase, c.old, c.new, 1), "size_bytes,time_us\n8,1\n")
		require.NoError(t, err)
		_, err = Compare(context.Background(), series, new(Simulator).Predict, nil)
		require.Error(t, err)
		assert.Contains(t, err.Error(), c.want)
		assert.Contains(t, err.Error(), "case of mine")
	}
}

func TestUnsimulatedLibrary(t *testing.T) {
	series, err := own(strings.Replace(ownCase, "library: nccl", "library: ucx", 1), "size_bytes,time_us\n8,1\n")
	require.NoError(t, err)
	samples, err := Compare(context.Background(), series, new(Simulator).Predict, nil)
	require.NoError(t, err)
	assert.Equal(t, "library ucx is not simulated", samples[0].Left)
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*b", "ab", true}, {"a*c", "abc", true}, {"a*c", "ac", true},
		{"a*b*c", "a-c-b-c", true}, {"a*b*c", "a-c-c", false}, {"*", "", true}, {"ab*ba", "aba", false}, {"*median*", "in median of 3", true},
	} {
		assert.Equal(t, c.want, like(c.pattern, c.name), fmt.Sprintf("%q of %q", c.pattern, c.name))
	}
}

// FuzzOwn reads foreign tables and cases: an error, or series that are sound.
func FuzzOwn(f *testing.F) {
	f.Add(ownCase, "size_bytes,time_us\n1024,13.5\n")
	f.Add(ownCase, "# a comment\nsize,busbw,placement\n1048576,45.8,in\n0,1,in\n")
	f.Add("cases: [{tables: ['*'], skip: why}]", "size_bytes,time_us,op,ranks,nodes,type,variant,placement\n8,1,reduce,2,1,half,a,out\n")
	f.Add("cases: [{tables: ['m*'], op: sendrecv, ranks: [2], kind: pcie, system: x, leave_out: [{to: 1KiB, because: b}]}]", "size_bytes,time_us\n8,1e9\n8,1\n")
	f.Fuzz(func(t *testing.T, caseText, csv string) {
		series, err := own(caseText, csv)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		for _, s := range series {
			left := s.Left(series)
			require.Len(t, left, len(s.Points))
			for _, p := range s.Points {
				require.Positive(t, p.Size)
				require.Positive(t, p.Time)
			}
		}
	})
}

// FuzzRuns reads files like those of data/.
func FuzzRuns(f *testing.F) {
	f.Add("table,op,ranks,nodes,type,variant,placement,bytes_us\nt,all_reduce,8,1,,,out,8=1 16=2.5r\n")
	f.Add("table,op,ranks,nodes,type,variant,placement,bytes_us\nt,all_reduce,8,1,,,out,8=0\n")
	f.Add("table,op,ranks\n")
	f.Fuzz(func(t *testing.T, text string) {
		runs, err := readRuns("points.csv", strings.NewReader(text), []*Table{{ID: "t"}})
		if err != nil {
			return
		}
		for _, r := range runs {
			require.NotEmpty(t, r.Points)
			for _, p := range r.Points {
				require.Positive(t, p.Time)
				require.Positive(t, p.Size)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(); err != nil {
			b.Fatal(err)
		}
	}
}
