package msccl

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	Line, Column int // from 1; a Column of 0 is not known
	Text         string
}

// InvalidError is all that is wrong with a file, in the order of its lines.
type InvalidError struct {
	File     string
	Problems []Problem // the first of them
	More     bool      // reading stopped there
}

// Error lists the problems, one a line if there are several.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("line %d: %s", p.Line, p.Text)
		if p.Column > 0 {
			lines[i] = fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, p.Text)
		}
	}
	head := "read MSCCL algorithm: " + e.File + ": "
	if len(lines) == 1 {
		return head + lines[0]
	}
	if e.More {
		lines = append(lines, "and perhaps more")
	}
	return head + fmt.Sprintf("%d problems\n  ", len(e.Problems)) + strings.Join(lines, "\n  ")
}

// mostProblems is how many are listed.
const mostProblems = 10

// problems collects them.
type problems struct {
	File string
	list []Problem
}

func (p *problems) full() bool { return len(p.list) >= mostProblems }

func (p *problems) problem(at position, format string, args ...any) {
	if !p.full() {
		p.list = append(p.list, Problem{at.line, at.col, fmt.Sprintf(format, args...)})
	}
}

// err returns all of them, nil if there are none.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b Problem) int { return a.Line - b.Line })
	return &InvalidError{File: p.File, Problems: p.list, More: p.full()}
}

// fields are the attributes of an element, struck out as they are read.
type fields struct {
	*reader
	element string
	at      position
	attrs   []xml.Attr
}

// twice refuses an attribute that is there twice.
func (f *fields) twice() {
	for i, a := range f.attrs {
		for _, b := range f.attrs[:i] {
			if a.Name.Local == b.Name.Local {
				f.problem(f.at, "%s of <%s> is there twice, expected it once", a.Name.Local, f.element)
			}
		}
	}
}

func (f *fields) peek(key string) (string, bool) {
	for _, a := range f.attrs {
		if a.Name.Local == key {
			return a.Value, true
		}
	}
	return "", false
}

func (f *fields) take(key string) (string, bool) {
	v, ok := f.peek(key)
	if ok {
		f.attrs = slices.DeleteFunc(slices.Clone(f.attrs), func(a xml.Attr) bool { return a.Name.Local == key })
	}
	return v, ok
}

// text reads an attribute that must be there.
func (f *fields) text(key, example string) string {
	v, ok := f.take(key)
	if !ok || v == "" {
		f.problem(f.at, "<%s> has no %s, expected one such as %s=%q", f.element, key, key, example)
	}
	return v
}

// word reads one of several words and returns which, -1 for none.
func (f *fields) word(key string, words []string) int {
	v := f.text(key, words[min(1, len(words)-1)])
	if i := slices.Index(words, v); i >= 0 || v == "" {
		return i
	}
	f.problem(f.at, "%s: read %.40q, expected %s", key, v, strings.Join(words, ", "))
	return -1
}

// number reads a whole number from low to high, low if it is wrong.
func (f *fields) number(key string, low, high int64) int64 {
	high = max(high, low)
	v := f.text(key, strconv.FormatInt(min(max(low, 0), high), 10))
	if v == "" {
		return low
	}
	return f.parse(key, v, low, high)
}

func (f *fields) parse(key, text string, low, high int64) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		f.problem(f.at, "%s: read %.40q, expected a whole number from %d to %d", key, text, low, high)
		return low
	}
	return n
}

// optional reads a number that need not be there.
func (f *fields) optional(key string, low, high, absent int64) int64 {
	v, ok := f.take(key)
	if !ok {
		return absent
	}
	return f.parse(key, v, low, high)
}

// contiguous reads a number that must be the next.
func (f *fields) contiguous(key string, next, most int) {
	v := f.text(key, strconv.Itoa(next))
	if v == "" || next < 0 || next >= most {
		return
	}
	if n, err := strconv.Atoi(v); err != nil || n != next {
		f.problem(f.at, "%s of <%s>: read %.40q, expected %d, the next in order", key, f.element, v, next)
	}
}

// buffer reads the letter of a buffer.
func (f *fields) buffer(key string) Buffer {
	if b := f.word(key, []string{"i", "o", "s"}); b >= 0 {
		return Buffer(b)
	}
	return Input
}

// rest refuses the attributes that nobody read.
func (f *fields) rest() {
	for _, a := range f.attrs {
		if !slices.Contains(known[f.element], a.Name.Local) {
			f.problem(f.at, "<%s> has an attribute %.40q, expected %s", f.element, a.Name.Local, strings.Join(known[f.element], ", "))
		}
	}
}

// known are the attributes of each element.
var known = map[string][]string{
	"algo": {"name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace", "outofplace", "minBytes", "maxBytes", "nthreads", "nthreadblocks", "redop"},
	"gpu":  {"id", "i_chunks", "o_chunks", "s_chunks"},
	"tb":   {"id", "send", "recv", "chan"},
	"step": {"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"},
}
