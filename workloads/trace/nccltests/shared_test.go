package nccltests

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

// sharedDir returns a folder of real files, and skips the test where there is
// none.
func sharedDir(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("WEFT_SHARED")
	if dir == "" {
		root, err := filepath.Abs(".")
		require.NoError(t, err)
		for {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			up := filepath.Dir(root)
			require.NotEqual(t, up, root, "no go.mod above")
			root = up
		}
		dir = filepath.Join(root, "../shared")
	}
	dir = filepath.Join(dir, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no real logs: %v", err)
	}
	return dir
}

type expectation struct {
	ranks, rows int
	first, last sim.Bytes
	average     float64
}

// expectations reads what was counted in the real logs.
func expectations(t *testing.T) map[string]expectation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sharedDir(t, "traces"), "EXPECTED.md"))
	require.NoError(t, err)
	line := regexp.MustCompile("^- `([^`]+)`: ranks (\\d+); data rows (\\d+);.*first size (\\d+); last size (\\d+);.*Avg bus bandwidth (\\S+)")
	all := map[string]expectation{}
	for l := range strings.Lines(string(text)) {
		m := line.FindStringSubmatch(strings.TrimSpace(l))
		if m == nil {
			continue
		}
		avg, err := strconv.ParseFloat(m[6], 64)
		require.NoError(t, err)
		all[m[1]] = expectation{number(m[2]), number(m[3]), sim.Bytes(number(m[4])), sim.Bytes(number(m[5])), avg}
	}
	require.NotEmpty(t, all)
	return all
}
