package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// NCCLTestsJSON writes what nccl-tests writes with -J FILE, version 2 of its
// layout: one object, with booleans as text and no blanks. A simulation has no
// date and no processes: times are those of the epoch, and process numbers 0.
// Of the environment it has what was set with --env.
//
// Source: NVIDIA/nccl-tests 0fdb00a3, src/util.cu.
type NCCLTestsJSON struct {
	Bench   *Bench
	Args    []string // the command line
	Env     []string // NAME=VALUE
	Devices []Device // by rank
	W       io.Writer

	rows []BenchRow
}

// Device is the GPU of a rank.
type Device struct {
	Host  string // "node0"
	Index int    // on its host
	Name  string // of the kind: "NVIDIA H100 SXM5 80GB"
}

// Begin waits for the rows.
func (t *NCCLTestsJSON) Begin() error { return nil }

// Row keeps a row.
func (t *NCCLTestsJSON) Row(r BenchRow) error {
	t.rows = append(t.rows, r)
	return nil
}

// epoch is the date of a simulation, in the form of nccl-tests.
const epoch = "1970-01-01 00:00:00"

// six prints as nccl-tests prints a number: six decimals.
type six float64

// MarshalJSON writes the number.
func (v six) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(v), 'f', 6, 64), nil
}

type ncclTests struct {
	Version int             `json:"version"`
	Start   string          `json:"start_time"`
	Args    []string        `json:"args"`
	Env     []string        `json:"env"`
	NCCL    int             `json:"nccl_version"`
	Config  ncclTestsConfig `json:"config"`
	Results []ncclTestsRow  `json:"results"`
	Bounds  struct {
		Count int    `json:"count"`
		Okay  string `json:"okay"`
	} `json:"out_of_bounds"`
	Average struct {
		Bandwidth six    `json:"bandwidth"`
		Okay      string `json:"okay"`
	} `json:"average_bus_bandwidth"`
	Errors []string `json:"errors"`
	End    string   `json:"end_time"`
}

type ncclTestsConfig struct {
	Threads    int               `json:"nthreads"`
	GPUs       int               `json:"ngpus"`
	Min        int64             `json:"minimum_bytes"`
	Max        int64             `json:"maximum_bytes"`
	Factor     float64           `json:"step_factor,omitempty"`
	Step       int64             `json:"step_bytes,omitempty"`
	Warmup     int               `json:"warmup_iters"`
	Iterations int               `json:"iterations"`
	Aggregated int               `json:"aggregated_iterations"`
	Validation int               `json:"validation"`
	Graph      int               `json:"graph"`
	Blocking   string            `json:"blocking_collectives"`
	PerIter    string            `json:"per_iter_timing"`
	Parallel   string            `json:"parallel_init"`
	Devices    []ncclTestsDevice `json:"devices"`
}

type ncclTestsDevice struct {
	Rank   int    `json:"rank"`
	Group  int    `json:"group"`
	PID    int    `json:"pid"`
	Host   string `json:"hostname"`
	Device int    `json:"device"`
	Hex    string `json:"device_hex"`
	Info   string `json:"device_info"`
}

type ncclTestsRow struct {
	Size       int64           `json:"size"`
	Count      int64           `json:"count"`
	Type       string          `json:"type"`
	RedOp      string          `json:"redop"`
	Root       string          `json:"root"`
	Out        ncclTestsPlaced `json:"out_of_place"`
	In         ncclTestsPlaced `json:"in_place"`
	Iterations int             `json:"actual_iterations"`
	Experiment string          `json:"experiment_name"`
}

type ncclTestsPlaced struct {
	Time  six   `json:"time"`
	AlgBW six   `json:"alg_bw"`
	BusBW six   `json:"bus_bw"`
	Wrong *int8 `json:"nwrong"` // null: no values are checked
}

func (p *Placed) ncclTests() ncclTestsPlaced {
	return ncclTestsPlaced{Time: six(p.Time.Microseconds()), AlgBW: six(gigabytes(p.AlgBW)), BusBW: six(gigabytes(p.BusBW))}
}

// End writes the document.
func (t *NCCLTestsJSON) End() error {
	s := &t.Bench.Sweep
	doc := ncclTests{
		Version: 2, Start: epoch, End: epoch, Args: append([]string{}, t.Args...), Env: append([]string{}, t.Env...),
		NCCL: t.Bench.NCCL, Errors: []string{}, Results: []ncclTestsRow{},
		Config: ncclTestsConfig{
			Threads: s.Threads, GPUs: s.PerThread, Min: int64(s.Begin), Max: int64(s.End), Step: int64(s.Step),
			Warmup: s.Warmup, Iterations: s.Iterations, Aggregated: 1, Graph: s.Graph,
			Blocking: "false", PerIter: "false", Parallel: "false", Devices: []ncclTestsDevice{},
		},
	}
	if s.Step == 0 {
		doc.Config.Factor = s.Factor
	}
	for rank, d := range t.Devices {
		doc.Config.Devices = append(doc.Config.Devices, ncclTestsDevice{
			Rank: rank, Host: d.Host, Device: d.Index, Hex: fmt.Sprintf("0000:%02x:00", d.Index), Info: d.Name,
		})
	}
	sum := 0.0
	for _, r := range t.rows {
		doc.Results = append(doc.Results, ncclTestsRow{
			Size: int64(r.Size), Count: r.Count, Type: r.Type, RedOp: r.RedOp, Root: fmt.Sprintf("%6d", r.Root),
			Out: r.Out.ncclTests(), In: r.In.ncclTests(), Iterations: s.Iterations, Experiment: t.Bench.Op + "_perf",
		})
		sum += gigabytes(r.Out.BusBW) + gigabytes(r.In.BusBW)
	}
	doc.Bounds.Okay = "true"
	doc.Average.Bandwidth, doc.Average.Okay = six(sum/float64(max(2*len(t.rows), 1))), "unchecked"
	e := json.NewEncoder(t.W)
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}
