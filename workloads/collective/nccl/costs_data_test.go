package nccl

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// box is what a table was tables on: the channels that NCCL finds and
// what the wires give.
type box struct {
	name    string
	sm      int
	links   int     // of a GPU into the switch; 0 is a mesh
	rate    float64 // GB/s that a GPU's links carry
	latency float64 // us of a path
}

// Rates and latencies are those of the catalogue: weft topo.
var (
	p100  = box{"dgx-1-p100", 60, 0, 73.6, 0.078}
	v100  = box{"dgx-1-v100", 70, 0, 145, 0.078}
	dgx2  = box{"dgx-2", 70, 6, 145, 0.276}
	a100  = box{"dgx-a100", 80, 12, 276, 0.276}
	h100  = box{"dgx-h100", 90, 18, 396, 0.276}
	h200  = box{"dgx-h200", 90, 18, 396, 0.276}
	h20   = box{"h20", 90, 18, 396, 0.276}
	b200  = box{"dgx-b200", 100, 18, 746, 0.276}
	b300  = box{"dgx-b300", 103, 18, 746, 0.276}
	gb200 = box{"gb200-nvl72", 100, 18, 746, 0.276}
	gb300 = box{"gb300-nvl72", 103, 18, 746, 0.276}
)

// table is a published table and how it was taken.
type nodeTable struct {
	name    string
	on      box
	version string // as stated, or the oldest that weft knows for older ones
	launch  Launch
	// rings are the channels that NCCL finds for so many GPUs of a mesh, each
	// over one NVLink.
	rings map[int]int
	old   bool      // taken with a release before 2.18, whose choices weft does not know
	from  sim.Bytes // below, the table does not say what was measured
	only  func(nodeRow) bool
}

// row is a row.
type nodeRow struct {
	size      sim.Bytes
	ranks     int
	op, tag   string // tag is the algo column
	dtype     string
	placement string
	us        float64
}

func ncclOnly(s nodeRow) bool { return s.tag == "NCCL" }

var nodeTables = []nodeTable{
	{name: "tartan_dgx1_p100_2to8_ops_ncclv2", old: true, on: p100, version: "2.18", launch: OneProcess, rings: map[int]int{2: 1, 4: 3, 8: 4}},
	{name: "vtrain_v100_2_4_6_allreduce", on: v100, version: "2.18", rings: map[int]int{2: 1, 4: 4, 6: 2}},
	{name: "vtrain_v100_3_5_7_allreduce", on: v100, version: "2.18", rings: map[int]int{3: 2, 5: 2, 7: 4}},
	{name: "dgx2_v100_12_all_reduce", old: true, on: dgx2, version: "2.18", launch: OneProcess},
	{name: "dgx2_v100_12_all_gather", old: true, on: dgx2, version: "2.18", launch: OneProcess, only: func(s nodeRow) bool { return s.placement == "in" || s.size < 32<<20 }},
	{name: "dgx2_v100_12_reduce", old: true, on: dgx2, version: "2.18", launch: OneProcess},
	{name: "azure_nd_a100_v4_8_allreduce", old: true, on: a100, version: "2.18", launch: OneProcess},
	{name: "superbench_a100_8_all_reduce", old: true, on: a100, version: "2.18", launch: OneProcess},
	{name: "superbench_a100_8_all_gather", old: true, on: a100, version: "2.18", launch: OneProcess},
	{name: "superbench_a100_8_reduce", old: true, on: a100, version: "2.18", launch: OneProcess},
	{name: "stas_a100_8_allreduce", old: true, on: a100, version: "2.18", launch: OneProcess},
	{name: "vtrain_a100_2_4_6_allreduce", old: true, on: a100, version: "2.18", from: 16 << 20},
	{name: "vtrain_a100_8_allreduce", old: true, on: a100, version: "2.18", from: 16 << 20},
	{name: "vidur_a100_dgx_all_reduce", old: true, on: a100, version: "2.18", from: 4 << 20},
	{name: "p4d_1to4n_allreduce_1g", on: a100, version: "2.18"},
	{name: "aiconfigurator/a100_nccl_all_reduce", on: a100, launch: Threads},
	{name: "aiconfigurator/a100_nccl_all_gather", on: a100, launch: Threads},
	{name: "dgxc_h100_8_allreduce", on: h100, version: "2.23"},
	{name: "h100_8_allreduce_256m", on: h100, version: "2.20", launch: OneProcess},
	{name: "h100_1n_2to8_ring_nvls", on: h100, version: "2.21"},
	{name: "h100_8_torch_nccl_small", on: h100, version: "2.21", launch: PyTorch},
	{name: "xxrjun_h100_1n8_all_reduce", on: h100, version: "2.29.2"},
	{name: "xxrjun_h100_1n8_all_gather", on: h100, version: "2.29.2"},
	{name: "xxrjun_h100_1n4_all_reduce", on: h100, version: "2.29.2"},
	{name: "xxrjun_h100_1n4_reduce_scatter", on: h100, version: "2.29.2"},
	{name: "vllm_h100_6_allreduce_backends", on: h100, version: "2.27", launch: CUDAGraph, only: ncclOnly},
	{name: "h20_1n8_allreduce_small", on: h20, version: "2.26"},
	{name: "azure_nd_h200_v5_8_allreduce", on: h200, version: "2.20", launch: OneProcess},
	{name: "stas_h200_8_allreduce", on: h200, version: "2.27", launch: PyTorch},
	{name: "stas_h200_4to8_allreduce_nvls", on: h200, version: "2.27"},
	{name: "stas_h200_8_ops_16g", on: h200, version: "2.27"},
	{name: "aiconfigurator/h100_nccl_all_reduce", on: h100, launch: Threads},
	{name: "aiconfigurator/h100_nccl_reduce_scatter", on: h100, launch: Threads},
	{name: "aiconfigurator/h200_nccl_all_reduce", on: h200, launch: Threads},
	{name: "aiconfigurator/h200_nccl_all_gather", on: h200, launch: Threads},
	{name: "aiconfigurator/h200_nccl_reduce_scatter", on: h200, launch: Threads},
	{name: "gke_b200_8_allreduce", on: b200, version: "2.26", launch: OneProcess},
	{name: "gke_b200_1n2_allgather", on: b200, version: "2.26"},
	{name: "stas_p6b200_8_allreduce", on: b200, version: "2.27", launch: PyTorch},
	{name: "stas_b200_4to8_allreduce_nvls", on: b200, version: "2.27"},
	{name: "eunomia_b300_8_allreduce", on: b300, version: "2.29", launch: OneProcess},
	{name: "vllm_b300_6_allreduce_backends", on: b300, version: "2.27", launch: CUDAGraph, only: ncclOnly},
	{name: "coreweave_gb200_nvl72_72_allreduce", on: gb200, version: "2.26"},
	{name: "oci_gb200_16n64_allreduce", on: gb200, version: "2.28"},
	{name: "oci_gb300_1n4_all_reduce", on: gb300, version: "2.28"},
	{name: "aiconfigurator/b300_nccl_all_reduce", on: b300, launch: Threads},
	{name: "aiconfigurator/b300_nccl_all_gather", on: b300, launch: Threads},
	{name: "aiconfigurator/gb200_nccl_all_reduce", on: gb200, launch: Threads},
	{name: "aiconfigurator/gb200_nccl_all_gather", on: gb200, launch: Threads},
	{name: "aiconfigurator/gb200_nccl_reduce_scatter", on: gb200, launch: Threads},
	{name: "aiconfigurator/gb300_nccl_all_gather", on: gb300, launch: Threads},
	{name: "aiconfigurator/gb300_nccl_reduce_scatter", on: gb300, launch: Threads},
}

// point is a row with everything about it that does not depend on costs.
type nodePoint struct {
	nodeRow
	m       *Model
	c       Choice
	coll    workloads.Coll
	setting Setting
	wire    float64 // bytes that a rank sends
	hops    float64
	rate    float64 // GB/s of the wires
	latency float64 // us
}

// series are the points of a table that count together.
type nodeSeries struct {
	nodeTable string
	on        box
	op        string
	ranks     int
	old       bool
	points    []nodePoint
}

var nodeColls = map[string]workloads.Coll{
	"all_reduce": workloads.AllReduce, "all_gather": workloads.AllGather, "reduce_scatter": workloads.ReduceScatter,
	"broadcast": workloads.Broadcast, "reduce": workloads.Reduce,
}

// predict is the closed form of a collective alone, in microseconds.
func (p *nodePoint) predict(k *Costs, h *hostCosts) float64 {
	pace := p.m.kernelPace(k, h, p.coll, p.c, p.size, p.setting)
	rate := p.rate * 1e9
	if pace.Limit > 0 {
		rate = min(rate, float64(pace.Limit))
	}
	us := func(t sim.Time) float64 { return float64(t) / 1e6 }
	return max(us(pace.Floor), us(pace.Start)+p.hops*(p.latency+us(pace.Step))+us(pace.Tail())+p.wire/rate*1e6)
}

// rows returns the samples of a table.
func nodeRows(t *testing.T, name string) (all []nodeRow, versions []string) {
	t.Helper()
	r := csv.NewReader(strings.NewReader(shared(t, "reference/measurements/"+name+".csv")))
	r.Comment, r.FieldsPerRecord = '#', -1
	lines, err := r.ReadAll()
	require.NoError(t, err, name)
	at := map[string]int{}
	for i, h := range lines[0] {
		at[h] = i
	}
	for _, l := range lines[1:] {
		get := func(keys ...string) string {
			for _, k := range keys {
				if i, ok := at[k]; ok && i < len(l) {
					return l[i]
				}
			}
			return ""
		}
		number := func(keys ...string) float64 {
			v, _ := strconv.ParseFloat(get(keys...), 64)
			return v
		}
		s := nodeRow{size: sim.Bytes(number("size_bytes")), ranks: int(number("ranks")), op: get("op"), tag: get("algo"), dtype: get("dtype"), placement: get("placement"), us: number("time_us")}
		n := float64(s.ranks)
		bus := 1.
		switch s.op {
		case "all_reduce":
			bus = 2 * (n - 1) / n
		case "all_gather", "reduce_scatter":
			bus = (n - 1) / n
		}
		algbw := number("algbw_gbps", "algbw_gbytes_per_s")
		if b := number("busbw_gbps", "busbw_gbytes_per_s"); algbw == 0 || (s.us == 0 && b > 20*algbw) {
			algbw = b / bus
		}
		if s.us == 0 && algbw > 0 {
			// Two digits after the point leave little of a small figure.
			if digits := algbw * bus; digits < 0.3 {
				continue
			}
			s.us = float64(s.size) / algbw / 1e3
		}
		if s.size == 0 || s.us == 0 || s.ranks < 2 || strings.HasPrefix(get("algo"), "min of") || strings.HasPrefix(get("algo"), "max of") {
			continue
		}
		if nodes := number("nodes"); nodes > 1 && name != "coreweave_gb200_nvl72_72_allreduce" && name != "oci_gb200_16n64_allreduce" {
			continue
		}
		all, versions = append(all, s), append(versions, strings.TrimPrefix(get("impl"), "NCCL "))
	}
	return all, versions
}

// loadNode returns all series of the tables.
func loadNode(t *testing.T) []nodeSeries {
	t.Helper()
	var all []nodeSeries
	for _, tab := range nodeTables {
		samples, versions := nodeRows(t, tab.name)
		index := map[string]int{}
		for i, s := range samples {
			if s.size < tab.from || tab.only != nil && !tab.only(s) {
				continue
			}
			if tab.rings != nil && tab.rings[s.ranks] == 0 || nodeDropped(tab.name, s) {
				continue
			}
			version := tab.version
			if version == "" {
				version = versions[i]
			}
			p := newPoint(t, tab, s, version)
			key := fmt.Sprintf("%s/%d", s.op, s.ranks)
			at, ok := index[key]
			if !ok {
				at = len(all)
				index[key] = at
				all = append(all, nodeSeries{nodeTable: tab.name, on: tab.on, op: s.op, ranks: s.ranks, old: tab.old})
			}
			all[at].points = append(all[at].points, p)
		}
	}
	for i := range all {
		all[i].points = nodeSteady(all[i].points)
	}
	return all
}

// nodeDropped are rows that say themselves that they are something else.
func nodeDropped(name string, s nodeRow) bool {
	switch name {
	case "stas_b200_4to8_allreduce_nvls", "stas_h200_4to8_allreduce_nvls":
		return false
	case "eunomia_b300_8_allreduce":
		return strings.Contains(s.tag, "policy")
	case "vidur_a100_dgx_all_reduce":
		return !strings.HasPrefix(s.placement, "min")
	}
	return false
}

// newPoint chooses for a row as NCCL did.
func newPoint(t *testing.T, tab nodeTable, s nodeRow, version string) nodePoint {
	t.Helper()
	v, err := ParseVersion(version)
	require.NoError(t, err, tab.name)
	var g Graphs
	rate := tab.on.rate
	if tab.rings != nil {
		n := tab.rings[s.ranks]
		ring := Graph{Channels: n, Intra: LinkRate(v, tab.on.sm), Inter: LinkRate(v, tab.on.sm), TypeIntra: NVL, Pattern: RingPattern, Same: true}
		g.Ring, g.Tree = ring, ring
		g.Tree.Pattern = BalancedTree
		rate = float64(n) * map[int]float64{60: 18.4, 70: 24.2}[tab.on.sm]
	} else {
		g, err = Fabric{Nodes: 1, GPUs: s.ranks, SM: tab.on.sm, Links: tab.on.links, Switched: true}.Graphs(v)
		require.NoError(t, err, tab.name)
	}
	var text []string
	switch {
	case strings.HasPrefix(s.tag, "Ring"):
		text = []string{"NCCL_ALGO=Ring"}
	case s.tag == "NVLS" && s.size > 1<<30:
		text = []string{"NCCL_ALGO=NVLS"}
	case s.dtype == "int8" && s.op == "all_reduce":
		text = []string{"NCCL_NVLS_ENABLE=0"} // the switch does not add bytes
	}
	env, err := ParseEnv(v, text)
	require.NoError(t, err)
	m, err := New(v, Summary{Ranks: s.ranks, Nodes: 1, SM: tab.on.sm, Graphs: g}, env)
	require.NoError(t, err)
	op, ok := nodeColls[s.op]
	require.True(t, ok, s.op)
	c, err := m.Choose(op, s.size)
	require.NoError(t, err)
	p := nodePoint{nodeRow: s, m: m, c: c, coll: op, setting: Setting{Launch: tab.launch}, rate: rate, latency: tab.on.latency}
	n, size := float64(s.ranks), float64(s.size)
	switch {
	case c.Algorithm == NVLS && op == workloads.AllReduce:
		p.wire, p.hops = size*(1+1/n), 2
	case c.Algorithm == NVLS:
		p.wire, p.hops = size, 2
	case c.Algorithm == Tree:
		p.wire, p.hops = 2*size, 2*(n-1)
	case op == workloads.AllReduce:
		p.wire, p.hops = 2*(n-1)/n*size, 2*(n-1)
	case chained(op):
		p.wire, p.hops = size, n-1
	default:
		p.wire, p.hops = (n-1)/n*size, n-1
	}
	p.wire /= c.Protocol.Payload()
	return p
}

// nodeSteady drops the warm-up and single rows far from their neighbours, which
// the collection asks for.
func nodeSteady(points []nodePoint) []nodePoint {
	var keep []nodePoint
	for _, p := range points {
		var below, above []float64
		for _, q := range points {
			switch {
			case q.size < p.size && q.size >= p.size/2:
				below = append(below, q.us)
			case q.size > p.size && q.size <= p.size*2:
				above = append(above, q.us)
			}
		}
		slices.Sort(below)
		slices.Sort(above)
		var twins []float64
		for _, q := range points {
			if q.size == p.size {
				twins = append(twins, q.us)
			}
		}
		slices.Sort(twins)
		if p.us > 1.5*twins[0] && len(twins) > 1 {
			continue
		}
		if len(above) > 0 && p.us > 2*above[len(above)/2] {
			continue
		}
		keep = append(keep, p)
	}
	return keep
}

// class is the size class of a message.
func nodeClass(size sim.Bytes) int {
	switch {
	case size < 1<<20:
		return 0
	case size < 64<<20:
		return 1
	}
	return 2
}

var nodeClasses = []string{"small", "medium", "large"}

// summary is median and 90th percentile of |error| and median error, each
// series counting the same.
type nodeResidual struct{ err, weight float64 }

func nodeSummary(rs []nodeResidual) (median, p90, bias float64) {
	abs := make([]nodeResidual, len(rs))
	for i, r := range rs {
		abs[i] = nodeResidual{math.Abs(r.err), r.weight}
	}
	return nodeQuantile(abs, 0.5), nodeQuantile(abs, 0.9), nodeQuantile(rs, 0.5)
}

func nodeQuantile(rs []nodeResidual, q float64) float64 {
	rs = slices.Clone(rs)
	slices.SortFunc(rs, func(a, b nodeResidual) int {
		if a.err < b.err {
			return -1
		}
		if a.err > b.err {
			return 1
		}
		return 0
	})
	total := 0.
	for _, r := range rs {
		total += r.weight
	}
	sum := 0.
	for _, r := range rs {
		sum += r.weight
		if sum >= q*total {
			return 100 * r.err
		}
	}
	return math.NaN()
}
