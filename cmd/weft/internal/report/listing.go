package report

import (
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/sim"
)

// Listing is a family of the catalogue: names and what is known of each.
type Listing struct {
	Family  string
	Columns []Column
	Rows    [][]Cell
}

// Cell is a word or a number of a listing. The zero Cell is nothing known.
type Cell struct {
	text  string
	value any    // of the document; nil is the text
	unit  string // ends the key of a number: "bytes_per_s", or nothing for a count
}

// Word returns a cell of text.
func Word(s string) Cell { return Cell{text: s} }

// Number returns a cell that counts things; none is not shown.
func Number(n int) Cell {
	if n == 0 {
		return Cell{}
	}
	return Cell{strconv.Itoa(n), n, ""}
}

// RateCell returns a cell of a bandwidth, of one direction.
func RateCell(r sim.Rate) Cell {
	if r == 0 {
		return Cell{}
	}
	return Cell{Rate(r), float64(r), "bytes_per_s"}
}

// SizeCell returns a cell of an amount of bytes in the unit in which its source
// spells it: memories are sold in GB that are GB.
func SizeCell(text string, b sim.Bytes) Cell {
	if b == 0 {
		return Cell{}
	}
	at := strings.IndexFunc(text, unicode.IsLetter)
	return Cell{strings.TrimSpace(text[:at]) + " " + text[at:], int64(b), "bytes"}
}

// TimeCell returns a cell of a time.
func TimeCell(t sim.Time, known bool) Cell {
	if !known {
		return Cell{}
	}
	return Cell{Duration(t), t.Seconds(), "s"}
}

// FlopsCell returns a cell of an arithmetic rate, in TFLOP/s.
func FlopsCell(r sim.FlopRate) Cell {
	if r == 0 {
		return Cell{}
	}
	return Cell{Figure(float64(r)/1e12) + " TFLOP/s", float64(r), "flop_per_s"}
}

// Add appends an entry, a cell a column.
func (l *Listing) Add(cells ...Cell) { l.Rows = append(l.Rows, cells) }

// Text writes a line an entry.
func (l Listing) Text(w io.Writer, t *term.Terminal) error {
	tb := NewTable(l.Columns...).Within(t.Width)
	for _, r := range l.Rows {
		texts := make([]string, len(r))
		for i, c := range r {
			texts[i] = c.text
		}
		tb.Add(texts...)
	}
	_, err := io.WriteString(w, tb.String())
	return err
}

// JSON writes {family: [{column: cell}]}; a cell without content is absent.
// Numbers are numbers in base units, with the unit at the end of their key.
func (l Listing) JSON(w io.Writer) error {
	entries := make([]map[string]any, len(l.Rows))
	for i, r := range l.Rows {
		entries[i] = map[string]any{}
		for j, c := range r {
			key := jsonKey(l.Columns[j].Head)
			if c.unit != "" {
				key += "_" + c.unit
			}
			switch {
			case c.value != nil:
				entries[i][key] = c.value
			case c.text != "":
				entries[i][key] = c.text
			}
		}
	}
	return WriteJSON(w, map[string]any{l.Family: entries})
}

// jsonKey makes a key of a heading: "usable, each way" is usable_each_way.
func jsonKey(head string) string {
	var b []byte
	for _, c := range []byte(head) {
		switch {
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		case c == ' ':
			b = append(b, '_')
		case c != ',':
			b = append(b, c)
		}
	}
	return string(b)
}
