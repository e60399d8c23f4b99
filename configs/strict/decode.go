package strict

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// The methods by which a type says how it is written; see the package comment.
type (
	short interface{ Short() any }
	forms interface {
		Forms() (key string, names []string, pick func(name string) any)
	}
	checker interface {
		Check(report func(key, message string))
	}
)

var nodeType = reflect.TypeFor[*Node]()

// Decode fills the struct that out points to from a tree, over what it holds.
// It returns nil or [Errors], sorted.
func Decode(n *Node, out any) error {
	d := &decoder{}
	d.value(n, reflect.ValueOf(out).Elem(), "", rule{})
	d.errs.Sort()
	return d.errs.Err()
}

// Unmarshal parses a text and decodes it: all errors of both steps together.
func Unmarshal(name string, text []byte, out any) (*Node, error) {
	n, err := Parse(NewSource(name, text), text)
	if n == nil {
		return nil, err
	}
	return n, Join(err, Decode(n, out))
}

// Join adds up errors of this package into one sorted list. Other errors come
// first, without a place.
func Join(errs ...error) error {
	var all Errors
	for _, err := range errs {
		switch e := err.(type) {
		case nil:
		case Errors:
			all = append(all, e...)
		case *Error:
			all = append(all, e)
		default:
			all = append(all, &Error{Msg: e.Error()})
		}
	}
	all.Sort()
	return all.Err()
}

type decoder struct {
	errs Errors
}

func (d *decoder) fail(p Pos, path, msg, hint string) {
	d.errs = append(d.errs, &Error{Pos: p, Path: path, Msg: msg, Hint: hint})
}

func (d *decoder) wrong(n *Node, path, want, hint string) {
	d.fail(n.Pos, path, fmt.Sprintf("read %s, expected %s", n.describe(), want), hint)
}

func join(path, key string) string {
	if path == "" || key[0] == '[' {
		return path + key
	}
	return path + "." + key
}

// value fills v from n.
func (d *decoder) value(n *Node, v reflect.Value, path string, r rule) {
	if v.Type() == nodeType {
		v.Set(reflect.ValueOf(n))
		return
	}
	if v.Kind() == reflect.Pointer {
		if n.Kind == Null {
			d.wrong(n, path, expected(v.Type().Elem(), r), "")
			return
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(n, v.Elem(), path, r)
		return
	}
	scalar := n.Kind != Mapping && n.Kind != Sequence && n.Kind != Null
	switch m := v.Addr().Interface().(type) {
	case short:
		if scalar {
			d.value(n, reflect.ValueOf(m.Short()).Elem(), path, shortRule(v))
			d.check(v, n, path)
			return
		}
	case encoding.TextUnmarshaler:
		if !scalar {
			d.wrong(n, path, expected(v.Type(), r), "")
			return
		}
		d.text(n, m, v, path, r)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if n.Kind != Mapping {
			d.wrong(n, path, expected(v.Type(), r), "")
			return
		}
		before := len(d.errs)
		if f, ok := v.Addr().Interface().(forms); ok {
			d.form(n, f, path)
		} else {
			d.fields(n, v, path, "")
		}
		if len(d.errs) == before {
			d.check(v, n, path)
		}
	case reflect.Slice:
		d.slice(n, v, path, r)
	case reflect.Map:
		d.goMap(n, v, path)
	default:
		d.scalar(n, v, path, r)
	}
}

// text hands a scalar to its UnmarshalText.
func (d *decoder) text(n *Node, m encoding.TextUnmarshaler, v reflect.Value, path string, r rule) {
	if err := m.UnmarshalText([]byte(n.Text)); err != nil {
		d.fail(n.Pos, path, err.Error(), "")
		return
	}
	switch {
	case r.positive && !positive(v):
		d.wrong(n, path, expected(v.Type(), r)+" above zero", "")
	case v.CanInt() && !r.inside(float64(v.Int())):
		d.wrong(n, path, expected(v.Type(), r), "")
	}
}

func positive(v reflect.Value) bool {
	switch {
	case v.CanInt():
		return v.Int() > 0
	case v.CanFloat():
		return v.Float() > 0
	}
	return true
}

// form picks the form of a union by its key and fills that.
func (d *decoder) form(n *Node, f forms, path string) {
	key, names, pick := f.Forms()
	want := "one of " + strings.Join(names, ", ")
	k := n.Child(key)
	if k == nil {
		d.fail(n.Pos, path, fmt.Sprintf("key %q is missing, expected %s", key, want), "")
		return
	}
	var target any
	if k.Kind == String {
		target = pick(k.Text)
	}
	if target == nil {
		d.wrong(k, join(path, key), want, DidYouMean(k.Text, names))
		return
	}
	v := reflect.ValueOf(target).Elem()
	before := len(d.errs)
	d.fields(n, v, path, key)
	if len(d.errs) == before {
		d.check(v, n, path)
	}
}

// fields fills a struct from a mapping. The key skip was read by the caller.
func (d *decoder) fields(n *Node, v reflect.Value, path, skip string) {
	s := shapeOf(v.Type())
	for i, k := range n.Keys {
		if k.Name == skip {
			continue
		}
		at := -1
		for j, f := range s.fields {
			if f.name == k.Name {
				at = j
			}
		}
		if at < 0 {
			names := s.keys()
			if skip != "" {
				names = append([]string{skip}, names...)
			}
			hint := DidYouMean(k.Name, names)
			d.fail(k.Pos, path, fmt.Sprintf("unknown key %q, expected %s", clip(k.Name), list(names)), hint)
			continue
		}
		f := s.fields[at]
		d.value(n.Items[i], v.FieldByIndex(f.index), join(path, k.Name), f.rule)
	}
	for _, f := range s.fields {
		if f.rule.required && n.Child(f.name) == nil {
			d.fail(n.Pos, path, fmt.Sprintf("key %q is missing, expected %s", f.name, expected(f.typ, f.rule)), "")
		}
	}
}

func list(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("%q", names[0])
	}
	return "one of " + strings.Join(names, ", ")
}

// slice fills a slice from a list, or a keyed slice from a mapping. What the
// slice held before is replaced.
func (d *decoder) slice(n *Node, v reflect.Value, path string, r rule) {
	byKey := keyed(v.Type())
	if byKey && n.Kind != Mapping || !byKey && n.Kind != Sequence {
		d.wrong(n, path, expected(v.Type(), r), "")
		return
	}
	if x := float64(len(n.Items)); !r.inside(x) {
		d.fail(n.Pos, path, fmt.Sprintf("read %d entries, expected %s", len(n.Items), r.bounds()), "")
	}
	out := reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	key := -1
	if byKey {
		key = shapeOf(v.Type().Elem()).key
	}
	for i, item := range n.Items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if byKey {
			out.Index(i).Field(key).SetString(n.Keys[i].Name)
			at = join(path, n.Keys[i].Name)
		}
		d.value(item, out.Index(i), at, rule{enum: r.enum, min: r.each})
	}
	v.Set(out)
}

// goMap fills a map with string keys, over what it holds.
func (d *decoder) goMap(n *Node, v reflect.Value, path string) {
	if n.Kind != Mapping {
		d.wrong(n, path, expected(v.Type(), rule{}), "")
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for i, k := range n.Keys {
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(n.Items[i], item, join(path, k.Name), rule{})
		v.SetMapIndex(reflect.ValueOf(k.Name).Convert(v.Type().Key()), item)
	}
}

// scalar fills texts, numbers and truth values.
func (d *decoder) scalar(n *Node, v reflect.Value, path string, r rule) {
	want := expected(v.Type(), r)
	switch v.Kind() {
	case reflect.String:
		loose := n.Pos.Source != nil && n.Pos.Source.Loose
		scalar := n.Kind == Int || n.Kind == Float || n.Kind == Bool
		if n.Kind != String && !(loose && scalar) {
			hint := ""
			if scalar {
				hint = fmt.Sprintf("in quotes it is a text: %q", n.Text)
			}
			d.wrong(n, path, want, hint)
			return
		}
		if r.required && strings.TrimSpace(n.Text) == "" {
			d.wrong(n, path, want+" that is not empty", "")
			return
		}
		if r.enum != nil && !contains(r.enum, n.Text) {
			d.wrong(n, path, want, DidYouMean(n.Text, r.enum))
			return
		}
		v.SetString(n.Text)
	case reflect.Bool:
		if n.Kind != Bool {
			d.wrong(n, path, want, "")
			return
		}
		v.SetBool(strings.EqualFold(n.Text, "true"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, err := strconv.ParseInt(strings.ReplaceAll(n.Text, "_", ""), 10, 64)
		if n.Kind != Int || err != nil || v.OverflowInt(x) || !r.inside(float64(x)) {
			d.wrong(n, path, want, "")
			return
		}
		v.SetInt(x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x, err := strconv.ParseUint(strings.ReplaceAll(n.Text, "_", ""), 10, 64)
		if n.Kind != Int || err != nil || v.OverflowUint(x) || !r.inside(float64(x)) {
			d.wrong(n, path, want, "")
			return
		}
		v.SetUint(x)
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(strings.ReplaceAll(n.Text, "_", ""), 64)
		if n.Kind != Int && n.Kind != Float || err != nil || math.IsInf(x, 0) || math.IsNaN(x) ||
			!r.inside(x) || r.positive && x <= 0 {
			d.wrong(n, path, want, "")
			return
		}
		v.SetFloat(x)
	default:
		panic(fmt.Sprintf("strict: %s: no rule to read a %s", path, v.Type()))
	}
}

func contains(words []string, w string) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}

// check calls the Check method of v, if it has one.
func (d *decoder) check(v reflect.Value, n *Node, path string) {
	c, ok := v.Addr().Interface().(checker)
	if !ok {
		return
	}
	c.Check(func(key, msg string) {
		at := n.Nearest(key)
		full := path
		if key != "" {
			full = join(path, key)
		}
		d.fail(at.Pos, full, msg, "")
	})
}
