package sim_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weft-sim/weft/sim"
)

// fuzzParse checks of any text: what is read prints to a text that reads back
// as the same value, and what is refused comes with a value that is accepted.
func fuzzParse[T interface {
	comparable
	fmt.Stringer
}](f *testing.F, parse func(string) (T, error)) {
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parse(text)
		if err == nil {
			again, err := parse(v.String())
			if err != nil || again != v {
				t.Fatalf("%q reads as %v, which reads as %v, error %v", text, v, again, err)
			}
			return
		}
		var unit *sim.UnitError
		if !errors.As(err, &unit) {
			t.Fatalf("%q: error %v of type %T", text, err, err)
		}
		if _, err := parse(unit.Try); err != nil {
			t.Fatalf("%q: the value proposed is refused: %v", text, err)
		}
	})
}

func FuzzParseTime(f *testing.F)     { fuzzParse(f, sim.ParseTime) }
func FuzzParseBytes(f *testing.F)    { fuzzParse(f, sim.ParseBytes) }
func FuzzParseRate(f *testing.F)     { fuzzParse(f, sim.ParseRate) }
func FuzzParseFlopRate(f *testing.F) { fuzzParse(f, sim.ParseFlopRate) }
