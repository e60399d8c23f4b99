package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Column is a column of a [Table].
type Column struct {
	Head  string // with the unit, e.g. "time (us)"
	Right bool   // numbers stand to the right
}

// Left returns a column of words.
func Left(head string) Column { return Column{Head: head} }

// Right returns a column of numbers.
func Right(head string) Column { return Column{Head: head, Right: true} }

// Table is a plain table: a header, a row a line, two blanks between columns,
// no lines drawn, so that it survives a mail and a screen reader.
type Table struct {
	columns []Column
	rows    [][]string
}

// NewTable returns an empty table.
func NewTable(columns ...Column) *Table { return &Table{columns: columns} }

// Add appends a row; missing cells are empty.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// String renders the table with each line indented by two blanks and ended by
// a newline. Columns without a single entry are left out. Without rows it is
// empty.
func (t *Table) String() string {
	if len(t.rows) == 0 {
		return ""
	}
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	w.SetStyle(style)

	var head table.Row
	var configs []table.ColumnConfig
	var keep []int
	titled := false
	for i, c := range t.columns {
		if !t.filled(i) {
			continue
		}
		keep = append(keep, i)
		head = append(head, c.Head)
		titled = titled || c.Head != ""
		if c.Right {
			configs = append(configs, table.ColumnConfig{Number: len(keep), Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	if titled {
		w.AppendHeader(head)
	}
	w.SetColumnConfigs(configs)
	for _, cells := range t.rows {
		var row table.Row
		for _, i := range keep {
			cell := ""
			if i < len(cells) {
				cell = cells[i]
			}
			row = append(row, cell)
		}
		w.AppendRow(row)
	}
	var b strings.Builder
	for line := range strings.Lines(w.Render()) {
		b.WriteString("  " + strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

func (t *Table) filled(column int) bool {
	for _, r := range t.rows {
		if column < len(r) && r[column] != "" {
			return true
		}
	}
	return false
}
