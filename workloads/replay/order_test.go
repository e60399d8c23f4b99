package replay

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/sim/record"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/compute"
)

const us = sim.Microsecond

func kernel(d sim.Time, stream int16, deps ...int32) workloads.Op {
	return workloads.Op{Kind: workloads.Compute, Duration: d, Stream: stream, Deps: deps}
}

// alone is a program of one rank.
func alone(streams []workloads.Stream, ops ...workloads.Op) *workloads.Program {
	return &workloads.Program{World: 1, Classes: []workloads.Class{{Ranks: []int32{0}, Streams: streams, Ops: ops}}}
}

// Four kernels of 10 us. The second waits for the last, so an InOrder stream
// would wait for ever; AnyReady runs 0, 2, 3, 1; Concurrent overlaps all but
// that pair.
func TestStreamOrders(t *testing.T) {
	m := newStar(1, port, latency)
	for _, c := range []struct {
		order workloads.Order
		want  sim.Time
	}{{workloads.AnyReady, 40 * us}, {workloads.Concurrent, 20 * us}} {
		p := alone([]workloads.Stream{{Order: c.order}}, kernel(10*us, 0), kernel(10*us, 0, 3), kernel(10*us, 0), kernel(10*us, 0))
		assert.Equal(t, c.want, run(t, p, m, Options{}).StepTime, "order %d", c.order)
	}
	p := alone([]workloads.Stream{{Order: workloads.InOrder}}, kernel(10*us, 0), kernel(10*us, 0), kernel(10*us, 0), kernel(10*us, 0))
	assert.Equal(t, 40*us, run(t, p, m, Options{}).StepTime)
}

// A message of b bytes: the sender is done when the last byte has left, the
// receiver one latency later; a kernel behind each shows it.
func TestSendAndReceive(t *testing.T) {
	const b = sim.Bytes(1 << 20)
	wire := sim.TransferTime(b, port)
	m := newStar(2, port, latency)
	streams := []workloads.Stream{{Order: workloads.InOrder}}
	p := &workloads.Program{World: 2, Classes: []workloads.Class{
		{Ranks: []int32{0}, Streams: streams, Ops: []workloads.Op{{Kind: workloads.Send, Peer: 1, Bytes: b}, kernel(100*us, 0, 0)}},
		{Ranks: []int32{1}, Streams: streams, Ops: []workloads.Op{kernel(us, 0), {Kind: workloads.Recv, Peer: 0, Bytes: b}, kernel(90*us, 0, 1)}},
	}}
	rec := record.New()
	r := run(t, p, m, Options{Recorder: rec})
	assert.Equal(t, wire+100*us, r.StepTime, "the sender's kernel starts when the wire is free, not when the message is there")
	require.Len(t, rec.Spans(), 5)

	// A receive that comes late takes no time.
	p.Classes[1].Ops[0].Duration = 300 * us
	r = run(t, p, m, Options{})
	assert.Equal(t, 390*us, r.StepTime)
	assert.Empty(t, r.Breakdown.Exposed)
}

// Two ranks reach two collectives in opposite order on in-order streams.
func TestDeadlockNamesTheCycle(t *testing.T) {
	m := newStar(2, port, latency)
	ar := func(comm int32) workloads.Op {
		return workloads.Op{Name: "grads", Kind: workloads.Collective, Coll: workloads.AllReduce, Comm: comm, Bytes: 8}
	}
	streams := []workloads.Stream{{}}
	p := &workloads.Program{
		World: 2,
		Comms: []workloads.Comm{{Name: "a", Groups: [][]int32{{0, 1}}}, {Name: "b", Groups: [][]int32{{0, 1}}}},
		Classes: []workloads.Class{
			{Ranks: []int32{0}, Streams: streams, Ops: []workloads.Op{ar(0), ar(1)}},
			{Ranks: []int32{1}, Streams: streams, Ops: []workloads.Op{ar(1), ar(0)}},
		},
	}
	for _, c := range []Collapse{Auto, Off} {
		_, err := Run(context.Background(), p, m, Options{Collapse: c})
		var dead *sim.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Len(t, dead.Cycle(), 2)
		assert.ErrorContains(t, err, "rank 0")
		assert.ErrorContains(t, err, "all_reduce number 1 of a")
	}
	// A stream that picks freely takes each collective when both can.
	for i := range p.Classes {
		p.Classes[i].Streams = []workloads.Stream{{Order: workloads.AnyReady}}
	}
	r := run(t, p, m, Options{})
	assert.Equal(t, 2*(2*latency+sim.TransferTime(8, port)), r.StepTime)
}

func TestMoreRanksThanGPUs(t *testing.T) {
	_, err := Run(context.Background(), one(16, workloads.AllReduce, 8), newStar(8, port, latency), Options{})
	var size *SizeError
	require.ErrorAs(t, err, &size)
	assert.ErrorContains(t, err, "16 ranks on star: it has 8 GPUs")
	assert.ErrorContains(t, err, "nodes: 2")
}

func TestWorkWithoutDurationNeedsAModel(t *testing.T) {
	m := newStar(1, port, latency)
	p := alone([]workloads.Stream{{}}, workloads.Op{Name: "gemm", Kind: workloads.Compute, Duration: -1, FLOPs: 1e12})
	_, err := Run(context.Background(), p, m, Options{})
	assert.ErrorContains(t, err, `"gemm" has no recorded duration`)
	r := run(t, p, m, Options{Compute: &compute.Roofline{Peak: 1000e12, Memory: 3e12, FLOPEfficiency: 0.5, MemoryEfficiency: 1}})
	assert.Equal(t, 2*sim.Millisecond, r.StepTime)
}

func TestInterrupt(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, err := Run(ctx, one(8, workloads.AllReduce, 8), newStar(8, port, latency), Options{Collapse: Off})
	require.ErrorIs(t, err, context.Canceled)
}

func TestDeterminism(t *testing.T) {
	m := newStar(12, port, latency)
	p := one(12, workloads.AllToAll, 1<<20)
	var want uint64
	for i, procs := range []int{1, 2, 8, 1} {
		prev := runtime.GOMAXPROCS(procs)
		got := run(t, p, m, Options{Collapse: Off, Digest: true}).Stats.EventDigest
		runtime.GOMAXPROCS(prev)
		if i == 0 {
			want = got
		}
		require.NotZero(t, got)
		require.Equal(t, want, got, "GOMAXPROCS %d", procs)
	}
}

func TestEmptyProgram(t *testing.T) {
	m := newStar(1, port, latency)
	r := run(t, alone([]workloads.Stream{{}}, kernel(0, 0)), m, Options{})
	assert.Zero(t, r.StepTime)
}
