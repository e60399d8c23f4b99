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
	// Spare says how well a narrow page can do without the column: the highest
	// is left out first, 0 never.
	Spare int
	// Prose says that a cell is a sentence, which is cut at its end. Other words
	// are names, whose ends tell them apart, and are cut in the middle.
	Prose bool
}

// Left returns a column of words.
func Left(head string) Column { return Column{Head: head} }

// Right returns a column of numbers.
func Right(head string) Column { return Column{Head: head, Right: true} }

// Words returns a column of sentences.
func Words(head string) Column { return Column{Head: head, Prose: true} }

// Or returns the column as one that a narrow page leaves out, those with the
// highest spare first.
func (c Column) Or(spare int) Column { c.Spare = spare; return c }

// Table is a plain table: a header, a row a line, two blanks between columns,
// no lines drawn, so that it survives a mail and a screen reader.
type Table struct {
	columns []Column
	rows    [][]string
	width   int
}

// NewTable returns an empty table.
func NewTable(columns ...Column) *Table { return &Table{columns: columns} }

// Within bounds the lines to a number of characters, 0 for any. What does not
// fit loses its spare columns, then the middle of its longest words; numbers
// stay whole, so a page may be too narrow for a table.
func (t *Table) Within(width int) *Table {
	t.width = width
	return t
}

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
	keep, most := t.fit()
	titled := false
	for i, at := range keep {
		c := t.columns[at]
		head = append(head, c.cut(c.Head, most[at]))
		titled = titled || c.Head != ""
		if c.Right {
			configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
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
			row = append(row, t.columns[i].cut(cell, most[i]))
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

// gap is what stands before each column: the indent, or the blanks between two.
const gap = 2

// least is the width below which no column of words is cut.
const least = 12

// fit returns the columns to show and the width of each column, so that they
// fit into a line if they can. Sentences lose what is more than enough of them
// before a spare column goes.
func (t *Table) fit() (keep, most []int) {
	most = make([]int, len(t.columns))
	total := 0
	for i, c := range t.columns {
		if !t.filled(i) {
			continue
		}
		keep = append(keep, i)
		most[i] = text.StringWidthWithoutEscSequences(c.Head)
		for _, r := range t.rows {
			if i < len(r) {
				most[i] = max(most[i], text.StringWidthWithoutEscSequences(r[i]))
			}
		}
		total += gap + most[i]
	}
	for t.width > 0 && total-t.prose(keep, most) > t.width {
		drop := -1 // in keep; of equals the last
		for i, at := range keep {
			if s := t.columns[at].Spare; s > 0 && (drop < 0 || s >= t.columns[keep[drop]].Spare) {
				drop = i
			}
		}
		if drop < 0 {
			break
		}
		total -= gap + most[keep[drop]]
		keep = append(keep[:drop:drop], keep[drop+1:]...)
	}
	for t.width > 0 && total > t.width {
		widest := -1
		for _, at := range keep {
			if c := t.columns[at]; !c.Right && most[at] > least && (widest < 0 || most[at] > most[widest]) {
				widest = at
			}
		}
		if widest < 0 {
			break
		}
		by := min(total-t.width, most[widest]-least)
		most[widest] -= by
		total -= by
	}
	return keep, most
}

// enough is how much of a sentence is worth more than a spare column.
const enough = 32

// prose returns by how much the sentences among the columns may be cut.
func (t *Table) prose(keep, most []int) int {
	sum := 0
	for _, at := range keep {
		if t.columns[at].Prose {
			sum += max(most[at]-enough, 0)
		}
	}
	return sum
}

// cut shortens a cell of words to a width. Numbers and coloured cells stay.
func (c Column) cut(cell string, most int) string {
	r := []rune(cell)
	if c.Right || len(r) <= most || strings.Contains(cell, "\x1b") {
		return cell
	}
	const dots = "..."
	if c.Prose {
		return strings.TrimRight(string(r[:max(most-len(dots), 0)]), " ") + dots
	}
	left := (most - len(dots) + 1) / 2
	return string(r[:left]) + dots + string(r[len(r)-(most-len(dots)-left):])
}
