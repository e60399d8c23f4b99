package strict

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// expected says what a field wants, for "expected ...".
func expected(t reflect.Type, r rule) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[sim.Time]():
		return "a time with its unit, such as 3us"
	case reflect.TypeFor[sim.Bytes]():
		if r.max != nil {
			return fmt.Sprintf("a size with its unit, such as 1MiB, of at most %v", sim.Bytes(*r.max))
		}
		return "a size with its unit, such as 1MiB"
	case reflect.TypeFor[sim.Rate]():
		return "a rate with its unit, such as 450GB/s"
	case reflect.TypeFor[sim.FlopRate]():
		return "an arithmetic rate with its unit, such as 989TFLOP/s"
	}
	zero := reflect.New(t).Interface()
	if s, ok := zero.(short); ok {
		return expected(reflect.TypeOf(s.Short()).Elem(), shortRule(reflect.ValueOf(zero).Elem())) + ", or a mapping"
	}
	if _, ok := zero.(encoding.TextUnmarshaler); ok {
		return "a " + strings.ToLower(t.Name())
	}
	bounds := ""
	if r.min != nil || r.max != nil {
		bounds = ", " + r.bounds()
	}
	switch t.Kind() {
	case reflect.String:
		if r.enum != nil {
			return list(r.enum)
		}
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		if r.positive {
			return "a number above zero" + bounds
		}
		return "a number" + bounds
	case reflect.Struct:
		if f, ok := zero.(forms); ok {
			key, _, _ := f.Forms()
			return fmt.Sprintf("a mapping with the key %q", key)
		}
		return "a mapping with keys " + strings.Join(shapeOf(t).keys(), ", ")
	case reflect.Map:
		return "a mapping"
	case reflect.Slice:
		if keyed(t) {
			return "a mapping of names"
		}
		return "a list"
	}
	return "a whole number" + bounds
}
