// Package exitcode holds the numbers with which weft ends. They are an API:
// scripts branch on them, so a number never changes its meaning.
//
// An error becomes a code in one place, [Of]. A verb that knows better than
// the error's type says so with [With].
//
// What it leaves out: printing. The command's root prints an error once.
package exitcode

import "errors"

// Code is the status with which the process ends.
type Code int

// The exit codes.
const (
	OK          Code = 0   // the question was answered
	Internal    Code = 1   // a fault of ours
	Usage       Code = 2   // a wrong verb, flag or argument
	Config      Code = 3   // a scenario, catalogue entry or override that is not right
	Input       Code = 4   // a trace or another input file that cannot be read, or says nothing
	Threshold   Code = 5   // the answer misses a threshold of the scenario
	Deadlock    Code = 6   // the simulated program waits for itself
	Interrupted Code = 130 // Ctrl-C, or SIGTERM
)

type coded struct {
	code Code
	err  error
}

func (c coded) Error() string { return c.err.Error() }
func (c coded) Unwrap() error { return c.err }

// With gives err a code, which stands whatever err wraps. A nil err stays nil.
func With(code Code, err error) error {
	if err == nil {
		return nil
	}
	return coded{code, err}
}

// given returns the code that [With] gave to err.
func given(err error) (Code, bool) {
	var c coded
	if errors.As(err, &c) {
		return c.code, true
	}
	return 0, false
}
