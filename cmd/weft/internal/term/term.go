// Package term knows what stands at the other end of the three streams: a
// person's terminal, a file or a pipe. Colour goes to terminals only and obeys
// NO_COLOR; progress goes to standard error of a terminal only, so that logs
// and pipes hold nothing but data and warnings.
//
// The type to know is [Terminal]. What it leaves out: what is printed, which is
// the business of package report.
package term

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Terminal is the three streams of a process and what is known of them.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	// OutTTY and ErrTTY say whether a person sees the stream.
	OutTTY, ErrTTY bool
	// Color says whether Out may carry escape codes.
	Color bool
}

// New returns the streams of this process.
func New() *Terminal {
	t := &Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	t.OutTTY = term.IsTerminal(int(os.Stdout.Fd()))
	t.ErrTTY = term.IsTerminal(int(os.Stderr.Fd()))
	t.Color = t.OutTTY && colorWanted(os.LookupEnv)
	return t
}

// colorWanted follows no-color.org: a NO_COLOR that is not empty means no. A
// dumb terminal means no as well.
func colorWanted(env func(string) (string, bool)) bool {
	if v, _ := env("NO_COLOR"); v != "" {
		return false
	}
	kind, _ := env("TERM")
	return kind != "dumb"
}

// Bold returns s in bold where colour is allowed.
func (t *Terminal) Bold(s string) string { return t.style("1", s) }

// Dim returns s in a faint tone where colour is allowed.
func (t *Terminal) Dim(s string) string { return t.style("2", s) }

// Accent returns s in the colour of bars where colour is allowed.
func (t *Terminal) Accent(s string) string { return t.style("36", s) }

// Alert returns s in the colour of warnings where colour is allowed.
func (t *Terminal) Alert(s string) string { return t.style("33", s) }

func (t *Terminal) style(code, s string) string {
	if !t.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
