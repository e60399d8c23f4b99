package term

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestColorWanted(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want bool
	}{
		{"a terminal", map[string]string{"TERM": "xterm-256color"}, true},
		{"nothing set", nil, true},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1", "TERM": "xterm"}, false},
		{"NO_COLOR but empty", map[string]string{"NO_COLOR": "", "TERM": "xterm"}, true},
		{"a dumb terminal", map[string]string{"TERM": "dumb"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := colorWanted(func(k string) (string, bool) { v, ok := c.env[k]; return v, ok })
			assert.Equal(t, c.want, got, "environment %v", c.env)
		})
	}
}

func TestNoEscapesWithoutColor(t *testing.T) {
	plain, coloured := Terminal{}, Terminal{Color: true}
	assert.Equal(t, "x", plain.Bold("x"))
	assert.Equal(t, "\x1b[1mx\x1b[0m", coloured.Bold("x"))
	assert.Equal(t, "", coloured.Dim(""))
}

func TestSpinIsSilentOffTerminal(t *testing.T) {
	var b bytes.Buffer
	stop := (&Terminal{Err: &b}).Spin("working")
	stop()
	assert.Empty(t, b.String())
}

func TestSpinStopsBeforePatience(t *testing.T) {
	var b bytes.Buffer
	stop := (&Terminal{Err: &b, ErrTTY: true}).Spin("working")
	stop()
	assert.Empty(t, b.String(), "what ends at once shows nothing")
}

// firstWrite keeps what is written and closes done at the first of it.
type firstWrite struct {
	mu   sync.Mutex
	text []byte
	done chan struct{}
}

func (f *firstWrite) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.text) == 0 {
		close(f.done)
	}
	f.text = append(f.text, p...)
	return len(p), nil
}

func (f *firstWrite) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.text)
}

func TestSpinShowsThatItLives(t *testing.T) {
	w := &firstWrite{done: make(chan struct{})}
	spin(w, "working", w.done, 0) // comes back, as the first sign ends it
	assert.Contains(t, w.String(), "working")
}

func TestSpinMayBeStoppedTwice(t *testing.T) {
	stop := (&Terminal{Err: &bytes.Buffer{}, ErrTTY: true}).Spin("working")
	stop()
	stop()
}

func Example() {
	t := Terminal{Out: os.Stdout} // a pipe: no colour
	fmt.Fprintln(t.Out, t.Bold("step time"), "12.3 ms")
	// Output: step time 12.3 ms
}
