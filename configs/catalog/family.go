package catalog

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
)

// text is an embedded file: its source for error messages, and its bytes.
type text struct {
	src   *strict.Source
	bytes []byte
}

// entry is a record that is not decoded yet: either lines of an embedded
// file, or a node of a file that was read whole.
type entry struct {
	file     *text
	from, to int // byte offsets of the record in the file
	line     int // lines before it
	node     *strict.Node
	under    *entry // the record of the same name that this one replaced
}

// family is the records of one kind, by name, decoded when asked for.
type family[T any] struct {
	key   string // in the file, e.g. "gpus"
	noun  string // in a message, e.g. "GPU"
	names []string
	found map[string]entry
	done  map[string]*T
}

func newFamily[T any](key, noun string) family[T] {
	return family[T]{key: key, noun: noun, found: map[string]entry{}, done: map[string]*T{}}
}

// clone returns a family that shares the undecoded records.
func (f *family[T]) clone() family[T] {
	c := newFamily[T](f.key, f.noun)
	c.names = slices.Clone(f.names)
	for _, name := range f.names {
		c.found[name] = f.found[name]
	}
	return c
}

func (f *family[T]) add(name string, e entry) {
	if old, ok := f.found[name]; ok {
		e.under = &old
	} else {
		f.names = append(f.names, name)
	}
	f.found[name] = e
	delete(f.done, name)
}

// load decodes the record of a name and calls visit for its figures.
func (f *family[T]) load(c *Catalog, name string, visit func(anyFigure)) error {
	rec, err := f.get(c, name)
	if err == nil && visit != nil {
		c.walk(reflect.ValueOf(rec), "", "", func(f anyFigure, _, _ string) { visit(f) })
	}
	return err
}

func (f *family[T]) list() []string { return f.names }

// anyFamily is a family of whatever record.
type anyFamily interface {
	add(name string, e entry)
	load(c *Catalog, name string, visit func(anyFigure)) error
	list() []string
}

// get decodes the record of a name.
func (f *family[T]) get(c *Catalog, name string) (*T, error) {
	if r, ok := f.done[name]; ok {
		return r, nil
	}
	e, ok := f.found[name]
	if !ok {
		return nil, unknown(f.noun, name, f.names)
	}
	node, written, err := f.inherit(name, e, nil, 0)
	if err != nil {
		return nil, err
	}
	rec := new(T)
	if err := strict.Decode(node, rec); err != nil {
		return nil, inWords(err) // says file and line itself
	}
	v := reflect.ValueOf(rec).Elem()
	v.FieldByName("Name").SetString(name)
	if err := c.settle(v, node, f.key+"."+name, written); err != nil {
		return nil, err
	}
	f.done[name] = rec
	return rec, nil
}

// tree returns the record's syntax tree; it may lack the keys in without. An
// embedded record is parsed alone; its places are then moved down by the lines
// that precede it.
func (e entry) tree(without []string) (*strict.Node, error) {
	if e.node != nil {
		return e.node, nil
	}
	body := e.file.bytes[e.from:e.to]
	if len(without) > 0 {
		body = blank(body, without)
	}
	n, err := strict.Parse(e.file.src, body)
	if err != nil {
		return nil, err
	}
	lower(n, e.line)
	return n.Items[0], nil
}

// blank returns a record's text with empty lines in place of some of its keys:
// what a record has that is like this one need not be parsed here.
func blank(body []byte, keys []string) []byte {
	out := make([]byte, 0, len(body))
	skip := false
	for line := range bytes.Lines(body) {
		if rest, ok := bytes.CutPrefix(line, keyIndent); ok && len(rest) > 0 && rest[0] != ' ' {
			key, _, _ := bytes.Cut(rest, []byte(":"))
			skip = slices.Contains(keys, string(key))
		}
		if skip {
			line = line[len(line)-1:]
		}
		out = append(out, line...)
	}
	return out
}

// keyIndent is what stands before a key of an embedded record.
var keyIndent = []byte("    ")

// lower moves a tree down by a number of lines.
func lower(n *strict.Node, lines int) {
	n.Pos.Line += lines
	for i := range n.Keys {
		n.Keys[i].Pos.Line += lines
	}
	for _, item := range n.Items {
		lower(item, lines)
	}
}

// settle names every figure of a record, hands down the record's origin (or,
// to a key taken over from another record, that in written), and returns all
// that lack one or name a source that does not exist.
func (c *Catalog) settle(v reflect.Value, node *strict.Node, path string, written map[string]Origin) error {
	var record Origin
	if o := v.FieldByName("Origin"); o.IsValid() {
		record = o.Interface().(Origin)
	}
	var errs strict.Errors
	c.walk(v, path, "", func(f anyFigure, full, key string) {
		origin := record
		if top, _, _ := strings.Cut(key, "."); written != nil {
			if o, ok := written[top]; ok {
				origin = o
			}
		}
		if err := f.settle(full, origin); err != nil {
			errs = append(errs, node.ErrorAt(key, err.Error(), ""))
			return
		}
		if _, ok := c.sources.found[f.sourceID()]; f.Known() && !ok {
			errs = append(errs, node.ErrorAt(key, fmt.Sprintf("source %q is not in the sources table", f.sourceID()),
				strict.DidYouMean(f.sourceID(), c.sources.names)))
		}
	})
	return errs.Err()
}

// walk calls visit for each figure of a record with its path in the catalogue
// and its key in the record.
func (c *Catalog) walk(v reflect.Value, path, key string, visit func(f anyFigure, path, key string)) {
	if v.Kind() == reflect.Pointer {
		if !v.IsNil() {
			c.walk(v.Elem(), path, key, visit)
		}
		return
	}
	if v.Kind() != reflect.Struct {
		return
	}
	if f, ok := v.Addr().Interface().(anyFigure); ok {
		visit(f, path, key)
		return
	}
	t := v.Type()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		at := name
		if key != "" {
			at = key + "." + name
		}
		c.walk(v.Field(i), path+"."+name, at, visit)
	}
}
