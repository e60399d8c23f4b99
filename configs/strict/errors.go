package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing wrong with a file, and where.
type Error struct {
	Pos  Pos
	Path string // keys that lead there: "workload.blocks.forward.ops[2]"
	Msg  string // what was read and what was expected
	Hint string // what to write instead; may be empty
}

// Error prints the place, the message, the hint and the line with a caret.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", e.Pos)
	if e.Path != "" {
		fmt.Fprintf(&b, "%s: ", e.Path)
	}
	b.WriteString(e.Msg)
	if e.Hint != "" {
		fmt.Fprintf(&b, "; %s", e.Hint)
	}
	line := e.Pos.Source.Line(e.Pos.Line)
	if line == "" {
		return b.String()
	}
	line, before := window(line, e.Pos.Column)
	num := fmt.Sprintf("%d", e.Pos.Line)
	if e.Pos.Source.Loose {
		num = ""
	}
	fmt.Fprintf(&b, "\n  %s | %s\n  %*s | %s^", num, line, len(num), "", before)
	return b.String()
}

// window cuts a long line around column col and returns the part to show and
// the blanks that bring a caret under the column. Tabs stay tabs in both.
func window(line string, col int) (shown, before string) {
	const most = 120
	r := []rune(line)
	at := min(max(col-1, 0), len(r))
	from := 0
	if len(r) > most {
		from = max(0, min(at-most/2, len(r)-most))
		r = r[from:min(len(r), from+most)]
	}
	for i, c := range r {
		if c != '\t' && (c < ' ' || c == 0x7f || c == '\uFEFF') {
			r[i] = '?' // a control character would act on the terminal
		}
	}
	var b strings.Builder
	for _, c := range r[:min(at-from, len(r))] {
		if c == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return string(r), b.String()
}

// Errors is everything wrong with a file, sorted by line.
type Errors []*Error

// Error prints the errors one after the other.
func (es Errors) Error() string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.Error()
	}
	return strings.Join(parts, "\n")
}

// Unwrap makes each error visible to errors.As.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// Sort orders the errors by source, line and column.
func (es Errors) Sort() {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(
			cmp.Compare(name(a.Pos), name(b.Pos)),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
		)
	})
}

func name(p Pos) string {
	if p.Source == nil {
		return ""
	}
	return p.Source.Name
}

// Err returns the errors as an error, or nil when there are none.
func (es Errors) Err() error {
	if len(es) == 0 {
		return nil
	}
	return es
}

// ErrorAt returns an error at the place in the tree that path leads to, or as
// near to it as the tree goes.
func (n *Node) ErrorAt(path, msg, hint string) *Error {
	e := &Error{Path: path, Msg: msg, Hint: hint}
	if at := n.Nearest(path); at != nil {
		e.Pos = at.Pos
	}
	return e
}
