package chakra

import (
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A value, a list or a record without end costs no more than its bound.
func TestEndlessFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 16 MiB three times")
	}
	for _, c := range []struct {
		name, head, rest, want string
	}{
		{"zeros", "", "\x00", "an empty record"},
		{"a name", `{"workload_graph": [{"name": "`, "x", "does not end within 16 MiB"},
		{"a skipped key", `{"other": [`, "1,", "does not end within 16 MiB"},
		{"blanks", `{"workload_graph": [`, " ", "does not end within 16 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode(io.MultiReader(strings.NewReader(c.head), endless(strings.Repeat(c.rest, 1<<16))), "f", 0)
			wantError(t, err, c.want)
		})
	}
}

// endless gives its text for ever, from the beginning at each read.
type endless string

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

// A device is refused; in a folder it is passed over.
func TestSpecialFiles(t *testing.T) {
	device := &fstest.MapFile{Mode: fs.ModeDevice | fs.ModeCharDevice}
	good := &fstest.MapFile{Data: trace(comp(1, 5))}
	_, _, err := Load(fstest.MapFS{"zero": device}, "zero", Options{})
	wantError(t, err, "read trace zero: a device", "expected a trace file, a folder of them, or a pipe")
	_, _, err = Load(fstest.MapFS{"t.0.et": good, "g": device}, "t.0.et", Options{GroupFile: "g"})
	wantError(t, err, "read trace g: a device")
	_, rep, err := Load(fstest.MapFS{"job/t.0.et": good, "job/t.1.et": device}, "job", Options{})
	require.NoError(t, err)
	assert.Equal(t, []Skipped{{"job/t.1.et", "no regular file"}}, rep.Skipped)
	_, _, err = Load(fstest.MapFS{"t.0.et": {Data: good.Data, Mode: fs.ModeNamedPipe}}, "t.0.et", Options{})
	require.NoError(t, err)
}
