package discover_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/machine"
)

// fuzz reads any bytes: a dump or an [discover.Error], and of a dump a machine
// that can be built or an error.
func fuzz(f *testing.F, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > 1<<16 {
			return
		}
		d, err := discover.Read("f", content)
		if err != nil {
			var e *discover.Error
			if !errors.As(err, &e) || d != nil {
				t.Fatalf("dump %v, error %v", d, err)
			}
			return
		}
		if d.Format != discover.Detect(content) {
			t.Fatalf("read as %q, detected %q", d.Format, discover.Detect(content))
		}
		for _, h := range d.Hosts {
			if h.Matrix != nil {
				checkPrint(t, h.Matrix)
			}
		}
		s, err := d.Spec(&bench{board: []int{2, 2}})
		if err != nil || s.Host.GPUs > 64 {
			return
		}
		// The builders may refuse what no machine can be (a GPU that nothing
		// reaches), but not panic.
		m := discover.Relations(&s)
		if built, err := machine.Build(s); err == nil && len(built.Ranks) != s.Host.GPUs {
			t.Fatalf("%d ranks of %d GPUs", len(built.Ranks), s.Host.GPUs)
		}
		if words := d.Hosts[0].Matrix; words != nil {
			if diff := words.Diff(m); diff != nil {
				t.Fatalf("machine has other words: %v", diff)
			}
		}
	})
}

// checkPrint prints a matrix and reads it again.
func checkPrint(t *testing.T, m *discover.Matrix) {
	var b bytes.Buffer
	if err := m.Write(&b, true); err != nil {
		t.Fatal(err)
	}
	again, err := discover.Read("again", b.Bytes())
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	if diff := m.Diff(again.Hosts[0].Matrix); diff != nil {
		t.Fatalf("%v in\n%s", diff, b.String())
	}
}

func FuzzMatrix(f *testing.F) { fuzz(f, four) }
func FuzzQuery(f *testing.F)  { fuzz(f, query) }
func FuzzNCCL(f *testing.F)   { fuzz(f, board, twoTrays) }
func FuzzGraphs(f *testing.F) { fuzz(f, graphs) }
func FuzzLstopo(f *testing.F) { fuzz(f, lstopoGPU) }
