package nccltests

import (
	"fmt"
	"math"
)

// Kind is what a finding is about.
type Kind string

// The kinds of findings.
const (
	Wrong        Kind = "wrong-values" // the data that arrived was not right
	Inconsistent Kind = "inconsistent" // bandwidths that contradict the time
	Warmup       Kind = "first-use"    // the first rows took longer than larger ones
	Outlier      Kind = "outlier"      // a row took longer than the next larger
	Repeated     Kind = "repeated"     // a size that came before
	Unfinished   Kind = "unfinished"
)

// Finding is something odd about a table.
type Finding struct {
	Kind Kind
	Line int // 0 is the whole table
	Text string
}

// longer is by how much a row may exceed its larger neighbour: noise between
// runs of one laboratory stays below it.
const longer = 1.3

// Check returns what is odd about the numbers, by line.
func (t *Table) Check() []Finding {
	var all []Finding
	say := func(k Kind, line int, format string, args ...any) {
		all = append(all, Finding{k, line, fmt.Sprintf(format, args...)})
	}
	bad := int64(0)
	for i := range t.Rows {
		r := &t.Rows[i]
		for _, run := range r.runs() {
			bad += run.Wrong
			if run.Wrong > 0 {
				say(Wrong, r.Line, "%d wrong values at %d bytes, %s: data was damaged on its way", run.Wrong, r.Size, run.where)
			}
			if why := t.contradiction(r, run.Run); why != "" {
				say(Inconsistent, r.Line, "%d bytes, %s: %s", r.Size, run.where, why)
			}
		}
		switch out, in := t.slow(i); {
		case !out && !in:
		case i < 2 || t.Rows[i-1].Size == 0:
			say(Warmup, r.Line, "%d bytes took longer than the next larger size: a first use, not a measurement", r.Size)
		default:
			say(Outlier, r.Line, "%d bytes took longer than the next larger size", r.Size)
		}
		if i > 0 && r.Size == t.Rows[i-1].Size && r.Size > 0 {
			say(Repeated, r.Line, "%d bytes come again: the steps are smaller than an element for each rank", r.Size)
		}
	}
	if t.Bad > 0 && bad == 0 {
		say(Wrong, 0, "%d values were out of bounds by the foot of the table: data was damaged on its way", t.Bad)
	}
	if !t.Ended {
		say(Unfinished, 0, "the table has no end: the job did not come to it")
	}
	return all
}

// placed is one half of a row that was measured.
type placed struct {
	Run
	where string
}

func (r *Row) runs() []placed {
	var all []placed
	if r.Out.Measured() {
		all = append(all, placed{r.Out, "out of place"})
	}
	if r.In.Measured() {
		all = append(all, placed{r.In, "in place"})
	}
	return all
}

// contradiction says how bandwidths do not follow from size and time.
func (t *Table) contradiction(r *Row, run Run) string {
	if r.Size == 0 {
		return ""
	}
	const digit = 0.0051 // half of the last decimal of GB/s, and of us
	us := run.Time.Microseconds()
	want := float64(r.Size) / us / 1e3
	got := float64(run.AlgBW) / 1e9
	// From 1000 GB/s and 10000 us on fewer digits are printed.
	if off := math.Abs(got - want); off > digit+0.006*want+want*digit/us {
		return fmt.Sprintf("algbw %.4g GB/s, but size over time is %.4g", got, want)
	}
	f, ok := Factor(t.Op, t.Ranks)
	if !ok || t.Ranks < 2 || t.Counted {
		return ""
	}
	want, got = f*got, float64(run.BusBW)/1e9
	if off := math.Abs(got - want); off > digit*(1+f)+0.006*want {
		return fmt.Sprintf("busbw %.4g GB/s, but algbw times the factor of %s among %d ranks is %.4g", got, t.Op, t.Ranks, want)
	}
	return ""
}

// slow reports for each half whether a row took much longer than the next
// larger size.
func (t *Table) slow(i int) (out, in bool) {
	r := &t.Rows[i]
	for j := i + 1; j < len(t.Rows); j++ {
		next := &t.Rows[j]
		if next.Size <= r.Size {
			continue
		}
		more := func(a, b Run) bool {
			return a.Measured() && b.Measured() && float64(a.Time) > longer*float64(b.Time)
		}
		return more(r.Out, next.Out), more(r.In, next.In)
	}
	return false, false
}

// Usable returns the rows to compare with: of every size above zero the
// fastest, out of place; in place where only that was measured, or where out of
// place took longer than the next larger size and in place did not. Rows that
// took longer in all halves are kept if the halves agree, since a slow
// protocol does that too, and left out otherwise.
func (t *Table) Usable() []Row {
	var all []Row
	for i := range t.Rows {
		r := t.Rows[i]
		if r.Size <= 0 || r.Of() <= 0 {
			continue
		}
		out, in := t.slow(i)
		switch both := r.Out.Measured() && r.In.Measured(); {
		case out && both && !in:
			r.Out = r.In
		case out && !both:
			continue
		case out && !agree(r.Out, r.In):
			continue
		}
		if n := len(all); n > 0 && all[n-1].Size == r.Size {
			if r.Of() < all[n-1].Of() {
				all[n-1] = r
			}
			continue
		}
		all = append(all, r)
	}
	return all
}

// agree reports whether two halves took about as long.
func agree(a, b Run) bool {
	return float64(a.Time) < longer*float64(b.Time) && float64(b.Time) < longer*float64(a.Time)
}
