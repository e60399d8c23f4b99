package record

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/weft-sim/weft/sim"
)

// WriteTrace writes spans and counters in the JSON Trace Event Format, which
// ui.perfetto.dev and chrome://tracing open. A group is a process, a track a
// thread; both keep the order in which they were added. Times are microseconds
// with as many decimals as picoseconds need.
//
// The format has no place for spans of one thread that overlap without
// nesting, so a track with such spans is written as several threads: "comm",
// "comm (2)" and so on, each span on the first where it fits.
//
// A value that JSON cannot hold (NaN, an infinity) is an error.
func (r *Recorder) WriteTrace(w io.Writer) error {
	t := traceWriter{w: bufio.NewWriter(w), r: r}
	t.w.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`)
	if r != nil {
		t.quoteNames()
		t.groups()
		t.writeSpans()
		if err := t.writeSamples(); err != nil {
			return err
		}
	}
	t.w.WriteString("\n]}\n")
	// A bufio.Writer keeps its first error.
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	return nil
}

type traceWriter struct {
	w      *bufio.Writer
	r      *Recorder
	quoted [][]byte       // JSON of each name
	pids   map[Name]int64 // process of each group
	tids   map[Name]int64 // threads that a group has so far
	buf    []byte
	events int
}

func (t *traceWriter) quoteNames() {
	t.quoted = make([][]byte, len(t.r.names))
	for i, s := range t.r.names {
		t.quoted[i], _ = json.Marshal(s) // a string cannot fail
	}
}

// begin begins an event on a line of its own, with the phase and process.
func (t *traceWriter) begin(phase string, pid int64) {
	t.buf = t.buf[:0]
	if t.events > 0 {
		t.buf = append(t.buf, ',')
	}
	t.events++
	t.raw("\n{\"ph\":\"").raw(phase).raw(`","pid":`).int(pid)
}

func (t *traceWriter) end() {
	t.raw("}")
	t.w.Write(t.buf)
}

func (t *traceWriter) raw(s string) *traceWriter  { t.buf = append(t.buf, s...); return t }
func (t *traceWriter) int(n int64) *traceWriter   { t.buf = strconv.AppendInt(t.buf, n, 10); return t }
func (t *traceWriter) quote(n Name) *traceWriter  { t.buf = append(t.buf, t.quoted[n]...); return t }
func (t *traceWriter) text(s string) *traceWriter { q, _ := json.Marshal(s); return t.raw(string(q)) }

// micros appends a time in microseconds, exactly.
func (t *traceWriter) micros(at sim.Time) *traceWriter {
	if at < 0 {
		t.raw("-")
		at = -at
	}
	t.int(int64(at / sim.Microsecond))
	if ps := int64(at % sim.Microsecond); ps != 0 {
		start := len(t.buf)
		t.int(int64(sim.Microsecond) + ps) // a leading 1 keeps the zeros
		t.buf[start] = '.'
		for t.buf[len(t.buf)-1] == '0' {
			t.buf = t.buf[:len(t.buf)-1]
		}
	}
	return t
}

// groups numbers the groups from 1, those of tracks before those of counters,
// and names them.
func (t *traceWriter) groups() {
	t.pids, t.tids = map[Name]int64{}, map[Name]int64{}
	add := func(group Name) {
		if t.pids[group] != 0 {
			return
		}
		pid := int64(len(t.pids) + 1)
		t.pids[group] = pid
		t.begin("M", pid)
		t.raw(`,"name":"process_name","args":{"name":`).quote(group).raw("}").end()
		t.begin("M", pid)
		t.raw(`,"name":"process_sort_index","args":{"sort_index":`).int(pid).raw("}").end()
	}
	for _, row := range t.r.tracks {
		add(row.group)
	}
	for _, row := range t.r.counters {
		add(row.group)
	}
}

// writeSpans writes each track with its threads. All tracks get a thread, also
// those without spans.
func (t *traceWriter) writeSpans() {
	spans := t.r.Spans()
	for track, row := range t.r.tracks {
		n := 0
		for n < len(spans) && spans[n].Track == Track(track) {
			n++
		}
		t.writeTrack(row, spans[:n])
		spans = spans[n:]
	}
}

// lane is a thread of a track: the ends of the spans that are open, outermost
// first.
type lane struct {
	tid  int64
	open []sim.Time
}

// fits closes what ended by the start of s, and reports whether s then nests.
func (l *lane) fits(s Span) bool {
	for len(l.open) > 0 && l.open[len(l.open)-1] <= s.Start {
		l.open = l.open[:len(l.open)-1]
	}
	return len(l.open) == 0 || s.End <= l.open[len(l.open)-1]
}

func (t *traceWriter) writeTrack(row row, spans []Span) {
	pid := t.pids[row.group]
	var lanes []lane
	addLane := func() {
		t.tids[row.group]++
		tid := t.tids[row.group]
		lanes = append(lanes, lane{tid: tid})
		name := t.r.names[row.name]
		if len(lanes) > 1 {
			name = fmt.Sprintf("%s (%d)", name, len(lanes))
		}
		t.begin("M", pid)
		t.raw(`,"tid":`).int(tid).raw(`,"name":"thread_name","args":{"name":`).text(name).raw("}").end()
		t.begin("M", pid)
		t.raw(`,"tid":`).int(tid).raw(`,"name":"thread_sort_index","args":{"sort_index":`).int(tid).raw("}").end()
	}
	addLane()
	for _, s := range spans {
		i := 0
		for i < len(lanes) && !lanes[i].fits(s) {
			i++
		}
		if i == len(lanes) {
			addLane()
		}
		lanes[i].open = append(lanes[i].open, s.End)
		t.begin("X", pid)
		t.raw(`,"tid":`).int(lanes[i].tid).raw(`,"ts":`).micros(s.Start).raw(`,"dur":`).micros(s.End - s.Start)
		t.raw(`,"name":`).quote(s.Name).raw(`,"cat":`).quote(s.Category).end()
	}
}

func (t *traceWriter) writeSamples() error {
	for _, s := range t.r.Samples() {
		if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			group, name := t.r.CounterName(s.Counter)
			return fmt.Errorf("write trace: counter %q of %q at %v: value %v, want a finite number", name, group, s.At, s.Value)
		}
		row := t.r.counters[s.Counter]
		t.begin("C", t.pids[row.group])
		t.raw(`,"ts":`).micros(s.At).raw(`,"name":`).quote(row.name).raw(`,"args":{"value":`)
		t.buf = strconv.AppendFloat(t.buf, s.Value, 'g', -1, 64)
		t.raw("}").end()
	}
	return nil
}
