package nccltests

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// MaxSize is the most that is read of a log.
const MaxSize = 64 << 20

// Read reads a log. An error is an [*Error], or one of r.
func Read(name string, r io.Reader) (*Log, error) {
	content, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read nccl-tests output: %s: %w", name, err)
	}
	if len(content) > MaxSize {
		return nil, &Error{Name: name, Text: fmt.Sprintf("more than %d MiB, where a log has some KiB", MaxSize>>20)}
	}
	return Parse(name, content)
}

// Parse is [Read] for content that is at hand.
func Parse(name string, content []byte) (*Log, error) {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	head := bytes.TrimLeft(content, " \t\r\n")
	var l *Log
	var err error
	switch {
	case len(head) == 0:
		return nil, &Error{Name: name, Text: "the file is empty, expected what nccl-tests print"}
	case bytes.IndexByte(content[:min(len(content), 4096)], 0) >= 0:
		return nil, &Error{Name: name, Text: "this is no text: there are zero bytes in it"}
	case head[0] == '{':
		l, err = readJSON(name, head)
	case bytes.HasPrefix(head, []byte(csvHead)):
		l, err = readCSV(name, head)
	default:
		l = readText(content)
	}
	if err != nil {
		return nil, err
	}
	l.Name = name
	var full []*Table
	for _, t := range l.Tables {
		if len(t.Rows) > 0 {
			t.infer(name)
			full = append(full, t)
		}
	}
	if len(full) == 0 {
		return nil, nothing(name, head, l)
	}
	l.Tables = full
	return l, nil
}

// nothing is the error of a file without rows.
func nothing(name string, head []byte, l *Log) error {
	e := &Error{Name: name}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	first := strings.TrimSpace(strings.ToValidUTF8(string(line[:min(len(line), 200)]), "?"))
	switch {
	case len(l.Tables) > 0:
		e.Text = "the test begins, but no row of its table is there: did the job end before it measured anything?"
	case !utf8.Valid(head[:min(len(head), 512)]) && len(head) <= 512:
		e.Text = "this is no text"
	default:
		e.Text = fmt.Sprintf("no row of nccl-tests in it; it begins with %q, expected lines such as \"1048576  262144  float  sum  -1  28.01  37.44  65.51  0 ...\"", clip(first))
	}
	return e
}
