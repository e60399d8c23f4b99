package main

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/term"
)

// TestPanicBecomesOneLine: a fault of ours says how to report it, and shows
// the stack only to those who ask.
func TestPanicBecomesOneLine(t *testing.T) {
	run := func() string {
		var out, errs bytes.Buffer
		root := &cobra.Command{Use: "weft", RunE: func(*cobra.Command, []string) error { panic("rate -1 on link 3") }}
		root.SetArgs([]string{})
		code := attempt(context.Background(), &term.Terminal{Out: &out, Err: &errs}, root)
		assert.Equal(t, exitcode.Internal, code)
		assert.Empty(t, out.String())
		return errs.String()
	}
	t.Setenv("WEFT_DEBUG", "")
	got := run()
	assert.Contains(t, got, "a fault of ours: rate -1 on link 3")
	assert.NotContains(t, got, "goroutine")
	assert.Equal(t, 2, strings.Count(got, "\n"))
	t.Setenv("WEFT_DEBUG", "1")
	assert.Contains(t, run(), "goroutine")
}

// TestInterruptWhileReading: Ctrl-C ends a verb that waits for its input.
func TestInterruptWhileReading(t *testing.T) {
	code, _, errs := interrupted(t, strings.Repeat("# nothing yet\n", 16<<10), false, nil, "run", "-")
	assert.Equal(t, int(exitcode.Interrupted), code)
	assert.Contains(t, errs, "interrupted")
}

// TestInterruptWhileSimulating: a simulation that is cut short says how far it
// came, prints no answer, and ends with 130.
func TestInterruptWhileSimulating(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation that lasts")
	}
	scenario := `name: long
system: bench-star
gpus: 4096
collapse: off
collectives: {grain: chunk}
workload: {kind: collective, op: all_reduce, bytes: 1GiB, count: 64}
` + strings.Repeat("# padding\n", 16<<10)
	code, out, errs := interrupted(t, scenario, true, func() { time.Sleep(700 * time.Millisecond) }, "run", "-")
	assert.Equal(t, int(exitcode.Interrupted), code, errs)
	assert.Empty(t, out)
	assert.Regexp(t, `^weft: interrupted: .*stopped at .* after \d+ events`, errs)
}

// interrupted runs weft with input on its standard input, waits until it has
// read some of it (a pipe holds 64 KiB), interrupts it, and returns how it
// ended. With closed the input ends before the interrupt.
func interrupted(t *testing.T, input string, closed bool, wait func(), args ...string) (code int, out, errs string) {
	t.Helper()
	require.Greater(t, len(input), 128<<10, "the input must not fit into the pipe")
	cmd := exec.Command("weft", args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	pipe, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(pipe, input)
	require.NoError(t, err)
	if closed {
		require.NoError(t, pipe.Close())
	}
	if wait != nil {
		wait()
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	_ = cmd.Wait() // the exit code says it
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}
