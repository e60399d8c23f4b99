package netfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// value is a node of a JSON or YAML text, with its place.
type value struct {
	kind      valueKind
	text      string // of a scalar
	quoted    bool   // a scalar in quotes
	items     []*value
	keys      []*value // of a mapping: items[i] stands at keys[i]
	line, col int
}

type valueKind uint8

const (
	scalar valueKind = iota
	list
	mapping
)

func (k valueKind) String() string { return [...]string{"a single value", "a list", "a mapping"}[k] }

// get returns what stands at a key, or nil.
func (v *value) get(key string) *value {
	for i, k := range v.keys {
		if k.text == key {
			return v.items[i]
		}
	}
	return nil
}

func (v *value) word() word { return word{v.text, v.line, v.col} }

// Bounds of JSON and YAML.
const (
	maxYAML  = 8 << 20
	maxDepth = 50
)

// tree reads a JSON or YAML text. Its top must be a mapping.
func (s *source) tree(content []byte) (*value, error) {
	var v *value
	var err error
	if c := bytes.TrimSpace(content); len(c) > 0 && c[0] == '{' {
		v, err = s.json(content)
		// A YAML text may begin like JSON: {topology: [Ring]}.
		if err != nil && len(content) <= maxYAML && !bytes.HasPrefix(c, []byte(`{"`)) && !bytes.ContainsAny(c[:min(len(c), 200)], "\"") {
			v, err = s.yaml(content)
		}
	} else {
		v, err = s.yaml(content)
	}
	if err != nil {
		return nil, err
	}
	if v.kind != mapping {
		return nil, s.fail(ErrSyntax, v.line, v.col, v.kind.String(), "keys and values", "")
	}
	return v, nil
}

// json reads a JSON text.
func (s *source) json(content []byte) (*value, error) {
	r := &jsonReader{s: s, content: content, d: json.NewDecoder(bytes.NewReader(content))}
	r.d.UseNumber()
	r.lines = append(r.lines, 0)
	for i, c := range content {
		if c == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.d.Token(); err != io.EOF {
		line, col := r.at()
		return nil, s.fail(ErrSyntax, line, col, "more text after the end of the JSON value", "", "")
	}
	return v, nil
}

type jsonReader struct {
	s       *source
	content []byte
	lines   []int // offsets
	d       *json.Decoder
}

// at returns the place of the next token.
func (r *jsonReader) at() (line, col int) {
	off := int(r.d.InputOffset())
	for off < len(r.content) && strings.IndexByte(" \t\r\n,:", r.content[off]) >= 0 {
		off++
	}
	i := sort.SearchInts(r.lines, off+1) - 1
	return i + 1, off - r.lines[i] + 1
}

func (r *jsonReader) token() (json.Token, int, int, error) {
	line, col := r.at()
	t, err := r.d.Token()
	if err != nil {
		read := "text that is not JSON: " + err.Error()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			read = "the end of the file inside a JSON value"
		}
		return nil, line, col, r.s.fail(ErrSyntax, line, col, read, "", "")
	}
	return t, line, col, nil
}

func (r *jsonReader) value(depth int) (*value, error) {
	t, line, col, err := r.token()
	if err != nil {
		return nil, err
	}
	v := &value{line: line, col: col}
	if depth > maxDepth {
		return nil, r.s.fail(ErrTooLarge, line, col, fmt.Sprintf("nested deeper than %d levels", maxDepth), "", "")
	}
	switch t := t.(type) {
	case json.Delim:
		v.kind = list
		if t == '{' {
			v.kind = mapping
		}
		seen := make(map[string]bool)
		for r.d.More() {
			if v.kind == mapping {
				k, line, col, err := r.token()
				if err != nil {
					return nil, err
				}
				key := fmt.Sprint(k)
				if seen[key] {
					return nil, r.s.fail(ErrContradiction, line, col, "the key "+clip(key)+" for the second time", "each key once", "")
				}
				seen[key] = true
				v.keys = append(v.keys, &value{text: key, quoted: true, line: line, col: col})
			}
			item, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
		_, _, _, err := r.token() // the closing one
		return v, err
	case string:
		v.text, v.quoted = t, true
	case nil:
		v.text = "null"
	default:
		v.text = fmt.Sprint(t)
	}
	return v, nil
}

// yaml reads a YAML text.
func (s *source) yaml(content []byte) (v *value, err error) {
	if len(content) > maxYAML {
		return nil, s.fail(ErrTooLarge, 0, 0, fmt.Sprintf("%d bytes of YAML", len(content)), fmt.Sprintf("at most %d", maxYAML), "JSON is read up to any size of a machine")
	}
	if err := s.shallow(content); err != nil {
		return nil, err
	}
	// A panic of the library is its defect, and the file's end.
	defer func() {
		if recover() != nil {
			v, err = nil, s.fail(ErrSyntax, 1, 1, "text that is not YAML", "", "")
		}
	}()
	f, err := parser.ParseBytes(content, 0)
	if err != nil {
		line, col, read := 1, 1, "text that is not YAML"
		var ye yaml.Error
		if errors.As(err, &ye) {
			line, col = place(ye.GetToken())
			read = "text that is not YAML: " + ye.GetMessage()
		}
		return nil, s.fail(ErrSyntax, line, col, read, "", "")
	}
	var body ast.Node
	for _, d := range f.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			line, col := place(d.Body.GetToken())
			return nil, s.fail(ErrSyntax, line, col, "a second YAML document", "one in a file", "")
		}
		body = d.Body
	}
	if body == nil {
		return nil, s.fail(ErrSyntax, 1, 1, "no value", "keys and values", "")
	}
	return s.convert(body, 0)
}

// shallow refuses nesting that would exhaust the library's recursion.
func (s *source) shallow(content []byte) error {
	open, number := 0, 0
	for line := range bytes.SplitSeq(content, []byte("\n")) {
		number++
		lead := 0
		for c, ch := range line {
			switch ch {
			case '[', '{':
				open++
			case ']', '}':
				open = max(open-1, 0)
			case '-', '?', ':', '!', '&', '|', '>':
				lead++
			}
			if open > maxDepth || lead > 2000 {
				return s.fail(ErrTooLarge, number, c+1, fmt.Sprintf("nested deeper than %d levels", maxDepth), "", "")
			}
		}
		if indent := len(line) - len(bytes.TrimLeft(line, " ")); indent > 20*maxDepth {
			return s.fail(ErrTooLarge, number, 1, fmt.Sprintf("indented by %d blanks", indent), "", "")
		}
	}
	return nil
}

func place(t *token.Token) (line, col int) {
	if t == nil || t.Position == nil {
		return 1, 1
	}
	return max(t.Position.Line, 1), max(t.Position.Column, 1)
}

func (s *source) convert(n ast.Node, depth int) (*value, error) {
	v := &value{}
	v.line, v.col = place(n.GetToken())
	if depth > maxDepth {
		return nil, s.fail(ErrTooLarge, v.line, v.col, fmt.Sprintf("nested deeper than %d levels", maxDepth), "", "")
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		v.kind = mapping
		for _, kv := range n.Values {
			if err := s.pair(v, kv, depth); err != nil {
				return nil, err
			}
		}
	case *ast.MappingValueNode:
		v.kind = mapping
		if err := s.pair(v, n, depth); err != nil {
			return nil, err
		}
	case *ast.SequenceNode:
		v.kind = list
		for _, item := range n.Values {
			if item == nil {
				return nil, s.fail(ErrSyntax, v.line, v.col, "an empty item", "a value", "")
			}
			c, err := s.convert(item, depth+1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, c)
		}
	case *ast.StringNode:
		v.text = n.Value
		v.quoted = n.Token.Type == token.DoubleQuoteType || n.Token.Type == token.SingleQuoteType
	case *ast.LiteralNode:
		v.text, v.quoted = n.Value.Value, true
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		return nil, s.fail(ErrSyntax, v.line, v.col, "a YAML "+n.Type().String(), "a plain value, list or mapping", "")
	case *ast.NullNode:
		v.text = "null"
	case ast.ScalarNode:
		v.text = n.GetToken().Value
	default:
		return nil, s.fail(ErrSyntax, v.line, v.col, "a YAML "+n.Type().String(), "a plain value, list or mapping", "")
	}
	return v, nil
}

func (s *source) pair(v *value, kv *ast.MappingValueNode, depth int) error {
	k := &value{text: kv.Key.GetToken().Value}
	k.line, k.col = place(kv.Key.GetToken())
	v.keys = append(v.keys, k)
	if len(v.keys) == 1 {
		v.line, v.col = k.line, k.col
	}
	item, err := s.convert(kv.Value, depth+1)
	v.items = append(v.items, item)
	return err
}
