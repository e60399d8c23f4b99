package discover_test

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

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

// TestHuge: what could grow with the square of a file is bounded.
func TestHuge(t *testing.T) {
	if testing.Short() {
		t.Skip("some MiB of text")
	}
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "#", strconv.Itoa(i)))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"hosts":   `<system version="1">` + repeat(50_000, `<cpu host_hash="#"/>`) + `</system>`,
		"nodes":   `<system version="1">` + repeat(50_000, `<cpu numaid="#"/>`) + `</system>`,
		"devices": `<system version="1"><cpu>` + repeat(50_000, `<pci busid="#" class="0x030200"/>`) + `</cpu></system>`,
		"queries": `<nvidia_smi_log>` + repeat(50_000, `<gpu id="#"/>`) + `</nvidia_smi_log>`,
		"objects": `<topology version="2.0">` + repeat(50_000, `<object type="PCIDev" pci_busid="#" pci_type="0302 [10de:1]"/>`) + `</topology>`,
		"rows":    repeat(100_000, "GPU# X SYS\n"),
		"header":  repeat(100_000, "\tGPU#") + "\nGPU0 X\n",
		"row":     "GPU0" + repeat(100_000, " X") + "\n",
		"word":    "GPU0 " + repeat(100_000, "SYS") + "\n",
		"links": `<system version="1"><cpu><pci busid="a" class="0x030200"><gpu>` + repeat(50_000, `<nvlink target="fffffff:#" count="1"/>`) +
			`</gpu></pci></cpu></system>`,
		"elements": `<topology>` + repeat(600_000, `<a/>`) + `</topology>`,
	} {
		start := time.Now()
		_, err := discover.Read("huge", []byte(text))
		assert.ErrorIs(t, err, discover.ErrTooLarge, name)
		assert.Less(t, time.Since(start), 5*time.Second, name)
	}
}
