package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// benchColumns are the columns of `weft bench --format csv`: an API.
var benchColumns = []string{
	"size_bytes", "count", "type", "redop", "time_us", "algbw_gbytes_per_s", "busbw_gbytes_per_s",
	"algo", "proto", "channels", "wire_bytes_per_rank", "bottleneck",
}

// benchCSV writes the rows with the columns that docs/reference/csv.md lists;
// their time is that out of place, which nccl-tests prints first. Names of
// algorithms and protocols are in lower case, whatever the library's spelling.
type benchCSV struct{ w io.Writer }

// Begin writes the names of the columns.
func (t *benchCSV) Begin() error { return t.line(benchColumns) }

// Row writes a line.
func (t *benchCSV) Row(r BenchRow) error {
	channels := ""
	if r.Channels > 0 {
		channels = strconv.Itoa(r.Channels)
	}
	return t.line([]string{
		strconv.FormatInt(int64(r.Size), 10), strconv.FormatInt(r.Count, 10), r.Type, r.RedOp,
		exact(r.Out.Time.Microseconds()), exact(gigabytes(r.Out.AlgBW)), exact(gigabytes(r.Out.BusBW)),
		strings.ToLower(r.Algo), strings.ToLower(r.Proto), channels, exact(r.WireBytes), r.Bottleneck,
	})
}

// End has nothing to add.
func (t *benchCSV) End() error { return nil }

func (t *benchCSV) line(cells []string) error {
	out := csv.NewWriter(t.w)
	if err := out.Write(cells); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

type benchDocument struct {
	Op       string             `json:"op"`
	System   string             `json:"system"`
	Nodes    int                `json:"nodes"`
	GPUs     int                `json:"gpus"`
	Type     string             `json:"type"`
	RedOp    string             `json:"redop"`
	Root     int                `json:"root"`
	Library  string             `json:"library,omitempty"`
	Launch   string             `json:"launch,omitempty"`
	Rows     []benchRowDocument `json:"rows"`
	Average  float64            `json:"average_busbw_gbytes_per_s"`
	Warnings []string           `json:"warnings"`
	Version  string             `json:"weft_version"`
}

type benchRowDocument struct {
	Size       int64   `json:"size_bytes"`
	Count      int64   `json:"count"`
	Type       string  `json:"type"`
	RedOp      string  `json:"redop"`
	Root       int     `json:"root"`
	Time       float64 `json:"time_us"`
	AlgBW      float64 `json:"algbw_gbytes_per_s"`
	BusBW      float64 `json:"busbw_gbytes_per_s"`
	InTime     float64 `json:"in_place_time_us"`
	InAlgBW    float64 `json:"in_place_algbw_gbytes_per_s"`
	InBusBW    float64 `json:"in_place_busbw_gbytes_per_s"`
	Algo       string  `json:"algo"`
	Proto      string  `json:"proto"`
	Channels   int     `json:"channels,omitempty"`
	WireBytes  float64 `json:"wire_bytes_per_rank"`
	Bottleneck string  `json:"bottleneck"`
}

// benchJSON writes the table as one document, with the names of the CSV
// columns, once all of it is there.
type benchJSON struct {
	bench *Bench
	w     io.Writer
	rows  []BenchRow
}

// Begin waits for the rows.
func (t *benchJSON) Begin() error { return nil }

// Row keeps a row.
func (t *benchJSON) Row(r BenchRow) error {
	t.rows = append(t.rows, r)
	return nil
}

// End writes the document. Type, operation and root stand above the rows too,
// as those of the first.
func (t *benchJSON) End() error {
	b := t.bench
	doc := benchDocument{
		Op: b.Op, System: b.System, Nodes: b.Nodes, GPUs: b.GPUs, Root: -1, Library: b.Library, Launch: b.Launch,
		Rows: make([]benchRowDocument, len(t.rows)), Warnings: append([]string{}, b.Warnings...), Version: b.Version,
	}
	for i, r := range t.rows {
		if i == 0 {
			doc.Type, doc.RedOp, doc.Root = r.Type, r.RedOp, r.Root
		}
		doc.Average += (gigabytes(r.Out.BusBW) + gigabytes(r.In.BusBW)) / float64(2*len(t.rows))
		doc.Rows[i] = benchRowDocument{
			int64(r.Size), r.Count, r.Type, r.RedOp, r.Root,
			r.Out.Time.Microseconds(), gigabytes(r.Out.AlgBW), gigabytes(r.Out.BusBW),
			r.In.Time.Microseconds(), gigabytes(r.In.AlgBW), gigabytes(r.In.BusBW),
			strings.ToLower(r.Algo), strings.ToLower(r.Proto), r.Channels, r.WireBytes, r.Bottleneck,
		}
	}
	return WriteJSON(t.w, doc)
}
