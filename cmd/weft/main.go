// Command weft answers, for a machine of many GPUs and a workload: how long
// does a step take, why, and what would change it.
//
// One file holds one verb, and each verb is a thin shell: it parses, calls the
// packages to the left of this one, and prints. Data goes to standard output,
// warnings and progress to standard error, and the exit code says how it ended.
package main

import (
	"os"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
)

// version is set by the linker; see the Makefile.
var version = "devel"

func main() {
	os.Exit(int(execute(term.New(), os.Args[1:])))
}
