package report

import (
	"io"
	"math"
)

type diagnosisDocument struct {
	Name    string          `json:"name"`
	Normal  bool            `json:"normal"`
	Tests   []testDocument  `json:"tests"`
	Matrix  *matrixDocument `json:"matrix,omitempty"`
	Version string          `json:"weft_version"`
}

type testDocument struct {
	Line     int                 `json:"line,omitempty"`
	Op       string              `json:"op"`
	System   string              `json:"system"`
	GPUs     int                 `json:"gpus"`
	Nodes    int                 `json:"nodes"`
	Launch   string              `json:"launch"`
	NCCL     string              `json:"nccl_version,omitempty"`
	Kind     string              `json:"kind"`
	Verdict  Verdict             `json:"verdict"`
	Summary  string              `json:"summary"`
	Off      float64             `json:"off_pct"`
	Rows     []testRowDocument   `json:"rows"`
	Classes  []testClassDocument `json:"classes"`
	Causes   []causeDocument     `json:"causes"`
	Nearest  *causeDocument      `json:"nearest,omitempty"` // where there are no causes
	Untested []untestedDocument  `json:"untested"`
	Findings []findingDocument   `json:"findings"`
	Notes    []string            `json:"notes"`
	Warnings []string            `json:"warnings"`
}

type testRowDocument struct {
	Size          int64   `json:"size_bytes"`
	Measured      float64 `json:"measured_us"`
	Expected      float64 `json:"expected_us"`
	Ratio         float64 `json:"ratio"`
	Within        float64 `json:"normal_within_pct"`
	BusBW         float64 `json:"busbw_gbytes_per_s"`
	ExpectedBusBW float64 `json:"expected_busbw_gbytes_per_s"`
	Verdict       Verdict `json:"verdict"`
	Algo          string  `json:"expected_algo"`
	Proto         string  `json:"expected_proto"`
	Bottleneck    string  `json:"expected_bottleneck"`
}

type testClassDocument struct {
	Class   string  `json:"class"`
	Rows    int     `json:"rows"`
	Ratio   float64 `json:"ratio"`
	Within  float64 `json:"normal_within_pct"`
	Verdict Verdict `json:"verdict"`
}

type causeDocument struct {
	Name     string              `json:"name"`
	What     string              `json:"what"`
	Why      string              `json:"why"`
	Settings []string            `json:"settings"`
	Faults   []string            `json:"faults"`
	Off      float64             `json:"off_pct"`
	Explains float64             `json:"explains_pct"`
	AsLikely bool                `json:"as_likely_as_the_first"`
	Times    []causeTimeDocument `json:"times"`
}

type causeTimeDocument struct {
	Size int64   `json:"size_bytes"`
	Time float64 `json:"time_us"`
}

type untestedDocument struct {
	Name string `json:"name"`
	What string `json:"what"`
	Why  string `json:"why"`
}

type findingDocument struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

type matrixDocument struct {
	System   string            `json:"system"`
	GPUs     int               `json:"gpus"`
	NICs     int               `json:"nics"`
	Findings []findingDocument `json:"findings"`
	Notes    []string          `json:"notes"`
}

// JSON writes the answer as one document.
func (d *Diagnosis) JSON(w io.Writer) error {
	doc := diagnosisDocument{Name: d.Name, Normal: d.Normal(), Tests: []testDocument{}, Version: d.Version}
	for i := range d.Tests {
		doc.Tests = append(doc.Tests, d.Tests[i].document())
	}
	if m := d.Matrix; m != nil {
		doc.Matrix = &matrixDocument{m.System, m.GPUs, m.NICs, findingDocuments(m.Findings), append([]string{}, m.Notes...)}
	}
	return WriteJSON(w, doc)
}

func findingDocuments(all []Finding) []findingDocument {
	out := []findingDocument{}
	for _, f := range all {
		out = append(out, findingDocument(f))
	}
	return out
}

// percent turns a part into per cent with three decimals.
func percent(part float64) float64 { return math.Round(part*1e5) / 1e3 }

func (c *Test) document() testDocument {
	doc := testDocument{
		Line: c.Line, Op: c.Op, System: c.System, GPUs: c.GPUs, Nodes: c.Nodes, Launch: c.Launch, NCCL: c.NCCL, Kind: c.Kind,
		Verdict: c.Verdict, Summary: c.Summary, Off: percent(c.Off),
		Rows: []testRowDocument{}, Classes: []testClassDocument{}, Causes: []causeDocument{}, Untested: []untestedDocument{},
		Findings: findingDocuments(c.Findings), Notes: append([]string{}, c.Notes...), Warnings: append([]string{}, c.Warnings...),
	}
	for _, r := range c.Rows {
		doc.Rows = append(doc.Rows, testRowDocument{
			int64(r.Size), r.Measured.Microseconds(), r.Expected.Microseconds(), r.Ratio, percent(r.Within),
			gigabytes(r.BusBW), gigabytes(r.ExpectedBusBW), r.Verdict, r.Algo, r.Proto, r.Bottleneck,
		})
	}
	for _, k := range c.Classes {
		doc.Classes = append(doc.Classes, testClassDocument{k.Name, k.Rows, k.Ratio, percent(k.Within), k.Verdict})
	}
	for _, k := range c.Causes {
		doc.Causes = append(doc.Causes, k.document())
	}
	if c.Nearest != nil {
		near := c.Nearest.document()
		doc.Nearest = &near
	}
	for _, u := range c.Untested {
		doc.Untested = append(doc.Untested, untestedDocument(u))
	}
	return doc
}

func (k *Cause) document() causeDocument {
	doc := causeDocument{
		Name: k.Name, What: k.What, Why: k.Why, Settings: append([]string{}, k.Settings...), Faults: append([]string{}, k.Faults...),
		Off: percent(k.Off), Explains: percent(k.Explains), AsLikely: k.AsLikely, Times: []causeTimeDocument{},
	}
	for _, t := range k.Times {
		doc.Times = append(doc.Times, causeTimeDocument{int64(t.Size), t.Time.Microseconds()})
	}
	return doc
}
