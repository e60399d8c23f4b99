package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
)

// mostKnown is how many names an error lists.
const mostKnown = 12

// UnknownError says that the catalogue has no record of a name.
type UnknownError struct {
	Noun  string // "system", "GPU"
	Name  string
	Known []string // names of that kind: all, or the nearest twelve
	Of    int      // how many there are
}

func unknown(noun, name string, names []string) *UnknownError {
	e := &UnknownError{Noun: noun, Name: name, Known: slices.Clone(names), Of: len(names)}
	if e.Of <= mostKnown {
		return e
	}
	// The nearest first; what is no neighbour follows in order.
	rest := e.Known
	e.Known = nil
	for len(e.Known) < mostKnown {
		near, ok := strict.Nearest(name, rest)
		if !ok {
			near = rest[0]
		}
		e.Known = append(e.Known, near)
		rest = slices.DeleteFunc(rest, func(s string) bool { return s == near })
	}
	return e
}

// Choices lists the names that are known, and how many others there are.
func (e *UnknownError) Choices() string {
	s := strings.Join(e.Known, ", ")
	if more := e.Of - len(e.Known); more > 0 {
		s += fmt.Sprintf(" or %d others", more)
	}
	return s
}

// Error names the nearest record, or some if none is near.
func (e *UnknownError) Error() string {
	hint := "expected one of " + e.Choices()
	if near := strict.DidYouMean(e.Name, e.Known); near != "" {
		hint = near
	}
	return fmt.Sprintf("catalogue: no %s is called %q; %s", e.Noun, e.Name, hint)
}
