package configs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/workloads/replay"
)

// sharedTraces returns the folder of users' traces, or skips the test.
func sharedTraces(t *testing.T) string {
	dir := os.Getenv("WEFT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	dir = filepath.Join(dir, "traces")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no folder of users' traces at %s: set WEFT_SHARED", dir)
	}
	return dir
}

// Every folder of Chakra traces that users gave us runs to its end, and gives
// the same bits with equal ranks simulated once and with all simulated.
func TestUsersChakraTracesRun(t *testing.T) {
	root := filepath.Join(sharedTraces(t), "chakra")
	folders, err := filepath.Glob(filepath.Join(root, "*"))
	require.NoError(t, err)
	micro, err := filepath.Glob(filepath.Join(root, "microbench", "*"))
	require.NoError(t, err)
	ran := 0
	for _, dir := range append(folders, micro...) {
		if filepath.Base(dir) == "microbench" {
			continue // holds folders
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			abs, err := filepath.Abs(dir)
			require.NoError(t, err)
			text := fmt.Sprintf("name: users\nsystem: dgx-h100\nnodes: 2\nworkload: {kind: trace, path: %q}\n", abs)
			s, err := Parse("users.yaml", []byte(text), "", nil, nil)
			require.NoError(t, err)
			j, err := s.Build(nil)
			require.NoError(t, err)
			var want *replay.Result
			for _, c := range []replay.Collapse{replay.Off, replay.Auto} {
				o := j.Options
				o.Collapse = c
				r, err := replay.Run(context.Background(), j.Program, j.Machine, o)
				require.NoError(t, err)
				require.Positive(t, r.StepTime)
				r.Stats = replay.Stats{}
				if want == nil {
					want = r
				}
				require.Equal(t, want, r)
			}
		})
		ran++
	}
	require.GreaterOrEqual(t, ran, 10)
}
