package msccl

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// sharedFile reads a real file, and skips the test where there is none.
func sharedFile(t testing.TB, parts ...string) []byte {
	t.Helper()
	root, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, root, filepath.Dir(root), "no go.mod above the test")
		root = filepath.Dir(root)
	}
	shared := os.Getenv("WEFT_SHARED")
	if shared == "" {
		shared = filepath.Join(root, "..", "shared")
	}
	path := filepath.Join(append([]string{shared}, parts...)...)
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("%s is not there; WEFT_SHARED names the folder of real files", path)
	}
	require.NoError(t, err)
	return content
}
