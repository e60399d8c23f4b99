package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// line is the time of a message: latency + size / rate, of sizes 1, 2, 4 ...
func line(n int) func(context.Context, []float64) ([]float64, error) {
	return func(_ context.Context, v []float64) ([]float64, error) {
		out := make([]float64, n)
		for i := range out {
			out[i] = v[0] + math.Exp2(float64(i))/v[1]
		}
		return out, nil
	}
}

func known(t require.TestingT, latency, rate float64) []float64 {
	m, err := line(20)(context.Background(), []float64{latency, rate})
	require.NoError(t, err)
	return m
}

func start() []Parameter {
	return []Parameter{{"latency", 10, 1, 100}, {"rate", 100, 10, 1000}}
}

// What a model itself printed is found again, from anywhere within the bounds.
func TestSolveFindsWhatWasThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		latency := rapid.Float64Range(2, 50).Draw(t, "latency")
		rate := rapid.Float64Range(20, 500).Draw(t, "rate")
		r, err := Solve(context.Background(), &Problem{start(), known(t, latency, rate), line(20)})
		require.NoError(t, err)
		assert.InEpsilon(t, latency, r.Estimates[0].Value, 0.01)
		assert.InEpsilon(t, rate, r.Estimates[1].Value, 0.01)
		assert.Less(t, RMS(r.After), 0.003)
		assert.Empty(t, r.Pairs)
	})
}

// With noise, the interval holds the true value, and one row that went wrong
// moves little.
func TestSolveWithNoise(t *testing.T) {
	m := known(t, 20, 50)
	for i := range m {
		m[i] *= math.Exp(0.02 * math.Sin(float64(7*i)))
	}
	m[5] *= 3
	r, err := Solve(context.Background(), &Problem{start(), m, line(20)})
	require.NoError(t, err)
	for i, want := range []float64{20, 50} {
		e := r.Estimates[i]
		assert.InEpsilon(t, want, e.Value, 0.05, e.Name)
		assert.True(t, e.Least < want && want < e.Most, "%s: %v to %v", e.Name, e.Least, e.Most)
		assert.True(t, e.Error > 0.001 && e.Error < 0.1, "%s: %v", e.Name, e.Error)
		assert.Equal(t, Fitted, e.State)
	}
	assert.Less(t, RMS(r.After), RMS(r.Before))
}

func TestParametersThatCannotBeKnown(t *testing.T) {
	p := &Problem{Parameters: append(start(), Parameter{"unused", 5, 1, 10}, Parameter{"also latency", 1, 0.1, 10}), Measured: known(t, 20, 50)}
	p.Predict = func(ctx context.Context, v []float64) ([]float64, error) {
		return line(20)(ctx, []float64{v[0] * v[3], v[1]})
	}
	r, err := Solve(context.Background(), p)
	require.NoError(t, err)
	assert.Equal(t, Silent, r.Estimates[2].State)
	assert.Equal(t, 5.0, r.Estimates[2].Value)
	assert.True(t, math.IsNaN(r.Estimates[2].Error))
	assert.InEpsilon(t, 20, r.Estimates[0].Value*r.Estimates[3].Value, 0.02)
	require.Len(t, r.Pairs, 1)
	assert.Equal(t, "latency", r.Pairs[0].A)
	assert.Equal(t, "also latency", r.Pairs[0].B)
	assert.Less(t, r.Pairs[0].Correlation, -0.9)
}

func TestBoundsHold(t *testing.T) {
	r, err := Solve(context.Background(), &Problem{start(), known(t, 400, 50), line(20)})
	require.NoError(t, err)
	assert.Equal(t, Bound, r.Estimates[0].State)
	assert.LessOrEqual(t, r.Estimates[0].Value, 100.0)
}

func TestErrors(t *testing.T) {
	m := known(t, 20, 50)
	for _, c := range []struct {
		name string
		p    Problem
		want string
	}{
		{"too few", Problem{start(), m[:2], line(2)}, "more values than figures"},
		{"a value of zero", Problem{start(), []float64{1, 2, 0}, line(3)}, "above zero"},
		{"bounds", Problem{[]Parameter{{"x", 1, 2, 3}}, m, line(20)}, "bounds above zero"},
		{"too few predictions", Problem{start(), m, line(3)}, "3 predictions for 20"},
		{"predictions of nothing", Problem{start(), m, func(context.Context, []float64) ([]float64, error) { return make([]float64, 20), nil }}, "prediction 0 is 0"},
		{"a prediction that fails", Problem{start(), m, func(context.Context, []float64) ([]float64, error) { return nil, errors.New("no machine") }}, "no machine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Solve(context.Background(), &c.p)
			assert.ErrorContains(t, err, c.want)
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_, err := Solve(ctx, &Problem{start(), m, func(ctx context.Context, v []float64) ([]float64, error) {
		if calls++; calls == 20 {
			cancel()
		}
		return line(20)(ctx, v)
	}})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 20, calls)
}

func BenchmarkSolve(b *testing.B) {
	b.ReportAllocs()
	m := known(b, 20, 50)
	for b.Loop() {
		if _, err := Solve(context.Background(), &Problem{start(), m, line(20)}); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleSolve() {
	// Times of messages of 1, 2, 4, 8 and 16 bytes: 3 us and 2 bytes a us.
	r, err := Solve(context.Background(), &Problem{
		Parameters: []Parameter{{"latency", 1, 0.1, 10}, {"rate", 1, 0.1, 10}},
		Measured:   []float64{3.5, 4, 5, 7, 11},
		Predict:    line(5),
	})
	if err != nil {
		panic(err)
	}
	for _, e := range r.Estimates {
		fmt.Printf("%s %.2f %s\n", e.Name, e.Value, e.State)
	}
	// Output:
	// latency 3.00 fitted
	// rate 2.00 fitted
}
