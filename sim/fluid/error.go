package fluid

import "fmt"

// LinkError is a fault on one link, which the pool knows by number only: a
// caller that has a name for it finds the number with errors.As.
type LinkError struct {
	Doing  string // what was being done
	Link   LinkID
	Reason string
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("%s: link %d: %s", e.Doing, e.Link, e.Reason)
}

func linkError(doing string, l LinkID, format string, args ...any) error {
	return &LinkError{doing, l, fmt.Sprintf(format, args...)}
}
