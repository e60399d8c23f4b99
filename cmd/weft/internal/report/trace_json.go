package report

import (
	"io"

	"github.com/weft-sim/weft/workloads/trace/chakra"
)

type traceDocument struct {
	Trace         string              `json:"trace"`
	Format        string              `json:"format"`
	World         int32               `json:"world,omitempty"`
	Files         []traceFileDocument `json:"files"`
	Groups        []commDocument      `json:"groups"`
	Communication []useDocument       `json:"communication"`
	Kept          []fateDocument      `json:"kept"`
	Dropped       []fateDocument      `json:"dropped"`
	Repaired      []fateDocument      `json:"repaired"`
	Copies        []copyDocument      `json:"copies"`
	Ignored       []countDocument     `json:"ignored_attributes"`
	Skipped       []skippedDocument   `json:"files_not_read"`
	Warnings      []string            `json:"warnings"`
	Problem       string              `json:"problem,omitempty"`
	Version       string              `json:"weft_version"`
}

type traceFileDocument struct {
	File         string          `json:"file"`
	Rank         int32           `json:"rank"`
	Schema       string          `json:"schema"`
	Nodes        int             `json:"nodes"`
	Types        []countDocument `json:"node_types"`
	Collectives  []collDocument  `json:"collectives"`
	Sends        int             `json:"sends"`
	SendBytes    int64           `json:"send_bytes"`
	Receives     int             `json:"receives"`
	ReceiveBytes int64           `json:"receive_bytes"`
	Recorded     float64         `json:"recorded_time_s"`
	NumOps       int64           `json:"num_ops"`
	CtrlDeps     int             `json:"ctrl_deps"`
	CtrlDangling int             `json:"ctrl_deps_dangling"`
	DataDeps     int             `json:"data_deps"`
	DataDangling int             `json:"data_deps_dangling"`
	Blocked      int             `json:"nodes_behind_cycles"`
}

type countDocument struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type collDocument struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
	Bytes int64  `json:"bytes"`
}

type commDocument struct {
	Group string    `json:"group"`
	Dim   string    `json:"dim"`
	Ranks [][]int32 `json:"ranks"`
}

type useDocument struct {
	Op    string `json:"op"`
	Group string `json:"group,omitempty"`
	Ranks int    `json:"ranks,omitempty"`
	Bytes int64  `json:"bytes"`
	Count int    `json:"count"`
}

type fateDocument struct {
	What     string  `json:"what"`
	Why      string  `json:"why,omitempty"`
	Count    int     `json:"count"`
	Bytes    int64   `json:"bytes"`
	Recorded float64 `json:"recorded_time_s"`
}

type copyDocument struct {
	Rank int32 `json:"rank"`
	Of   int32 `json:"of"`
}

type skippedDocument struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// JSON writes the same as one document.
func (t *Trace) JSON(w io.Writer) error {
	doc := traceDocument{
		Trace: t.Name, Format: "chakra", Version: t.Version,
		Files: []traceFileDocument{}, Groups: []commDocument{}, Communication: []useDocument{},
		Kept: []fateDocument{}, Dropped: []fateDocument{}, Repaired: []fateDocument{}, Copies: []copyDocument{},
		Ignored: []countDocument{}, Skipped: []skippedDocument{}, Warnings: append([]string{}, t.warnings()...),
	}
	if t.Problem != nil {
		doc.Problem = t.Problem.Error()
	}
	for _, f := range t.Files {
		doc.Files = append(doc.Files, fileOf(f))
	}
	for _, s := range t.Skipped {
		doc.Skipped = append(doc.Skipped, skippedDocument(s))
	}
	if t.Program != nil {
		for _, c := range t.Program.Comms {
			doc.Groups = append(doc.Groups, commDocument{c.Name, c.Dim.String(), c.Groups})
		}
		for _, u := range Communication(t.Program) {
			doc.Communication = append(doc.Communication, useDocument{u.Op, u.Group, u.Ranks, int64(u.Bytes), u.Count})
		}
	}
	if r := t.Import; r != nil {
		doc.World = r.World
		doc.Kept, doc.Dropped, doc.Repaired = fatesOf(r.Kept), fatesOf(r.Dropped), fatesOf(r.Repaired)
		for _, c := range r.Copies {
			doc.Copies = append(doc.Copies, copyDocument(c))
		}
		doc.Ignored = countsOf(r.Ignored)
	}
	return WriteJSON(w, doc)
}

func fileOf(f chakra.FileReport) traceFileDocument {
	s := f.Summary
	d := traceFileDocument{
		File: f.File, Rank: f.Rank, Schema: s.Schema.String(), Nodes: s.Nodes, Types: countsOf(s.Types),
		Collectives: []collDocument{}, Recorded: float64(s.DurationMicros) / 1e6, NumOps: s.NumOps,
		CtrlDeps: s.CtrlDeps, CtrlDangling: s.CtrlDangling, DataDeps: s.DataDeps, DataDangling: s.DataDangling, Blocked: s.Blocked,
	}
	d.Sends, d.SendBytes = sent(s, chakra.CommSend)
	d.Receives, d.ReceiveBytes = sent(s, chakra.CommRecv)
	for _, c := range s.Collectives {
		d.Collectives = append(d.Collectives, collDocument(c))
	}
	return d
}

func countsOf(counts []chakra.Count) []countDocument {
	out := make([]countDocument, len(counts))
	for i, c := range counts {
		out[i] = countDocument{c.Name, c.N}
	}
	return out
}

func fatesOf(items []chakra.Item) []fateDocument {
	out := make([]fateDocument, len(items))
	for i, it := range items {
		out[i] = fateDocument{it.What, it.Why, it.Count, int64(it.Bytes), it.Time.Seconds()}
	}
	return out
}
