package nccltests

import "fmt"

// Error says what is wrong with a log: where, what was read, what was expected.
type Error struct {
	Name string // of the file
	Line int    // 0 is the whole file
	Text string
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("read nccl-tests output: %s:%d: %s", e.Name, e.Line, e.Text)
	}
	return fmt.Sprintf("read nccl-tests output: %s: %s", e.Name, e.Text)
}

// clip shortens foreign text for a message.
func clip(s string) string {
	r := []rune(s)
	if len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}
