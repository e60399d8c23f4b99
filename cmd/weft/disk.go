package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

// disk is the file system of the machine, by the names that people type. They
// may be absolute or lead upwards, which [os.DirFS] refuses.
type disk struct{}

// Open opens a file.
func (disk) Open(name string) (fs.File, error) { return os.Open(filepath.FromSlash(name)) }
