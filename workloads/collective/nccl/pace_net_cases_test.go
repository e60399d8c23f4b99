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
)

// netCase is a published table and the machine that it was measured on.
type netCase struct {
	file         string
	op           workloads.Coll
	ranks, nodes int
	tag          string // of the table's algo column; "" takes rows without one
	version      string
	fabric       Fabric
	graphs       *Graphs // where the fabric has no closed form
	cpu          CPU
	env          []string
	net          string  // a network of netWires
	ports        float64 // of net, for each node
	launch       Launch
	lo, hi       sim.Bytes // 0 is no bound
	cloud        bool      // a cloud's plugin
}

// wires are a network's figures in the catalogue, for the closed form of the
// time that the fit needs; predictions for users come from the graph.
type wires struct {
	rate    float64 // GB/s of a port, usable
	latency float64 // us of a crossing, NIC to NIC and to the GPUs
	plugin  Plugin
}

const us = sim.Microsecond

// Usable rates and latencies of a crossing, and plugins: configs/catalog, as
// weft topo shows them.
var netWires = map[string]wires{
	"edr":     {12.1, 1.15, Plugin{}},
	"hdr":     {24.2, 1.3, Plugin{}},
	"ndr":     {49.2, 1.4, Plugin{}},
	"roce100": {11.9, 2.5, Plugin{}},
	"roce200": {23.8, 1.7, Plugin{}},
	"roce400": {47.5, 1.7, Plugin{}},
	"efa-p4":  {12.1, 11, Plugin{Base: 66 * us, Post: 22 * us, Rate: 0.886}},
	"efa-p5":  {12.1, 7, Plugin{Step: 12 * us, Post: 2 * us}},
	"efa-p6":  {48.4, 5, Plugin{Step: 20 * us, Post: 3 * us / 20}},
	"tcpx":    {17.9, 61, Plugin{Post: 43 * us}},
	"tcpxo":   {22.6, 21, Plugin{Base: 13 * us, Step: us, Post: 20 * us}},
	"sling":   {23.8, 1.9, Plugin{Post: 5 * us, Eager: 4 * sim.KiB}},
}

func dgx(sm, nodes, per, nics int, rate float64) Fabric {
	links := 18
	if sm < 90 {
		links = 12
	}
	return Fabric{Nodes: nodes, GPUs: per, SM: sm, Links: links, Switched: true, NICs: nics, NICRate: rate, NICPath: PIX, NearNIC: 2}
}

// lone is a node of one GPU with one NIC: a channel at the highest rate that
// fits, cut in two where NCCL cuts.
func lone(channels int, rate float64) *Graphs {
	g := Graph{Channels: channels, Intra: rate, Inter: rate, TypeIntra: LOC, TypeInter: PIX, Pattern: RingPattern}
	t := g
	t.Pattern = BalancedTree
	return &Graphs{Ring: g, Tree: t}
}

func netCases() []netCase {
	const (
		ar = workloads.AllReduce
		ag = workloads.AllGather
		rs = workloads.ReduceScatter
		mi = sim.MiB
	)
	h100 := func(nodes int) Fabric { return dgx(90, nodes, 8, 8, 48) }
	few := func(per int) Fabric { return dgx(90, 10, per, per, 48) }
	a100 := func(nodes, nics int, rate float64) Fabric { return dgx(80, nodes, 8, nics, rate) }
	mesh := &Graphs{
		Ring: Graph{Channels: 4, Intra: 24, Inter: 24, TypeIntra: NVL, TypeInter: P2C, Pattern: RingPattern},
		Tree: Graph{Channels: 4, Intra: 24, Inter: 24, TypeIntra: NVL, TypeInter: P2C, Pattern: PlainTree},
	}
	cube := func(n int) *Graphs {
		return &Graphs{
			Ring: Graph{Channels: n, Intra: 12, Inter: 12, TypeIntra: NVL, TypeInter: PHB, Pattern: RingPattern},
			Tree: Graph{Channels: n, Intra: 20, Inter: 12, TypeIntra: NVL, TypeInter: PHB, Pattern: BalancedTree},
		}
	}
	summit := func(nodes int) Fabric { return Fabric{Nodes: nodes, GPUs: 1, SM: 60} }
	all := []netCase{
		{file: "ndr_h100_2n16_allreduce_full", op: ar, ranks: 16, nodes: 2, version: "2.26.2", fabric: h100(2), net: "ndr", ports: 8},
		{file: "ndr_h100_2n16_allreduce_default_1m", op: ar, ranks: 16, nodes: 2, version: "2.26.2", fabric: h100(2), net: "ndr", ports: 8},
		{file: "ndr_h100_2n16_allreduce_ring", op: ar, ranks: 16, nodes: 2, tag: "Ring", version: "2.26.2", fabric: h100(2), net: "ndr", ports: 8, env: []string{"NCCL_ALGO=Ring", "NCCL_MIN_CTAS=24"}},
		{file: "ndr_h100_4n32_allreduce_default_1m", op: ar, ranks: 32, nodes: 4, version: "2.26.2", fabric: h100(4), net: "ndr", ports: 8},
		{file: "ndr_h100_8n64_allreduce_default", op: ar, ranks: 64, nodes: 8, version: "2.26.2", fabric: h100(8), net: "ndr", ports: 8},
		{file: "h100_2n16_allreduce_256m", op: ar, ranks: 16, nodes: 2, version: "2.21", fabric: h100(2), net: "ndr", ports: 8},
		{file: "nebius_h100_2n16_torch_allreduce", op: ar, ranks: 16, nodes: 2, tag: "run 1", version: "2.20.5", fabric: h100(2), net: "ndr", ports: 8, launch: PyTorch},
		{file: "xxrjun_h100_10n10_all_reduce", op: ar, ranks: 10, nodes: 10, version: "2.29.2", fabric: few(1), graphs: lone(2, 24), net: "ndr", ports: 1},
		{file: "xxrjun_h100_10n10_all_gather", op: ag, ranks: 10, nodes: 10, version: "2.29.2", fabric: few(1), graphs: lone(2, 24), net: "ndr", ports: 1},
		{file: "xxrjun_h100_10n10_reduce_scatter", op: rs, ranks: 10, nodes: 10, version: "2.29.2", fabric: few(1), graphs: lone(2, 24), net: "ndr", ports: 1},
		{file: "xxrjun_h100_10n20_all_reduce", op: ar, ranks: 20, nodes: 10, version: "2.29.2", fabric: few(2), net: "ndr", ports: 2},
		{file: "xxrjun_h100_10n20_all_gather", op: ag, ranks: 20, nodes: 10, version: "2.29.2", fabric: few(2), net: "ndr", ports: 2},
		{file: "xxrjun_h100_10n20_reduce_scatter", op: rs, ranks: 20, nodes: 10, version: "2.29.2", fabric: few(2), net: "ndr", ports: 2},
		{file: "xxrjun_h100_10n40_all_gather", op: ag, ranks: 40, nodes: 10, version: "2.29.2", fabric: few(4), net: "ndr", ports: 4},
		{file: "xxrjun_h100_10n40_reduce_scatter", op: rs, ranks: 40, nodes: 10, version: "2.29.2", fabric: few(4), net: "ndr", ports: 4},
		{file: "xxrjun_h100_10n80_all_reduce", op: ar, ranks: 80, nodes: 10, version: "2.29.2", fabric: few(8), net: "ndr", ports: 8},
		{file: "h20_2n16_allreduce_default", op: ar, ranks: 16, nodes: 2, version: "2.20", fabric: h100(2), net: "ndr", ports: 8},
		{file: "oci_h100_2n16_allreduce", op: ar, ranks: 16, nodes: 2, version: "2.23.4", fabric: h100(2), net: "roce400", ports: 8},
		{file: "oci_h200_2n16_allreduce", op: ar, ranks: 16, nodes: 2, version: "2.27.5", fabric: h100(2), net: "roce400", ports: 8},
		{file: "redhat_h200_2n16_allreduce", op: ar, ranks: 16, nodes: 2, version: "2.30.4", fabric: h100(2), net: "roce400", ports: 8, launch: OneProcess},
		{file: "gcp_a3ultra_2n16_allgather", op: ag, ranks: 16, nodes: 2, version: "2.26", fabric: h100(2), net: "roce400", ports: 8},
		{file: "gke_h200_2n2_allgather", op: ag, ranks: 2, nodes: 2, version: "2.25.1", fabric: dgx(90, 2, 1, 1, 48), graphs: lone(2, 24), net: "roce400", ports: 1, hi: 64 * mi},
		{file: "gke_b200_2n2_allgather", op: ag, ranks: 2, nodes: 2, version: "2.26", fabric: dgx(100, 2, 1, 1, 48), graphs: lone(2, 24), net: "roce400", ports: 1},
		{file: "deepops_dgxa100_4n32_allreduce", op: ar, ranks: 32, nodes: 4, version: "2.18", fabric: a100(4, 8, 24), cpu: AMD, net: "hdr", ports: 8},
		{file: "dgxa100_2n16_allreduce_ring_small", op: ar, ranks: 16, nodes: 2, tag: "Ring", version: "2.18", fabric: a100(2, 8, 24), cpu: AMD, net: "hdr", ports: 8, env: []string{"NCCL_ALGO=Ring"}},
		{file: "a100_hdr_2n2_allreduce_small", op: ar, ranks: 2, nodes: 2, version: "2.18", fabric: dgx(80, 2, 1, 1, 24), graphs: lone(1, 24), cpu: AMD, net: "hdr", ports: 1},
		{file: "coreweave_a100_128_allreduce", op: ar, ranks: 128, nodes: 16, version: "2.23", fabric: a100(16, 2, 24), cpu: AMD, net: "hdr", ports: 2},
		{file: "a800_12n24_allreduce", op: ar, ranks: 24, nodes: 12, version: "2.20", fabric: dgx(80, 12, 2, 2, 24), net: "hdr", ports: 2},
		{file: "azure_ndv2_v100_2n16_allreduce", op: ar, ranks: 16, nodes: 2, version: "2.18", fabric: Fabric{Nodes: 2, GPUs: 8, SM: 70}, graphs: cube(1), net: "edr", ports: 1, lo: 64 * mi},
		{file: "deepops_dgx1v_2n16_roce_allreduce", op: ar, ranks: 16, nodes: 2, version: "2.18", fabric: Fabric{Nodes: 2, GPUs: 8, SM: 70}, graphs: cube(2), net: "roce100", ports: 2, lo: 32 * mi, env: []string{"NCCL_ALGO=Ring"}},
		{file: "cscs_alps_gh200_2n8_allreduce", op: ar, ranks: 8, nodes: 2, version: "2.26", fabric: dgx(90, 2, 4, 4, 24), graphs: mesh, cpu: ARM, net: "sling", ports: 4, cloud: true},
		{file: "cscs_alps_gh200_2n8_allreduce_ompi5", op: ar, ranks: 8, nodes: 2, version: "2.26", fabric: dgx(90, 2, 4, 4, 24), graphs: mesh, cpu: ARM, net: "sling", ports: 4, cloud: true},
		{file: "aws_p4de_2n16_allreduce", op: ar, ranks: 16, nodes: 2, version: "2.23", fabric: a100(2, 4, 12), net: "efa-p4", ports: 4, cloud: true},
		{file: "aws_p5_2n16_allreduce_old", op: ar, ranks: 16, nodes: 2, version: "2.18", fabric: dgx(90, 2, 8, 32, 12), cpu: AMD, net: "efa-p5", ports: 32, cloud: true},
		{file: "stas_p6b200_4n32_allreduce", op: ar, ranks: 32, nodes: 4, version: "2.27.7", fabric: dgx(100, 4, 8, 8, 48), net: "efa-p6", ports: 8, launch: PyTorch, cloud: true},
		{file: "aws_p6b300_2n16_all_gather", op: ag, ranks: 16, nodes: 2, version: "2.30.7", fabric: dgx(103, 2, 8, 16, 48), net: "efa-p6", ports: 16, cloud: true},
		{file: "gcp_a3mega_2n16_allreduce", op: ar, ranks: 16, nodes: 2, version: "2.23", fabric: dgx(90, 2, 8, 8, 24), env: []string{"NCCL_NVLS_ENABLE=0"}, net: "tcpxo", ports: 8, cloud: true},
		{file: "gcp_a3high_2n16_allgather", op: ag, ranks: 16, nodes: 2, version: "2.18", fabric: dgx(90, 2, 8, 4, 24), env: []string{"NCCL_ALGO=Ring", "NCCL_PROTO=Simple"}, net: "tcpx", ports: 4, cloud: true},
		{file: "l40s_2n2_allreduce", op: ar, ranks: 2, nodes: 2, version: "2.27.3", fabric: Fabric{Nodes: 2, GPUs: 1, SM: 89}, graphs: lone(1, 12), net: "roce100", ports: 1},
	}
	for n := 2; n <= 8; n++ {
		for _, op := range []workloads.Coll{ar, workloads.Broadcast, workloads.Reduce, ag, rs} {
			if (op == ag || op == rs) && n < 8 {
				continue // odd numbers of ranks at half the rate: parts that are not a multiple of 16 bytes
			}
			all = append(all, netCase{file: "tartan_summitdev_p100_2to8nodes_ops", op: op, ranks: n, nodes: n, tag: "GDR", version: "2.18", env: []string{"NCCL_ALGO=Ring", "NCCL_PROTO=LL,Simple"}, fabric: summit(n), graphs: lone(1, 12), net: "edr", ports: 1, lo: 64})
		}
	}
	return all
}

// weight is what a table counts in the fit: little where the collection
// doubts it.
func (c netCase) weight() float64 {
	switch c.file {
	case "h20_2n16_allreduce_default", "xxrjun_h100_10n80_all_reduce":
		return 0.3
	case "gke_h200_2n2_allgather", "l40s_2n2_allreduce":
		return 0
	case "tartan_summitdev_p100_2to8nodes_ops":
		if c.ranks < 8 {
			return 1. / 7
		}
	}
	return 1
}

// netSample is a measured time.
type netSample struct {
	size sim.Bytes
	us   float64
}

// samples returns the rows of a case: both placements, without the warm-up of
// a run and without rows far off their neighbours, as the collection says.
func (c netCase) samples(t *testing.T) []netSample {
	t.Helper()
	var text strings.Builder
	for line := range strings.Lines(shared(t, "reference/measurements/"+c.file+".csv")) {
		if !strings.HasPrefix(line, "#") {
			text.WriteString(line)
		}
	}
	table, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	require.NoError(t, err)
	at := map[string]int{}
	for i, name := range table[0] {
		at[name] = i
	}
	byPlacement := map[string][]netSample{}
	for _, row := range table[1:] {
		get := func(name string) string { return row[at[name]] }
		if get("op") != c.op.String() || get("ranks") != strconv.Itoa(c.ranks) || get("nodes") != strconv.Itoa(c.nodes) || get("algo") != c.tag {
			continue
		}
		size, err := strconv.ParseInt(get("size_bytes"), 10, 64)
		require.NoError(t, err)
		s := netSample{size: sim.Bytes(size)}
		if v := get("time_us"); v != "" {
			s.us = decimal(t, v)
		} else if v := get("busbw_gbps"); v != "" && size > 0 && decimal(t, v) >= 0.05 { // two decimals are printed
			n := float64(c.ranks)
			factor := 1.
			switch c.op {
			case workloads.AllReduce:
				factor = 2 * (n - 1) / n
			case workloads.AllGather, workloads.ReduceScatter:
				factor = (n - 1) / n
			}
			s.us = float64(size) * factor / decimal(t, v) / 1000
		}
		if s.us <= 0 || c.lo > 0 && s.size < c.lo || c.hi > 0 && s.size > c.hi {
			continue
		}
		byPlacement[get("placement")] = append(byPlacement[get("placement")], s)
	}
	var all []netSample
	for _, p := range []string{"out", "in", ""} {
		list := byPlacement[p]
		slices.SortStableFunc(list, func(a, b netSample) int { return int(max(-1, min(1, a.size-b.size))) })
		for i, s := range list {
			if i == 0 && p == "out" && len(list) > 12 || i+1 < len(list) && s.us > 1.3*list[i+1].us {
				continue
			}
			all = append(all, s)
		}
	}
	require.NotEmpty(t, all, "%s %v %d", c.file, c.op, c.ranks)
	return all
}

func (c netCase) model(t *testing.T) *Model {
	t.Helper()
	v, err := ParseVersion(c.version)
	require.NoError(t, err)
	env, err := ParseEnv(v, c.env)
	require.NoError(t, err)
	s := Summary{Ranks: c.ranks, Nodes: c.nodes, SM: c.fabric.SM, CPU: c.cpu}
	if c.graphs != nil {
		s.Graphs = *c.graphs
	} else if s.Graphs, err = c.fabric.Graphs(v); err != nil {
		require.NoError(t, err, c.file)
	}
	m, err := New(v, s, env)
	require.NoError(t, err)
	return m
}

// closed is the time that the fluid model gives a collective alone, in us: the
// formula of [collective.Pace] with the wires' rate worked out by hand.
func (c netCase) closed(m *Model, ch Choice, size sim.Bytes, setting Setting) float64 {
	w := netWires[c.net]
	n, per, nodes := float64(c.ranks), float64(c.ranks/c.nodes), float64(c.nodes)
	nv := map[bool]float64{true: 396, false: 276}[c.fabric.SM >= 90]
	switch {
	case c.fabric.SM >= 100:
		nv = 792
	case c.fabric.SM == 70:
		nv = 132
	}
	if c.ranks == c.nodes {
		nv = math.Inf(1)
	}
	node := w.rate * c.ports // out of a node
	wire := 1 / ch.Protocol.Payload()
	var hops, net, bytes, rate float64
	switch ch.Algorithm {
	case Ring:
		bytes, rate = float64(size)*wire*steps(c.op, c.ranks)/n, min(nv, node)
		hops, net = steps(c.op, c.ranks), nodes
		if c.op == workloads.AllReduce {
			net = 2 * nodes
		}
		if chained(c.op) {
			bytes, hops, net = float64(size)*wire, n-1, nodes-1
		}
		net = min(net, hops)
	case Tree, NVLSTree:
		bytes = float64(size) * wire
		edges := 2. // of S/2, that leave the busiest node
		if c.nodes > 2 {
			edges = 4
		}
		rate = min(node*2/edges, nv*per/max(1, 2*(per-1)))
		hops, net = 2*(per-1), 2*m.log2Nodes()
		if ch.Algorithm == NVLSTree {
			bytes *= (per + 1) / per
			rate = min(node*2/edges*(per+1)/per, nv)
			hops = 2
		}
		hops += net
	case PAT:
		bytes, rate = float64(size), node*n/(n-1)
		hops, net = math.Ceil(math.Log2(n)), math.Ceil(math.Log2(n))
	}
	p := m.netPace(c.op, ch, size, setting)
	usOf := func(t sim.Time) float64 { return float64(t) / 1e6 }
	within, across := 0.276+usOf(p.Step), w.latency+usOf(p.NetStep)
	switch limit := float64(p.Limit) / 1e9; {
	case limit < rate:
		rate = limit
	case ch.Algorithm == Ring && !chained(c.op):
		// Links within nodes are free before those between.
		message := bytes / hops
		within -= max(0, message/rate/1000-message/per/nv/1000)
	}
	total := usOf(p.Start) + max((hops-net)*within+net*across, across) + usOf(p.Tail()) + bytes/rate/1000
	return max(usOf(p.Floor), total)
}
