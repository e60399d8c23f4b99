package strict

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is a field of a struct that a key fills.
type field struct {
	index []int // as reflect.Value.FieldByIndex takes it
	name  string
	typ   reflect.Type
	rule  rule
}

// rule is a weft tag.
type rule struct {
	required bool
	positive bool
	enum     []string
	min, max *float64
	each     *float64 // lower bound of the numbers of a list
	doc      string
}

// shape is what a struct type says about its keys.
type shape struct {
	fields []field
	key    int // index of the field tagged ",key", or -1
}

// shapeOf reads the tags of a struct type. A tag that cannot be read is a
// defect of the program.
func shapeOf(t reflect.Type) shape {
	s := shape{key: -1}
	for i := range t.NumField() {
		f := t.Field(i)
		name, opt, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch opt {
		case "key":
			s.key = i
			continue
		case "inline":
			for _, in := range shapeOf(f.Type).fields {
				in.index = append([]int{i}, in.index...)
				s.fields = append(s.fields, in)
			}
			continue
		}
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		s.fields = append(s.fields, field{[]int{i}, name, f.Type, parseRule(t, f)})
	}
	return s
}

func parseRule(t reflect.Type, f reflect.StructField) rule {
	var r rule
	tag := f.Tag.Get("weft")
	if before, doc, ok := strings.Cut(tag, "doc="); ok {
		r.doc, tag = doc, strings.TrimSuffix(before, ",")
	}
	if tag == "" {
		return r
	}
	for _, part := range strings.Split(tag, ",") {
		k, v, _ := strings.Cut(part, "=")
		switch k {
		case "required":
			r.required = true
		case "positive":
			r.positive = true
		case "enum":
			r.enum = strings.Split(v, "|")
		case "min", "max", "each":
			x, err := strconv.ParseFloat(v, 64)
			if err != nil {
				panic(fmt.Sprintf("strict: %s.%s: weft tag %q: %v", t, f.Name, part, err))
			}
			switch k {
			case "min":
				r.min = &x
			case "max":
				r.max = &x
			default:
				r.each = &x
			}
		default:
			panic(fmt.Sprintf("strict: %s.%s: unknown weft tag %q", t, f.Name, part))
		}
	}
	return r
}

// shortRule is the rule of the field of v that its Short method points to.
func shortRule(v reflect.Value) rule {
	to := v.Addr().Interface().(short).Short()
	for _, f := range shapeOf(v.Type()).fields {
		if v.FieldByIndex(f.index).Addr().Interface() == to {
			return f.rule
		}
	}
	return rule{}
}

// keys returns the names of the fields, in the order of the struct.
func (s shape) keys() []string {
	out := make([]string, len(s.fields))
	for i, f := range s.fields {
		out[i] = f.name
	}
	return out
}

// keyed says whether t is a slice of structs that is written as a mapping.
func keyed(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && shapeOf(t.Elem()).key >= 0
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

// bounds prints the range of a rule.
func (r rule) bounds() string {
	switch {
	case r.min != nil && r.max != nil:
		return number(*r.min) + " to " + number(*r.max)
	case r.min != nil:
		return "at least " + number(*r.min)
	}
	return "at most " + number(*r.max)
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func (r rule) inside(x float64) bool {
	return (r.min == nil || x >= *r.min) && (r.max == nil || x <= *r.max)
}
