package strict

import (
	"fmt"
	"strings"
)

// Source is a text that was read and the name under which errors show it: a
// file name, "env WEFT_SYSTEM", "--set".
type Source struct {
	Name  string
	lines []string
	// Loose says that scalars were not written as YAML by a person (environment,
	// flags): a number may stand where a text is expected.
	Loose bool
}

// NewSource returns a source with a text to show in errors.
func NewSource(name string, text []byte) *Source {
	lines := strings.Split(string(text), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return &Source{Name: name, lines: lines}
}

// Line returns the text of line n, counted from 1, or "" outside the text.
func (s *Source) Line(n int) string {
	if s == nil || n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

// Pos is a place in a source. Line and Column count from 1, columns in
// characters. The zero Pos is nowhere.
type Pos struct {
	Source       *Source
	Line, Column int
}

// String prints the place as "file:line:column", or the source's name alone
// when it has no lines to speak of (environment, flags).
func (p Pos) String() string {
	switch {
	case p.Source == nil:
		return "(nowhere)"
	case p.Source.Loose || p.Line == 0:
		return p.Source.Name
	}
	return fmt.Sprintf("%s:%d:%d", p.Source.Name, p.Line, p.Column)
}

// Kind says what a node is.
type Kind uint8

// The kinds of nodes.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	Sequence
	Mapping
)

// Node is a value in a YAML tree.
type Node struct {
	Kind  Kind
	Text  string  // of a scalar: what was written, without quotes
	Keys  []Key   // of a mapping, in order
	Items []*Node // of a mapping, beside Keys, or of a sequence
	Pos   Pos
}

// Key is a key of a mapping.
type Key struct {
	Name string
	Pos  Pos
}

// Child returns the value of a key, or nil.
func (n *Node) Child(key string) *Node {
	if n == nil {
		return nil
	}
	for i, k := range n.Keys {
		if k.Name == key {
			return n.Items[i]
		}
	}
	return nil
}

// Find follows a path such as "workload.blocks.forward.ops[2]" and returns the
// node there, or nil. Keys that hold a dot cannot be reached.
func (n *Node) Find(path string) *Node {
	at, ok := n.deepest(path)
	if !ok {
		return nil
	}
	return at
}

// Nearest returns the node at path or, where that does not exist, the last
// one on the way: the place that an error about path should show.
func (n *Node) Nearest(path string) *Node {
	at, _ := n.deepest(path)
	return at
}

func (n *Node) deepest(path string) (*Node, bool) {
	at := n
	for path != "" && at != nil {
		var next *Node
		if path[0] == '[' {
			var i int
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return at, false
			}
			if _, err := fmt.Sscanf(path[:end+1], "[%d]", &i); err != nil {
				return at, false
			}
			if at.Kind == Sequence && i >= 0 && i < len(at.Items) {
				next = at.Items[i]
			}
			path = strings.TrimPrefix(path[end+1:], ".")
		} else {
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			next = at.Child(path[:end])
			path = strings.TrimPrefix(path[end:], ".")
		}
		if next == nil {
			return at, false
		}
		at = next
	}
	return at, at != nil
}

// describe says what a node is, for "read ...".
func (n *Node) describe() string {
	switch n.Kind {
	case Null:
		return "nothing"
	case Bool, Int, Float:
		return n.Text
	case String:
		return fmt.Sprintf("%q", clip(n.Text))
	case Sequence:
		return "a list"
	}
	return "a mapping"
}

// clip shortens a text for a message.
func clip(s string) string {
	const most = 60
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "..."
}
