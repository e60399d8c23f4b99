package report

import (
	"encoding/json"
	"io"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads/replay"
)

// The documents below are an API: docs/reference/json.md lists the keys. Keys
// are added, never renamed, and a key whose value is not computed is absent.

type runDocument struct {
	Scenario       string               `json:"scenario"`
	System         string               `json:"system"`
	Nodes          int                  `json:"nodes"`
	GPUs           int                  `json:"gpus"`
	Network        string               `json:"network"`
	StepTime       float64              `json:"step_time_s"`
	Breakdown      breakdownDocument    `json:"breakdown"`
	Ranks          ranksDocument        `json:"ranks"`
	Links          []linkDocument       `json:"links"`
	BusiestLinks   []linkDocument       `json:"busiest_links"`
	Collectives    []collectiveDocument `json:"collectives"`
	Thresholds     []thresholdDocument  `json:"thresholds,omitempty"`
	Import         *importDocument      `json:"import,omitempty"`
	Warnings       []string             `json:"warnings"`
	Provenance     []provenanceDocument `json:"provenance"`
	SimulatorStats statsDocument        `json:"simulator"`
	Version        string               `json:"weft_version"`
}

type breakdownDocument struct {
	Compute     float64         `json:"compute_s"`
	ExposedComm exposedDocument `json:"exposed_comm_s"`
	Bubble      float64         `json:"bubble_s"`
	Launch      float64         `json:"launch_s"`
	Wait        float64         `json:"wait_s"`
	Groups      []groupDocument `json:"exposed_comm_groups"`
}

// exposedDocument has every dimension, so that a reader finds a zero rather
// than nothing.
type exposedDocument struct {
	TP    float64 `json:"tp"`
	PP    float64 `json:"pp"`
	DP    float64 `json:"dp"`
	CP    float64 `json:"cp"`
	EP    float64 `json:"ep"`
	Other float64 `json:"other"`
}

type groupDocument struct {
	Dim   string  `json:"dim"`
	Group string  `json:"group"`
	Time  float64 `json:"time_s"`
}

type ranksDocument struct {
	Compute     float64 `json:"compute_s"`
	ExposedComm float64 `json:"exposed_comm_s"`
	Wait        float64 `json:"wait_s"`
	HiddenComm  float64 `json:"hidden_comm_s"`
}

type linkDocument struct {
	Class       string  `json:"class"`
	Link        string  `json:"link,omitempty"`
	Links       int     `json:"links"`
	Rate        float64 `json:"rate_bytes_per_s"`
	Bytes       float64 `json:"bytes"`
	Utilisation float64 `json:"utilisation"`
	Peak        float64 `json:"peak_utilisation"`
}

type collectiveDocument struct {
	Op        string  `json:"op"`
	Group     string  `json:"group"`
	Dim       string  `json:"dim"`
	Ranks     int     `json:"ranks"`
	Groups    int     `json:"groups"`
	Bytes     int64   `json:"bytes"`
	Count     int     `json:"count"`
	Algo      string  `json:"algo"`
	Proto     string  `json:"proto"`
	Time      float64 `json:"time_s"`
	Min       float64 `json:"min_time_s"`
	Max       float64 `json:"max_time_s"`
	Bound     float64 `json:"bound_s"`
	BusBW     float64 `json:"busbw"`
	WireBytes float64 `json:"wire_bytes_per_rank"`
}

type thresholdDocument struct {
	Metric string `json:"metric"`
	Want   string `json:"want"`
	Got    string `json:"got"`
	Met    bool   `json:"met"`
}

type provenanceDocument struct {
	Path   string `json:"path"`
	Value  string `json:"value"`
	Source string `json:"source"`
	Status string `json:"status"`
	Note   string `json:"note,omitempty"`
}

// importDocument is what the import of a trace did, without the reasons, which
// `weft trace` gives.
type importDocument struct {
	Kept     int `json:"nodes_kept"`
	Dropped  int `json:"nodes_dropped"`
	Repaired int `json:"dependencies_repaired"`
}

type statsDocument struct {
	Events    int64 `json:"events"`
	Transfers int64 `json:"transfers"`
	Ranks     int   `json:"ranks"`
	Simulated int   `json:"simulated_ranks"`
}

// JSON writes the answer as one document.
func (r *Run) JSON(w io.Writer) error {
	res := r.Result
	doc := runDocument{
		Scenario: r.Name, System: r.System, Nodes: r.Nodes, GPUs: r.GPUs, Network: r.Network,
		StepTime:  res.StepTime.Seconds(),
		Breakdown: breakdownOf(res.Breakdown),
		Ranks: ranksDocument{
			Compute: res.Ranks.Compute.Seconds(), ExposedComm: res.Ranks.ExposedComm.Seconds(),
			Wait: res.Ranks.Wait.Seconds(), HiddenComm: res.Ranks.HiddenComm.Seconds(),
		},
		Links:        linksOf(res.Links),
		BusiestLinks: linksOf(res.Busiest),
		Collectives:  make([]collectiveDocument, len(res.Colls)),
		Warnings:     append([]string{}, r.warnings()...),
		Provenance:   provenanceOf(r.Provenance),
		SimulatorStats: statsDocument{
			Events: res.Stats.Events, Transfers: res.Stats.Transfers,
			Ranks: res.Stats.Ranks, Simulated: res.Stats.Simulated,
		},
		Version: r.Version,
	}
	for i, c := range res.Colls {
		doc.Collectives[i] = collectiveDocument{
			Op: c.Op, Group: c.Comm, Dim: c.Dim, Ranks: c.Ranks, Groups: c.Groups, Bytes: int64(c.Bytes), Count: c.Count,
			Algo: c.Algo, Proto: c.Proto, Time: c.Time.Seconds(), Min: c.Min.Seconds(), Max: c.Max.Seconds(),
			Bound: c.Bound.Seconds(), BusBW: gigabytes(c.BusBW), WireBytes: c.WireBytes,
		}
	}
	for _, th := range r.Thresholds {
		doc.Thresholds = append(doc.Thresholds, thresholdDocument(th))
	}
	if i := r.Import; i != nil {
		doc.Import = &importDocument{total(i.Kept), total(i.Dropped), total(i.Repaired)}
	}
	return WriteJSON(w, doc)
}

// WriteJSON writes a document, indented, with a newline at its end.
func WriteJSON(w io.Writer, doc any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}

func provenanceOf(figures []catalog.Provenance) []provenanceDocument {
	out := make([]provenanceDocument, len(figures))
	for i, p := range figures {
		out[i] = provenanceDocument{p.Path, p.Value, p.Source, p.Status.String(), p.Note}
	}
	return out
}

func gigabytes(r sim.Rate) float64 { return float64(r) / 1e9 }

func linksOf(use []replay.LinkUse) []linkDocument {
	out := make([]linkDocument, len(use))
	for i, l := range use {
		out[i] = linkDocument{l.Class, l.Name, l.Links, float64(l.Rate), l.Bytes, l.Utilisation, l.Peak}
	}
	return out
}

func breakdownOf(b replay.Breakdown) breakdownDocument {
	d := breakdownDocument{
		Compute: b.Compute.Seconds(), Bubble: b.Bubble.Seconds(), Launch: b.Launch.Seconds(), Wait: b.Wait.Seconds(),
		Groups: make([]groupDocument, len(b.Exposed)),
	}
	var sums exposed
	for i, e := range b.Exposed {
		d.Groups[i] = groupDocument{e.Dim, e.Comm, e.Time.Seconds()}
		*sums.of(e.Dim) += e.Time
	}
	d.ExposedComm = exposedDocument{
		sums.tp.Seconds(), sums.pp.Seconds(), sums.dp.Seconds(),
		sums.cp.Seconds(), sums.ep.Seconds(), sums.other.Seconds(),
	}
	return d
}

// exposed adds up in whole picoseconds before anything becomes a float.
type exposed struct{ tp, pp, dp, cp, ep, other sim.Time }

func (e *exposed) of(dim string) *sim.Time {
	switch dim {
	case "tp":
		return &e.tp
	case "pp":
		return &e.pp
	case "dp":
		return &e.dp
	case "cp":
		return &e.cp
	case "ep":
		return &e.ep
	}
	return &e.other
}
