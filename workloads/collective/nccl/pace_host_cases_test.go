package nccl

import (
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// pairCase is a published table of GPUs that meet over PCIe, or of sends and
// receives, and what it was measured on.
type pairCase struct {
	kind, file   string
	op           string
	ranks, nodes int
	tag          string // the table's algo column; "" takes any
	version      string
	sm           int
	cpu          CPU
	graphs       Graphs
	launch       Launch
	// wire is GB/s that the machine's wires grant each lane of a ring, chain
	// GB/s one way alone, and latency us of a step: as weft topo and weft bench
	// --algo ring show for the catalogue's system.
	wire, chain, latency float64
	translated           bool
	peers                Peers
	plugin               Plugin
	lo, hi               sim.Bytes // 0 is no bound
	skip                 bool      // shown, and not fitted to
}

// pcieGraph is what the search finds for a host of PCIe cards.
func pcieGraph(channels int, rate float64, path PathType) Graphs {
	ring := Graph{Channels: channels, Intra: rate, Inter: rate, TypeIntra: path, TypeInter: PIX, Pattern: RingPattern, Same: true}
	tree := ring
	tree.Pattern = BalancedTree
	return Graphs{Ring: ring, Tree: tree}
}

func nodeGraphs(sm, gpus, links int) Graphs {
	v := Latest
	g, err := Fabric{Nodes: 1, GPUs: gpus, SM: sm, Links: links, Switched: true}.Graphs(v)
	if err != nil {
		panic(err)
	}
	return g
}

func pairCases() []pairCase {
	var all []pairCase
	aic := func(c pairCase) { all = append(all, c) }
	// Two cards a switch, two switches a socket, Intel of the fourth generation.
	switched := func(n int, rate float64) (g Graphs, wire float64) {
		switch n {
		case 2:
			return pcieGraph(2, rate/2, PIX), 1
		case 4:
			return pcieGraph(2, rate/2/1.2, PHB), 0.75
		}
		return pcieGraph(1, 20, SYS), 0.75
	}
	for _, op := range []string{"all_reduce", "reduce_scatter", "alltoall"} {
		for _, n := range []int{2, 4, 8} {
			g, part := switched(n, 24)
			aic(pairCase{
				kind: "pcie", file: "aiconfigurator/l40s_nccl_" + op, op: op, ranks: n, nodes: 1, version: "2.27", sm: 89, cpu: Intel, launch: Threads,
				graphs: g, wire: 26 * part, chain: 26, latency: 0.5, translated: true,
			})
		}
	}
	for _, op := range []string{"all_reduce", "all_gather", "reduce_scatter"} {
		for _, n := range []int{2, 4, 8} {
			g, part := switched(n, 48)
			aic(pairCase{
				kind: "pcie", file: "aiconfigurator/rtxpro6000_nccl_" + op, op: op, ranks: n, nodes: 1, version: "2.29", sm: 120, cpu: Intel, launch: Threads,
				graphs: g, wire: 55.4 * part, chain: 55.4, latency: 0.5,
			})
		}
	}
	turing := pairCase{kind: "pcie", ranks: 2, nodes: 1, version: "2.21", sm: 75, cpu: Intel, launch: OneProcess, graphs: pcieGraph(1, 12, PHB), wire: 5.4, chain: 12.16, latency: 0.9}
	for _, op := range []string{"all_gather", "reduce"} {
		c := turing
		c.file, c.op = "rtx2080ti_2_"+op+"_nop2p", op
		all = append(all, c)
	}
	for _, file := range []string{"bessemer_v100pcie_4_allreduce_nccl28", "bessemer_v100pcie_4_allreduce_nccl24"} {
		all = append(all, pairCase{kind: "pcie", file: file, op: "all_reduce", ranks: 4, nodes: 1, version: "2.18", sm: 70, cpu: Intel, launch: OneProcess, graphs: pcieGraph(1, 12, PIX), wire: 12.16, chain: 12.16, latency: 0.195})
	}
	all = append(all,
		pairCase{kind: "pcie", file: "pptest_rtx4090_4_allreduce_p2p", op: "all_reduce", ranks: 4, nodes: 1, version: "2.21", sm: 89, cpu: AMD, launch: OneProcess, graphs: pcieGraph(1, 24, PXB), wire: 26, chain: 26, latency: 0.4},
		pairCase{kind: "pcie", file: "flashinfer_pcie5_2_allgather", tag: "NCCL", op: "all_gather", ranks: 2, nodes: 1, version: "2.27", sm: 120, cpu: AMD, launch: PerGPU, graphs: pcieGraph(2, 24, PHB), wire: 41.6, chain: 55.4, latency: 0.7},
		pairCase{
			kind: "pcie", file: "rtxpro6000_4_8_allreduce_small", tag: "NCCL", op: "all_reduce", ranks: 8, nodes: 1, version: "2.27", sm: 120, cpu: AMD, launch: CUDAGraph,
			graphs: pcieGraph(1, 0.1, SYS), wire: 41.6, chain: 55.4, latency: 0.7,
		},
		// Bridged pairs; between them every other card sends over PCIe.
		pairCase{kind: "pcie", file: "vidur_a100_pairwise_all_reduce", tag: "min", op: "all_reduce", ranks: 4, nodes: 1, version: "2.18", sm: 80, cpu: AMD, launch: PerGPU, graphs: pcieGraph(4, 12, PHB), wire: 26, chain: 26, latency: 0.6, lo: 399 << 10},
		pairCase{kind: "pcie", file: "uccl_l4_2_sendrecv", tag: "NCCL, same node (host staged)", op: "sendrecv", ranks: 2, nodes: 1, version: "2.27", sm: 89, cpu: Intel, launch: PerGPU, graphs: pcieGraph(1, 20, PHB), wire: 19.5, chain: 26, latency: 0.7},
	)
	// Four cards a switch and a switch a socket of AMD's.
	all = append(all, pairCase{
		kind: "pcie", file: "rtxpro6000_4_8_allreduce_small", tag: "NCCL", op: "all_reduce", ranks: 4, nodes: 1, version: "2.27", sm: 120, cpu: AMD, launch: CUDAGraph,
		graphs: pcieGraph(2, 24, PIX), wire: 55.4, chain: 55.4, latency: 0.2,
	})
	for _, run := range []string{"", ", small-size run"} {
		all = append(all, pairCase{
			kind: "pcie", file: "rtxpro6000_8_cpayne_allreduce_ring", tag: "Ring, group A (two root ports)" + run, op: "all_reduce", ranks: 8, nodes: 1, version: "2.27", sm: 120, cpu: AMD, launch: CUDAGraph,
			graphs: pcieGraph(2, 24, PXB), wire: 55.4, chain: 55.4, latency: 0.4, lo: map[bool]sim.Bytes{true: 1 << 20}[run == ""],
		})
	}
	for _, g := range []struct {
		name, version string
		sm, links     int
		wire          float64
		ranks         []int
	}{{"a100", "2.27", 80, 12, 276, []int{2, 4, 8}}, {"h100", "2.27", 90, 18, 396, []int{2, 4, 8}}, {"b300", "2.29", 103, 18, 746, []int{2, 4, 8}}, {"gb300", "2.29", 103, 18, 746, []int{2, 4}}} {
		for _, n := range g.ranks {
			all = append(all, pairCase{
				kind: "node", file: "aiconfigurator/" + g.name + "_nccl_alltoall", op: "alltoall", ranks: n, nodes: 1, version: g.version, sm: g.sm, launch: Threads,
				graphs: nodeGraphs(g.sm, n, g.links), wire: g.wire, latency: 0.276, peers: Peers{Links: g.links},
			})
		}
	}
	h100 := Peers{Links: 18, NICs: 1, NICRate: 48}
	all = append(all,
		pairCase{kind: "node", file: "xxrjun_h100_1n8_alltoall", tag: "median of 10", op: "alltoall", ranks: 8, nodes: 1, version: "2.29.2", sm: 90, graphs: nodeGraphs(90, 8, 18), wire: 396, latency: 0.276, peers: Peers{Links: 18}},
		pairCase{kind: "node", file: "xxrjun_h100_1n4_sendrecv", tag: "median of 10", op: "sendrecv", ranks: 4, nodes: 1, version: "2.29.2", sm: 90, graphs: nodeGraphs(90, 4, 18), wire: 396, latency: 0.276, peers: Peers{Links: 18}},
		pairCase{kind: "node", file: "vidur_h100_dgx_send_recv", tag: "min", op: "sendrecv", ranks: 2, nodes: 1, version: "2.18", sm: 90, launch: CUDAGraph, graphs: nodeGraphs(90, 2, 18), wire: 396, latency: 0.276, peers: Peers{Links: 18}},
		pairCase{kind: "node", file: "liplus_a100_8_sendrecv", op: "sendrecv", ranks: 8, nodes: 1, version: "2.21", sm: 80, launch: OneProcess, graphs: nodeGraphs(80, 8, 12), wire: 276, latency: 0.276, peers: Peers{Links: 12}, lo: 256 << 20},
		pairCase{kind: "node", file: "superbench_a100_8_alltoall", op: "alltoall", ranks: 8, nodes: 1, version: "2.18", sm: 80, launch: OneProcess, graphs: nodeGraphs(80, 8, 12), wire: 276, latency: 0.276, peers: Peers{Links: 12}},
		pairCase{kind: "node", file: "oci_gb300_1n4_alltoall", op: "alltoall", ranks: 4, nodes: 1, version: "2.28", sm: 103, graphs: nodeGraphs(103, 4, 18), wire: 746, latency: 0.276, peers: Peers{Links: 18}},
	)
	// Rings between nodes: a channel for each NIC, doubled, and once more with
	// rates above 45 on Hopper.
	between := func(nics int, rate float64) Graphs {
		g := pcieGraph(nics, rate, NVL)
		g.Ring.TypeInter, g.Tree.TypeInter = PIX, PIX
		return g
	}
	net := func(c pairCase) {
		c.kind, c.sm, c.wire, c.latency = "multi", 90, 48, 1.9
		c.peers, c.version = h100, "2.29.2"
		all = append(all, c)
	}
	net(pairCase{file: "xxrjun_h100_10n10_sendrecv", op: "sendrecv", ranks: 10, nodes: 10, graphs: between(1, 48)})
	net(pairCase{file: "xxrjun_h100_10n20_sendrecv", op: "sendrecv", ranks: 20, nodes: 10, graphs: between(2, 48)})
	net(pairCase{file: "xxrjun_h100_10n10_alltoall", op: "alltoall", ranks: 10, nodes: 10, graphs: between(1, 48)})
	net(pairCase{file: "xxrjun_h100_10n40_alltoall", op: "alltoall", ranks: 40, nodes: 10, graphs: between(4, 48)})
	for _, op := range []string{"sendrecv", "alltoall"} {
		net(pairCase{file: "xxrjun_h100_2n2_pairs", tag: "median of 45", op: op, ranks: 2, nodes: 2, graphs: between(1, 48)})
		net(pairCase{file: "xxrjun_h100_2n4_pairs", tag: "median of 45", op: op, ranks: 4, nodes: 2, graphs: between(2, 48)})
	}
	net(pairCase{file: "vidur_h100_dgx_send_recv", tag: "min", op: "sendrecv", ranks: 2, nodes: 2, graphs: between(1, 48), launch: CUDAGraph, lo: 64 << 10})
	all = append(all,
		pairCase{kind: "multi", file: "rtx6000d_2n16_alltoall_ar_off_b", op: "alltoall", ranks: 16, nodes: 2, version: "2.30", sm: 120, graphs: pcieGraph(4, 24, PHB), wire: 47.5, latency: 2.8, peers: Peers{NICs: 1, NICRate: 47.5}, plugin: Plugin{Base: 10 * sim.Microsecond}, hi: 8 << 20},
		pairCase{kind: "multi", file: "aws_p6b300_2n16_alltoall", op: "alltoall", ranks: 16, nodes: 2, version: "2.30", sm: 103, graphs: between(16, 48), wire: 96.8, latency: 5, peers: Peers{Links: 18, NICs: 2, NICRate: 96.8}, plugin: Plugin{Base: 20 * sim.Microsecond}},
		pairCase{kind: "multi", file: "uccl_l4_2_sendrecv", tag: "NCCL tuned, inter node", op: "sendrecv", ranks: 2, nodes: 2, version: "2.27", sm: 89, graphs: pcieGraph(1, 24, PHB), wire: 17.5, latency: 1.9, peers: Peers{NICs: 1, NICRate: 24}, skip: true},
	)
	return all
}

// pairRow is a row of a table.
type pairRow struct {
	size sim.Bytes
	us   float64
}

func (c pairCase) samples(t *testing.T) []pairRow {
	t.Helper()
	var all []pairRow
	var head []string
	csvText := shared(t, "reference/measurements/"+c.file+".csv")
	var lines []string
	for line := range strings.Lines(csvText) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	r := csv.NewReader(strings.NewReader(strings.Join(lines, "")))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	require.NoError(t, err)
	for i, rec := range records {
		if i == 0 {
			head = rec
			continue
		}
		get := func(name string) string {
			if at := slices.Index(head, name); at >= 0 && at < len(rec) {
				return rec[at]
			}
			return ""
		}
		number := func(name string) float64 {
			v, err := strconv.ParseFloat(get(name), 64)
			if err != nil {
				return 0
			}
			return v
		}
		placement := get("placement")
		if get("op") != c.op || int(number("ranks")) != c.ranks || int(number("nodes")) != c.nodes {
			continue
		}
		if c.tag == "min" && !strings.HasPrefix(placement, "min") || c.tag != "" && c.tag != "min" && get("algo") != c.tag {
			continue
		}
		row := pairRow{size: sim.Bytes(number("size_bytes")), us: number("time_us")}
		if row.us == 0 && number("algbw_gbps") > 0 {
			row.us = float64(row.size) / number("algbw_gbps") / 1e3
		}
		if row.us <= 0 || row.size <= 0 || row.size < c.lo || c.hi > 0 && row.size > c.hi {
			continue
		}
		all = append(all, row)
	}
	require.NotEmpty(t, all, "%s %s of %d", c.file, c.op, c.ranks)
	// A row far off both neighbours in size is a hiccup.
	same := func(i, j int) bool { return all[i].size == all[j].size }
	keep := all[:0:0]
	for i := range all {
		lo, hi := i-1, i+1
		for lo >= 0 && same(lo, i) {
			lo--
		}
		for hi < len(all) && same(hi, i) {
			hi++
		}
		least := math.Inf(1)
		if lo >= 0 {
			least = min(least, all[i].us/all[lo].us)
		}
		if hi < len(all) && all[i].us > 1.3*all[hi].us {
			continue // slower than a larger message: first use
		}
		if lo >= 0 && hi < len(all) && least > 2 && all[i].us > 2*all[hi].us {
			continue
		}
		keep = append(keep, all[i])
	}
	return keep
}

func (c pairCase) model(t *testing.T) *Model {
	t.Helper()
	v, err := ParseVersion(c.version)
	require.NoError(t, err)
	m, err := New(v, Summary{Ranks: c.ranks, Nodes: c.nodes, SM: c.sm, CPU: c.cpu, Graphs: c.graphs, Translated: c.translated}, Env{NetOverhead: -1})
	require.NoError(t, err, c.file)
	return m
}

var pairColls = map[string]workloads.Coll{
	"all_reduce": workloads.AllReduce, "all_gather": workloads.AllGather, "reduce_scatter": workloads.ReduceScatter, "reduce": workloads.Reduce,
}

// closed is the time of a message in microseconds, from the wires of the case.
func (c pairCase) closed(m *Model, size sim.Bytes) float64 {
	h, k := &hostCostsOf[GenerationOf(m.SM)], &peerCosts[GenerationOf(m.SM)]
	s := Setting{Launch: c.launch, Plugin: c.plugin}
	us := func(t sim.Time) float64 { return float64(t) / float64(sim.Microsecond) }
	total := func(p collective.Pace, hops, bytes, rate float64) float64 {
		if p.Limit > 0 {
			rate = min(rate, float64(p.Limit)/1e9)
		}
		return max(us(p.Floor), us(p.Start)+hops*(c.latency+us(p.Step))+us(p.Tail())+bytes/rate/1e3)
	}
	n := float64(c.ranks)
	if op, ok := pairColls[c.op]; ok {
		ch, err := m.Choose(op, size)
		if err != nil {
			return math.NaN()
		}
		p := m.hostPaceAt(h, op, ch, size, s)
		bytes, hops, rate := float64(size)*steps(op, c.ranks)/n, steps(op, c.ranks), c.wire
		if chained(op) {
			bytes, hops, rate = float64(size), n-1, c.chain
		}
		if ch.Algorithm == Tree {
			bytes, hops, rate = 2*float64(size), 2*(n-1), c.wire
		}
		return total(p, hops, bytes/ch.Protocol.Payload(), rate)
	}
	e := exchange{part: size, within: 1, oneWay: c.tag == "min"}
	if c.nodes > 1 {
		e.within, e.across = 0, 1
	}
	if c.op == "alltoall" {
		e = exchange{own: true, part: size / sim.Bytes(c.ranks), within: c.ranks/c.nodes - 1, across: c.ranks - c.ranks/c.nodes}
	}
	ch := m.exchangeAt(k, h, e, c.peers, s)
	rate := c.wire / float64(max(e.within+e.across, 1))
	if e.across > 0 {
		rate = c.wire / float64(e.across)
	}
	return total(ch.Pace, 1, float64(e.part)*ch.Overhead, rate)
}
