package measured

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// Table is one published table.
type Table struct {
	ID         string
	System     string // in the words of the source
	Conditions string
	Source     string // repository or document, and commit
	Trust      string // "high", "medium", "low"
}

// Point is one measurement.
type Point struct {
	Size      sim.Bytes // as nccl-tests counts
	Time      sim.Time
	Placement string // "out", "in", or how repeats were summed up: "median of 3"
	// Coarse is a time that was worked out from a published rate whose last
	// digit is worth more than 5 %.
	Coarse bool
}

// Run is what one test printed: an operation on one set of GPUs with one
// version and setting, over sizes. Points stand in the order of placement, then
// of size.
type Run struct {
	Table   *Table
	Op      string // of nccl-tests, or a phase of an expert-parallel exchange
	Ranks   int
	Nodes   int    // as the source counts: trays, in a rack
	Type    string // of the elements; "" if not stated
	Variant string // version, algorithm or setting that the source names
	Points  []Point
}

// factor is the bus bandwidth for an algorithm bandwidth of one, by which
// nccl-tests turns a time into a rate (doc/PERFORMANCE.md).
func factor(op string, n int) float64 {
	switch op {
	case "all_reduce":
		return 2 * float64(n-1) / float64(n)
	case "all_gather", "reduce_scatter", "alltoall":
		return float64(n-1) / float64(n)
	}
	return 1
}

// BusBandwidth is what nccl-tests would print of a time, in bytes a second.
func (r *Run) BusBandwidth(size sim.Bytes, t sim.Time) sim.Rate {
	if t <= 0 {
		return 0
	}
	return sim.Rate(float64(size) / t.Seconds() * factor(r.Op, r.Ranks))
}

var (
	tableColumns = []string{"table", "system", "conditions", "source", "trust"}
	pointColumns = []string{"table", "op", "ranks", "nodes", "type", "variant", "placement", "bytes_us"}
)

// readTables reads the list of tables.
func readTables(name string, r io.Reader) ([]*Table, error) {
	var tables []*Table
	known := map[string]bool{}
	err := rows(name, r, tableColumns, func(f []string) error {
		if f[0] == "" || known[f[0]] {
			return fmt.Errorf("read table %q, expected a name that is not there yet", f[0])
		}
		known[f[0]] = true
		tables = append(tables, &Table{ID: f[0], System: f[1], Conditions: f[2], Source: f[3], Trust: f[4]})
		return nil
	})
	return tables, err
}

// readRuns reads the points of tables. Lines that differ in their placement
// alone, one after the other, are one run.
func readRuns(name string, r io.Reader, tables []*Table) ([]*Run, error) {
	byID := map[string]*Table{}
	for _, t := range tables {
		byID[t.ID] = t
	}
	var runs []*Run
	last := ""
	err := rows(name, r, pointColumns, func(f []string) error {
		t := byID[f[0]]
		if t == nil {
			return fmt.Errorf("read table %q, which the list of tables does not have", f[0])
		}
		ranks, err := count("ranks", f[2])
		if err != nil {
			return err
		}
		nodes, err := count("nodes", f[3])
		if err != nil {
			return err
		}
		points, err := parsePoints(f[7], f[6])
		if err != nil {
			return err
		}
		if key := strings.Join(f[:6], "\x00"); key != last || len(runs) == 0 {
			last = key
			runs = append(runs, &Run{Table: t, Op: f[1], Ranks: ranks, Nodes: nodes, Type: f[4], Variant: f[5]})
		}
		run := runs[len(runs)-1]
		run.Points = append(run.Points, points...)
		return nil
	})
	return runs, err
}

// parsePoints reads "8=13.4 16=13.5r": bytes, microseconds, and r where the
// source rounds.
func parsePoints(text, placement string) ([]Point, error) {
	var points []Point
	for word := range strings.FieldsSeq(text) {
		size, us, ok := strings.Cut(word, "=")
		us, coarse := strings.CutSuffix(us, "r")
		bytes, err := strconv.ParseInt(size, 10, 64)
		t, terr := microseconds(us)
		if !ok || err != nil || terr != nil || bytes <= 0 {
			return nil, fmt.Errorf("read point %q, expected bytes=microseconds, both above zero, such as 1024=13.4", clip(word))
		}
		points = append(points, Point{Size: sim.Bytes(bytes), Time: t, Placement: placement, Coarse: coarse})
	}
	if points == nil {
		return nil, fmt.Errorf("read no points, expected bytes=microseconds, such as 1024=13.4")
	}
	return points, nil
}

// microseconds reads a time above zero and below an hour.
func microseconds(text string) (sim.Time, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && v < 3.6e9) {
		return 0, fmt.Errorf("read %q, expected microseconds above zero and below an hour", clip(text))
	}
	return max(sim.Time(math.Round(v*1e6)), 1), nil
}

// count reads a number of ranks or nodes.
func count(what, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1<<20 {
		return 0, fmt.Errorf("read %s %q, expected 1 to %d", what, clip(text), 1<<20)
	}
	return n, nil
}

// clip shortens foreign text for a message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// rows reads CSV with the given columns and calls row for each line.
func rows(name string, r io.Reader, columns []string, row func(fields []string) error) error {
	c := csv.NewReader(r)
	c.Comment = '#'
	c.ReuseRecord = true
	head, err := c.Read()
	if err != nil {
		return fmt.Errorf("read %s: %w; expected a line with the columns %s", name, err, strings.Join(columns, ","))
	}
	if strings.Join(head, ",") != strings.Join(columns, ",") {
		return fmt.Errorf("read %s: read columns %s, expected %s", name, clip(strings.Join(head, ",")), strings.Join(columns, ","))
	}
	for {
		fields, err := c.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if err := row(fields); err != nil {
			line, _ := c.FieldPos(0)
			return fmt.Errorf("read %s: line %d: %w", name, line, err)
		}
	}
}
