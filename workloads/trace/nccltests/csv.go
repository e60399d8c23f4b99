package nccltests

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/weft-sim/weft/sim"
)

// csvHead begins the table of `weft bench --format csv`.
const csvHead = "size_bytes,count,"

// readCSV reads such a table: size, count, type, redop, time, algbw and busbw
// come first, by name.
func readCSV(name string, content []byte) (*Log, error) {
	r := csv.NewReader(bytes.NewReader(content))
	r.ReuseRecord = true
	columns := map[string]int{}
	header, err := r.Read()
	if err != nil {
		return nil, &Error{Name: name, Line: 1, Text: err.Error()}
	}
	for i, c := range header {
		columns[c] = i
	}
	for _, c := range [...]string{"size_bytes", "count", "type", "redop", "time_us", "algbw_gbytes_per_s", "busbw_gbytes_per_s"} {
		if _, ok := columns[c]; !ok {
			return nil, &Error{Name: name, Line: 1, Text: fmt.Sprintf("the column %s is missing, expected the columns of weft bench --format csv", c)}
		}
	}
	t := &Table{Ended: true}
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if len(t.Rows) == 0 {
				line := 1
				var at *csv.ParseError
				if errors.As(err, &at) {
					line = at.Line
				}
				return nil, &Error{Name: name, Line: line, Text: err.Error()}
			}
			t.Ended = false
			t.Notes = append(t.Notes, fmt.Sprintf("the file ends inside a row: %v", err))
			break
		}
		line, _ := r.FieldPos(0)
		row, err := csvRow(f, columns)
		if err != nil {
			return nil, &Error{Name: name, Line: line, Text: err.Error()}
		}
		row.Line = line
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) > 0 {
		t.Line = t.Rows[0].Line
	}
	return &Log{Tables: []*Table{t}}, nil
}

func csvRow(f []string, columns map[string]int) (Row, error) {
	row := Row{Type: f[columns["type"]], RedOp: f[columns["redop"]], Root: -1}
	for _, c := range [...]struct {
		column string
		to     *int64
	}{{"size_bytes", (*int64)(&row.Size)}, {"count", &row.Count}} {
		n, err := strconv.ParseInt(f[columns[c.column]], 10, 64)
		if err != nil || n < 0 || n > 1<<50 {
			return row, fmt.Errorf("%s: read %q, expected a whole number from 0 to 2^50", c.column, clip(f[columns[c.column]]))
		}
		*c.to = n
	}
	var v [3]float64
	for i, c := range [...]string{"time_us", "algbw_gbytes_per_s", "busbw_gbytes_per_s"} {
		var ok bool
		if v[i], ok = quantity(f[columns[c]], 1e12); !ok {
			return row, fmt.Errorf("%s: read %q, expected a number from 0 to 1e12", c, clip(f[columns[c]]))
		}
	}
	row.Out = Run{Time: sim.Time(math.Round(v[0] * float64(sim.Microsecond))), AlgBW: sim.Rate(v[1] * 1e9), BusBW: sim.Rate(v[2] * 1e9)}
	return row, nil
}
