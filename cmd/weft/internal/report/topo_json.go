package report

import (
	"io"
	"slices"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/topology"
)

type topoDocument struct {
	System    string              `json:"system"`
	Nodes     int                 `json:"nodes"`
	GPUs      int                 `json:"gpus"`
	Parts     []partDocument      `json:"parts"`
	Classes   []classDocument     `json:"link_classes"`
	Paths     []pathClassDocument `json:"paths"`
	Bisection float64             `json:"bisection_bytes_per_s"`
	GPU       string              `json:"gpu,omitempty"`
	Format    string              `json:"file_format,omitempty"`
	Domains   []domainDocument    `json:"nvlink_domains"`
	Memory    int64               `json:"gpu_memory_bytes,omitempty"`
	Power     powerDocument       `json:"power"`
	P2P       string              `json:"pcie_p2p,omitempty"`
	GDR       string              `json:"pcie_gdr,omitempty"`
	Completed []string            `json:"completed"`
	FileNotes []string            `json:"file_notes"`
	Cautions  []string            `json:"cautions"`
	Notes     []string            `json:"notes"`
	// Provenance is every figure of the catalogue that the machine is made of.
	Provenance []catalog.Provenance `json:"provenance"`
	Version    string               `json:"weft_version"`
}

// domainDocument is NVLink domains of one size.
type domainDocument struct {
	GPUs  int `json:"gpus"`
	Count int `json:"count"`
}

// powerDocument is of one node; what is 0 is not known.
type powerDocument struct {
	GPUs     float64 `json:"gpus_w,omitempty"`
	Max      float64 `json:"max_w,omitempty"`
	Typical  float64 `json:"typical_w,omitempty"`
	Supplies float64 `json:"supplies_w,omitempty"`
}

type partDocument struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

type classDocument struct {
	Class   string  `json:"class"`
	Links   int     `json:"links"`
	Nominal float64 `json:"nominal_bytes_per_s"`
	Usable  float64 `json:"usable_bytes_per_s"`
	Note    string  `json:"note,omitempty"`
}

type pathClassDocument struct {
	Kind    string   `json:"kind"`
	Pairs   int      `json:"pairs"`
	Rate    float64  `json:"rate_bytes_per_s"`
	Latency float64  `json:"latency_s"`
	Staged  bool     `json:"staged,omitempty"`
	From    int32    `json:"example_from"`
	To      int32    `json:"example_to"`
	Through []string `json:"through"`
}

// JSON writes the description as one document.
func (t *Topo) JSON(w io.Writer) error {
	m, hw := t.Machine, t.Hardware
	doc := topoDocument{
		System: m.Name, Nodes: int(m.Hosts), GPUs: len(m.Ranks), Bisection: float64(m.Bisection()), Format: hw.Format,
		Paths: []pathClassDocument{}, Classes: []classDocument{}, Domains: []domainDocument{}, Memory: int64(t.pooled(len(m.Ranks))),
		Completed: append([]string{}, hw.Completed...), FileNotes: append([]string{}, hw.FileNotes...), Notes: append([]string{}, m.Notes...),
		Cautions: append([]string{}, t.cautions()...), Version: t.Version,
		Provenance: append([]catalog.Provenance{}, hw.Provenance...),
	}
	if hw.GPU != nil {
		doc.GPU = hw.GPU.Name
	}
	if hw.Spec != nil && hw.Spec.Host.PCIe != nil {
		doc.P2P, doc.GDR = catalog.Reach(hw.Spec.Host.PCIe.P2P).String(), catalog.Reach(hw.Spec.Host.PCIe.GDR).String()
	}
	doc.Power.GPUs = float64(t.draw())
	if p := t.nodePower(); p != nil {
		doc.Power.Max, doc.Power.Typical = float64(p.Max.Value()), float64(p.Typical.Value())
		doc.Power.Supplies = float64(p.Supplies.Value().Sustained())
	}
	for _, d := range t.Survey.Domains {
		i := slices.IndexFunc(doc.Domains, func(have domainDocument) bool { return have.GPUs == len(d) })
		if i < 0 {
			i = len(doc.Domains)
			doc.Domains = append(doc.Domains, domainDocument{GPUs: len(d)})
		}
		doc.Domains[i].Count++
	}
	for kind, n := range m.Graph.Count() {
		if n > 0 {
			doc.Parts = append(doc.Parts, partDocument{topology.NodeKind(kind).String(), n})
		}
	}
	for _, c := range m.Graph.ByClass() {
		class := m.Graph.Classes[c.Class]
		doc.Classes = append(doc.Classes, classDocument{class.Name, c.Links, float64(class.Raw), float64(c.Rate) / float64(max(c.Links, 1)), class.Note})
	}
	for _, c := range t.Paths {
		doc.Paths = append(doc.Paths, pathClassDocument{c.Kind.String(), c.Pairs, float64(c.Rate), c.Latency.Seconds(), c.Staged, c.From, c.To, c.Through})
	}
	return WriteJSON(w, doc)
}
