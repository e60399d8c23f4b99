package report

import "io"

type explainDocument struct {
	Op         string                     `json:"op"`
	System     string                     `json:"system"`
	Size       int64                      `json:"size_bytes"`
	GPUs       int                        `json:"gpus"`
	Nodes      int                        `json:"nodes"`
	NCCL       string                     `json:"nccl_version"`
	Constants  string                     `json:"nccl_constants_of"`
	Env        []string                   `json:"env"`
	Choice     explainRowDocument         `json:"choice"`
	Channels   int                        `json:"channels"`
	Rows       []explainRowDocument       `json:"rows"`
	Launch     string                     `json:"launch"`
	Simulated  float64                    `json:"weft_simulated_us"`
	Parts      []explainPartDocument      `json:"parts"`
	Wires      []explainWireDocument      `json:"wires"`
	Bottleneck string                     `json:"bottleneck"`
	Busy       float64                    `json:"bottleneck_utilisation"`
	Ceiling    []string                   `json:"ceiling"`
	Crossovers []explainCrossoverDocument `json:"crossovers"`
	Graphs     []explainGraphDocument     `json:"graphs"`
	Warnings   []string                   `json:"warnings"`
	Version    string                     `json:"weft_version"`
}

type explainRowDocument struct {
	Algorithm string  `json:"algorithm"`
	Protocol  string  `json:"protocol"`
	Off       string  `json:"off,omitempty"`
	Latency   float64 `json:"nccl_latency_us"`
	Bandwidth float64 `json:"nccl_bandwidth_gbytes_per_s"`
	Time      float64 `json:"nccl_predicted_us"`
	BusBW     float64 `json:"nccl_predicted_busbw_gbytes_per_s"`
	Wire      float64 `json:"wire_bytes_per_gpu"`
	Simulated float64 `json:"weft_simulated_us"`
	Bare      float64 `json:"weft_wires_alone_us"`
	Chosen    bool    `json:"chosen"`
}

type explainPartDocument struct {
	What string  `json:"what"`
	Time float64 `json:"us"`
}

type explainWireDocument struct {
	Class       string  `json:"class"`
	Links       int     `json:"links"`
	Bytes       float64 `json:"bytes"`
	Utilisation float64 `json:"utilisation"`
	Peak        float64 `json:"peak_utilisation"`
}

type explainCrossoverDocument struct {
	From      int64   `json:"from_bytes"`
	Algorithm string  `json:"algorithm"`
	Protocol  string  `json:"protocol"`
	Time      float64 `json:"nccl_predicted_us"`
	Channels  int     `json:"channels"`
}

type explainGraphDocument struct {
	Name     string  `json:"name"`
	Channels int     `json:"channels"`
	Intra    float64 `json:"intra_gbytes_per_s"`
	Inter    float64 `json:"inter_gbytes_per_s"`
}

// JSON writes the answer as one document. Rows that are off have no figures.
func (e *Explain) JSON(w io.Writer) error {
	doc := explainDocument{
		Op: e.Op, System: e.System, Size: int64(e.Size), GPUs: e.GPUs, Nodes: e.Nodes, NCCL: e.NCCL, Constants: e.Constants,
		Env: append([]string{}, e.Env...), Channels: e.Channels, Launch: e.Launch, Ceiling: e.Ceiling, Bottleneck: e.Bottleneck, Busy: e.BottleneckUse,
		Warnings: append([]string{}, e.Warnings...), Version: e.Version,
	}
	for _, r := range e.Rows {
		row := explainRowDocument{
			Algorithm: r.Algorithm, Protocol: r.Protocol, Off: r.Off, Latency: r.Latency, Bandwidth: r.Bandwidth, Time: r.Time,
			BusBW: r.BusBW, Wire: r.Wire, Simulated: r.Simulated.Microseconds(), Bare: r.Bare.Microseconds(), Chosen: r.Chosen,
		}
		doc.Rows = append(doc.Rows, row)
		if r.Chosen {
			doc.Choice, doc.Simulated = row, row.Simulated
		}
	}
	for _, p := range e.Parts {
		doc.Parts = append(doc.Parts, explainPartDocument{p.What, p.Time.Microseconds()})
	}
	for _, w := range e.Wires {
		doc.Wires = append(doc.Wires, explainWireDocument(w))
	}
	for _, c := range e.Crossovers {
		doc.Crossovers = append(doc.Crossovers, explainCrossoverDocument{int64(c.From), c.Algorithm, c.Protocol, c.Time, c.Channels})
	}
	for _, g := range e.Graphs {
		doc.Graphs = append(doc.Graphs, explainGraphDocument(g))
	}
	return WriteJSON(w, doc)
}
