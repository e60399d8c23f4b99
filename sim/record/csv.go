package record

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// WriteSpans writes the spans as CSV, times in picoseconds:
//
//	group,track,name,category,start_ps,end_ps
func (r *Recorder) WriteSpans(w io.Writer) error {
	c := csv.NewWriter(w)
	line := []string{"group", "track", "name", "category", "start_ps", "end_ps"}
	err := c.Write(line)
	for _, s := range r.Spans() {
		if err != nil {
			break
		}
		line[0], line[1] = r.TrackName(s.Track)
		line[2], line[3] = r.String(s.Name), r.String(s.Category)
		line[4], line[5] = strconv.FormatInt(int64(s.Start), 10), strconv.FormatInt(int64(s.End), 10)
		err = c.Write(line)
	}
	return finish(c, err, "spans")
}

// WriteSamples writes the counters as CSV, times in picoseconds:
//
//	group,counter,time_ps,value
func (r *Recorder) WriteSamples(w io.Writer) error {
	c := csv.NewWriter(w)
	line := []string{"group", "counter", "time_ps", "value"}
	err := c.Write(line)
	for _, s := range r.Samples() {
		if err != nil {
			break
		}
		line[0], line[1] = r.CounterName(s.Counter)
		line[2] = strconv.FormatInt(int64(s.At), 10)
		line[3] = strconv.FormatFloat(s.Value, 'g', -1, 64)
		err = c.Write(line)
	}
	return finish(c, err, "samples")
}

func finish(c *csv.Writer, err error, what string) error {
	c.Flush()
	if err == nil {
		err = c.Error()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}
