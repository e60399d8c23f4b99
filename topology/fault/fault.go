package fault

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// Fault is one thing that is wrong. Effects combine, except that what is down
// is nothing else.
type Fault struct {
	// Target names what it befalls, by names of nodes or patterns of them (*
	// stands for any text, ? for a character, [0-3] for one of several): a node
	// with all its links, "A>B" the links from A to B, "A<>B" those both ways, or
	// "class:C" the links of a class.
	Target string

	Down    bool     // out of service; links in both directions
	Factor  float64  // of the rate, above 0 and at most 1; 0 is none
	Rate    sim.Rate // instead of the rate, per direction and for the whole of parallel links; 0 is none
	Width   int32    // lanes or parallel links that are left, both directions; 0 is all
	Latency sim.Time // added
}

const grammar = `a target and what befalls it, e.g. "n0.gpu3 down", "n0.gpu0>n0.nvswitch1 x0.5", "leaf2<>spine* 25GB/s +1us", "class:ndr x0.9", "n0.gpu1<>n0.pcie-sw0 x8"`

// Parse reads a fault. Effects follow the target, after spaces or "=": "down",
// "x0.5" (a factor has a point), "x8" (a width has none), a rate with its
// unit, and "+" with a time.
func Parse(s string) (Fault, error) {
	fail := func(format string, args ...any) (Fault, error) {
		return Fault{}, fmt.Errorf("read fault %q: %s", s, fmt.Sprintf(format, args...))
	}
	words := strings.Fields(strings.ReplaceAll(s, "=", " "))
	// "a > b" is one target.
	for i := 1; i+1 < len(words); {
		if words[i] == ">" || words[i] == "<>" {
			words = append(append(words[:i-1:i-1], words[i-1]+words[i]+words[i+1]), words[i+2:]...)
			continue
		}
		i++
	}
	if len(words) < 2 {
		return fail("want %s", grammar)
	}
	f := Fault{Target: words[0]}
	for _, w := range words[1:] {
		if err := f.effect(w); err != nil {
			return fail("%v", err)
		}
	}
	if err := f.Validate(); err != nil {
		return Fault{}, err
	}
	return f, nil
}

func (f *Fault) effect(w string) error {
	twice := func(set bool) error {
		if set {
			return fmt.Errorf("%q says the same kind of thing a second time", w)
		}
		return nil
	}
	switch {
	case w == "down":
		err := twice(f.Down)
		f.Down = true
		return err
	case strings.HasPrefix(w, "+"):
		t, err := sim.ParseTime(w[1:])
		if err != nil {
			return fmt.Errorf("latency %q: %w", w, err)
		}
		err, f.Latency = twice(f.Latency != 0), t
		return err
	case strings.HasPrefix(w, "x") && strings.ContainsAny(w, ".e"):
		x, err := strconv.ParseFloat(w[1:], 64)
		if err != nil || !(x > 0 && x <= 1) {
			return fmt.Errorf("factor %q, want above 0 and at most 1, e.g. x0.5; write down for what is out of service", w)
		}
		err, f.Factor = twice(f.Factor != 0), x
		return err
	case strings.HasPrefix(w, "x"):
		n, err := strconv.ParseInt(w[1:], 10, 32)
		if err != nil || n < 1 {
			return fmt.Errorf("width %q, want a number of lanes or links that are left, e.g. x8, or a factor with a point, e.g. x0.5", w)
		}
		err, f.Width = twice(f.Width != 0), int32(n)
		return err
	}
	r, err := sim.ParseRate(w)
	if err != nil {
		return fmt.Errorf("effect %q: want down, a factor (x0.5), a width (x8), a rate (25GB/s) or a latency (+2us)", w)
	}
	if !(r > 0) {
		return fmt.Errorf("rate %q, want more than 0; write down for what is out of service", w)
	}
	err, f.Rate = twice(f.Rate != 0), r
	return err
}

// Validate returns what is wrong with the fault by itself, or nil.
func (f *Fault) Validate() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("fault of %q: %s", f.Target, fmt.Sprintf(format, args...))
	}
	if f.Target == "" {
		return fail("no target; want %s", grammar)
	}
	for _, p := range f.patterns() {
		if p == "" {
			return fail("an end is left out; write A>B or A<>B")
		}
		if _, err := path.Match(p, ""); err != nil {
			return fail("%q is no pattern: a [ wants a ]", p)
		}
	}
	other := f.Factor != 0 || f.Rate != 0 || f.Width != 0 || f.Latency != 0
	switch {
	case f.Down && other:
		return fail("it is down and something else; what is down has no rate, width or latency")
	case !f.Down && !other:
		return fail("nothing befalls it; want down, a factor (x0.5), a width (x8), a rate (25GB/s) or a latency (+2us)")
	case f.Factor != 0 && !(f.Factor > 0 && f.Factor <= 1):
		return fail("factor %v, want above 0 and at most 1", f.Factor)
	case f.Rate != 0 && (!(f.Rate > 0) || math.IsInf(float64(f.Rate), 0)):
		return fail("rate %v B/s, want a positive number", float64(f.Rate))
	case f.Factor != 0 && f.Rate != 0:
		return fail("a factor and a rate; give one of them")
	case f.Width < 0:
		return fail("width %d, want at least 1", f.Width)
	case f.Latency < 0:
		return fail("latency %v, want what is added", f.Latency)
	}
	return nil
}

// String writes the fault as [Parse] reads it.
func (f Fault) String() string {
	s := f.Target
	if f.Down {
		s += " down"
	}
	if f.Factor != 0 {
		x := strconv.FormatFloat(f.Factor, 'g', -1, 64)
		if !strings.ContainsAny(x, ".e") {
			x += ".0"
		}
		s += " x" + x
	}
	if f.Rate != 0 {
		s += " " + f.Rate.String()
	}
	if f.Width != 0 {
		s += " x" + strconv.Itoa(int(f.Width))
	}
	if f.Latency != 0 {
		s += " +" + f.Latency.String()
	}
	return s
}

// ends splits a target of links; both is true for "A<>B".
func (f *Fault) ends() (from, to string, both, ok bool) {
	if from, to, ok = strings.Cut(f.Target, "<>"); ok {
		return from, to, true, true
	}
	from, to, ok = strings.Cut(f.Target, ">")
	return from, to, false, ok
}

const classPrefix = "class:"

func (f *Fault) patterns() []string {
	if c, ok := strings.CutPrefix(f.Target, classPrefix); ok {
		return []string{c}
	}
	if from, to, _, ok := f.ends(); ok {
		return []string{from, to}
	}
	return []string{f.Target}
}
