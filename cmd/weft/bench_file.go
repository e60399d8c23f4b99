package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
)

// late is a file that is opened at once, to see that it can be written, and
// changed only when all that goes into it is there.
type late struct {
	bytes.Buffer
	name  string
	file  *os.File
	fresh bool // it was not there before
}

// openLate opens a file; what is in it stays until commit.
func openLate(name string) (*late, error) {
	_, err := os.Stat(name)
	l := &late{name: name, fresh: errors.Is(err, fs.ErrNotExist)}
	if l.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
		return nil, unwritten(name, err)
	}
	return l, nil
}

// commit replaces what is in the file.
func (l *late) commit() error {
	f := l.file
	l.file = nil
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if err := f.Truncate(0); err != nil {
			f.Close()
			return unwritten(l.name, err)
		}
	}
	if _, err := f.Write(l.Bytes()); err != nil {
		f.Close()
		return unwritten(l.name, err)
	}
	if err := f.Close(); err != nil {
		return unwritten(l.name, err)
	}
	return nil
}

// drop leaves the file as it was, unless it was committed.
func (l *late) drop() {
	if l.file == nil {
		return
	}
	l.file.Close()
	if l.fresh {
		_ = os.Remove(l.name) // it is empty, and nobody's
	}
}
