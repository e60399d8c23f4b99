package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/configs/measured"
	"github.com/weft-sim/weft/sim"
)

// Accuracy is how far predictions are from measurements.
type Accuracy struct {
	*measured.Report
	Tables  bool // a line for each series too
	Version string
}

// inPercent prints a share with its sign, as is usual for errors.
func inPercent(v float64) string {
	digits := 1
	if math.Abs(v) >= 0.9995 {
		digits = 0
	}
	return strconv.FormatFloat(100*v, 'f', digits, 64)
}

// withSign is inPercent with a plus.
func withSign(v float64) string {
	if s := inPercent(v); v > 0 {
		return "+" + s
	} else {
		return s
	}
}

// Text writes the table for people.
func (a *Accuracy) Text(w io.Writer, t *term.Terminal) error {
	var b strings.Builder
	paragraph(&b, t.Width, "", fmt.Sprintf("weft %s against published measurements: %s of %s points count, in %s series of one class of sizes each.",
		a.Version, Count(int64(a.Counted)), Count(int64(a.Points)), Count(int64(a.series()))))
	b.WriteString("\n")
	paragraph(&b, t.Width, "", "The error is predicted / measured - 1, of times; each series counts the same in its class.")
	b.WriteString("\n\n")
	if a.Tables {
		tb := NewTable(Left("table"), Left("operation").Or(3), Right("GPUs"), Right("nodes").Or(4), Left("class"), Right("points").Or(5),
			Right("median %"), Right("90th %"), Right("bias %").Or(2), Right("worst %").Or(1)).Within(t.Width)
		for _, r := range a.Rows {
			if r.Table != measured.All {
				tb.Add(r.Table, r.Op, strconv.Itoa(r.Ranks), strconv.Itoa(r.Nodes), r.Class, strconv.Itoa(r.Points),
					inPercent(r.Median), inPercent(r.P90), withSign(r.Bias), withSign(r.Worst))
			}
		}
		b.WriteString(tb.String() + "\n")
	}
	tb := NewTable(Left("kind"), Left("class"), Right("series").Or(4), Right("points").Or(5), Right("median %"), Right("90th %"), Right("bias %").Or(2),
		Right("worst %").Or(3), Left("median, a mark for 2 %").Or(1)).Within(t.Width)
	for _, r := range a.Rows {
		if r.Table == measured.All {
			tb.Add(r.Kind, r.Class, Count(int64(r.Series)), Count(int64(r.Points)), inPercent(r.Median), inPercent(r.P90), withSign(r.Bias), withSign(r.Worst),
				Bar(min(r.Median, 0.5)*2, 25))
		}
	}
	b.WriteString(tb.String())
	if len(a.Rows) == 0 {
		b.WriteString("  nothing to compare\n")
	}
	if len(a.Left) > 0 {
		b.WriteString("\nPoints that do not count\n")
		tb := NewTable(Right("points"), Words("because")).Within(t.Width)
		for _, l := range a.Left {
			tb.Add(Count(int64(l.Points)), l.Because)
		}
		b.WriteString(tb.String())
	}
	b.WriteString("\n" + a.bound())
	_, err := io.WriteString(w, b.String())
	return err
}

// series counts the rows of series.
func (a *Accuracy) series() int {
	n := 0
	for _, r := range a.Rows {
		if r.Table != measured.All {
			n++
		}
	}
	return n
}

// bound says whether a prediction is below what the wires allow.
func (a *Accuracy) bound() string {
	if len(a.Below) == 0 {
		return "No prediction is below what the wires allow: bytes on the wire over the nominal rate of the links.\n"
	}
	s := a.Below[0]
	return fmt.Sprintf("Below what the wires allow: %s, such as %s of %s on %s GPUs (%s): %s, but the bytes alone take %s.\n",
		Plural(len(a.Below), "prediction"), s.Series.Op, Size(s.Size), strconv.Itoa(s.Series.Ranks), s.Series.Table.ID, Duration(s.Prediction.Time), Duration(s.Bound))
}

// accuracyColumns are the columns of the CSV; more may come at its end.
var accuracyColumns = []string{"table", "kind", "system", "op", "ranks", "class", "points",
	"median_abs_error_pct", "p90_abs_error_pct", "bias_pct", "worst_error_pct", "nodes", "series", "worst_size_bytes"}

// CSV writes a row for each series and class, then for each kind and class, then
// for each class.
func (a *Accuracy) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(accuracyColumns); err != nil {
		return err
	}
	for _, r := range a.Rows {
		err := c.Write([]string{r.Table, r.Kind, r.System, r.Op, orNothing(r.Ranks), r.Class, strconv.Itoa(r.Points),
			hundredths(r.Median), hundredths(r.P90), hundredths(r.Bias), hundredths(r.Worst),
			orNothing(r.Nodes), strconv.Itoa(r.Series), strconv.FormatInt(int64(r.At.Size), 10)})
		if err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// hundredths prints a share in hundredths of a per cent.
func hundredths(v float64) string { return strconv.FormatFloat(100*v, 'f', 2, 64) }

// orNothing prints a number, nothing for none.
func orNothing(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// accuracyRow is a row of the JSON.
type accuracyRow struct {
	Table  string  `json:"table"`
	Kind   string  `json:"kind"`
	System string  `json:"system,omitempty"`
	Op     string  `json:"op,omitempty"`
	Ranks  int     `json:"ranks,omitempty"`
	Nodes  int     `json:"nodes,omitempty"`
	Class  string  `json:"class"`
	Series int     `json:"series"`
	Points int     `json:"points"`
	Median float64 `json:"median_abs_error_pct"`
	P90    float64 `json:"p90_abs_error_pct"`
	Bias   float64 `json:"bias_pct"`
	Worst  float64 `json:"worst_error_pct"`
	At     int64   `json:"worst_size_bytes"`
}

// accuracyLeft is a reason for which points do not count.
type accuracyLeft struct {
	Because string `json:"because"`
	Points  int    `json:"points"`
}

// accuracyBelow is a prediction below what the wires allow.
type accuracyBelow struct {
	Table     string  `json:"table"`
	Op        string  `json:"op"`
	Ranks     int     `json:"ranks"`
	Size      int64   `json:"size_bytes"`
	Predicted float64 `json:"predicted_us"`
	Bound     float64 `json:"bound_us"`
}

// JSON writes the same rows, what does not count, and what is below the bound.
func (a *Accuracy) JSON(w io.Writer) error {
	doc := struct {
		Version string          `json:"weft_version"`
		Points  int             `json:"points"`
		Counted int             `json:"counted"`
		Rows    []accuracyRow   `json:"rows"`
		Left    []accuracyLeft  `json:"left_out"`
		Below   []accuracyBelow `json:"below_bound"`
	}{a.Version, a.Points, a.Counted, []accuracyRow{}, []accuracyLeft{}, []accuracyBelow{}}
	round := func(v float64) float64 { return math.Round(v*1e4) / 100 }
	for _, r := range a.Rows {
		doc.Rows = append(doc.Rows, accuracyRow{r.Table, r.Kind, r.System, r.Op, r.Ranks, r.Nodes, r.Class, r.Series, r.Points,
			round(r.Median), round(r.P90), round(r.Bias), round(r.Worst), int64(r.At.Size)})
	}
	for _, l := range a.Left {
		doc.Left = append(doc.Left, accuracyLeft{l.Because, l.Points})
	}
	for _, s := range a.Below {
		doc.Below = append(doc.Below, accuracyBelow{s.Series.Table.ID, s.Series.Op, s.Series.Ranks, int64(s.Size),
			s.Prediction.Time.Microseconds(), s.Bound.Microseconds()})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

// pointColumns are the columns of the points.
var pointColumns = []string{"table", "kind", "system", "op", "ranks", "nodes", "type", "variant", "placement", "size_bytes", "measured_us", "predicted_us",
	"error_pct", "measured_busbw_gbytes_per_s", "predicted_busbw_gbytes_per_s", "algo", "proto", "bound_us", "launch", "left_out"}

// Points writes each point of a comparison as a row of CSV: those that do not
// count with the reason, those without a prediction with empty fields.
func Points(w io.Writer, samples []measured.Sample) error {
	c := csv.NewWriter(w)
	if err := c.Write(pointColumns); err != nil {
		return err
	}
	us := func(t sim.Time) string { return strconv.FormatFloat(t.Microseconds(), 'g', 7, 64) }
	for i := range samples {
		s := &samples[i]
		r := s.Series
		row := []string{r.Table.ID, r.Case.Kind, r.Case.System, r.Op, strconv.Itoa(r.Ranks), strconv.Itoa(r.Nodes), r.Type, r.Variant, s.Placement,
			strconv.FormatInt(int64(s.Size), 10), us(s.Point.Time), "", "", busbw(r, s.Size, s.Point.Time), "", s.Algo, s.Proto, "", r.Case.Launch(), s.Left}
		if s.Prediction.Time > 0 {
			row[11], row[12], row[14] = us(s.Prediction.Time), hundredths(s.Error()), busbw(r, s.Size, s.Prediction.Time)
			row[17] = us(s.Bound)
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// busbw prints the bus bandwidth of a time in GB/s.
func busbw(s *measured.Series, size sim.Bytes, t sim.Time) string {
	return strconv.FormatFloat(float64(s.BusBandwidth(size, t))/1e9, 'g', 5, 64)
}
