package chakra

import (
	"fmt"
	"strings"
)

// Error is a fault of the input: a file that is no Chakra trace, a trace that
// contradicts itself, or ranks that contradict one another. It says where,
// what was read, what was expected, and what would help.
type Error struct {
	Doing  string // "read trace", "import trace"
	File   string // the file, or the folder when the fault is between files
	Offset int64  // byte in the (decompressed) file, -1 when it has none
	Record int    // record in the file, the first is 1; 0 when it has none
	Node   string // id and name of the node, "" when the fault is not in one
	Read   string
	Want   string
	Hint   string // what would help, "" when that is plain
	Err    error  // the cause below, or nil
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Doing)
	if e.File != "" {
		b.WriteString(" " + e.File)
	}
	if e.Record > 0 {
		fmt.Fprintf(&b, ": record %d", e.Record)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	if e.Node != "" {
		b.WriteString(": node " + e.Node)
	}
	b.WriteString(": " + e.Read)
	if e.Want != "" {
		b.WriteString("; expected " + e.Want)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, " (%v)", e.Err)
	}
	return b.String()
}

// Unwrap returns the cause below.
func (e *Error) Unwrap() error { return e.Err }

// readError is a fault in a file at a record.
func readError(file string, record int, offset int64, read, want string) *Error {
	return &Error{Doing: "read trace", File: file, Record: record, Offset: offset, Read: read, Want: want}
}

// importError is a fault found between nodes, files or groups.
func importError(file, read, want, hint string) *Error {
	return &Error{Doing: "import trace", File: file, Offset: -1, Read: read, Want: want, Hint: hint}
}
