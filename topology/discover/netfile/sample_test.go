package netfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// shared returns the folder of sample files, or skips the test.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("WEFT_SHARED")
	if dir == "" {
		root, err := os.Getwd()
		require.NoError(t, err)
		for {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			root = filepath.Dir(root)
		}
		dir = filepath.Join(filepath.Dir(root), "shared")
	}
	path := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no sample files at %s; set WEFT_SHARED", path)
	}
	return path
}

func sample(t testing.TB, elem ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(shared(t, append([]string{"traces"}, elem...)...))
	require.NoError(t, err)
	return content
}
