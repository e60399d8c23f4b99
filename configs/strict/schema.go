package strict

import (
	"encoding"
	"reflect"
	"slices"

	"github.com/weft-sim/weft/sim"
)

// Paths returns the path of every key that the struct behind out can be given
// by name, in the order of the fields: what an environment variable may set.
// Lists, and mappings whose keys the user chooses, are one path each.
func Paths(out any) []string {
	var paths []string
	seen := map[string]bool{}
	walkPaths(out, func(p string, _ reflect.Type) {
		if !seen[p] {
			seen[p] = true
			paths = append(paths, p)
		}
	})
	return paths
}

// OpenPaths returns those of [Paths] below which the user chooses the keys.
func OpenPaths(out any) []string {
	var paths []string
	walkPaths(out, func(p string, t reflect.Type) {
		if (t.Kind() == reflect.Map || keyed(t)) && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	})
	return paths
}

// walkPaths calls f with each path and its type, once in each form of a union.
func walkPaths(out any, f func(path string, t reflect.Type)) {
	var walk func(t reflect.Type, path string)
	add := func(p string, t reflect.Type) {
		if p != "" {
			f(p, t)
		}
	}
	walk = func(t reflect.Type, path string) {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		zero := reflect.New(t).Interface()
		_, isShort := zero.(short)
		_, isText := zero.(encoding.TextUnmarshaler)
		if t == nodeType.Elem() || t.Kind() != reflect.Struct || isText && !isShort {
			add(path, t)
			return
		}
		if isShort {
			add(path, t)
		}
		if f, ok := zero.(forms); ok {
			key, names, pick := f.Forms()
			add(join(path, key), reflect.TypeFor[string]())
			for _, name := range names {
				walk(reflect.TypeOf(pick(name)), path)
			}
			return
		}
		for _, f := range shapeOf(t).fields {
			walk(f.typ, join(path, f.name))
		}
	}
	walk(reflect.TypeOf(out).Elem(), "")
}

// object is a JSON schema, or a part of one.
type object = map[string]any

// Schema returns the JSON Schema (2020-12) of the struct behind out, ready to
// be marshalled.
func Schema(out any, title string) map[string]any {
	s := &schemer{defs: object{}}
	root := s.of(reflect.TypeOf(out).Elem(), rule{})
	top := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   title,
		"$defs":   s.defs,
	}
	for k, v := range root {
		top[k] = v
	}
	return top
}

type schemer struct {
	defs object
}

// of returns the schema of a type under a rule. Structs become definitions,
// so that a type may hold itself.
func (s *schemer) of(t reflect.Type, r rule) object {
	if t.Kind() == reflect.Pointer {
		if t == nodeType {
			return object{}
		}
		return s.of(t.Elem(), r)
	}
	out := s.bare(t, r)
	if r.doc != "" {
		doc := r.doc
		if of, ok := out["description"].(string); ok {
			doc += " (" + of + ")"
		}
		out["description"] = doc
	}
	return out
}

func (s *schemer) bare(t reflect.Type, r rule) object {
	zero := reflect.New(t).Interface()
	if m, ok := zero.(short); ok {
		return object{"oneOf": []any{s.of(reflect.TypeOf(m.Short()).Elem(), shortRule(reflect.ValueOf(zero).Elem())), s.ref(t)}}
	}
	if _, ok := zero.(encoding.TextUnmarshaler); ok {
		o := object{"type": "string"}
		if ex := examples(t); ex != nil {
			o["description"], o["examples"] = expected(t, r), ex
		}
		return o
	}
	switch t.Kind() {
	case reflect.Struct:
		return s.ref(t)
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem(), rule{})}
	case reflect.Slice:
		if keyed(t) {
			return object{"type": "object", "additionalProperties": s.of(t.Elem(), rule{})}
		}
		o := object{"type": "array", "items": s.of(t.Elem(), rule{enum: r.enum, min: r.each})}
		if r.min != nil {
			o["minItems"] = *r.min
		}
		if r.max != nil {
			o["maxItems"] = *r.max
		}
		return o
	case reflect.String:
		if r.enum != nil {
			return object{"enum": slices.Clone(r.enum)}
		}
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	}
	o := object{"type": "integer"}
	if t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32 {
		o["type"] = "number"
	}
	if r.min != nil {
		o["minimum"] = *r.min
	}
	if r.max != nil {
		o["maximum"] = *r.max
	}
	if r.positive {
		o["exclusiveMinimum"] = 0
	}
	return o
}

func examples(t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[sim.Time]():
		return []string{"3us", "1.5ms"}
	case reflect.TypeFor[sim.Bytes]():
		return []string{"1MiB", "20MB"}
	case reflect.TypeFor[sim.Rate]():
		return []string{"450GB/s", "400Gb/s"}
	case reflect.TypeFor[sim.FlopRate]():
		return []string{"989TFLOP/s"}
	}
	return nil
}

// ref defines a struct once and points to it.
func (s *schemer) ref(t reflect.Type) object {
	name := t.String()
	ref := object{"$ref": "#/$defs/" + name}
	if _, ok := s.defs[name]; ok {
		return ref
	}
	s.defs[name] = nil // taken, so that a struct in itself ends
	if f, ok := reflect.New(t).Interface().(forms); ok {
		key, names, pick := f.Forms()
		var alts []any
		for _, n := range names {
			alts = append(alts, s.fields(reflect.TypeOf(pick(n)).Elem(), key, n))
		}
		s.defs[name] = object{"oneOf": alts}
		return ref
	}
	s.defs[name] = s.fields(t, "", "")
	return ref
}

// fields is the schema of a struct. With a key, that key must have that value.
func (s *schemer) fields(t reflect.Type, key, value string) object {
	props := object{}
	required := []string{}
	if key != "" {
		props[key] = object{"const": value}
		required = append(required, key)
	}
	for _, f := range shapeOf(t).fields {
		props[f.name] = s.of(f.typ, f.rule)
		if f.rule.required {
			required = append(required, f.name)
		}
	}
	out := object{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}
