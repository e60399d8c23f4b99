package mscclpp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/weft-sim/weft/workloads/collective/msccl"
)

// node is a value of a JSON document with where it ends.
type node struct {
	line, column int
	value        any // string, json.Number, bool or nil
	object       bool
	list         bool
	keys         []string // of an object, in order
	items        []*node  // of a list, or the values of the keys
}

const (
	mostDepth    = 16
	mostNodes    = 4 << 20
	mostProblems = 10
)

// InvalidError is all that is wrong with a plan, in the order of its lines.
type InvalidError struct {
	File     string
	Problems []msccl.Problem // the first of them
}

// Error lists the problems, one a line if there are several.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("line %d: %s", p.Line, p.Text)
	}
	head := "read MSCCL++ plan: " + e.File + ": "
	if len(lines) == 1 {
		return head + lines[0]
	}
	return head + fmt.Sprintf("%d problems\n  ", len(lines)) + strings.Join(lines, "\n  ")
}

// reader reads a plan.
type reader struct {
	file   string
	dec    *json.Decoder
	starts []int // of each line, in bytes
	nodes  int
	list   []msccl.Problem
}

func (r *reader) problem(n *node, format string, args ...any) {
	if len(r.list) < mostProblems {
		r.list = append(r.list, msccl.Problem{Line: n.line, Column: n.column, Text: fmt.Sprintf(format, args...)})
	}
}

func (r *reader) err() error {
	if len(r.list) == 0 {
		return nil
	}
	slices.SortStableFunc(r.list, func(a, b msccl.Problem) int { return a.Line - b.Line })
	return &InvalidError{r.file, r.list}
}

// here is where the decoder stands.
func (r *reader) here() *node {
	at := int(r.dec.InputOffset())
	line := max(1, sort.SearchInts(r.starts, at))
	return &node{line: line, column: at - r.starts[line-1]}
}

// document reads the whole document.
func (r *reader) document(content []byte) *node {
	r.starts = []int{0}
	for i, c := range content {
		if c == '\n' {
			r.starts = append(r.starts, i+1)
		}
	}
	r.dec = json.NewDecoder(bytes.NewReader(content))
	r.dec.UseNumber()
	n, err := r.read(0)
	if err == nil {
		if _, end := r.dec.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("something follows the plan, expected the end of the file")
		}
	}
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the file ends early, expected } or ]")
		}
		r.problem(r.here(), "not well-formed JSON: %v", err)
		return nil
	}
	return n
}

func (r *reader) read(depth int) (*node, error) {
	t, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	if r.nodes++; r.nodes > mostNodes || depth > mostDepth {
		return nil, fmt.Errorf("more than %d values, or %d within each other", mostNodes, mostDepth)
	}
	n := r.here()
	d, ok := t.(json.Delim)
	if !ok {
		n.value = t
		return n, nil
	}
	n.object, n.list = d == '{', d == '['
	for r.dec.More() {
		if n.object {
			key, err := r.dec.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			if slices.Contains(n.keys, name) {
				return nil, fmt.Errorf("%q is there twice", name)
			}
			n.keys = append(n.keys, name)
			if len(n.keys) > 64 {
				return nil, errors.New("more than 64 keys of one object")
			}
		}
		v, err := r.read(depth + 1)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, v)
	}
	_, err = r.dec.Token()
	return n, err
}

// get returns the value of a key, nil if it is not there.
func (n *node) get(key string) *node {
	if i := slices.Index(n.keys, key); i >= 0 && n.object {
		return n.items[i]
	}
	return nil
}

// known refuses what is no object, and keys that are not known.
func (r *reader) known(n *node, what string, keys ...string) bool {
	if !n.object {
		r.problem(n, "%s is no object, expected one with %s", what, strings.Join(keys, ", "))
		return false
	}
	for i, k := range n.keys {
		if !slices.Contains(keys, k) {
			r.problem(n.items[i], "%s has a key %.40q, expected %s", what, k, strings.Join(keys, ", "))
		}
	}
	return true
}

// text reads a string that must be there.
func (r *reader) text(n *node, key string, allowed ...string) string {
	v := n.get(key)
	expected := "a text"
	if len(allowed) > 0 {
		expected = strings.Join(allowed, ", ")
	}
	if v == nil {
		r.problem(n, "no %s, expected %s", key, expected)
		return ""
	}
	s, ok := v.value.(string)
	if !ok || len(allowed) > 0 && !slices.Contains(allowed, s) {
		r.problem(v, "%s: read %.40q, expected %s", key, fmt.Sprint(v.value), expected)
		return ""
	}
	return s
}

// number reads a whole number from low to high; absent is what it is when it is
// not there, or -1 if it must be.
func (r *reader) number(n *node, key string, low, high, absent int64) int64 {
	v := n.get(key)
	if v == nil {
		if absent < 0 {
			r.problem(n, "no %s, expected a whole number from %d to %d", key, low, high)
			return low
		}
		return absent
	}
	return r.whole(v, key, low, high)
}

func (r *reader) whole(v *node, key string, low, high int64) int64 {
	num, ok := v.value.(json.Number)
	i, err := num.Int64()
	if !ok || err != nil || i < low || i > high {
		r.problem(v, "%s: read %.40q, expected a whole number from %d to %d", key, fmt.Sprint(v.value), low, high)
		return low
	}
	return i
}

// flag reads true or false; what is not there is false.
func (r *reader) flag(n *node, key string) bool {
	v := n.get(key)
	if v == nil {
		return false
	}
	b, ok := v.value.(bool)
	if !ok {
		r.problem(v, "%s: read %.40q, expected true or false", key, fmt.Sprint(v.value))
	}
	return b
}

// each reads a list of at most so many; what is not there is empty.
func (r *reader) each(n *node, key string, most int, f func(i int, v *node)) {
	v := n.get(key)
	switch {
	case v == nil:
		return
	case !v.list:
		r.problem(v, "%s is no list, expected one", key)
		return
	case len(v.items) > most:
		r.problem(v, "%s has %d entries, expected at most %d", key, len(v.items), most)
		return
	}
	for i, item := range v.items {
		f(i, item)
	}
}

// numbers reads a list of whole numbers.
func (r *reader) numbers(n *node, key string, most int, high int64) []int {
	var all []int
	r.each(n, key, most, func(_ int, v *node) { all = append(all, int(r.whole(v, key, 0, high))) })
	return all
}
