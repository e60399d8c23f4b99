package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/sim/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run with -update to make it")
	assert.Equal(t, string(want), string(got), path)
}

// sample is a small run: two ranks, one with overlapping and nesting spans,
// and a link. It is recorded out of order on purpose.
func sample() *record.Recorder {
	r := record.New()
	compute := r.Track("rank 0", "compute")
	comm := r.Track("rank 0", "comm")
	r.Track("rank 1", "compute") // nothing happens here
	link := r.Counter("links", "gpu0 to switch0, GB/s")
	gemm, reduce, step := r.Intern("gemm"), r.Intern(`all_reduce "mlp", 1<<20`), r.Intern("ring step")
	kernel, collective := r.Intern("compute"), r.Intern("collective")

	r.Span(comm, step, collective, 2*sim.Microsecond, 3*sim.Microsecond)
	r.Span(comm, reduce, collective, 2*sim.Microsecond, 4*sim.Microsecond)
	r.Span(comm, reduce, collective, 3*sim.Microsecond+1, 5*sim.Microsecond) // overlaps
	r.Span(comm, reduce, collective, 5*sim.Microsecond, 6*sim.Microsecond)   // touches
	r.Span(compute, gemm, kernel, 1*sim.Microsecond, 2*sim.Microsecond)
	r.Span(compute, gemm, kernel, 0, 936_250)
	r.Span(compute, gemm, kernel, 1*sim.Microsecond, 1*sim.Microsecond) // no time at all
	r.Count(link, 4*sim.Microsecond, 0)
	r.Count(link, 2*sim.Microsecond, 100)
	r.Count(link, 2*sim.Microsecond, 430.5) // the later one stands
	return r
}

func TestGolden(t *testing.T) {
	for name, write := range map[string]func(*record.Recorder, *bytes.Buffer) error{
		"spans.csv":   func(r *record.Recorder, b *bytes.Buffer) error { return r.WriteSpans(b) },
		"samples.csv": func(r *record.Recorder, b *bytes.Buffer) error { return r.WriteSamples(b) },
		"trace.json":  func(r *record.Recorder, b *bytes.Buffer) error { return r.WriteTrace(b) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, write(sample(), &b))
			golden(t, name, b.Bytes())
		})
	}
}

func TestNilRecordsNothing(t *testing.T) {
	var r *record.Recorder
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		r.Span(r.Track("rank 0", "compute"), r.Intern("gemm"), r.Intern(""), 5, 6)
		r.Count(r.Counter("links", "a"), 5, 1)
	}))
	assert.Empty(t, r.Spans())
	assert.Empty(t, r.Samples())
	assert.Empty(t, r.String(0))
	var b bytes.Buffer
	require.NoError(t, r.WriteTrace(&b))
	assert.JSONEq(t, `{"displayTimeUnit":"ns","traceEvents":[]}`, b.String())
	b.Reset()
	require.NoError(t, r.WriteSpans(&b))
	require.NoError(t, r.WriteSamples(&b))
	assert.Equal(t, "group,track,name,category,start_ps,end_ps\ngroup,counter,time_ps,value\n", b.String())
}

func TestNumbersAreInterned(t *testing.T) {
	r := record.New()
	assert.Equal(t, r.Intern("a"), r.Intern("a"))
	assert.NotEqual(t, r.Intern("a"), r.Intern("b"))
	assert.Equal(t, r.Track("rank 0", "comm"), r.Track("rank 0", "comm"))
	assert.NotEqual(t, r.Track("rank 0", "comm"), r.Track("rank 1", "comm"))
	assert.Equal(t, r.Counter("links", "a"), r.Counter("links", "a"))
	assert.NotEqual(t, r.Counter("links", "a"), r.Counter("links", "b"))
	group, name := r.TrackName(1)
	assert.Equal(t, []string{"rank 1", "comm"}, []string{group, name})
}

func TestFaultsOfTheProgramPanic(t *testing.T) {
	r := record.New()
	track := r.Track("rank 0", "comm")
	assert.PanicsWithValue(t, "record: span from 6 ps to 5 ps on track 0 of 1", func() { r.Span(track, 0, 0, 6, 5) })
	assert.Panics(t, func() { r.Span(track+1, 0, 0, 5, 6) })
	assert.Panics(t, func() { r.Count(0, 5, 1) })
}

func TestValuesThatJSONCannotHold(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		r := record.New()
		r.Count(r.Counter("links", "gpu0"), 3000, v)
		require.ErrorContains(t, r.WriteTrace(&bytes.Buffer{}), `write trace: counter "gpu0" of "links" at 3ns: value`)
	}
}

// full is a disk with no room left.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsAreReturned(t *testing.T) {
	r := sample()
	require.ErrorIs(t, r.WriteTrace(full{}), errFull)
	require.ErrorIs(t, r.WriteSpans(full{}), errFull)
	require.ErrorIs(t, r.WriteSamples(full{}), errFull)
}

// event is what a viewer reads of a trace event.
type event struct {
	Phase string      `json:"ph"`
	PID   int         `json:"pid"`
	TID   int         `json:"tid"`
	TS    json.Number `json:"ts"`
	Dur   json.Number `json:"dur"`
	Name  string      `json:"name"`
}

// In the trace of any spans, those of one thread nest or are apart, no
// picosecond is lost, and none is left out.
func TestTraceProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := record.New()
		name := r.Intern("op")
		var want []sim.Time
		for range rapid.IntRange(0, 30).Draw(t, "spans") {
			track := r.Track("rank 0", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "track"))
			start := sim.Time(rapid.Int64Range(0, 12).Draw(t, "start")) * 333_333
			length := sim.Time(rapid.Int64Range(0, 5).Draw(t, "length")) * 333_333
			r.Span(track, name, name, start, start+length)
		}
		for _, s := range r.Spans() {
			want = append(want, s.Start, s.End-s.Start)
		}
		var b bytes.Buffer
		require.NoError(t, r.WriteTrace(&b))
		var trace struct{ TraceEvents []event }
		require.NoError(t, json.Unmarshal(b.Bytes(), &trace))

		var got []sim.Time
		ends := map[int][]sim.Time{}
		for _, e := range trace.TraceEvents {
			if e.Phase != "X" {
				continue
			}
			start, err := sim.ParseTime(e.TS.String() + "us")
			require.NoError(t, err)
			length, err := sim.ParseTime(e.Dur.String() + "us")
			require.NoError(t, err)
			got = append(got, start, length)

			open := ends[e.TID]
			for len(open) > 0 && open[len(open)-1] <= start {
				open = open[:len(open)-1]
			}
			if len(open) > 0 {
				require.LessOrEqual(t, start+length, open[len(open)-1], "thread %d: span at %v does not nest", e.TID, start)
			}
			ends[e.TID] = append(open, start+length)
		}
		require.Equal(t, want, got)
	})
}

func BenchmarkNilSpan(b *testing.B) {
	var r *record.Recorder
	b.ReportAllocs()
	for b.Loop() {
		r.Span(0, 0, 0, 5, 6)
	}
}

func BenchmarkSpan(b *testing.B) {
	const batch = 1 << 12
	b.ReportAllocs()
	for b.Loop() {
		r := record.New()
		track, name := r.Track("rank 0", "comm"), r.Intern("all_reduce")
		for i := range sim.Time(batch) {
			r.Span(track, name, name, i, i+1)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/span")
}

func BenchmarkWriteTrace(b *testing.B) {
	r := record.New()
	track, name := r.Track("rank 0", "comm"), r.Intern("all_reduce")
	for i := range sim.Time(1 << 12) {
		r.Span(track, name, name, i*1237, (i+1)*1237)
	}
	var out strings.Builder
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		require.NoError(b, r.WriteTrace(&out))
	}
	b.SetBytes(int64(out.Len()))
}
