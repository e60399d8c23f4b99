package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite golden files, generated pages and the output that docs show")

// TestMain puts this binary on the path as weft, for scripts and docs.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"weft": main})
}

// TestScripts runs the command as people do: testdata/script has a file a
// verb, one an exit code, and one a kind of bad input.
func TestScripts(t *testing.T) {
	samples := sampleFiles(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SAMPLES", samples)
			e.Setenv("NO_COLOR", "1")
			e.Setenv("LC_ALL", "C.UTF-8")
			return nil
		},
		Condition: func(name string) (bool, error) {
			if path, ok := strings.CutPrefix(name, "exists:"); ok {
				_, err := os.Stat(path)
				return err == nil, nil
			}
			if name != "samples" {
				return false, errors.New("the conditions are: samples, exists:PATH")
			}
			return samples != "", nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs `exits CODE command args...` and demands that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v: %v", args[1:], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%v exited with %d, want %d; stderr:\n%s", args[1:], got, want, ts.ReadFile("stderr"))
	}
}

// sampleFiles returns the folder of real traces, or "" where there is none.
func sampleFiles(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("WEFT_SHARED")
	if dir == "" {
		dir = filepath.Join(repoRoot(t), "../shared")
	}
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}
