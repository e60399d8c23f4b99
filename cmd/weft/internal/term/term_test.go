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

func lookup(env map[string]string) func(string) (string, bool) {
	return func(k string) (string, bool) { v, ok := env[k]; return v, ok }
}

func TestWidthIsThatOfCOLUMNSElseOfTheTerminal(t *testing.T) {
	terminal := func() int { return 120 }
	assert.Equal(t, 80, width(lookup(map[string]string{"COLUMNS": "80"}), terminal))
	assert.Equal(t, 120, width(lookup(map[string]string{"COLUMNS": "wide"}), terminal))
	assert.Equal(t, 120, width(lookup(nil), terminal))
	assert.Equal(t, 0, width(lookup(nil), func() int { return 0 }), "a file or a pipe has no width")
	assert.Equal(t, narrowest, width(lookup(map[string]string{"COLUMNS": "3"}), terminal))
}

func TestASCIIFollowsTheLocale(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, true},
		{map[string]string{"LC_ALL": "POSIX"}, true},
		{map[string]string{"LC_ALL": "", "LANG": "de_DE.utf8"}, false},
		{map[string]string{"LANG": "C.UTF-8"}, false},
		{map[string]string{"LC_CTYPE": "de_DE.ISO-8859-1", "LANG": "de_DE.UTF-8"}, true},
		{map[string]string{"LANG": "de_DE"}, false},
	} {
		assert.Equal(t, c.want, asciiOnly(lookup(c.env)), "environment %v", c.env)
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
