package chakra

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/klauspost/compress/gzip"
)

// DefaultMaxBytes bounds the decompressed size of a file.
const DefaultMaxBytes = 4 << 30

const (
	window    = 256 << 10 // of the reader: records up to this size are not copied
	sniffSize = 4096

	// A file of few bytes must not become much memory: nodes and dependencies
	// take more than the bytes that make them.
	maxNodes = 1 << 23 // of a file, as many operations as a program may have
	maxDeps  = 1 << 27
)

// Decode reads one file: protobuf records of generation G4 or G0, or the JSON
// form, plain or gzip-compressed. The content decides, name only serves
// messages. A maxBytes of 0 is [DefaultMaxBytes].
//
// A file that ends inside a record yields the nodes before it and
// [Trace.Truncated]; without a single complete node it is an error. Every
// error is an [*Error]. Memory is in proportion to the bytes that were really
// there, whatever the length prefixes claim.
func Decode(r io.Reader, name string, maxBytes int64) (*Trace, error) {
	br, err := open(r, name, maxBytes)
	if err != nil {
		return nil, err
	}
	t := &Trace{File: name}
	switch kind := sniff(br); kind {
	case "protobuf":
		err = t.decodeProto(br)
	case "JSON":
		err = t.decodeJSON(br)
	case "an empty file":
		return nil, readError(name, 0, -1, "an empty file", "a Chakra trace")
	default:
		return nil, &Error{Doing: "read trace", File: name, Offset: -1, Read: kind,
			Want: "a Chakra trace: length-prefixed protobuf records (.et, .eg), or JSON with a workload_graph", Hint: firstBytes(br)}
	}
	if err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	return t, nil
}

// errTooLarge is what a bounded reader returns past its bound.
var errTooLarge = errors.New("the file is larger than allowed")

// bounded fails rather than end when more than left bytes are there.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		var one [1]byte
		if n, err := b.r.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}

// open unwraps gzip and bounds what comes out.
func open(r io.Reader, name string, maxBytes int64) (*bufio.Reader, error) {
	if maxBytes <= 0 {
		maxBytes = DefaultMaxBytes
	}
	br := bufio.NewReaderSize(r, window)
	magic, _ := br.Peek(2)
	var src io.Reader = br
	if len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		zr, err := gzip.NewReader(br)
		if err != nil {
			return nil, &Error{Doing: "read trace", File: name, Offset: 0, Read: "a gzip header that does not end",
				Want: "a gzip file", Err: err}
		}
		src = zr
	}
	return bufio.NewReaderSize(&bounded{src, maxBytes}, window), nil
}

// sniff says what the content is: "protobuf", "JSON", or a description of
// something else.
func sniff(br *bufio.Reader) string {
	b, err := br.Peek(sniffSize)
	if len(b) == 0 {
		if err != nil && err != io.EOF {
			return "unreadable data: " + err.Error()
		}
		return "an empty file"
	}
	for _, m := range []struct{ magic, what string }{
		{"\x89PNG\r\n\x1a\n", "a PNG picture"}, {"\xff\xd8\xff", "a JPEG picture"}, {"GIF8", "a GIF picture"},
		{"%PDF-", "a PDF document"}, {"PK\x03\x04", "a ZIP archive"}, {"\x7fELF", "an ELF program"},
		{"\x28\xb5\x2f\xfd", "Zstandard-compressed data"}, {"BZh", "bzip2-compressed data"}, {"\xfd7zXZ\x00", "xz-compressed data"},
		{"SQLite format 3\x00", "an SQLite database"}, {"\x1f\x8b", "gzip inside gzip"},
	} {
		if bytes.HasPrefix(b, []byte(m.magic)) {
			return m.what
		}
	}
	if len(b) > 262 && bytes.HasPrefix(b[257:], []byte("ustar")) {
		return "a tar archive"
	}
	// Text has no control characters; every protobuf record of ours has one,
	// since the key of a name is byte 0x12.
	if bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' }) {
		return "protobuf"
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case len(text) == 0:
		return "a file of blanks"
	case text[0] == '{' || text[0] == '[':
		return "JSON"
	case text[0] == '<':
		return "HTML or XML"
	}
	if !bytes.ContainsAny(b, " \n") && bytes.ContainsFunc(b, func(r rune) bool { return r >= 0x80 }) {
		return "protobuf" // a few bytes without a control character among them
	}
	return "text"
}

// firstBytes quotes the beginning of the content.
func firstBytes(br *bufio.Reader) string {
	b, _ := br.Peek(32)
	return fmt.Sprintf("it begins with %q", b)
}

// records reads length-prefixed records.
type records struct {
	r     *bufio.Reader
	off   int64 // of the next record
	n     int   // records begun
	skip  int   // bytes of the last record still in r
	large []byte
}

// maxRecord is the largest message that protobuf allows.
const maxRecord = 1<<31 - 1

// next returns the next record, which is valid until the call after, and where
// its content begins. It returns io.EOF after the last, and
// io.ErrUnexpectedEOF with the length claimed in a record that is cut off.
func (s *records) next() (rec []byte, at int64, claimed uint64, err error) {
	if s.skip > 0 {
		s.r.Discard(s.skip) // never fails: the bytes were peeked
		s.skip = 0
	}
	s.n++
	at = s.off
	var n uint64
	for i := 0; ; i++ {
		c, err := s.r.ReadByte()
		if err != nil {
			if err == io.EOF && i > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, at, n, err
		}
		if i == 9 && c > 1 {
			return nil, at, n, errVarint
		}
		n |= uint64(c&0x7f) << (7 * i)
		s.off++
		if c < 0x80 {
			break
		}
	}
	if n > maxRecord {
		return nil, at, n, io.ErrUnexpectedEOF
	}
	size := int(n)
	if size <= window {
		rec, err = s.r.Peek(size)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		s.skip = len(rec)
	} else {
		// Grow as bytes arrive, so that a false length costs nothing.
		s.large = s.large[:0]
		for len(s.large) < size && err == nil {
			step := min(size-len(s.large), max(window, len(s.large)))
			have := len(s.large)
			s.large = slices.Grow(s.large, step)[:have+step]
			var got int
			got, err = io.ReadFull(s.r, s.large[have:])
			s.large = s.large[:have+got]
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		rec = s.large
	}
	if err != nil {
		return rec, at, n, err
	}
	s.off += int64(size)
	return rec, at, n, nil
}

var errVarint = errors.New("a length of more than 64 bits")

// complete says how much of a file that is cut off is whole.
func complete(nodes int) string {
	if nodes == 1 {
		return "the node before it is complete"
	}
	return fmt.Sprintf("the %d nodes before it are complete", nodes)
}

// cut turns an error of [records.next] into the trace's truncation, when
// nodes were complete, or into an error.
func (t *Trace) cut(s *records, rec []byte, at int64, claimed uint64, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		read := fmt.Sprintf("a record of %d bytes of which the file holds %d", claimed, len(rec))
		if claimed == 0 {
			read = "the end of the compressed data where a record should begin"
		}
		e := readError(t.File, s.n, at, read, "a whole record")
		if len(t.Nodes) == 0 {
			e.Hint = "no node is complete: this is no Chakra trace, or one that was cut off at its beginning"
			return e
		}
		e.Hint = complete(len(t.Nodes))
		t.Truncated = e
		return nil
	case errors.Is(err, errTooLarge):
		return readError(t.File, s.n, at, "more data than the bound on the decompressed size", "a smaller file, or a larger bound (MaxBytes)")
	}
	e := readError(t.File, s.n, at, "unreadable data", "a record")
	e.Err = err
	return e
}

// check finds what makes a file useless as a whole: no node of a known type,
// an id twice.
func (t *Trace) check() error {
	if len(t.Nodes) == 0 {
		return readError(t.File, 0, -1, "no node at all", "at least one node")
	}
	known := slices.ContainsFunc(t.Nodes, func(n Node) bool { return n.Type.Known() })
	if !known {
		return readError(t.File, 0, -1, fmt.Sprintf("%d records of which none has a node type", len(t.Nodes)),
			"a Chakra trace, whose nodes have types 1 to 7")
	}
	sorted := true
	for i := 1; i < len(t.Nodes) && sorted; i++ {
		sorted = t.Nodes[i-1].ID < t.Nodes[i].ID
	}
	if sorted {
		return nil
	}
	for i, order := 1, t.byID(); i < len(order); i++ {
		a, b := &t.Nodes[order[i-1]], &t.Nodes[order[i]]
		if a.ID == b.ID {
			e := readError(t.File, b.Record, b.Offset, fmt.Sprintf("id %d again, which record %d at byte %d has", b.ID, a.Record, a.Offset), "ids that are unique in the file")
			e.Node = b.label()
			return e
		}
	}
	return nil
}

// byID returns the positions of the nodes, by id and then position.
func (t *Trace) byID() []int32 {
	order := make([]int32, len(t.Nodes))
	for i := range order {
		order[i] = int32(i)
	}
	less := func(i, j int) bool { return t.Nodes[order[i]].ID < t.Nodes[order[j]].ID }
	if !sort.SliceIsSorted(order, less) {
		sort.SliceStable(order, less)
	}
	return order
}
