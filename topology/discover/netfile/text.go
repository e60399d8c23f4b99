package netfile

import (
	"math"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// word is a run of letters in a line, between blanks.
type word struct {
	text      string
	line, col int
}

// words splits a line at blanks and tabs.
func words(line string, number int) []word {
	var out []word
	for i := 0; i < len(line); {
		if c := line[i]; c == ' ' || c == '\t' || c == '\r' {
			i++
			continue
		}
		j := i
		for j < len(line) && line[j] != ' ' && line[j] != '\t' && line[j] != '\r' {
			j++
		}
		out = append(out, word{line[i:j], number, i + 1})
		i = j
	}
	return out
}

// eachLine calls f with the words of each line that has any, comments (from
// a # at the start of a word) left out, until f returns false.
func eachLine(content []byte, f func(number int, w []word) bool) {
	number := 0
	for line := range strings.SplitSeq(string(content), "\n") {
		number++
		w := words(line, number)
		for i := range w {
			if strings.HasPrefix(w[i].text, "#") {
				w = w[:i]
				break
			}
		}
		if len(w) > 0 && !f(number, w) {
			return
		}
	}
}

// count reads a whole number from 0 to most.
func (s *source) count(w word, what string, most int) (int, bool) {
	n, err := strconv.Atoi(w.text)
	switch {
	case err != nil && isDigits(w.text):
		s.add(ErrTooLarge, w.line, w.col, what+" is "+clip(w.text), "at most "+strconv.Itoa(most), "")
	case err != nil || n < 0:
		s.add(ErrSyntax, w.line, w.col, what+" is "+clip(w.text), "a whole number of 0 or more", "")
	case n > most:
		s.add(ErrTooLarge, w.line, w.col, what+" is "+w.text, "at most "+strconv.Itoa(most), "")
	default:
		return n, true
	}
	return 0, false
}

func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// rate reads a rate above zero.
func (s *source) rate(w word) (sim.Rate, bool) {
	r, err := sim.ParseRate(w.text)
	if err != nil {
		s.add(ErrSyntax, w.line, w.col, "the rate "+err.Error(), "", "")
		return 0, false
	}
	if !(r > 0) || math.IsInf(float64(r), 0) || r > maxRate {
		s.add(ErrSyntax, w.line, w.col, "the rate is "+clip(w.text), "a rate above 0 and at most "+maxRate.String()+", as 400Gbps", "leave a link that is down out")
		return 0, false
	}
	return r, true
}

// time reads a latency.
func (s *source) time(w word) (sim.Time, bool) {
	t, err := sim.ParseTime(w.text)
	if err != nil {
		s.add(ErrSyntax, w.line, w.col, "the latency "+err.Error(), "", "")
		return 0, false
	}
	if t > maxLatency {
		s.add(ErrTooLarge, w.line, w.col, "the latency is "+clip(w.text), "at most "+maxLatency.String(), "")
		return 0, false
	}
	return t, true
}

// Bounds of what is read. They are above any machine that exists.
const (
	maxNodes   = 1 << 20
	maxLinks   = 1 << 22 // both directions counted
	maxWidth   = 1 << 16
	maxRate    = 1e6 * sim.GBps
	maxLatency = 10 * sim.Second
)
