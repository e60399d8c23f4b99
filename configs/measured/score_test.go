package measured

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
)

// made returns a series with points of 10 us at sizes, out of place.
func made(table, op string, ranks int, sizes ...sim.Bytes) *Series {
	s := &Series{
		Run:  &Run{Table: &Table{ID: table}, Op: op, Ranks: ranks, Nodes: 1},
		Case: &Case{Tables: []string{table}, Kind: "pcie", System: "pcie-v100-4"},
	}
	for _, size := range sizes {
		s.Points = append(s.Points, Point{Size: size, Time: 10 * sim.Microsecond, Placement: "out"})
	}
	return s
}

// off are samples of a series with the given errors.
func off(s *Series, errs ...float64) []Sample {
	var out []Sample
	for i, e := range errs {
		p := s.Points[i%len(s.Points)]
		out = append(out, Sample{Series: s, Point: p, Prediction: Prediction{Time: sim.Time(math.Round(float64(p.Time) * (1 + e)))}})
	}
	return out
}

// TestScoreByHand: four points of one series at 10, 10, 10 and -30 %, one of
// another at -20 %. Weights are 1/4 each and 1. The absolute errors in rising
// order are 10 (weight up to 0.75), 20 (1.75), 30 (2): half of 2 is reached at
// 20, nine tenths, 1.8, at 30. The signed ones are -30 (0.25), -20 (1.25): -20.
func TestScoreByHand(t *testing.T) {
	a, b := made("a", "all_reduce", 4, 8), made("b", "all_reduce", 4, 8)
	rep := Score(append(off(a, 0.1, 0.1, 0.1, -0.3), off(b, -0.2)...))
	require.Len(t, rep.Rows, 4, "two series, a kind, all")
	assert.Equal(t, "a", rep.Rows[0].Table)
	assert.InDelta(t, 0.1, rep.Rows[0].Median, 1e-9)
	assert.InDelta(t, 0.3, rep.Rows[0].P90, 1e-9)
	assert.InDelta(t, 0.1, rep.Rows[0].Bias, 1e-9)
	assert.InDelta(t, -0.3, rep.Rows[0].Worst, 1e-9)
	for _, r := range rep.Rows[2:] {
		assert.Equal(t, All, r.Table)
		assert.Equal(t, 2, r.Series)
		assert.Equal(t, 5, r.Points)
		assert.InDelta(t, 0.2, r.Median, 1e-9)
		assert.InDelta(t, 0.3, r.P90, 1e-9)
		assert.InDelta(t, -0.2, r.Bias, 1e-9)
		assert.InDelta(t, -0.3, r.Worst, 1e-9)
	}
	assert.Equal(t, "pcie", rep.Rows[2].Kind)
	assert.Equal(t, All, rep.Rows[3].Kind)
}

func TestClasses(t *testing.T) {
	for size, want := range map[sim.Bytes]string{1: "small", sim.MiB - 1: "small", sim.MiB: "medium", 64*sim.MiB - 1: "medium", 64 * sim.MiB: "large"} {
		assert.Equal(t, want, Class(size), size)
	}
	rep := Score(off(made("a", "reduce", 2, 8, sim.MiB, 64*sim.MiB), 0, 0, 0))
	var got []string
	for _, r := range rep.Rows {
		got = append(got, r.Table+" "+r.Kind+" "+r.Class)
	}
	assert.Equal(t, []string{
		"a pcie small", "a pcie medium", "a pcie large",
		"all pcie small", "all pcie medium", "all pcie large", "all all small", "all all medium", "all all large",
	}, got)
}

// TestSeriesCountTheSame: what a series has more of the same points does not
// move the score of many.
func TestSeriesCountTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		errs := rapid.SliceOfN(rapid.Float64Range(-0.9, 3), 1, 8).Draw(t, "errors")
		times := rapid.IntRange(2, 5).Draw(t, "times")
		other := rapid.SliceOfN(rapid.Float64Range(-0.9, 3), 1, 8).Draw(t, "others")
		a, b := made("a", "all_reduce", 4, 8), made("b", "all_reduce", 4, 8)
		once := Score(append(off(a, errs...), off(b, other...)...))
		var many []float64
		for range times {
			many = append(many, errs...)
		}
		more := Score(append(off(a, many...), off(b, other...)...))
		last, lastMore := once.Rows[len(once.Rows)-1], more.Rows[len(more.Rows)-1]
		// Equal weights may fall on either side of a quantile by a rounding of
		// their sum; the error that it then takes is a neighbour in rank.
		assert.InDelta(t, last.Worst, lastMore.Worst, 1e-9)
		assert.Equal(t, last.Series, lastMore.Series)
		assert.LessOrEqual(t, last.Median, last.P90)
		assert.LessOrEqual(t, last.P90, math.Abs(last.Worst))
		assert.LessOrEqual(t, math.Abs(last.Bias), math.Abs(last.Worst))
	})
}

func TestBelowTheBound(t *testing.T) {
	s := made("a", "all_reduce", 4, 8)
	samples := off(s, 0, 0)
	samples[0].Bound = 11 * sim.Microsecond
	samples[1].Bound = 10 * sim.Microsecond
	rep := Score(samples)
	require.Len(t, rep.Below, 1)
	assert.Same(t, &samples[0], rep.Below[0])
}

// echo predicts a nanosecond a byte.
func echo(_ context.Context, s *Series, sizes []sim.Bytes) ([]Prediction, error) {
	out := make([]Prediction, len(sizes))
	for i, size := range sizes {
		out[i].Time = sim.Time(size) * sim.Nanosecond
	}
	return out, nil
}

func TestCompareKeepsTheOrder(t *testing.T) {
	var series []*Series
	for i := range 40 {
		s := made(fmt.Sprint("t", i), "all_reduce", 2+i%3, 8, 16, 32)
		s.Case.System = fmt.Sprint("s", i%7)
		series = append(series, s)
	}
	want, err := Compare(context.Background(), series, echo, nil)
	require.NoError(t, err)
	require.Len(t, want, 120)
	for _, procs := range []int{1, 4} {
		old := runtime.GOMAXPROCS(procs)
		asked := 0
		got, err := Compare(context.Background(), series, echo, func(done, of int) {
			asked++
			assert.Equal(t, asked, done)
			assert.Equal(t, 21, of, "seven systems of three numbers of GPUs")
		})
		runtime.GOMAXPROCS(old)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, 21, asked)
	}
	for i := range want {
		assert.Equal(t, sim.Time(want[i].Size)*sim.Nanosecond, want[i].Prediction.Time)
	}
}

func TestCompareFails(t *testing.T) {
	series := []*Series{made("a", "all_reduce", 2, 8), made("b", "all_gather", 2, 8)}
	boom := errors.New("boom")
	_, err := Compare(context.Background(), series, func(_ context.Context, s *Series, sizes []sim.Bytes) ([]Prediction, error) {
		return nil, boom
	}, nil)
	assert.ErrorIs(t, err, boom)
	_, err = Compare(context.Background(), series, func(context.Context, *Series, []sim.Bytes) ([]Prediction, error) {
		return []Prediction{{}}, nil
	}, nil)
	assert.ErrorContains(t, err, "a time of")
	_, err = Compare(context.Background(), series, func(context.Context, *Series, []sim.Bytes) ([]Prediction, error) {
		return make([]Prediction, 3), nil
	}, nil)
	assert.ErrorContains(t, err, "3 answers for 1 sizes")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Compare(ctx, series, echo, nil)
	assert.ErrorIs(t, err, context.Canceled)
}

// TestBounds: eight GPUs of 450 GB/s each way, S = 450 MB. An all-reduce sends S
// in 1 ms; an all-gather 7/8 of it. On two machines of eight NICs of 50 GB/s
// an all-reduce crosses with S over 400 GB/s: 1.125 ms.
func TestBounds(t *testing.T) {
	const s = 450 * sim.MB
	one := limits{gpu: 450 * sim.GBps, ranks: 8, machines: 1}
	assert.Equal(t, sim.Millisecond, one.bound("all_reduce", s))
	assert.Equal(t, 875*sim.Microsecond, one.bound("all_gather", s))
	assert.Equal(t, sim.Millisecond, one.bound("sendrecv", s))
	assert.Zero(t, one.bound("deepep_ll_dispatch", s))
	two := limits{gpu: 450 * sim.GBps, machine: 400 * sim.GBps, ranks: 16, machines: 2}
	assert.Equal(t, 1125*sim.Microsecond, two.bound("all_reduce", s))
	// each machine sends half of the buffers of its eight GPUs
	assert.Equal(t, 4500*sim.Microsecond, two.bound("alltoall", s))
	assert.Equal(t, 2*sim.Millisecond, one.sending(900e6))
}

func BenchmarkCompareNode(b *testing.B) {
	series, err := Load()
	require.NoError(b, err)
	var some []*Series
	for _, s := range series {
		if s.Table.ID == "dgxc_h100_8_allreduce" || s.Table.ID == "h100_nccl_all_reduce" {
			some = append(some, s)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		samples, err := Compare(context.Background(), some, new(Simulator).Predict, nil)
		if err != nil {
			b.Fatal(err)
		}
		Score(samples)
	}
}
