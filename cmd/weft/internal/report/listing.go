package report

import (
	"io"
	"slices"
)

// Listing is a family of the catalogue: names and what is known of each.
type Listing struct {
	Family  string
	Columns []string
	Right   []string // columns of numbers
	Rows    [][]string
}

// Add appends an entry, a cell a column.
func (l *Listing) Add(cells ...string) { l.Rows = append(l.Rows, cells) }

// Text writes a line an entry.
func (l Listing) Text(w io.Writer) error {
	var columns []Column
	for _, c := range l.Columns {
		columns = append(columns, Column{Head: c, Right: slices.Contains(l.Right, c)})
	}
	tb := NewTable(columns...)
	for _, r := range l.Rows {
		tb.Add(r...)
	}
	_, err := io.WriteString(w, tb.String())
	return err
}

// JSON writes {family: [{column: cell}]}; a cell without content is absent.
func (l Listing) JSON(w io.Writer) error {
	entries := make([]map[string]string, len(l.Rows))
	for i, r := range l.Rows {
		entries[i] = map[string]string{}
		for j, c := range l.Columns {
			if r[j] != "" {
				entries[i][jsonKey(c)] = r[j]
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
