package synth

import (
	"fmt"
	"strings"
)

// Error is a description that cannot become a program. Path leads to the
// cause in the words of the file: "blocks.forward.ops[2].all_reduce.group".
type Error struct {
	Path, Msg string
	// Near and Valid are a word that was not found and those that exist.
	Near  string
	Valid []string
}

func (e *Error) Error() string { return "build program: " + e.Path + ": " + e.Msg }

// Errors is all that is wrong with a description, the first of each kind in
// its order.
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

// maxErrors is how many are collected: a slip in one number can spoil every
// rank.
const maxErrors = 50

// add collects an error.
func (es *Errors) add(e *Error) {
	if len(*es) < maxErrors {
		*es = append(*es, e)
	}
}

// fail collects an error at a path.
func (b *builder) fail(path, format string, args ...any) {
	b.errs.add(&Error{Path: path, Msg: fmt.Sprintf(format, args...)})
}

// err returns what was collected.
func (es Errors) err() error {
	if len(es) == 0 {
		return nil
	}
	return es
}
