package netfile

import (
	"errors"
	"fmt"
	"strings"
)

// What a caller may want to tell apart in an [Error], with errors.Is.
var (
	// ErrUnrecognised: the content is in no format that is known here.
	ErrUnrecognised = errors.New("no known format")
	// ErrSyntax: the content breaks the rules of its format, or ends early.
	ErrSyntax = errors.New("broken file")
	// ErrContradiction: two parts of the content cannot both be true.
	ErrContradiction = errors.New("contradiction")
	// ErrTooLarge: the content is beyond what is read.
	ErrTooLarge = errors.New("too large")
	// ErrNoTopology: the content is sound, but describes no wires.
	ErrNoTopology = errors.New("not a topology")
)

// Error is a fault of a file: where it is, what was read, what was expected,
// and how to mend it.
type Error struct {
	Format Format // as which the file was read; None if it is none
	Source string // file
	Line   int    // counted from 1; 0 if the whole file is meant
	Column int    // byte in the line, counted from 1; 0 if the whole line
	Read   string // what was read, as a clause
	Want   string // what was expected, or ""
	Hint   string // a way out, or ""
	Err    error  // one of the sentinels
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("read ")
	if e.Format != None {
		b.WriteString(string(e.Format))
	} else {
		b.WriteString("network")
	}
	b.WriteString(": " + e.Source)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	b.WriteString(": " + e.Read)
	if e.Want != "" {
		b.WriteString("; expected " + e.Want)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// source is a file being read, and what is wrong with it so far.
type source struct {
	name   string
	format Format
	errs   []error
}

// maxErrors is how many errors of one file are told.
const maxErrors = 20

// add notes an error and reports whether reading is of any more use.
func (s *source) add(err error, line, col int, read, want, hint string) bool {
	if len(s.errs) < maxErrors {
		s.errs = append(s.errs, s.fail(err, line, col, read, want, hint))
	}
	return len(s.errs) < maxErrors
}

func (s *source) fail(err error, line, col int, read, want, hint string) *Error {
	return &Error{Format: s.format, Source: s.name, Line: line, Column: col, Read: read, Want: want, Hint: hint, Err: err}
}

// err returns all errors noted, or nil.
func (s *source) err() error {
	if len(s.errs) == 1 {
		return s.errs[0]
	}
	return errors.Join(s.errs...)
}

// clip shortens foreign text for a message and makes it printable.
func clip(s string) string {
	const most = 60
	r := []rune(strings.ToValidUTF8(s, "?"))
	if len(r) > most {
		r = append(r[:most:most], '.', '.', '.')
	}
	return fmt.Sprintf("%q", string(r))
}

// didYouMean returns a hint at the valid word that is nearest, or "".
func didYouMean(word string, valid []string) string {
	best, least := "", 3
	for _, v := range valid {
		if d := distance(strings.ToLower(word), strings.ToLower(v)); d < least && d < len(v) {
			best, least = v, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// distance is the edit distance of two short words.
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 100
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
