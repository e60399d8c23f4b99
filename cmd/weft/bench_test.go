package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// nccl-tests reads sizes without a unit as bytes, and K, M, G as powers of 1024
// (NVIDIA/nccl-tests, src/common.cu, parsesize).
func TestSizesAsNCCLTestsTakesThem(t *testing.T) {
	for text, want := range map[string]sim.Bytes{
		"8": 8, "1K": 1 << 10, "1m": 1 << 20, "8G": 8 << 30, "1MiB": 1 << 20, "1MB": 1e6, "1.5 KiB": 1536,
	} {
		var s size
		require.NoError(t, s.Set(text), text)
		assert.Equal(t, want, sim.Bytes(s), "size %q", text)
	}
	for _, text := range []string{"", "K", "1T", "1.5", "1KM", "x8", "9999999999G"} {
		var s size
		assert.Error(t, s.Set(text), "size %q", text)
	}
}

func TestSweepOfSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		sw   sweep
		want []sim.Bytes
	}{
		{"doubling", sweep{begin: 8, end: 64, factor: 2}, []sim.Bytes{8, 16, 32, 64}},
		{"the end is not hit", sweep{begin: 8, end: 60, factor: 2}, []sim.Bytes{8, 16, 32}},
		{"one size", sweep{begin: 8, end: 8, factor: 2}, []sim.Bytes{8}},
		{"a factor that does not move a byte moves one", sweep{begin: 1, end: 3, factor: 1.1}, []sim.Bytes{1, 2, 3}},
		{"bytes in place of the factor", sweep{begin: 8, end: 30, factor: 2, step: 10}, []sim.Bytes{8, 18, 28}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, c.sw.sizes()) })
	}
	endless := sweep{begin: 1, end: 1 << 40, factor: 2, step: 1}
	assert.Len(t, endless.sizes(), mostSizes+1, "one too many is enough to know")
}

// What nccl-tests prints as size and count (NVIDIA/nccl-tests a0b82b22,
// getCollByteCount of each test): whole elements, and where each rank has a
// part, parts of a multiple of 16 bytes.
func TestSizesThatNCCLTestsRuns(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   string
		asked  sim.Bytes
		ranks  int
		parted bool
		size   sim.Bytes
		count  int64
	}{
		{"an all-reduce as it is", "float", 1 << 20, 8, false, 1 << 20, 1 << 18},
		{"half an element is left out", "double", 20, 8, false, 16, 2},
		{"less than an element is nothing", "float", 3, 8, false, 0, 0},
		{"parts of 16 bytes", "float", 128, 8, true, 128, 4},
		{"parts below that are nothing", "float", 127, 8, true, 0, 0},
		{"parts are rounded down", "half", 1 << 20, 12, true, 12 * 87376, 87376 / 2},
		{"16 elements of a byte", "fp8_e4m3", 1000, 3, true, 3 * 320, 320},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, e := range elements {
				if e.name != c.kind {
					continue
				}
				size, count := e.fill(c.asked, c.ranks, c.parted)
				assert.Equal(t, c.size, size, "size")
				assert.Equal(t, c.count, count, "count")
				return
			}
			t.Fatalf("there is no type %q", c.kind)
		})
	}
}

func TestTestsOfTypesReductionsAndRoots(t *testing.T) {
	cmd := &cobra.Command{Use: "bench"}
	ask := func(op workloads.Coll, set func(*sweep)) ([]test, error) {
		sw := newSweep()
		set(&sw)
		return sw.tests(cmd, &op, op.String(), 4)
	}
	all, err := ask(workloads.Reduce, func(sw *sweep) { sw.types.value, sw.ops.value, sw.root = "all", "all", rank{every: true} })
	require.NoError(t, err)
	assert.Len(t, all, len(elements)*len(redOps)*4)
	assert.Equal(t, test{elements[0], "sum", 0}, all[0])
	assert.Equal(t, test{elements[0], "sum", 1}, all[1], "roots turn fastest, as in nccl-tests")

	one, err := ask(workloads.AllGather, func(sw *sweep) { sw.types.value = "half" })
	require.NoError(t, err)
	assert.Equal(t, []test{{element{"half", 2}, "none", -1}}, one)

	_, err = ask(workloads.Broadcast, func(sw *sweep) { sw.root = rank{at: 4} })
	assert.ErrorContains(t, err, "expected 0 to 3")
}

// NVIDIA/nccl 2.30.7, src/include/device.h, ncclNvlsSupported.
func TestWhatTheSwitchAddsUp(t *testing.T) {
	for _, c := range []struct {
		kind, op string
		want     bool
	}{
		{"float", "sum", true}, {"float", "max", false}, {"half", "max", true}, {"bfloat16", "sum", true},
		{"int8", "sum", false}, {"uint64", "min", true}, {"double", "sum", true}, {"half", "avg", false}, {"half", "prod", false},
		{"int8", "none", true},
	} {
		assert.Equal(t, c.want, test{element: element{name: c.kind}, redOp: c.op}.reducedBySwitch(), "%s %s", c.kind, c.op)
	}
}

func TestProgramOfOneRunIsValid(t *testing.T) {
	for _, op := range benchOps {
		p := once(op, run{test: test{root: 2}, size: 96}, []int32{1, 3, 5}, 8)
		require.NoError(t, p.Validate(), op)
		assert.Equal(t, []int32{0, 2, 4, 6, 7}, p.Classes[1].Ranks)
	}
	assert.Len(t, once(workloads.AllReduce, run{size: 96}, []int32{0, 1}, 2).Classes, 1)
}

func TestPositive(t *testing.T) {
	var p positive
	require.NoError(t, p.Set("4"))
	assert.Equal(t, "4", p.String())
	for _, text := range []string{"0", "-1", "x", "99999999999", "1.5"} {
		assert.Error(t, p.Set(text), text)
	}
}

// An interrupted bench keeps what it printed.
func TestInterruptedBenchKeepsItsRows(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	out := &stopper{after: 5, stop: cancel}
	root := newRoot(&app{&term.Terminal{Out: out, Err: out}})
	root.SetArgs([]string{"bench", "all_reduce", "--format", "csv"})
	err := root.ExecuteContext(ctx)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 5, out.lines, "the header and four rows")
}

// A file of -J changes when all of it is there, and else not at all.
func TestLateFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.json")
	l, err := openLate(name)
	require.NoError(t, err)
	l.drop()
	assert.NoFileExists(t, name)

	require.NoError(t, os.WriteFile(name, []byte("what was there before"), 0o644))
	l, err = openLate(name)
	require.NoError(t, err)
	l.WriteString("new")
	l.drop()
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, "what was there before", string(got))

	l, err = openLate(name)
	require.NoError(t, err)
	l.WriteString("new")
	require.NoError(t, l.commit())
	l.drop()
	got, err = os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, "new", string(got))
}

// stopper counts lines and stops after some.
type stopper struct {
	lines, after int
	stop         func()
}

func (s *stopper) Write(p []byte) (int, error) {
	for _, b := range p {
		if b == '\n' {
			s.lines++
		}
	}
	if s.lines == s.after {
		s.stop()
	}
	return len(p), nil
}

// The bar: 72 GPUs, 8 B to 8 GiB in powers of two, below a second.
func BenchmarkBenchRack(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		root := newRoot(&app{&term.Terminal{Out: &stopper{}, Err: &stopper{}}})
		root.SetArgs([]string{"bench", "all_reduce", "--system", "gb200-nvl72", "-b", "8", "-e", "8G"})
		require.NoError(b, root.Execute())
	}
}
