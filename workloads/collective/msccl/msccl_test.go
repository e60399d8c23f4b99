package msccl

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/nccl"
	"github.com/weft-sim/weft/workloads/replay"
)

func star(t testing.TB, n int, rate sim.Rate, latency sim.Time) *topology.Machine {
	m, err := machine.Build(machine.Star(n, topology.Wire{Rate: rate, Latency: latency, Class: topology.Class{Name: "port"}}))
	require.NoError(t, err)
	return m
}

func ranks(n int) []int32 {
	var all []int32
	for r := range n {
		all = append(all, int32(r))
	}
	return all
}

func parse(t testing.TB, text string) *Algorithm {
	a, err := Read("test.xml", []byte(text))
	require.NoError(t, err)
	_, err = a.Check()
	require.NoError(t, err)
	return a
}

func timed(t testing.TB, a *Algorithm, m *topology.Machine, size sim.Bytes, c Costs, o replay.Options) *replay.Result {
	r, err := a.Expand(size, ranks(len(a.GPUs)), int32(len(m.Ranks)), c)
	require.NoError(t, err)
	require.NoError(t, r.Program.Validate())
	o.Send = r.Send
	res, err := replay.Run(context.Background(), r.Program, m, o)
	require.NoError(t, err)
	return res
}

// flat is a pace that no size changes.
func flat(step sim.Time, block sim.Rate) func(sim.Bytes) collective.Pace {
	return func(sim.Bytes) collective.Pace { return collective.Pace{Step: step, NetStep: step, Limit: block} }
}

// A ring of n ranks takes n-1 steps of S/n and a latency each, and all-reduce
// twice as many: what weft's own ring takes, and what can be reckoned by hand.
// Chunks are below what one chunk of Simple carries, so that there is one loop.
func TestRingOfAFileIsWeftsRing(t *testing.T) {
	const rate, lat = 100 * sim.GBps, 500 * sim.Nanosecond
	for _, coll := range []struct {
		name  string
		op    workloads.Coll
		steps int
	}{{"allgather", workloads.AllGather, 1}, {"allreduce", workloads.AllReduce, 2}} {
		for _, n := range []int{4, 8} {
			a := parse(t, ringOf(coll.name, n, 1, "Simple", ""))
			m := star(t, n, rate, lat)
			for _, size := range []sim.Bytes{4 * sim.KiB, sim.MiB, sim.Bytes(n) * 2 * sim.MiB} {
				steps := float64(coll.steps * (n - 1))
				hand := steps * (float64(size)/float64(n)/float64(rate) + 1e-6) // two links a way
				program := &workloads.Program{Name: "own", World: int32(n), Comms: []workloads.Comm{{Name: "all", Groups: [][]int32{ranks(n)}}}, Classes: []workloads.Class{{
					Name: "rank", Ranks: ranks(n), Streams: []workloads.Stream{{Name: "comm"}},
					Ops: []workloads.Op{{Name: "c", Kind: workloads.Collective, Coll: coll.op, Bytes: size}},
				}}}
				own, err := replay.Run(context.Background(), program, m, replay.Options{Choose: collective.Explicit(collective.Ring)})
				require.NoError(t, err)
				require.InEpsilon(t, hand, own.StepTime.Seconds(), 1e-3)
				got := timed(t, a, m, size, Costs{}, replay.Options{})
				// A slice goes on while the next one comes: some latency is hidden.
				assert.LessOrEqual(t, got.StepTime.Seconds(), hand*1.001, "%s n=%d %d bytes", coll.name, n, size)
				assert.GreaterOrEqual(t, got.StepTime.Seconds(), hand-steps*1e-6, "%s n=%d %d bytes: less than the wires allow", coll.name, n, size)
				if size > sim.MiB {
					assert.InEpsilon(t, hand, got.StepTime.Seconds(), 0.05, "%s n=%d %d bytes", coll.name, n, size)
				}
				if size == 4*sim.KiB {
					assert.InEpsilon(t, hand, got.StepTime.Seconds(), 1e-3, "one unit has nothing to hide behind")
				}
			}
		}
	}
}

// Where a chunk is handed on in small units, a chain costs little more than one
// step: a broadcast over n-1 steps of S bytes is S/B and a unit for each GPU in
// between.
func TestUnitsGoOnAtOnce(t *testing.T) {
	text := `<algo name="chain" proto="LL" nchannels="1" nchunksperloop="1" ngpus="3" coll="broadcast" inplace="1">
<gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" send="1" recv="-1" chan="0"><step s="0" ` + stepOf("s", "i0", "i0") + `</tb></gpu>
<gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" send="2" recv="0" chan="0"><step s="0" ` + stepOf("rcs", "i0", "o0") + `</tb></gpu>
<gpu id="2" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" send="-1" recv="1" chan="0"><step s="0" ` + stepOf("r", "i0", "o0") + `</tb></gpu>
</algo>`
	a := parse(t, text)
	m := star(t, 3, 10*sim.GBps, 0)
	// 32 KiB of LL are 64 KiB on the wire, in 8 units of 8 KiB.
	got := timed(t, a, m, 32*sim.KiB, Costs{}, replay.Options{})
	require.InEpsilon(t, (64+8)*1024/10e9, got.StepTime.Seconds(), 1e-3)
	// Twice as much is two loops, one after the other.
	got = timed(t, a, m, 64*sim.KiB, Costs{}, replay.Options{})
	require.InEpsilon(t, (128+8)*1024/10e9, got.StepTime.Seconds(), 1e-3)
	// A step and the start of a kernel are there once each on this way, a step twice.
	got = timed(t, a, m, 1*sim.KiB, Costs{Start: sim.Microsecond, Message: flat(2*sim.Microsecond, 5*sim.GBps)}, replay.Options{})
	require.InEpsilon(t, 1e-6+2*(2e-6+2048/5e9), got.StepTime.Seconds(), 1e-3)
}

func TestLocalReductionTakesMemory(t *testing.T) {
	c := Costs{Local: 10 * sim.GBps, Memory: 60 * sim.GBps}
	require.Equal(t, 100*sim.Microsecond, c.LocalTime(sim.MB, 3, 1), "a block alone is what limits")
	require.Equal(t, 200*sim.Microsecond, c.LocalTime(sim.MB, 3, 4), "four share 60 GB/s, of which each byte takes three")
	require.Zero(t, (&Costs{}).LocalTime(sim.MB, 3, 4))
}

// Equal ranks may be simulated once.
func TestCollapseChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(rt, "ranks")
		coll := rapid.SampledFrom([]string{"allgather", "allreduce"}).Draw(rt, "coll")
		proto := rapid.SampledFrom([]string{"LL", "LL128", "Simple"}).Draw(rt, "proto")
		channels := rapid.IntRange(1, 3).Draw(rt, "channels")
		size := sim.Bytes(n*channels) * sim.Bytes(rapid.IntRange(1, 200_000).Draw(rt, "chunk"))
		a := parse(t, ringOf(coll, n, channels, proto, ""))
		m := star(t, n+1, 50*sim.GBps, 300*sim.Nanosecond)
		c := Costs{Start: sim.Microsecond, Message: flat(sim.Microsecond, 11*sim.GBps), Spread: 5, Floor: 2 * sim.Microsecond}
		on := timed(t, a, m, size, c, replay.Options{Collapse: replay.Auto})
		off := timed(t, a, m, size, c, replay.Options{Collapse: replay.Off})
		require.Equal(rt, off.StepTime, on.StepTime)
	})
}

// The kernels of MSCCL are NCCL's: a ring of a file costs what NCCL's ring does.
func TestCostsAreThoseOfNCCLsRing(t *testing.T) {
	const n, channels = 8, 4
	m := &nccl.Model{Version: nccl.Latest, Summary: nccl.Summary{Ranks: n, Nodes: 1, SM: 90}}
	m.Ring.TypeIntra = nccl.NVL
	board := star(t, n, 400*sim.GBps, 250*sim.Nanosecond)
	for _, proto := range []string{"LL", "LL128", "Simple"} {
		a := parse(t, ringOf("allgather", n, channels, proto, ` maxBytes="1073741824"`))
		for _, size := range []sim.Bytes{1024, 64 * sim.KiB, sim.MiB, 64 * sim.MiB, 512 * sim.MiB} {
			c := nccl.Choice{Estimate: nccl.Estimate{Algorithm: nccl.Ring, Protocol: a.Protocol}, Channels: channels}
			pace := m.Pace(workloads.AllGather, c, size, nccl.Setting{})
			wire := float64(size) * (n - 1) / n / a.Protocol.Payload()
			want := (pace.Start + 7*(pace.Step+500*sim.Nanosecond) + pace.Tail()).Seconds() + wire/float64(min(pace.Limit, 400*sim.GBps))
			got := timed(t, a, board, size, a.CostsOf(func(op workloads.Coll, c nccl.Choice, size sim.Bytes) collective.Pace {
				return m.Pace(op, c, size, nccl.Setting{})
			}, size, 0), replay.Options{}).StepTime.Seconds()
			t.Logf("%-6s %9d bytes: NCCL's ring %8.1f us, the file %8.1f us, %+5.1f %%", proto, size, want*1e6, got*1e6, 100*(got/want-1))
			// Lines go on one by one, so that a step and a latency may be hidden.
			hidden := 7 * (pace.Step + 500*sim.Nanosecond).Seconds()
			assert.LessOrEqual(t, got, 1.03*want, "%s %d bytes", proto, size)
			assert.GreaterOrEqual(t, got, 0.97*want-hidden, "%s %d bytes", proto, size)
			if size < sim.MiB || size > 64*sim.MiB {
				assert.InEpsilon(t, want, got, 0.03, "%s %d bytes", proto, size)
			}
		}
	}
}

func TestWrongAlgorithms(t *testing.T) {
	good := ringOf("allreduce", 4, 1, "LL", "")
	for _, c := range []struct{ name, from, to, want string }{
		{"a chunk is never sent on", `<step s="2" type="rrs" srcbuf="o" srcoff="2"`, `<step s="2" type="rrs" srcbuf="o" srcoff="1"`, "holds the sum of chunk"},
		{"forgets to add", `<step s="1" type="rrs"`, `<step s="1" type="rcs"`, "it is no all_reduce: at its end chunk 3 of the output of rank 0 holds the sum of chunk 3 of ranks 1, 2, 3, expected the sum of chunk 3 of ranks 0, 1, 2, 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, good, c.from)
			a, err := Read("test.xml", []byte(strings.Replace(good, c.from, c.to, 1)))
			require.NoError(t, err)
			_, err = a.Check()
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestHangsAndRaces(t *testing.T) {
	two := func(first, second string) string {
		return `<algo name="x" proto="Simple" nchannels="2" nchunksperloop="2" ngpus="2" coll="allgather" inplace="1">
<gpu id="0" i_chunks="1" o_chunks="2" s_chunks="1">` + first + `</gpu>
<gpu id="1" i_chunks="1" o_chunks="2" s_chunks="1">` + second + `</gpu>
</algo>`
	}
	tb := func(id, send, recv int, steps ...string) string {
		out := fmt.Sprintf("\n<tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"0\">", id, send, recv)
		for i, s := range steps {
			out += fmt.Sprintf("<step s=\"%d\" %s", i, s)
		}
		return out + "</tb>"
	}
	after := func(step string, block, k int) string {
		return strings.Replace(step, `depid="-1" deps="-1"`, fmt.Sprintf(`depid="%d" deps="%d"`, block, k), 1)
	}
	hang := two(
		tb(0, 1, 1, stepOf("r", "o1", "o1"), stepOf("s", "o0", "o0")),
		tb(0, 0, 0, stepOf("r", "o0", "o0"), stepOf("s", "o1", "o1")))
	a, err := Read("hang.xml", []byte(hang))
	require.NoError(t, err)
	_, err = a.Check()
	require.ErrorContains(t, err, "it hangs: line 3: thread block 0 of GPU 0 waits in step 0 for GPU 1 to send on channel 0")

	cycle := two(
		tb(0, 1, -1, after(stepOf("s", "o0", "o0"), 1, 0))+tb(1, -1, 1, after(stepOf("r", "o1", "o1"), 0, 0)),
		tb(0, 0, 0, stepOf("s", "o1", "o1"), stepOf("r", "o0", "o0")))
	a, err = Read("cycle.xml", []byte(cycle))
	require.NoError(t, err)
	_, err = a.Check()
	require.ErrorContains(t, err, "waits in step 0 for step 0 of thread block 1")

	// Received in scratch by one block and copied by another, which must wait.
	race := func(wait bool) string {
		cp := stepOf("cpy", "s0", "o1")
		if wait {
			cp = after(cp, 0, 0)
		}
		return two(
			tb(0, 1, 1, stepOf("r", "s0", "s0"), stepOf("s", "o0", "o0"))+tb(1, -1, -1, cp),
			tb(0, 0, 0, stepOf("s", "o1", "o1"), stepOf("r", "o0", "o0")))
	}
	parse(t, race(true))
	a, err = Read("race.xml", []byte(race(false)))
	require.NoError(t, err)
	_, err = a.Check()
	require.ErrorContains(t, err, "chunk 1 of the output of rank 0 holds what nobody wrote, expected chunk 0 of rank 1")
}

func TestBadFiles(t *testing.T) {
	good := ringOf("allgather", 4, 1, "LL", "")
	for _, c := range []struct{ name, from, to, want string }{
		{"no such step", `type="s"`, `type="send"`, `line 4, column 4: type: read "send", expected nop, s, r, rcs`},
		{"no such buffer", `srcbuf="o" srcoff="0"`, `srcbuf="x" srcoff="0"`, `srcbuf: read "x", expected i, o, s`},
		{"outside", `srcoff="0"`, `srcoff="9"`, "line 4: srcoff: chunks 9 to 9 of the output, which has 4; expected offsets up to 3 for cnt=1"},
		{"text for a number", `cnt="1"`, `cnt="one"`, `cnt: read "one", expected a whole number from 1 to 71`},
		{"unknown attribute", `cnt="1"`, `cnt="1" count="2"`, `<step> has an attribute "count", expected s, type,`},
		{"missing", ` chan="0"`, ``, `<tb> has no chan, expected one such as chan="0"`},
		{"numbers out of order", `<tb id="0"`, `<tb id="3"`, `id of <tb>: read "3", expected 0, the next in order`},
		{"peer", `send="1"`, `send="7"`, `send: read "7", expected a whole number from -1 to 3`},
		{"itself", `send="1"`, `send="0"`, "GPU 0 sends to itself"},
		{"fewer GPUs", `ngpus="4"`, `ngpus="5"`, "4 elements <gpu>, expected ngpus=5"},
		{"parts", `nchunksperloop="4"`, `nchunksperloop="6"`, "nchunksperloop=6 is no multiple of ngpus=4, and each rank has a part in all_gather; expected one such as 4"},
		{"protocol", `proto="LL"`, `proto="LL64"`, `proto: read "LL64", expected LL, LL128, Simple`},
		{"one receive less", `<step s="1" type="rcs"`, `<step s="1" type="nop"`, "has no receive"},
		{"waits for nothing", `depid="-1" deps="-1"`, `depid="4" deps="0"`, "depid: read 4, expected 0 to 0, a thread block of GPU 0"},
		{"cut", "</gpu>\n</algo>", "", "not well-formed XML: the file ends within <gpu>"},
		{"list", "<algo", "<msccl_algos/><algo", "lists other files"},
		{"size range", `inplace="1"`, `inplace="1" minBytes="10" maxBytes="5"`, "maxBytes 5 is below minBytes 10"},
		{"text", "<tb id", "x <tb id", `read text "x" within <gpu>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, good, c.from)
			_, err := Read("test.xml", []byte(strings.Replace(good, c.from, c.to, 1)))
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "read MSCCL algorithm: test.xml: ")
		})
	}
}

func TestFits(t *testing.T) {
	a := parse(t, ringOf("allgather", 4, 1, "LL", ` minBytes="64" maxBytes="4096"`))
	require.NoError(t, a.Fits(64))
	require.ErrorContains(t, a.Fits(32), "32 bytes, but test.xml is for 64 to 4096")
	require.ErrorContains(t, a.Fits(8192), "8192 bytes, but test.xml is for 64 to 4096")
	require.ErrorContains(t, a.Fits(66), "cuts a message into 4 equal chunks (nchunksperloop); expected a multiple such as 64")
	_, err := a.Expand(64, ranks(3), 3, Costs{})
	require.ErrorContains(t, err, "it is for 4 GPUs (ngpus), and there are 3")
}

// What is too much for one program is made of coarser units, and takes about as
// long.
func TestLargeMessagesAreCoarser(t *testing.T) {
	if testing.Short() {
		t.Skip("a program of half a million operations")
	}
	a := parse(t, ringOf("allgather", 4, 1, "LL", ` maxBytes="8589934592"`))
	r, err := a.Expand(4*sim.GiB, ranks(4), 4, Costs{})
	require.NoError(t, err)
	require.Contains(t, r.Warnings[0], "in units")
	require.InEpsilon(t, 2*3.*(1<<30), r.Sent, 1e-9)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(ringOf("allgather", 4, 1, "LL", "")))
	f.Add([]byte(ringOf("allreduce", 3, 2, "Simple", ` minBytes="0" maxBytes="1048576"`)))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, content []byte) {
		a, err := Read("fuzz.xml", content)
		if err != nil {
			return
		}
		if _, err := a.Check(); err != nil {
			return
		}
		size := sim.Bytes(a.Chunks) * 7
		if a.Fits(size) != nil || a.Custom {
			return
		}
		r, err := a.Expand(size, ranks(len(a.GPUs)), int32(len(a.GPUs)), Costs{})
		require.NoError(t, err)
		require.NoError(t, r.Program.Validate())
	})
}

func BenchmarkExpand(b *testing.B) {
	a := parse(b, ringOf("allreduce", 8, 8, "LL128", ""))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Expand(64*sim.MiB, ranks(8), 8, Costs{}); err != nil {
			b.Fatal(err)
		}
	}
}
