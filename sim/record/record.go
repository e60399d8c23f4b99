package record

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-sim/weft/sim"
)

// Track is the number of a row of spans.
type Track int32

// Counter is the number of a row of values.
type Counter int32

// Name is an interned string.
type Name int32

// Span is something that took from Start to End on a track.
type Span struct {
	Start, End     sim.Time
	Track          Track
	Name, Category Name
}

// Sample is the value that a counter has from At on.
type Sample struct {
	At      sim.Time
	Value   float64
	Counter Counter
}

// row is a track or a counter: where it is listed, and what it is called.
type row struct{ group, name Name }

// Recorder keeps spans and samples. A nil one keeps nothing and answers 0; the
// zero value is ready for use. It is used by one goroutine.
type Recorder struct {
	names    []string
	byName   map[string]Name
	tracks   []row
	byTrack  map[row]Track
	counters []row
	byCount  map[row]Counter
	spans    []Span
	samples  []Sample
}

// New returns an empty recorder.
func New() *Recorder { return &Recorder{} }

// Intern returns the number of a string.
func (r *Recorder) Intern(s string) Name {
	if r == nil {
		return 0
	}
	n, ok := r.byName[s]
	if !ok {
		if r.byName == nil {
			r.byName = map[string]Name{}
		}
		n = Name(len(r.names))
		r.names = append(r.names, s)
		r.byName[s] = n
	}
	return n
}

// String returns the string behind a number.
func (r *Recorder) String(n Name) string {
	if r == nil {
		return ""
	}
	return r.names[n]
}

// Track returns the track of that name in a group ("rank 3", "stream 7"),
// adding it if it is new. Groups and their tracks are listed in the order in
// which they came.
func (r *Recorder) Track(group, name string) Track {
	if r == nil {
		return 0
	}
	key := row{r.Intern(group), r.Intern(name)}
	t, ok := r.byTrack[key]
	if !ok {
		if r.byTrack == nil {
			r.byTrack = map[row]Track{}
		}
		t = Track(len(r.tracks))
		r.tracks = append(r.tracks, key)
		r.byTrack[key] = t
	}
	return t
}

// Counter returns the counter of that name in a group ("links", "n0.gpu3 to
// n0.nvswitch1, GB/s"), adding it if it is new. The name should state the unit.
func (r *Recorder) Counter(group, name string) Counter {
	if r == nil {
		return 0
	}
	key := row{r.Intern(group), r.Intern(name)}
	c, ok := r.byCount[key]
	if !ok {
		if r.byCount == nil {
			r.byCount = map[row]Counter{}
		}
		c = Counter(len(r.counters))
		r.counters = append(r.counters, key)
		r.byCount[key] = c
	}
	return c
}

// Span records that something took from start to end. Spans may be recorded in
// any order, nest and overlap. An end before the start is a fault of the
// program, and panics.
func (r *Recorder) Span(t Track, name, category Name, start, end sim.Time) {
	if r != nil {
		r.span(Span{Start: start, End: end, Track: t, Name: name, Category: category})
	}
}

func (r *Recorder) span(s Span) {
	if s.End < s.Start || uint(s.Track) >= uint(len(r.tracks)) {
		panic(fmt.Sprintf("record: span from %d ps to %d ps on track %d of %d", int64(s.Start), int64(s.End), s.Track, len(r.tracks)))
	}
	r.spans = append(r.spans, s)
}

// Count records that a counter has a value from a time on. Of two samples of
// one counter at one time, the one recorded later stands.
func (r *Recorder) Count(c Counter, at sim.Time, value float64) {
	if r != nil {
		r.count(Sample{At: at, Value: value, Counter: c})
	}
}

func (r *Recorder) count(s Sample) {
	if uint(s.Counter) >= uint(len(r.counters)) {
		panic(fmt.Sprintf("record: sample of counter %d of %d", s.Counter, len(r.counters)))
	}
	r.samples = append(r.samples, s)
}

// Spans returns what was recorded, by track, then start, then the longer one
// first, then in the order of recording.
func (r *Recorder) Spans() []Span {
	if r == nil {
		return nil
	}
	sorted := slices.Clone(r.spans)
	slices.SortStableFunc(sorted, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Track, b.Track), cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	return sorted
}

// Samples returns what was recorded, by counter, then time; one sample for
// each time.
func (r *Recorder) Samples() []Sample {
	if r == nil {
		return nil
	}
	sorted := slices.Clone(r.samples)
	slices.SortStableFunc(sorted, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.Counter, b.Counter), cmp.Compare(a.At, b.At))
	})
	kept := sorted[:0]
	for i, s := range sorted {
		if i+1 == len(sorted) || sorted[i+1].Counter != s.Counter || sorted[i+1].At != s.At {
			kept = append(kept, s)
		}
	}
	return kept
}

// TrackName returns the group and name of a track.
func (r *Recorder) TrackName(t Track) (group, name string) {
	return r.String(r.tracks[t].group), r.String(r.tracks[t].name)
}

// CounterName returns the group and name of a counter.
func (r *Recorder) CounterName(c Counter) (group, name string) {
	return r.String(r.counters[c].group), r.String(r.counters[c].name)
}
