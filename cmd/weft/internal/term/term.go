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
	"strconv"
	"strings"

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
	// Width is the number of characters that a line of Out holds, 0 for any.
	Width int
	// ASCII says that the locale has no characters but those.
	ASCII bool
}

// New returns the streams of this process.
func New() *Terminal {
	t := &Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	t.OutTTY = term.IsTerminal(int(os.Stdout.Fd()))
	t.ErrTTY = term.IsTerminal(int(os.Stderr.Fd()))
	t.Color = t.OutTTY && colorWanted(os.LookupEnv)
	t.Width = width(os.LookupEnv, func() int {
		columns, _, err := term.GetSize(int(os.Stdout.Fd()))
		if !t.OutTTY || err != nil {
			return 0
		}
		return columns
	})
	t.ASCII = asciiOnly(os.LookupEnv)
	return t
}

// narrowest is the width below which nothing is laid out.
const narrowest = 40

// width returns what COLUMNS says, else the width of the terminal, else 0.
func width(env func(string) (string, bool), terminal func() int) int {
	v, _ := env("COLUMNS")
	n, err := strconv.Atoi(v)
	if err != nil || n <= 0 {
		n = terminal()
	}
	if n <= 0 {
		return 0
	}
	return max(n, narrowest)
}

// asciiOnly follows the locale: the first of LC_ALL, LC_CTYPE and LANG that is
// set decides, and C, POSIX or another character set than UTF-8 mean yes.
// Without any, and without a character set in it, the answer is no.
func asciiOnly(env func(string) (string, bool)) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		v, _ := env(name)
		if v == "" {
			continue
		}
		_, set, named := strings.Cut(v, ".")
		set = strings.ToLower(strings.ReplaceAll(set, "-", ""))
		return v == "C" || v == "POSIX" || named && !strings.HasPrefix(set, "utf8")
	}
	return false
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
