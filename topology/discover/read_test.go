package discover_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/nvlink"
)

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// wrong is a completer that takes every GPU for one with 12 links.
type wrong struct{ bench }

func (*wrong) NVLink(discover.NVLinkQuestion) (nvlink.Spec, error) {
	return nvlink.Spec{Planes: []int{2, 2, 2, 2, 2, 2}, Link: wire(25e9, "nvlink3")}, nil
}

func TestReadOfOtherThings(t *testing.T) {
	random := make([]byte, 4096)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"empty":          {nil, "read machine: f: the file is empty"},
		"blank":          {[]byte(" \n\n"), "the file is empty"},
		"random":         {random, "read machine: f: "},
		"picture":        {[]byte("\x89PNG\r\n\x1a\n\x00\x00"), "this is a picture; save the text"},
		"web page":       {[]byte("<!DOCTYPE html>\n<html><body>GPU</body></html>"), "this is a web page; download the raw file"},
		"web page, bare": {[]byte("<html><p>not closed</html>"), "this is a web page"},
		"algorithm":      {[]byte(`<algo name="x"/>`), "MSCCL algorithm"},
		"other XML":      {[]byte(`<plist/>`), `root element "plist", expected system`},
		"prose":          {[]byte("GPU0 is broken\n"), `nothing known begins with "GPU0 is broken"`},
		"JSON":           {[]byte(`{"a": 1}`), "nothing known begins with"},
		"binary":         {[]byte{1, 0, 2, 3}, "binary content, beginning with 01 00 02 03"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, discover.None, discover.Detect(c.content))
			_, err := discover.Read("f", c.content)
			assert.ErrorIs(t, err, discover.ErrUnrecognised)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestGzip(t *testing.T) {
	whole := zip(t, four)
	assert.Equal(t, discover.SMIMatrix, discover.Detect(whole))
	_, err := discover.Read("f.gz", whole[:len(whole)/2])
	assert.ErrorIs(t, err, discover.ErrSyntax)
	assert.ErrorContains(t, err, "gzip ends early")
	_, err = discover.Read("f.gz", []byte{0x1f, 0x8b, 1, 2})
	assert.ErrorIs(t, err, discover.ErrSyntax)
}

// TestBomb: a small file that unpacks to more than is read is refused before
// it fills the memory.
func TestBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("compresses 65 MiB")
	}
	_, err := discover.Read("bomb.gz", zip(t, strings.Repeat("\x00", discover.MaxSize+1)))
	assert.ErrorIs(t, err, discover.ErrTooLarge)
}

// TestTruncated: of every sample a part is read or refused, and nothing
// panics.
func TestTruncated(t *testing.T) {
	for _, text := range []string{four, twoTrays, query, lstopoGPU, graphs} {
		for n := 0; n < len(text); n += 1 + len(text)/200 {
			d, err := discover.Read("cut", []byte(text[:n]))
			if err != nil {
				var e *discover.Error
				require.ErrorAs(t, err, &e, text[:n])
				continue
			}
			if strings.HasPrefix(text, "<") {
				assert.LessOrEqual(t, len(text)-n, 2, "XML that ends early is refused")
			}
			_, _ = d.Spec(&bench{})
		}
	}
}
