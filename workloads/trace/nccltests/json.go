package nccltests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// document is what -J writes, and in rows what `weft bench --format json` does.
type document struct {
	Args    json.RawMessage `json:"args"`
	Library json.RawMessage `json:"nccl_version"`
	Config  struct {
		Threads int             `json:"nthreads"`
		GPUs    int             `json:"ngpus"`
		Warmup  int             `json:"warmup_iters"`
		Iters   int             `json:"iterations"`
		Graph   json.RawMessage `json:"graph"`
		Devices []struct {
			Rank  int    `json:"rank"`
			Pid   int    `json:"pid"`
			Host  string `json:"hostname"`
			Index int    `json:"device"`
			Bus   string `json:"device_hex"`
			Name  string `json:"device_info"`
		} `json:"devices"`
	} `json:"config"`
	Results []struct {
		Size  int64           `json:"size"`
		Count int64           `json:"count"`
		Type  string          `json:"type"`
		RedOp string          `json:"redop"`
		Root  json.RawMessage `json:"root"`
		Out   *half           `json:"out_of_place"`
		In    *half           `json:"in_place"`
	} `json:"results"`
	Bounds struct {
		Count json.RawMessage `json:"count"`
	} `json:"out_of_bounds"`
	Average struct {
		Bandwidth json.RawMessage `json:"bandwidth"`
	} `json:"average_bus_bandwidth"`
	End json.RawMessage `json:"end_time"`

	Op      string `json:"op"`
	System  string `json:"system"`
	Nodes   int    `json:"nodes"`
	Ranks   int    `json:"gpus"`
	RedOp   string `json:"redop"`
	Type    string `json:"type"`
	Version string `json:"weft_version"`
	Rows    []struct {
		Size  int64   `json:"size_bytes"`
		Count int64   `json:"count"`
		Time  float64 `json:"time_us"`
		AlgBW float64 `json:"algbw_gbytes_per_s"`
		BusBW float64 `json:"busbw_gbytes_per_s"`
	} `json:"rows"`
}

// half is one half of a result. Numbers are numbers or text.
type half struct {
	Time  json.RawMessage `json:"time"`
	CPU   json.RawMessage `json:"cpu_time"`
	AlgBW json.RawMessage `json:"alg_bw"`
	BusBW json.RawMessage `json:"bus_bw"`
	Wrong json.RawMessage `json:"nwrong"`
}

// scalar returns a number or text without its quotes.
func scalar(raw json.RawMessage) string { return strings.Trim(string(raw), `" `) }

// readJSON reads a document.
func readJSON(name string, content []byte) (*Log, error) {
	var d document
	dec := json.NewDecoder(bytes.NewReader(content))
	if err := dec.Decode(&d); err != nil {
		e := &Error{Name: name, Text: fmt.Sprintf("broken JSON: %v", err)}
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			e.Text = "the JSON ends early: the job ended, or was killed, while it wrote"
		case errors.As(err, &syntax):
			e.Line = 1 + bytes.Count(content[:min(int(syntax.Offset), len(content))], []byte("\n"))
		case errors.As(err, &kind):
			e.Line = 1 + bytes.Count(content[:min(int(kind.Offset), len(content))], []byte("\n"))
			e.Text = fmt.Sprintf("%s: read a %s, expected a %v", kind.Field, kind.Value, kind.Type)
		}
		return nil, e
	}
	t := &Table{Op: d.Op, Ranks: d.Ranks, Hosts: d.Nodes, Ended: true}
	t.System = d.System
	t.Threads, t.GPUs, t.Iterations, t.Warmup = d.Config.Threads, d.Config.GPUs, d.Config.Iters, d.Config.Warmup
	t.Library = scalar(d.Library)
	t.Graph = number(scalar(d.Config.Graph))
	if m := program.FindSubmatch(d.Args); m != nil {
		t.Op = string(m[1])
	}
	if len(d.Config.Devices) > 1<<20 || d.Ranks < 0 || d.Nodes < 0 {
		return nil, &Error{Name: name, Text: fmt.Sprintf("%d GPUs on %d nodes, expected numbers from 0 to 2^20", d.Ranks, d.Nodes)}
	}
	for _, g := range d.Config.Devices {
		t.Devices = append(t.Devices, Device{Rank: g.Rank, Pid: g.Pid, Host: g.Host, Index: g.Index, Bus: g.Bus, Name: g.Name})
	}
	t.Bad = int64(number(scalar(d.Bounds.Count)))
	if v, ok := quantity(scalar(d.Average.Bandwidth), 1e9); ok {
		t.Average = sim.Rate(v * 1e9)
	}
	if len(d.Results) > 0 && len(d.End) == 0 {
		t.Ended = false
	}
	for i, r := range d.Results {
		row := Row{Size: sim.Bytes(r.Size), Count: r.Count, Type: r.Type, RedOp: r.RedOp, Root: -1}
		if root := scalar(r.Root); root != "" && root != "null" {
			row.Rooted = true
			if root[0] != '-' {
				row.Root = number(root)
			}
		}
		var err error
		if row.Out, err = r.Out.run(t); err == nil {
			row.In, err = r.In.run(t)
		}
		if err == nil && (r.Size < 0 || r.Size > 1<<50 || r.Count < 0) {
			err = fmt.Errorf("size: read %d, expected 0 to 2^50", r.Size)
		}
		if err != nil {
			return nil, &Error{Name: name, Text: fmt.Sprintf("results[%d]: %v", i, err)}
		}
		if row.Out.Measured() || row.In.Measured() {
			t.Rows = append(t.Rows, row)
		}
	}
	for i, r := range d.Rows {
		if r.Size < 0 || r.Size > 1<<50 || !(r.Time >= 0 && r.Time <= 1e12) || !(r.AlgBW >= 0) || !(r.BusBW >= 0) {
			return nil, &Error{Name: name, Text: fmt.Sprintf("rows[%d]: %d bytes in %v us, expected 0 to 2^50 and 0 to 1e12", i, r.Size, r.Time)}
		}
		t.Rows = append(t.Rows, Row{Size: sim.Bytes(r.Size), Count: r.Count, Type: d.Type, RedOp: d.RedOp, Root: -1,
			Out: Run{Time: sim.Time(math.Round(r.Time * float64(sim.Microsecond))), AlgBW: sim.Rate(r.AlgBW * 1e9), BusBW: sim.Rate(r.BusBW * 1e9)}})
	}
	if len(t.Rows) == 0 {
		return nil, &Error{Name: name, Text: "a JSON document without results, expected what nccl-tests write with -J (results) or weft bench --format json (rows)"}
	}
	return &Log{Tables: []*Table{t}}, nil
}

// run reads one half; a nil half was not run.
func (h *half) run(t *Table) (Run, error) {
	if h == nil {
		return Run{}, nil
	}
	time := h.Time
	if len(time) == 0 {
		time = h.CPU
		t.HostTime = t.HostTime || len(time) > 0
	}
	var r Run
	for _, f := range [...]struct {
		name string
		raw  json.RawMessage
		most float64
		set  func(float64)
	}{
		{"time", time, 1e12, func(v float64) { r.Time = sim.Time(math.Round(v * float64(sim.Microsecond))) }},
		{"alg_bw", h.AlgBW, 1e9, func(v float64) { r.AlgBW = sim.Rate(v * 1e9) }},
		{"bus_bw", h.BusBW, 1e9, func(v float64) { r.BusBW = sim.Rate(v * 1e9) }},
	} {
		v, ok := quantity(scalar(f.raw), f.most)
		if !ok {
			return r, fmt.Errorf("%s: read %q, expected a number from 0 to %g", f.name, clip(string(f.raw)), f.most)
		}
		f.set(v)
	}
	if v, ok := quantity(scalar(h.Wrong), 1<<60); ok {
		r.Wrong, r.Checked = int64(v), true
	}
	return r, nil
}
