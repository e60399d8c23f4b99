package report

import (
	"io"
	"math"
)

type calibrationDocument struct {
	Name        string                        `json:"name"`
	System      string                        `json:"system"`
	Before      float64                       `json:"off_before_pct"`
	After       float64                       `json:"off_after_pct"`
	Figures     []calibratedFigureDocument    `json:"figures"`
	Pairs       []calibrationPairDocument     `json:"not_told_apart"`
	Residuals   []calibrationResidualDocument `json:"residuals"`
	Preset      string                        `json:"preset"`
	Evaluations int                           `json:"evaluations"`
	Warnings    []string                      `json:"warnings"`
	Version     string                        `json:"weft_version"`
}

type calibratedFigureDocument struct {
	Path  string   `json:"path"`
	Value string   `json:"value"`
	Was   string   `json:"was"`
	State string   `json:"state"`
	Error *float64 `json:"standard_error_pct"` // null where the log does not tell
	Least *float64 `json:"least_95_pct"`       // of the value
	Most  *float64 `json:"most_95_pct"`
}

type calibrationPairDocument struct {
	A           string  `json:"a"`
	B           string  `json:"b"`
	Correlation float64 `json:"correlation"`
}

type calibrationResidualDocument struct {
	Op       string  `json:"op"`
	GPUs     int     `json:"gpus"`
	Nodes    int     `json:"nodes"`
	Size     int64   `json:"size_bytes"`
	Measured float64 `json:"measured_us"`
	Before   float64 `json:"before_pct"` // simulated / measured - 1
	After    float64 `json:"after_pct"`
}

// JSON writes the answer as one document.
func (c *Calibration) JSON(w io.Writer) error {
	doc := calibrationDocument{
		Name: c.Name, System: c.System, Before: percent(c.Before), After: percent(c.After),
		Figures: []calibratedFigureDocument{}, Pairs: []calibrationPairDocument{}, Residuals: []calibrationResidualDocument{},
		Preset: c.Preset(), Evaluations: c.Evaluations, Warnings: append([]string{}, c.Warnings...), Version: c.Version,
	}
	for _, f := range c.Figures {
		d := calibratedFigureDocument{Path: f.Path, Value: f.Value, Was: f.Was, State: f.State}
		if f.fitted() && !math.IsNaN(f.Error) && !math.IsInf(f.Most, 0) {
			e, low, high := percent(f.Error), percent(f.Least/f.Number-1), percent(f.Most/f.Number-1)
			d.Error, d.Least, d.Most = &e, &low, &high
		}
		doc.Figures = append(doc.Figures, d)
	}
	for _, p := range c.Pairs {
		doc.Pairs = append(doc.Pairs, calibrationPairDocument(p))
	}
	for _, t := range c.Tests {
		for _, r := range t.Rows {
			doc.Residuals = append(doc.Residuals, calibrationResidualDocument{
				t.Op, t.GPUs, t.Nodes, int64(r.Size), r.Measured.Microseconds(),
				percent(math.Exp(r.Before) - 1), percent(math.Exp(r.After) - 1),
			})
		}
	}
	return WriteJSON(w, doc)
}
