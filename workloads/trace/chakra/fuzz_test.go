package chakra

import (
	"bytes"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/weft-sim/weft/workloads"
)

// FuzzLoad feeds foreign bytes as a trace of rank 0 and as a group file. The
// reader must not panic, must not use memory that the bytes do not justify,
// and must answer with a valid program or an error of a known type. The seeds
// are in testdata/fuzz: a trace of each schema, cut, cyclic, and no trace.
func FuzzLoad(f *testing.F) {
	f.Fuzz(func(t *testing.T, data, groups []byte) {
		if tr, err := Decode(bytes.NewReader(data), "t.0.et", 1<<20); err == nil {
			tr.Summary()
		}
		fsys := fstest.MapFS{"job/t.0.et": {Data: data}, "job/groups.json": {Data: groups}}
		opt := Options{World: 4, Dims: []int32{2, 2}, MaxBytes: 1 << 20}
		p, _, err := Load(fsys, "job", opt)
		if err == nil {
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			return
		}
		var known *Error
		var unmatched *workloads.UnmatchedError
		if !errors.As(err, &known) && !errors.As(err, &unmatched) {
			t.Fatalf("%T: %v", err, err)
		}
	})
}
