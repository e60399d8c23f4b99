package discover_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/nvlink"
)

// bench is a completer with round figures, for boards of equal planes: enough
// to build any dump. board is what a GPU of a file without NVLinks has.
type bench struct {
	board []int
	asked []discover.SlotQuestion
}

func wire(rate sim.Rate, name string) topology.Wire {
	return topology.Wire{Rate: rate, Latency: 100 * sim.Nanosecond, Class: topology.Class{Name: name}}
}

func (b *bench) NVLink(q discover.NVLinkQuestion) (nvlink.Spec, error) {
	s := nvlink.Spec{Link: wire(25*sim.GBps, string(q.Kind)), SwitchLatency: 100 * sim.Nanosecond}
	switch {
	case q.Links == 0:
		s.Planes = b.board
	case q.Links == 18 && q.Switched:
		s.Planes = []int{5, 4, 4, 5}
	case q.Switched:
		for range q.Links {
			s.Planes = append(s.Planes, 1)
		}
	}
	return s, nil
}

func (b *bench) Slot(q discover.SlotQuestion) (topology.Wire, error) {
	b.asked = append(b.asked, q)
	if q.C2C != nil {
		return wire(q.C2C.Rate*sim.Rate(q.C2C.Count), "c2c"), nil
	}
	gen, width := q.PCIe.Gen, q.PCIe.Width
	if gen == 0 || width == 0 {
		gen, width = 5, 16
	}
	return wire(sim.Rate(width)*sim.Rate(int(1)<<(gen-1))*0.2*sim.GBps, fmt.Sprintf("pcie%d-x%d", gen, width)), nil
}

func (b *bench) Board(*discover.Host) (discover.Board, error) {
	return discover.Board{SocketLink: wire(60*sim.GBps, "upi"), Memory: wire(200*sim.GBps, "memory"), Bridge: wire(100*sim.GBps, "iio")}, nil
}

// sharedFiles returns the files of a folder of recorded traces, by name.
func sharedFiles(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	root := os.Getenv("WEFT_SHARED")
	if root == "" {
		root = filepath.Join(repository(t), "..", "shared")
	}
	paths, err := filepath.Glob(filepath.Join(root, "traces", folder, "*"))
	require.NoError(t, err)
	if len(paths) == 0 {
		t.Skipf("no files in %s; set WEFT_SHARED", filepath.Join(root, "traces", folder))
	}
	files := make(map[string][]byte, len(paths))
	for _, p := range paths {
		b, err := os.ReadFile(p)
		require.NoError(t, err)
		files[filepath.Base(p)] = b
	}
	return files
}

func repository(t testing.TB) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		require.NotEqual(t, up, dir, "no go.mod above the test")
		dir = up
	}
}
