package configs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// Bound is a claim about a time, such as "< 20ms".
type Bound struct {
	Op    string // <, <=, > or >=
	Value sim.Time
}

// String prints the bound as it is written.
func (b Bound) String() string { return b.Op + " " + b.Value.String() }

// Met reports whether t satisfies the bound.
func (b Bound) Met(t sim.Time) bool {
	switch b.Op {
	case "<":
		return t < b.Value
	case "<=":
		return t <= b.Value
	case ">":
		return t > b.Value
	}
	return t >= b.Value
}

// UnmarshalText reads a bound.
func (b *Bound) UnmarshalText(text []byte) error {
	s := string(text)
	for _, op := range []string{"<=", ">=", "<", ">"} {
		rest, ok := strings.CutPrefix(s, op)
		if !ok {
			continue
		}
		t, err := sim.ParseTime(strings.TrimSpace(rest))
		if err != nil {
			return err
		}
		*b = Bound{op, t}
		return nil
	}
	return fmt.Errorf("read %q, expected <, <=, > or >= and a time, such as \"< 20ms\"", s)
}

// at names an entry of a list in a path.
func at(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }
