package discover

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
	// ErrNoMachine: the content is sound, but describes no machine.
	ErrNoMachine = errors.New("not a machine")
)

// Error is a fault of a file: where it is, what was read, what was expected,
// and how to mend it.
type Error struct {
	Doing  string // "read nvidia-smi matrix"
	Source string // file
	Line   int    // counted from 1; 0 if the whole file is meant
	Column int    // byte in the line, counted from 1; 0 if the whole line
	Text   string // what was read and what was expected
	Hint   string // a way out, or ""
	Err    error  // one of the sentinels
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Doing)
	b.WriteString(": ")
	b.WriteString(e.Source)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	b.WriteString(": ")
	b.WriteString(e.Text)
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// clip shortens foreign text for a message and makes it printable.
func clip(s string) string {
	const most = 60
	r := []rune(strings.ToValidUTF8(s, "?"))
	if len(r) > most {
		r = append(r[:most:most], '.', '.', '.')
	}
	return fmt.Sprintf("%q", string(r))
}
