package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
)

// output is where an answer goes. It remembers the first error of writing, so
// that none is lost in a printer that does not look, and gives it its code: a
// full disk is no fault of ours.
type output struct {
	w   io.Writer
	err error
}

// Write writes, unless a write has failed before.
func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	if err != nil {
		o.err = unwritten("output", err)
	}
	return n, o.err
}

// unwritten is the error of something that could not be written.
func unwritten(what string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // the name is the user's own, or /dev/stdout
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("write %s: %w", what, err))
}
