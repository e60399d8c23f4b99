package strict

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxBytes is the longest text that [Parse] takes.
const MaxBytes = 4 << 20

// Bounds of what is read. They are far above any file that a person writes and
// keep a hostile one from taking the process down.
const (
	maxBytes = MaxBytes
	maxDepth = 200
	maxNodes = 1 << 20 // aliases counted each time they are used
)

// Parse reads one YAML document. An empty text is an empty mapping. Errors of
// syntax and repeated keys are returned as [Errors]; with repeated keys only,
// the tree is returned beside them, so that its other errors can be found too.
func Parse(src *Source, text []byte) (*Node, error) {
	p := &tree{src: src, anchors: map[string]*Node{}}
	if err := p.refuse(text); err != nil {
		return nil, err
	}
	f, err := p.syntax(text)
	if err != nil {
		return nil, err
	}
	var docs []ast.Node
	for _, d := range f.Docs {
		if d.Body != nil {
			docs = append(docs, d.Body)
		}
	}
	if len(docs) == 0 {
		return &Node{Kind: Mapping, Pos: Pos{src, 1, 1}}, nil
	}
	if len(docs) > 1 {
		p.fail(docs[1].GetToken(), "a second YAML document begins here, expected one document in a file", "")
	}
	n := p.node(docs[0], 0)
	p.errs.Sort()
	if p.fatal {
		n = nil
	}
	return n, p.errs.Err()
}

// plainFloat is a number with an exponent, as YAML 1.2 has it.
var plainFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+$`)

// tree turns the syntax tree of the YAML library into Nodes.
type tree struct {
	src     *Source
	anchors map[string]*Node
	errs    Errors
	nodes   int
	fatal   bool
}

// refuse looks for what the YAML library must not be given: texts that are
// not texts, and nesting that would exhaust its recursion.
func (p *tree) refuse(text []byte) error {
	at := func(line, col int, msg string) error {
		return Errors{{Pos: Pos{p.src, line, col}, Msg: msg}}
	}
	if len(text) > maxBytes {
		return at(0, 0, fmt.Sprintf("read more than %d MiB, expected a YAML file of at most that", maxBytes>>20))
	}
	// The counts below take comments and quoted texts for structure, so their
	// bound is far above maxDepth, which holds for the tree itself.
	open := 0
	for i, line := range bytes.Split(text, []byte("\n")) {
		if c := bytes.IndexByte(line, 0); c >= 0 {
			return at(i+1, c+1, "read a zero byte, expected YAML text")
		}
		lead := 0 // block indicators at the head of a line nest without indent
		for c, ch := range line {
			switch ch {
			case '[', '{':
				open++
			case ']', '}':
				open = max(open-1, 0)
			case '-', '?', ':', '!', '&', '|', '>':
				lead++
			}
			if open > 20*maxDepth || lead > 20*maxDepth {
				return at(i+1, c+1, fmt.Sprintf("nested deeper than %d levels", maxDepth))
			}
		}
		// Blanks of indent nest too: each level needs one more than the last.
		if indent := len(line) - len(bytes.TrimLeft(line, " ")); indent > 20*maxDepth {
			return at(i+1, 1, fmt.Sprintf("indented by %d blanks", indent))
		}
	}
	return nil
}

// syntax runs the YAML library's parser. A panic in it is its defect, and is
// reported as a file that cannot be read rather than taking weft down.
func (p *tree) syntax(text []byte) (f *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, Errors{{Pos: Pos{p.src, 1, 1}, Msg: "not readable as YAML"}}
		}
	}()
	f, err = parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err == nil {
		return f, nil
	}
	e := &Error{Pos: Pos{p.src, 1, 1}, Msg: "not readable as YAML"}
	var ye yaml.Error
	if errors.As(err, &ye) {
		if t := ye.GetToken(); t != nil && t.Position != nil {
			e.Pos = p.at(t)
		}
		e.Msg = "YAML syntax: " + ye.GetMessage()
	}
	return nil, Errors{e}
}

func (p *tree) at(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return Pos{p.src, 1, 1}
	}
	return Pos{p.src, max(t.Position.Line, 1), max(t.Position.Column, 1)}
}

func (p *tree) fail(t *token.Token, msg, hint string) {
	p.errs = append(p.errs, &Error{Pos: p.at(t), Msg: msg, Hint: hint})
}

// node converts n. Whatever it refuses becomes Null, with an error recorded.
func (p *tree) node(n ast.Node, depth int) *Node {
	if n == nil {
		return &Node{Pos: Pos{p.src, 1, 1}}
	}
	t := n.GetToken()
	out := &Node{Pos: p.at(t)}
	if p.nodes++; p.nodes > maxNodes || depth > maxDepth {
		if !p.fatal {
			p.fail(t, fmt.Sprintf("more than %d values or %d levels of nesting", maxNodes, maxDepth), "")
		}
		p.fatal = true
		return out
	}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		out.Kind, out.Text = Bool, t.Value
	case *ast.IntegerNode:
		out.Kind, out.Text = Int, t.Value
	case *ast.FloatNode:
		out.Kind, out.Text = Float, t.Value
	case *ast.InfinityNode:
		out.Kind, out.Text = Float, t.Value
	case *ast.NanNode:
		out.Kind, out.Text = Float, t.Value
	case *ast.StringNode:
		out.Kind, out.Text = String, n.Value
		if t.Type == token.StringType && plainFloat.MatchString(n.Value) {
			out.Kind = Float // the library takes 1e12 for a text
		}
	case *ast.LiteralNode:
		out.Kind = String
		if n.Value != nil {
			out.Text = n.Value.Value
		}
	case *ast.SequenceNode:
		out.Kind = Sequence
		for _, v := range n.Values {
			out.Items = append(out.Items, p.node(v, depth+1))
		}
	case *ast.MappingNode:
		p.mapping(out, n.Values, depth)
	case *ast.MappingValueNode:
		p.mapping(out, []*ast.MappingValueNode{n}, depth)
	case *ast.AnchorNode:
		v := p.node(n.Value, depth+1)
		if n.Name != nil {
			p.anchors[n.Name.GetToken().Value] = v
		}
		return v
	case *ast.AliasNode:
		return p.alias(n, out)
	case *ast.TagNode:
		p.fail(t, fmt.Sprintf("tag %q is not read", clip(t.Value)), "write the value without it")
	default:
		p.fail(t, fmt.Sprintf("read %q, expected a value", clip(t.Value)), "")
	}
	return out
}

func (p *tree) alias(n *ast.AliasNode, out *Node) *Node {
	name := ""
	if n.Value != nil {
		name = n.Value.GetToken().Value
	}
	v, ok := p.anchors[name]
	if !ok {
		var names []string
		for a := range p.anchors {
			names = append(names, a)
		}
		// One candidate at most is shown, and the sort makes it the same one.
		p.fail(n.GetToken(), fmt.Sprintf("alias *%s has no anchor &%s before it", name, name), DidYouMean(name, sorted(names)))
		return out
	}
	if p.nodes += size(v, maxNodes); p.nodes > maxNodes {
		p.fatal = true
		p.fail(n.GetToken(), fmt.Sprintf("aliases expand to more than %d values", maxNodes), "")
		return out
	}
	c := *v // the alias is the place that errors show
	c.Pos = out.Pos
	return &c
}

// size counts the values below n, up to a bound.
func size(n *Node, most int) int {
	s := 1
	for _, c := range n.Items {
		if s >= most {
			return s
		}
		s += size(c, most-s)
	}
	return s
}

func (p *tree) mapping(out *Node, values []*ast.MappingValueNode, depth int) {
	out.Kind = Mapping
	if len(values) > 0 && !values[0].IsFlowStyle {
		if k := values[0].Key; k != nil && out.Pos.Source != nil {
			out.Pos = p.at(k.GetToken())
		}
	}
	first := map[string]Pos{}
	for _, mv := range values {
		key, ok := p.key(mv.Key)
		if !ok {
			continue
		}
		if was, dup := first[key.Name]; dup {
			p.errs = append(p.errs, &Error{Pos: key.Pos,
				Msg: fmt.Sprintf("key %q is repeated, first written in line %d", clip(key.Name), was.Line)})
			continue
		}
		first[key.Name] = key.Pos
		out.Keys = append(out.Keys, key)
		v := p.node(mv.Value, depth+1)
		if v.Kind == Null {
			v.Pos = key.Pos // an empty value has no place of its own
		}
		out.Items = append(out.Items, v)
	}
}

// key reads a key, which must be a scalar.
func (p *tree) key(n ast.Node) (Key, bool) {
	switch k := n.(type) {
	case *ast.MappingKeyNode:
		if k.Value == nil {
			p.fail(k.GetToken(), "read an empty key, expected a word", "")
			return Key{}, false
		}
		return p.key(k.Value)
	case *ast.AnchorNode:
		return p.key(k.Value)
	case *ast.MergeKeyNode:
		p.fail(k.GetToken(), "merge keys (<<) are not read", "write the keys out")
		return Key{}, false
	case *ast.StringNode:
		return Key{k.Value, p.at(k.GetToken())}, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		t := n.GetToken()
		return Key{strings.TrimSpace(t.Value), p.at(t)}, true
	case nil:
		p.errs = append(p.errs, &Error{Pos: Pos{p.src, 1, 1}, Msg: "read an empty key, expected a word"})
		return Key{}, false
	}
	p.fail(n.GetToken(), "expected a word as key", "")
	return Key{}, false
}
