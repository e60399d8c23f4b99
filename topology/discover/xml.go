package discover

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of what is kept of an XML document. A server of 16 GPUs has some
// 5,000 elements in the longest of the formats.
const (
	maxElements = 500_000
	maxDepth    = 200
	maxFaults   = 8 // of a file, that are told
)

// element is an XML element with where it begins.
type element struct {
	name      string
	attrs     []xml.Attr
	children  []*element
	text      string // its own, trimmed, without that of the children
	line, col int
}

// attr returns the value of an attribute and whether it is there.
func (e *element) attr(name string) (string, bool) {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

// get returns the value of an attribute, "" if it is not there.
func (e *element) get(name string) string {
	v, _ := e.attr(name)
	return v
}

// find returns the first element on a path of names below e, or nil.
func (e *element) find(path ...string) *element {
	for _, name := range path {
		var next *element
		for _, c := range e.children {
			if c.name == name {
				next = c
				break
			}
		}
		if next == nil {
			return nil
		}
		e = next
	}
	return e
}

// textOf returns the text of the first element on a path below e.
func (e *element) textOf(path ...string) string {
	if f := e.find(path...); f != nil {
		return f.text
	}
	return ""
}

func newDecoder(content []byte) *xml.Decoder {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))))
	// What is read is ASCII in every charset that these tools write.
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return d
}

// rootElement returns the name of the root element of an XML document, "" if
// the content is no XML, as far as the first start tag tells.
func rootElement(content []byte) string {
	head := bytes.TrimLeft(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")), " \t\r\n")
	if !bytes.HasPrefix(head, []byte("<")) {
		return ""
	}
	d := newDecoder(head)
	for {
		t, err := d.RawToken()
		if err != nil {
			return ""
		}
		if s, ok := t.(xml.StartElement); ok {
			return s.Name.Local
		}
	}
}

// xmlFile is an XML document being read, with what is wrong in it and what
// there is to say about it.
type xmlFile struct {
	doing, source string
	faults        []error
	dump          *Dump
}

func newXMLFile(f Format, name string) *xmlFile {
	return &xmlFile{doing: "read " + string(f), source: name, dump: &Dump{Format: f, Source: name}}
}

// fault records an error at an element.
func (x *xmlFile) fault(e *element, kind error, hint, format string, args ...any) {
	if len(x.faults) < maxFaults {
		x.faults = append(x.faults, &Error{
			Doing: x.doing, Source: x.source, Line: e.line, Column: e.col,
			Text: fmt.Sprintf(format, args...), Hint: hint, Err: kind,
		})
	}
}

func (x *xmlFile) note(kind NoteKind, where, format string, args ...any) {
	x.dump.Notes = append(x.dump.Notes, Note{Kind: kind, Where: where, Text: fmt.Sprintf(format, args...)})
}

// result returns the dump, or all faults.
func (x *xmlFile) result() (*Dump, error) {
	switch len(x.faults) {
	case 0:
		return x.dump, nil
	case 1:
		return nil, x.faults[0]
	}
	return nil, errors.Join(x.faults...)
}

func at(e *element) string { return "line " + strconv.Itoa(e.line) }

// parse reads the document into elements.
func (x *xmlFile) parse(content []byte) (*element, error) {
	fail := func(line, col int, kind error, hint, format string, args ...any) (*element, error) {
		return nil, &Error{Doing: x.doing, Source: x.source, Line: line, Column: col, Text: fmt.Sprintf(format, args...), Hint: hint, Err: kind}
	}
	d := newDecoder(content)
	var root *element
	var open []*element
	count := 0
	for {
		line, col := d.InputPos()
		t, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			line, col := d.InputPos()
			if len(open) > 0 && strings.Contains(err.Error(), "unexpected EOF") {
				last := open[len(open)-1]
				return fail(line, col, ErrSyntax, "the file was cut; dump it again",
					"the file ends within <%s>, opened on line %d", last.name, last.line)
			}
			return fail(line, col, ErrSyntax, "", "not well-formed XML: %v", strings.TrimPrefix(err.Error(), "XML syntax error on "))
		}
		switch t := t.(type) {
		case xml.StartElement:
			if count++; count > maxElements {
				return fail(line, col, ErrTooLarge, "", "more than %d elements", maxElements)
			}
			if len(open) == maxDepth {
				return fail(line, col, ErrTooLarge, "", "elements nested more than %d deep", maxDepth)
			}
			e := &element{name: t.Name.Local, attrs: t.Attr, line: line, col: col}
			if len(open) > 0 {
				up := open[len(open)-1]
				up.children = append(up.children, e)
			} else if root == nil {
				root = e
			} else {
				return fail(line, col, ErrSyntax, "give each document a file of its own",
					"a second document <%s> begins here, after <%s>", e.name, root.name)
			}
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if s := bytes.TrimSpace(t); len(s) > 0 && len(open) > 0 {
				open[len(open)-1].text += string(s)
			}
		}
	}
	if root == nil {
		return fail(0, 0, ErrSyntax, "", "no element in it")
	}
	return root, nil
}

// tooMany refuses hosts whose matrix would not be of this world.
func (x *xmlFile) tooMany(root *element, h *Host) bool {
	if len(h.GPUs) > maxDevices || len(h.NICs) > maxDevices {
		x.fault(root, ErrTooLarge, "", "a host of %d GPUs and %d NICs; at most %d of each are read", len(h.GPUs), len(h.NICs), maxDevices)
		return true
	}
	return false
}

// integer returns an attribute as a number, or def where it is absent or
// empty. What is not a number, or beyond the bounds, is a fault.
func (x *xmlFile) integer(e *element, name string, def, low, high int) int {
	s, ok := e.attr(name)
	if !ok || s == "" {
		return def
	}
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < int64(low) || n > int64(high) {
		x.fault(e, ErrSyntax, "", "<%s> has %s=%s, expected a number from %d to %d", e.name, name, clip(s), low, high)
		return def
	}
	return int(n)
}

// hex returns an attribute as a hexadecimal number, 0 where it is absent.
func (x *xmlFile) hex(e *element, name string, high uint64) uint64 {
	s, ok := e.attr(name)
	if !ok || s == "" {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(s), "0x"), 16, 64)
	if err != nil || n > high {
		x.fault(e, ErrSyntax, "", "<%s> has %s=%s, expected a hexadecimal number up to 0x%x", e.name, name, clip(s), high)
		return 0
	}
	return n
}
