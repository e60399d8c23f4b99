package kernels

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// measurements returns the folder of the published tables, or skips the test.
func measurements(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, dir, filepath.Dir(dir), "no go.mod above the test")
		dir = filepath.Dir(dir)
	}
	shared := os.Getenv("WEFT_SHARED")
	if shared == "" {
		shared = "../shared"
	}
	if !filepath.IsAbs(shared) {
		shared = filepath.Join(dir, shared)
	}
	folder := filepath.Join(shared, "reference", "measurements")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no measured tables in %s: set WEFT_SHARED", folder)
	}
	return folder
}

// tableRows reads a table as maps from the names of its columns.
func tableRows(t *testing.T, path string) []map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	r := csv.NewReader(strings.NewReader(string(data)))
	r.Comment, r.FieldsPerRecord, r.LazyQuotes = '#', -1, true
	lines, err := r.ReadAll()
	require.NoError(t, err, path)
	var all []map[string]string
	for _, l := range lines[1:] {
		m := map[string]string{}
		for i, name := range lines[0] {
			if i < len(l) {
				m[name] = l[i]
			}
		}
		all = append(all, m)
	}
	return all
}

func figure(t *testing.T, row map[string]string, column string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(row[column], 64)
	require.NoError(t, err, "%s of %v", column, row)
	return v
}

// gpus are the machines of the tables.
var gpus = map[string]Machine{
	"a100": {SM: 80, NVLink: true}, "h100": {SM: 90, NVLink: true, Multicast: true}, "h200": {SM: 90, NVLink: true, Multicast: true},
	"gb200": {SM: 100, NVLink: true, Multicast: true}, "b300": {SM: 103, NVLink: true, Multicast: true},
	"gb300": {SM: 103, NVLink: true, Multicast: true}, "l40s": {SM: 89}, "rtxpro6000": {SM: 120},
}

// wires are what the links of a GPU carry each way, in GB/s, as weft's own
// topologies of these machines grant; one crossing takes wireLatency.
var wires = map[generation]sim.Rate{ampere: 270e9, hopper: 400e9, blackwell: 746e9, pcie4: 26e9, pcie5: 55e9}

const wireLatency = 276 * sim.Nanosecond

// alone is the time of a collective that has the machine for itself, by the
// formula of [collective.Pace].
func timeAlone(op workloads.Coll, ch collective.Choice, size sim.Bytes, n int, wire sim.Rate) (sim.Time, error) {
	p, err := collective.NewPlan(op, ch, size, collective.OneNode(n), 0)
	if err != nil {
		return 0, err
	}
	hops := 1
	if p.Pattern.Coupled() {
		hops = p.Hops
	}
	if p.Pattern == collective.AllPairs {
		wire /= sim.Rate(n - 1)
	}
	if ch.Pace.Limit > 0 {
		wire = min(wire, ch.Pace.Limit)
	}
	took := ch.Pace.Start + sim.Time(hops)*(wireLatency+ch.Pace.Step) + ch.Pace.Tail() +
		sim.Time(float64(p.Message)/float64(wire)*float64(sim.Second))
	return max(ch.Pace.Floor, took), nil
}

// series is one table of one library among one number of ranks.
type series struct {
	name    string
	library *Library
	ranks   []int32
	points  []point
}

type point struct {
	size sim.Bytes
	us   float64
	k    *kernel
}

var errFallback = fmt.Errorf("left to the fallback")

func noFallback(workloads.Coll, sim.Bytes, []int32) (collective.Choice, error) {
	return collective.Choice{}, errFallback
}

// anomalies are series that a wire or a host explains, not a kernel: GB200
// hosts on which two GPUs reach 210 of 560 GB/s with every library, and PCIe
// hosts without peer access.
func anomaly(gpu, impl string, n int) bool {
	for _, of := range [][3]string{
		{"gb200", "vllm-0.19.0", "2"}, {"gb200", "vllm-0.24.0", "2"}, {"gb200", "sglang-0.5.9", "2"},
		{"l40s", "sglang-0.5.12", "2"}, {"rtxpro6000", "sglang-0.5.10", "2"}, {"rtxpro6000", "vllm-0.19.0", "2"},
	} {
		if of[0] == gpu && of[1] == impl && of[2] == strconv.Itoa(n) {
			return true
		}
	}
	return false
}

// graphSeries reads what the engines' all-reduce takes inside a CUDA graph,
// without what they leave to NCCL and without the first row of each run.
func graphSeries(t *testing.T) []*series {
	t.Helper()
	folder := measurements(t)
	paths, err := filepath.Glob(filepath.Join(folder, "aiconfigurator", "*_custom_allreduce_*.csv"))
	require.NoError(t, err)
	var all []*series
	of := map[string]*series{}
	for _, path := range paths {
		gpu := strings.SplitN(filepath.Base(path), "_", 2)[0]
		m, known := gpus[gpu]
		if !known {
			continue
		}
		for _, r := range tableRows(t, path) {
			n := int(figure(t, r, "ranks"))
			if r["mode"] != "graph" || anomaly(gpu, r["impl"], n) {
				continue
			}
			name := fmt.Sprintf("%s %s %d", gpu, r["impl"], n)
			s := of[name]
			if s == nil {
				lib, version, _ := strings.Cut(r["impl"], "-")
				if n > 4 && gpu == "gb300" { // trays of four
					m.Host = func(r int32) int32 { return r / 4 }
					m.Domain = func(int32) int32 { return 0 }
				}
				set := Setting{Version: version}
				// This run had no symmetric memory at eight ranks: its own table.
				l, err := New(lib, m, set, noFallback)
				require.NoError(t, err, name)
				s = &series{name: name, library: l, ranks: make([]int32, n)}
				for i := range s.ranks {
					s.ranks[i] = int32(i)
				}
				of[name] = s
				all = append(all, s)
				continue // the first row warms up
			}
			size := sim.Bytes(figure(t, r, "size_bytes"))
			if k, _ := s.library.choose(workloads.AllReduce, size, s.ranks); k != nil {
				s.points = append(s.points, point{size, figure(t, r, "time_us"), k})
			}
		}
	}
	return append(all, backendSeries(t, folder)...)
}

// backendSeries reads vLLM's own comparisons, in which each kernel ran at all
// sizes, and MSCCL++'s.
func backendSeries(t *testing.T, folder string) []*series {
	var all []*series
	of := map[string]*series{}
	for _, table := range []struct {
		file, gpu, library string
		kernels            map[string]string
	}{
		{"vllm_b300_6_allreduce_backends.csv", "b300", "vllm", map[string]string{"one-shot": "vllm-1shot", "two-shot": "vllm-2shot", "NVLS multimem": "vllm-multimem", "symm two-shot": "vllm-symm-2shot"}},
		{"vllm_h100_6_allreduce_backends.csv", "h100", "vllm", map[string]string{"one-shot": "vllm-1shot", "two-shot": "vllm-2shot", "NVLS multimem": "vllm-multimem", "symm two-shot": "vllm-symm-2shot"}},
		{"mscclpp_ndmv4_8_16.csv", "a100", "mscclpp", map[string]string{"MSCCL++ kernel 2": "mscclpp-allpair", "MSCCL++ kernel 6": "mscclpp-packet"}},
		{"mscclpp_ndmv5_8_16.csv", "h100", "mscclpp", map[string]string{"MSCCL++ kernel 6": "mscclpp-packet"}},
		{"mscclpp_h100_8_nvls_zero_copy_small.csv", "h100", "mscclpp", map[string]string{"MSCCL++ NVLS zero copy (allreduce9)": "mscclpp-nvls"}},
	} {
		for _, r := range tableRows(t, filepath.Join(folder, table.file)) {
			kernel, known := table.kernels[r["algo"]]
			if !known || r["nodes"] != "1" || r["op"] != "all_reduce" {
				continue
			}
			name := fmt.Sprintf("%s %s %s", table.gpu, kernel, r["ranks"])
			s := of[name]
			if s == nil {
				l, err := New(table.library, gpus[table.gpu], Setting{Kernel: kernel}, noFallback)
				require.NoError(t, err, name)
				s = &series{name: name, library: l, ranks: make([]int32, int(figure(t, r, "ranks")))}
				of[name] = s
				all = append(all, s)
			}
			s.points = append(s.points, point{sim.Bytes(figure(t, r, "size_bytes")), figure(t, r, "time_us"), named(kernel)})
		}
	}
	return all
}
