package kernels

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/optimize"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// exchanged is one row of a table of exchanges.
type exchanged struct {
	series string
	key    costKey
	x      Exchange
	n, per int
	us     float64
}

// nic is what a 400 Gb/s NIC carries, and netLatency one crossing.
const (
	nic        = sim.Rate(48.5e9)
	netLatency = 2 * sim.Microsecond
)

// exchangeRows reads the tables. DeepEP's normal kernels on 8 nodes are left
// out: notification and transfer trade places there, says the table.
func exchangeRows(t *testing.T) []exchanged {
	t.Helper()
	folder := measurements(t)
	var all []exchanged
	for _, file := range []string{"h100_deepep_ll", "b300_deepep_ll", "gb200_deepep_ll", "gb300_deepep_ll",
		"h100_deepep_normal", "h200_deepep_normal", "gb200_deepep_normal", "gb300_deepep_normal", "gb200_trtllm_alltoall_2_4_16_64"} {
		gpu := strings.SplitN(file, "_", 2)[0]
		for _, r := range tableRows(t, filepath.Join(folder, "aiconfigurator", file+".csv")) {
			x := Exchange{Tokens: int(figure(t, r, "tokens_per_rank")), Hidden: int(figure(t, r, "hidden")), TopK: int(figure(t, r, "topk")), Experts: int(figure(t, r, "experts"))}
			n, per := int(figure(t, r, "ranks")), 8
			x.Combine, x.LowLatency = strings.HasSuffix(r["op"], "combine"), strings.Contains(r["op"], "_ll_")
			library := "deepep"
			if strings.HasPrefix(r["op"], "trtllm") {
				library, per = "nvlink-a2a", n
				x.Balanced, x.OneSided = true, strings.HasPrefix(r["impl"], "NVLinkOneSided")
				x.Element = map[string]float64{"bfloat16": 2, "fp8": 1, "nvfp4": 0.5625}[r["dtype"]]
				if x.Combine {
					x.Element = 2
				}
				if strings.HasSuffix(r["op"], "prepare") || strings.HasSuffix(r["op"], "low_precision") {
					continue
				}
			}
			if r["sms"] != "" {
				x.Blocks = int(figure(t, r, "sms"))
			}
			if !x.LowLatency && library == "deepep" && n > 32 {
				continue
			}
			all = append(all, exchanged{
				series: fmt.Sprintf("%s %s %s %d", gpu, r["op"], r["impl"], n),
				key:    costKey{x.kernel(library), generationOf(gpus[gpu])}, x: x, n: n, per: per, us: figure(t, r, "time_us"),
			})
		}
	}
	return all
}

// predictExchange is the time in us of an exchange that has the machine for
// itself: its slowest stage, by the formula of [collective.Pace].
func predictExchange(e exchanged, c exchangeCost) float64 {
	members := e.n
	if e.n > e.per && !e.x.LowLatency {
		members, e.x.Ranks, e.x.Nodes = e.per, e.n, e.n/e.per
	}
	p := e.x.pace(c, e.key.on, members)
	mine := float64(e.x.Tokens) * e.x.TokenBytes()
	n, nodes := float64(e.n), float64(max(1, e.n/e.per))
	rate := min(float64(p.Limit)*float64(members-1), float64(wires[e.key.on]))
	took := mine * e.x.Reach(e.n) * (n - 1) / n / rate
	latency := wireLatency
	if nodes > 1 {
		latency = netLatency + p.NetStep
		within := mine * e.x.Reach(e.n) * (n/nodes - 1) / n * nodes
		across := mine * e.x.Reach(int(nodes)) * (nodes - 1) / nodes
		if e.x.LowLatency {
			within = mine * e.x.Reach(e.n) * (n/nodes - 1) / n
		}
		took = max(within/rate, across/float64(nic))
	}
	return (p.Start + latency).Microseconds() + took*1e6
}

func TestExchangeFit(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all tables")
	}
	rows := exchangeRows(t)
	known, err := exchangeCosts()
	require.NoError(t, err)
	var keys []costKey
	of := map[costKey]map[string][]exchanged{}
	var names []string
	for _, r := range rows {
		if of[r.key] == nil {
			of[r.key] = map[string][]exchanged{}
			keys = append(keys, r.key)
		}
		if of[r.key][r.series] == nil {
			names = append(names, r.series)
		}
		of[r.key][r.series] = append(of[r.key][r.series], r)
	}
	us := func(x float64) sim.Time { return sim.Time(math.Exp(x) * float64(sim.Microsecond)) }
	if *update {
		lines := strings.Split(exchangeTable, "\n")
		for _, key := range keys {
			from := known[key]
			begin := make([]float64, 7)
			for i, v := range []float64{from.start.Microseconds(), from.peer.Microseconds(), from.expert.Microseconds(), from.hidden.Microseconds(), from.turn.Microseconds(), float64(from.block) / 1e9, float64(from.rank) / 1e9} {
				begin[i] = math.Log(max(v, 1e-3))
			}
			at := func(x []float64) exchangeCost {
				c := from
				c.start, c.peer, c.hidden, c.turn = us(x[0]), us(x[1]), us(x[3]), us(x[4])
				if from.expert > 0 {
					c.expert = us(x[2])
				}
				c.block, c.rank = sim.Rate(math.Exp(x[5])*1e9), sim.Rate(math.Exp(x[6])*1e9)
				return c
			}
			x := begin
			for range 2 {
				r, err := optimize.Minimize(optimize.Problem{Func: func(x []float64) float64 {
					c, sum, pull := at(x), 0.0, 0.0
					for _, name := range names {
						one, group := 0.0, of[key][name]
						for _, e := range group {
							one += math.Abs(math.Log(predictExchange(e, c) / e.us))
						}
						if len(group) > 0 {
							sum += one / float64(len(group))
						}
					}
					for i := range x {
						pull += math.Abs(x[i] - begin[i])
					}
					return sum/float64(len(of[key])) + 1e-3*pull
				}}, x, &optimize.Settings{FuncEvaluations: 1200}, &optimize.NelderMead{SimplexSize: 0.3})
				require.NoError(t, err)
				x = r.X
			}
			c := at(x)
			known[key] = c
			for i, l := range lines {
				f := strings.SplitN(l, ",", 12)
				if len(f) == 12 && f[0] == key.kernel && f[1] == string(key.on) && f[10] == "measured" {
					lines[i] = fmt.Sprintf("%s,%s,%.2f,%.3f,%.4f,%.3f,%.3f,%.2f,%.0f,%s,%s,%s", f[0], f[1], c.start.Microseconds(), c.peer.Microseconds(), c.expert.Microseconds(),
						c.hidden.Microseconds(), c.turn.Microseconds(), c.block/1e9, c.rank/1e9, f[9], f[10], f[11])
				}
			}
		}
		require.NoError(t, os.WriteFile("exchange.csv", []byte(strings.Join(lines, "\n")), 0o644))
	}
	var medians, tails []float64
	for _, name := range names {
		var own []float64
		for _, key := range keys {
			for _, e := range of[key][name] {
				own = append(own, math.Abs(predictExchange(e, known[key])/e.us-1))
			}
		}
		slices.Sort(own)
		t.Logf("%-75s %4d points, median %.1f %%, 90th %.1f %%", name, len(own), 100*quantile(own, 0.5), 100*quantile(own, 0.9))
		medians, tails = append(medians, quantile(own, 0.5)), append(tails, quantile(own, 0.9))
	}
	slices.Sort(medians)
	slices.Sort(tails)
	t.Logf("%d series: median of medians %.1f %%, of 90th percentiles %.1f %%", len(names), 100*quantile(medians, 0.5), 100*quantile(tails, 0.5))
	assert.LessOrEqual(t, quantile(medians, 0.5), 0.10)
	assert.LessOrEqual(t, quantile(tails, 0.5), 0.30)
}

// TestExchangeAgainstH800 predicts what DeepEP's authors measured over the
// network with low latency, which nothing was fitted to. Eight ranks are left
// out: there they kept to the network, where later releases take NVLink.
func TestExchangeAgainstH800(t *testing.T) {
	costs, err := exchangeCosts()
	require.NoError(t, err)
	var errs []float64
	for _, r := range tableRows(t, filepath.Join(measurements(t), "deepep_h800_8to256_moe.csv")) {
		n := int(figure(t, r, "ep_ranks"))
		if n == 8 || !strings.HasPrefix(r["mode"], "low-latency") {
			continue
		}
		x := Exchange{Tokens: 128, LowLatency: true, Combine: r["phase"] == "combine", Experts: 256}
		e := exchanged{key: costKey{x.kernel("deepep"), hopper}, x: x, n: n, per: 8, us: figure(t, r, "latency_us")}
		got := predictExchange(e, costs[e.key])
		t.Logf("%s among %d: %.0f us, measured %.0f", r["phase"], n, got, e.us)
		errs = append(errs, math.Abs(got/e.us-1))
	}
	slices.Sort(errs)
	require.NotEmpty(t, errs)
	assert.LessOrEqual(t, quantile(errs, 0.5), 0.12, "median")
	assert.LessOrEqual(t, quantile(errs, 0.9), 0.20, "90th percentile")
}

// TestExchangeBytes holds the bytes against the tables' own count, which
// includes the copies that stay.
func TestExchangeBytes(t *testing.T) {
	v3 := Exchange{LowLatency: true}
	assert.InDelta(t, 59264, v3.TokenBytes()*v3.Reach(8), 0.5, "low-latency dispatch of a token of DeepSeek-V3")
	v3.Combine = true
	assert.InDelta(t, 114688, v3.TokenBytes()*v3.Reach(8), 0.5)
	for ranks, want := range map[int]float64{8: 75904, 16: 93517, 32: 104176, 64: 110039} {
		assert.InDelta(t, want, Exchange{Combine: true}.TokenBytes()*Exchange{Combine: true}.Reach(ranks), 1, "normal combine, %d ranks", ranks)
	}
}

func TestExchangeProgram(t *testing.T) {
	p, err := Exchange{Tokens: 128}.Program(16, 8)
	require.NoError(t, err)
	require.Len(t, p.Classes[0].Ops, 2)
	between, within := p.Classes[0].Ops[0], p.Classes[0].Ops[1]
	assert.Len(t, between.Splits, 2)
	assert.Len(t, within.Splits, 8)
	token := Exchange{}.TokenBytes()
	assert.LessOrEqual(t, float64(between.Splits[0]), 128*token+1, "a token crosses once, however many experts a node has")
	one, err := Exchange{Tokens: 128, LowLatency: true}.Program(16, 8)
	require.NoError(t, err)
	require.Len(t, one.Classes[0].Ops, 1)
	back := Exchange{Tokens: 128, Combine: true}
	both, err := ExchangeProgram([]Exchange{{Tokens: 128}, back}, 64, 16, 8)
	require.NoError(t, err)
	ops := both.Classes[0].Ops
	require.Len(t, ops, 4)
	assert.Len(t, both.Comms[0].Groups, 32, "four groups of 16, eight places each")
	assert.Equal(t, []int32{16, 24}, both.Comms[0].Groups[8], "the first place of the second group")
	assert.Len(t, both.Comms[1].Groups, 8)
	assert.Equal(t, []int32{0, 1}, ops[3].Deps, "combine waits for all of the dispatch")
	assert.Equal(t, workloads.AllToAllV, ops[1].Coll)
	assert.Equal(t, workloads.AllToAll, ops[3].Coll)
	assert.InEpsilon(t, 128*back.TokenBytes()*back.Reach(16), float64(ops[3].Bytes), 1e-4)
	part, err := ExchangeProgram([]Exchange{back}, 8, 4, 8)
	require.NoError(t, err)
	assert.Len(t, part.Comms[0].Groups, 2, "two groups in one node")
	_, err = ExchangeProgram([]Exchange{back}, 24, 16, 8)
	assert.ErrorContains(t, err, "24 ranks in groups of 16: want whole groups")
	for _, bad := range []struct {
		x          Exchange
		ranks, per int
	}{{Exchange{}, 16, 8}, {Exchange{Tokens: 1}, 12, 8}, {Exchange{Tokens: 1, TopK: 9, Experts: 8}, 8, 8}, {Exchange{Tokens: -1}, 8, 8}} {
		_, err := bad.x.Program(bad.ranks, bad.per)
		assert.ErrorContains(t, err, "exchange of tokens", "%+v", bad)
	}
}

func TestExchangeLibraries(t *testing.T) {
	l, err := New("deepep", gpus["h100"], Setting{Exchange: Exchange{LowLatency: true, Combine: true}}, collective.Default)
	require.NoError(t, err)
	c, err := l.Choose(workloads.AllToAll, sim.MiB, ranks(8))
	require.NoError(t, err)
	assert.Equal(t, "ll-combine", c.Label())
	assert.Equal(t, collective.Direct, c.Algorithm)
	c, err = l.Choose(workloads.AllReduce, sim.MiB, ranks(8))
	require.NoError(t, err)
	assert.Contains(t, c.Why, "all-to-all only")
	apart := gpus["gb200"]
	apart.Host = func(r int32) int32 { return r / 4 }
	l, err = New("nvlink-a2a", apart, Setting{}, collective.Default)
	require.NoError(t, err)
	c, err = l.Choose(workloads.AllToAllV, sim.MiB, ranks(8))
	require.NoError(t, err)
	assert.Contains(t, c.Why, "several NVLink domains")
}

func TestExchangesSayWhyTheyDoNotRun(t *testing.T) {
	rack := gpus["gb200"]
	rack.Host, rack.Domain = func(r int32) int32 { return r / 4 }, func(int32) int32 { return 0 }
	pairs := gpus["h100"]
	pairs.Domain = func(r int32) int32 { return r / 2 }
	pairs.Host = func(int32) int32 { return 0 }
	for _, c := range []struct {
		library string
		m       Machine
		x       Exchange
		want    string // "" runs
	}{
		{"deepep", rack, Exchange{}, "within a host alone"},
		{"deepep", rack, Exchange{LowLatency: true}, ""},
		{"nvlink-a2a", rack, Exchange{}, ""},
		{"nvlink-a2a", rack, Exchange{LowLatency: true}, "no mode of low latency"},
		{"nvlink-a2a", gpus["h100"], Exchange{}, "no kernels for hopper"},
		{"deepep", pairs, Exchange{}, "do not all meet over NVLink"},
		{"deepep", Machine{SM: 70, NVLink: true}, Exchange{}, "compute capability 7.0"},
		{"deepep", Machine{SM: 90}, Exchange{}, "needs NVLink"},
		{"vllm", gpus["h100"], Exchange{}, "no kernels for an exchange"},
	} {
		l, err := New(c.library, c.m, Setting{Exchange: c.x}, collective.Default)
		require.NoError(t, err)
		err = l.Exchanges(ranks(8))
		if c.want == "" {
			assert.NoError(t, err, "%s %+v", c.library, c.x)
		} else {
			assert.ErrorContains(t, err, c.want, "%s %+v", c.library, c.x)
		}
	}
}

// TestReachIsNoMoreThanThereIs draws models: a token goes to at least one part,
// at most to all of them or to one for each of its experts.
func TestReachIsNoMoreThanThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.IntRange(1, 64).Draw(t, "parts")
		x := Exchange{Experts: parts * rapid.IntRange(1, 16).Draw(t, "local"), Balanced: rapid.Bool().Draw(t, "balanced")}
		x.TopK = rapid.IntRange(1, x.Experts).Draw(t, "topk")
		r := x.Reach(parts)
		require.GreaterOrEqual(t, r, 1-1e-9)
		require.LessOrEqual(t, r, float64(min(parts, x.TopK))+1e-9)
	})
}

// TestExchangeStages holds the thread blocks of two stages against paper: a
// token of DeepSeek-V3 on its way back is copied 6.52 times over NVLink and
// twice 1.99 times about the network.
func TestExchangeStages(t *testing.T) {
	x := Exchange{Combine: true, Ranks: 16, Nodes: 2}
	assert.InDelta(t, 6.52, x.Reach(16), 0.01)
	assert.InDelta(t, 2*1.993, x.staged(), 0.01)
	c := exchangeCost{block: 17e9, rank: 1e15}
	turn := 14336 * (6.52 + 2*1.993) / 17e9
	assert.InEpsilon(t, 24*14336*6.52*7/8/turn/7, float64(x.pace(c, hopper, 8).Limit), 1e-3, "each of seven lanes within the node")
	x.LowLatency = true
	assert.Zero(t, x.staged(), "no stages")
	assert.InDelta(t, 1.993, Exchange{Ranks: 16, Nodes: 2}.staged(), 0.01, "out, a token is staged once")
}
