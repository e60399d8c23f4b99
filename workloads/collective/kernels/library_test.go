package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

func ranks(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// TestThresholds holds the choices against the sources: the size at which each
// kernel begins, and the last one before it.
func TestThresholds(t *testing.T) {
	h100, a100, b200, b300 := gpus["h100"], gpus["a100"], gpus["gb200"], gpus["b300"]
	bare := h100
	bare.Multicast = false
	for _, c := range []struct {
		name, library string
		m             Machine
		s             Setting
		op            workloads.Coll
		n             int
		size          sim.Bytes
		want          string // a kernel, "" for the fallback
	}{
		{"two ranks never take two steps", "vllm", h100, Setting{}, workloads.AllReduce, 2, 4 * sim.MiB, "vllm-1shot"},
		{"below 512 KiB among four", "vllm", a100, Setting{}, workloads.AllReduce, 4, 512*sim.KiB - 16, "vllm-1shot"},
		{"512 KiB among four", "vllm", a100, Setting{}, workloads.AllReduce, 4, 512 * sim.KiB, "vllm-2shot"},
		{"below 256 KiB among eight", "vllm", a100, Setting{}, workloads.AllReduce, 8, 256*sim.KiB - 16, "vllm-1shot"},
		{"256 KiB among eight", "vllm", a100, Setting{}, workloads.AllReduce, 8, 256 * sim.KiB, "vllm-2shot"},
		{"last before 8 MiB", "vllm", a100, Setting{}, workloads.AllReduce, 8, 8*sim.MiB - 16, "vllm-2shot"},
		{"8 MiB is NCCL's", "vllm", a100, Setting{}, workloads.AllReduce, 8, 8 * sim.MiB, ""},
		{"Hopper leaves at 256 KiB", "vllm", h100, Setting{}, workloads.AllReduce, 8, 256 * sim.KiB, "vllm-multimem"},
		{"without symmetric memory", "vllm", h100, Setting{NoSymmetric: true}, workloads.AllReduce, 8, 256 * sim.KiB, ""},
		{"symmetric memory to 64 MiB", "vllm", h100, Setting{}, workloads.AllReduce, 8, 64*sim.MiB - 16, "vllm-multimem"},
		{"and not beyond", "vllm", h100, Setting{}, workloads.AllReduce, 8, 64 * sim.MiB, ""},
		{"float32 has no symmetric memory", "vllm", h100, Setting{Element: 4}, workloads.AllReduce, 8, sim.MiB, ""},
		{"two on Hopper without multicast", "vllm", h100, Setting{}, workloads.AllReduce, 2, 8 * sim.MiB, "vllm-symm-2shot"},
		{"four on B300 in two steps", "vllm", b300, Setting{}, workloads.AllReduce, 4, 4 * sim.MiB, "vllm-symm-2shot"},
		{"three ranks", "vllm", h100, Setting{}, workloads.AllReduce, 3, 4096, ""},
		{"ten ranks", "vllm", h100, Setting{}, workloads.AllReduce, 10, 4096, ""},
		{"not 16 bytes", "vllm", h100, Setting{}, workloads.AllReduce, 2, 4104, ""},
		{"all_gather", "vllm", h100, Setting{}, workloads.AllGather, 2, 4096, ""},
		{"two over PCIe", "vllm", gpus["l40s"], Setting{}, workloads.AllReduce, 2, 4096, "vllm-1shot"},
		{"four over PCIe", "vllm", gpus["l40s"], Setting{}, workloads.AllReduce, 4, 4096, ""},
		{"PCIe without peer access", "vllm", Machine{SM: 89, NoPeer: true}, Setting{}, workloads.AllReduce, 2, 4096, ""},

		{"push up to 160 KiB", "sglang", h100, Setting{}, workloads.AllReduce, 8, 160 * sim.KiB, "sglang-push"},
		{"then two steps", "sglang", h100, Setting{}, workloads.AllReduce, 8, 160*sim.KiB + 16, "sglang-2shot"},
		{"two ranks pull", "sglang", h100, Setting{}, workloads.AllReduce, 2, 2*sim.MiB + 16, "sglang-pull"},
		{"up to 16 MiB", "sglang", h100, Setting{}, workloads.AllReduce, 8, 16 * sim.MiB, "sglang-2shot"},
		{"and not beyond", "sglang", h100, Setting{}, workloads.AllReduce, 8, 16*sim.MiB + 16, ""},
		{"Blackwell pushes more", "sglang", b200, Setting{}, workloads.AllReduce, 4, 2 * sim.MiB, "sglang-push"},
		{"earlier releases are vLLM's", "sglang", h100, Setting{Version: "0.5.10"}, workloads.AllReduce, 8, 8 * sim.MiB, "vllm-2shot"},

		{"the table: 16 KiB between two", "trtllm", h100, Setting{Version: "1.2.0rc5"}, workloads.AllReduce, 2, 16 * sim.KiB, "trtllm-2shot"},
		{"the table: 32 KiB between two", "trtllm", h100, Setting{Version: "1.2.0rc5"}, workloads.AllReduce, 2, 32 * sim.KiB, "trtllm-1shot"},
		{"the table: 1 MiB among four", "trtllm", h100, Setting{Version: "1.2.0rc5"}, workloads.AllReduce, 4, sim.MiB, "trtllm-1shot"},
		{"the table: 2 MiB among four", "trtllm", h100, Setting{Version: "1.2.0rc5"}, workloads.AllReduce, 4, 2 * sim.MiB, "trtllm-2shot"},
		{"the table with wider tokens", "trtllm", h100, Setting{Version: "1.2.0", Hidden: 8192}, workloads.AllReduce, 8, 256 * sim.KiB, "trtllm-1shot"},
		{"the workspace", "trtllm", h100, Setting{Version: "1.2.0"}, workloads.AllReduce, 4, 8 * sim.MiB, ""},
		{"without NVLink", "trtllm", gpus["l40s"], Setting{}, workloads.AllReduce, 2, 4096, ""},

		{"one-shot to 256 KiB", "pytorch-symm", h100, Setting{}, workloads.AllReduce, 8, 256 * sim.KiB, "torch-1shot"},
		{"the switches reduce", "pytorch-symm", h100, Setting{}, workloads.AllReduce, 8, sim.MiB, "torch-multimem"},
		{"no such switches", "pytorch-symm", bare, Setting{}, workloads.AllReduce, 8, 10 * sim.MiB, "torch-2shot"},
		{"and above 10 MiB", "pytorch-symm", bare, Setting{}, workloads.AllReduce, 8, 10*sim.MiB + 4, ""},

		{"all pairs", "mscclpp", h100, Setting{}, workloads.AllReduce, 8, 16 * sim.KiB, "mscclpp-allpair"},
		{"NVLS packets", "mscclpp", h100, Setting{}, workloads.AllReduce, 8, 32 * sim.KiB, "mscclpp-nvls-packet"},
		{"packets", "mscclpp", h100, Setting{}, workloads.AllReduce, 8, 64 * sim.KiB, "mscclpp-packet"},
		{"zero copy", "mscclpp", h100, Setting{}, workloads.AllReduce, 8, 65 * sim.KiB, "mscclpp-nvls"},
		{"packets to 1 MiB", "mscclpp", h100, Setting{NoSymmetric: true}, workloads.AllReduce, 8, sim.MiB, "mscclpp-packet"},
		{"then with copies", "mscclpp", h100, Setting{NoSymmetric: true}, workloads.AllReduce, 8, 2 * sim.MiB, "mscclpp-nvls-copy"},
		{"Blackwell starts with NVLS packets", "mscclpp", b200, Setting{}, workloads.AllReduce, 8, 4096, "mscclpp-nvls-packet"},
		{"Blackwell without windows", "mscclpp", b200, Setting{NoSymmetric: true}, workloads.AllReduce, 8, 4 * sim.MiB, "mscclpp-rsag"},
		{"A100", "mscclpp", a100, Setting{}, workloads.AllReduce, 8, 2 * sim.MiB, ""},
		{"gathers", "mscclpp", a100, Setting{}, workloads.AllGather, 8, 32 * sim.MiB, "mscclpp-fullmesh"},

		{"LL to 16 KiB", "nccl-symm", h100, Setting{}, workloads.AllReduce, 8, 16 * sim.KiB, "nccl-llmc"},
		{"multimem from 32 KiB", "nccl-symm", h100, Setting{}, workloads.AllReduce, 8, 32 * sim.KiB, "nccl-ldmc"},
		{"no window", "nccl-symm", h100, Setting{NoSymmetric: true}, workloads.AllReduce, 8, 4096, ""},
		{"before 2.27", "nccl-symm", h100, Setting{Version: "2.26"}, workloads.AllReduce, 8, 4096, ""},
		{"two ranks have no multicast", "nccl-symm", h100, Setting{}, workloads.AllReduce, 2, 4096, "nccl-ll"},
		{"copy engines", "nccl-symm", h100, Setting{ZeroCTA: true}, workloads.AllToAll, 8, sim.MiB, "nccl-ce"},
		{"copy engines of Blackwell", "nccl-symm", b200, Setting{}, workloads.AllGather, 8, 8 * (16*sim.MiB + 2), "nccl-ce"},
		{"which 8 Mi elements do not start", "nccl-symm", b200, Setting{}, workloads.AllGather, 8, 8 * 16 * sim.MiB, "nccl-ldmc"},
	} {
		t.Run(c.library+" "+c.name, func(t *testing.T) {
			l, err := New(c.library, c.m, c.s, collective.Default)
			require.NoError(t, err)
			k, why := l.choose(c.op, c.size, ranks(c.n))
			got := ""
			if k != nil {
				got = k.name
			}
			assert.Equal(t, c.want, got, "%v of %v among %d: %s", c.op, c.size, c.n, why)
			assert.NotEmpty(t, why)
			ch, err := l.Choose(c.op, c.size, ranks(c.n))
			require.NoError(t, err)
			_, err = collective.NewPlan(c.op, ch, c.size, collective.OneNode(c.n), 0)
			assert.NoError(t, err)
		})
	}
}

// TestSymmetricModel holds NCCL's own model against the figures that were
// worked out from its source by hand.
func TestSymmetricModel(t *testing.T) {
	for _, c := range []struct {
		kernel string
		sm     int
		size   sim.Bytes
		want   float64
	}{
		{"nccl-llmc", 90, 8, 4.8}, {"nccl-llmc", 90, 8 * sim.KiB, 5.7}, {"nccl-ldmc", 90, 32 * sim.KiB, 8.1}, {"nccl-ldmc", 90, sim.MiB, 9.5},
		{"nccl-llmc", 100, 8, 11.3}, {"nccl-ldmc", 100, 64 * sim.KiB, 19.8},
	} {
		got, _ := symModel(named(c.kernel), workloads.AllReduce, c.size, 8, c.sm)
		assert.InEpsilon(t, c.want, got, 0.03, "%s on %d: %v", c.kernel, c.sm, c.size)
	}
}

func TestPlaces(t *testing.T) {
	rack := Machine{SM: 100, NVLink: true, Multicast: true, Host: func(r int32) int32 { return r / 4 }, Domain: func(int32) int32 { return 0 }}
	for _, c := range []struct {
		library string
		n       int
		want    string
	}{
		{"vllm", 8, "vllm-multimem"}, {"sglang", 8, ""}, {"vllm", 4, "vllm-1shot"}, {"trtllm", 8, "trtllm-mnnvl"}, {"trtllm", 16, "trtllm-mnnvl"}, {"trtllm", 4, "trtllm-1shot"}, {"nccl-symm", 8, "nccl-llmc"},
	} {
		l, err := New(c.library, rack, Setting{}, collective.Default)
		require.NoError(t, err)
		k, why := l.choose(workloads.AllReduce, 4096, ranks(c.n))
		got := ""
		if k != nil {
			got = k.name
		}
		assert.Equal(t, c.want, got, "%s among %d: %s", c.library, c.n, why)
	}
	apart := rack
	apart.Domain = nil
	l, err := New("trtllm", apart, Setting{}, collective.Default)
	require.NoError(t, err)
	k, _ := l.choose(workloads.AllReduce, 4096, ranks(8))
	assert.Nil(t, k, "hosts without a common domain")
}

func TestErrorsNameWhatIsWanted(t *testing.T) {
	for _, c := range []struct {
		name string
		m    Machine
		s    Setting
		back collective.Chooser
		want string
	}{
		{"vlm", Machine{SM: 90}, Setting{}, collective.Default, "expected vllm, sglang"},
		{"vllm", Machine{}, Setting{}, collective.Default, "compute capability 0"},
		{"vllm", Machine{SM: 80, NVLink: true, Multicast: true}, Setting{}, collective.Default, "multicast on compute capability 80"},
		{"vllm", Machine{SM: 90}, Setting{}, nil, "no fallback"},
		{"vllm", Machine{SM: 90}, Setting{Version: "new"}, collective.Default, `read version "new"`},
		{"vllm", Machine{SM: 90}, Setting{Kernel: "three-shot"}, collective.Default, "expected one-shot, two-shot"},
		{"vllm", Machine{SM: 90}, Setting{Element: -1}, collective.Default, "1 to 8 bytes"},
	} {
		_, err := New(c.name, c.m, c.s, c.back)
		assert.ErrorContains(t, err, c.want)
	}
}

// TestEveryKernelHasItsCosts asks for each kernel wherever a library can pick it.
func TestEveryKernelHasItsCosts(t *testing.T) {
	all, err := costs()
	require.NoError(t, err)
	for key, c := range all {
		assert.Contains(t, []string{"measured", "derived", "assumed"}, c.status, "%v", key)
		assert.NotEmpty(t, c.source, "%v", key)
		assert.NotPanics(t, func() { named(key.kernel) })
	}
}

// TestEightBytes takes the best kernel for eight bytes in a CUDA graph.
// Source: the smallest messages of ai-dynamo/aiconfigurator 095f58a5 on H100.
func TestEightBytes(t *testing.T) {
	for n, want := range map[int]float64{2: 2.4, 4: 2.7, 8: 3.2} {
		best := sim.Second
		for _, name := range Names() {
			l, err := New(name, gpus["h100"], Setting{}, noFallback)
			require.NoError(t, err)
			ch, err := l.Choose(workloads.AllReduce, 8, ranks(n))
			if err != nil {
				require.ErrorIs(t, err, errFallback)
				continue
			}
			took, err := timeAlone(workloads.AllReduce, ch, 8, n, wires[hopper])
			require.NoError(t, err)
			best = min(best, took)
		}
		assert.InEpsilon(t, want, best.Microseconds(), 0.25, "%d GPUs", n)
		t.Logf("%d GPUs: %.2f us, measured %.1f", n, best.Microseconds(), want)
	}
}

func TestEagerWaitsForTheHost(t *testing.T) {
	l, err := New("vllm", gpus["h100"], Setting{Launch: Eager}, collective.Default)
	require.NoError(t, err)
	c, err := l.Choose(workloads.AllReduce, 4096, ranks(8))
	require.NoError(t, err)
	assert.Equal(t, 20*sim.Microsecond, c.Pace.Floor)
	inGraph, err := New("vllm", gpus["h100"], Setting{}, collective.Default)
	require.NoError(t, err)
	g, err := inGraph.Choose(workloads.AllReduce, 4096, ranks(8))
	require.NoError(t, err)
	assert.Zero(t, g.Pace.Floor)
	assert.Greater(t, c.Pace.Start, g.Pace.Start, "the copy into the registered buffer")
	for _, call := range []struct {
		library string
		size    sim.Bytes
		want    sim.Time
	}{
		{"vllm", 1 << 20, 92 * sim.Microsecond},   // two copies about symmetric memory, one for registering, the kernel
		{"sglang", 4096, 69 * sim.Microsecond},    // in, kernel, out
		{"vllm", 1 << 30, 69 * sim.Microsecond},   // left to NCCL
		{"deepep", 1 << 20, 23 * sim.Microsecond}, // one kernel
	} {
		l, err := New(call.library, gpus["h100"], Setting{Launch: Eager, HostLaunch: 23 * sim.Microsecond}, collective.Default)
		require.NoError(t, err)
		op := workloads.AllReduce
		if call.library == "deepep" {
			op = workloads.AllToAll
		}
		c, err := l.Choose(op, call.size, ranks(8))
		require.NoError(t, err)
		assert.Equal(t, call.want, c.Pace.Floor, "%s, %v: %s", call.library, call.size, c.Why)
	}
}

// TestTimesObeyTheWires draws machines, libraries and sizes: a time is never
// below what the wires take, and within one kernel it does not fall with size.
func TestTimesObeyTheWires(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gpu := rapid.SampledFrom([]string{"a100", "h100", "gb200", "b300", "l40s", "rtxpro6000"}).Draw(t, "gpu")
		name := rapid.SampledFrom(Names()[:6]).Draw(t, "library")
		op := rapid.SampledFrom([]workloads.Coll{workloads.AllReduce, workloads.AllGather, workloads.ReduceScatter, workloads.AllToAll}).Draw(t, "op")
		n := rapid.IntRange(2, 16).Draw(t, "ranks")
		small := sim.Bytes(rapid.Int64Range(1, 1<<24).Draw(t, "units")) * 16
		big := small + 16*sim.Bytes(rapid.Int64Range(0, 1<<24).Draw(t, "more"))
		m := gpus[gpu]
		s := Setting{NoSymmetric: rapid.Bool().Draw(t, "bare"), ZeroCTA: rapid.Bool().Draw(t, "zero")}
		l, err := New(name, m, s, noFallback)
		require.NoError(t, err)
		var last sim.Time
		var kernel string
		for _, size := range []sim.Bytes{small, big} {
			k, _ := l.choose(op, size, ranks(n))
			if k == nil {
				return
			}
			ch, err := l.Choose(op, size, ranks(n))
			require.NoError(t, err)
			wire := wires[generationOf(m)]
			took, err := timeAlone(op, ch, size, n, wire)
			require.NoError(t, err)
			p, err := collective.NewPlan(op, ch, size, collective.OneNode(n), 0)
			require.NoError(t, err)
			bytes := p.Message
			if p.Pattern == collective.AllPairs {
				bytes *= sim.Bytes(n - 1)
			}
			require.GreaterOrEqual(t, took.Seconds(), float64(bytes)/float64(wire)*(1-1e-9), "%s %s: %v of %v among %d", name, k.name, op, size, n)
			if kernel == k.name {
				require.GreaterOrEqual(t, took, last, "%s %s: %v of %v among %d", name, k.name, op, size, n)
			}
			last, kernel = took, k.name
		}
	})
}

func BenchmarkChoose(b *testing.B) {
	l, err := New("nccl-symm", gpus["h100"], Setting{}, collective.Default)
	require.NoError(b, err)
	group := ranks(8)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Choose(workloads.AllReduce, sim.MiB, group); err != nil {
			b.Fatal(err)
		}
	}
}

func TestCostsThatAreNone(t *testing.T) {
	head := "kernel,generation,start_us,peer_us,wave_us,lane_gbps,rank_gbps,status,source\n"
	for _, c := range []struct{ rows, want string }{
		{"a,hopper,1,1,0,0,5,measured,x\n", "rates above zero"},
		{"a,hopper,-1,1,0,5,5,measured,x\n", `"-1"`},
		{"a,hopper,NaN,1,0,5,5,measured,x\n", `"NaN"`},
		{"a,hopper,1,1,0,5,5,measured,x\na,hopper,1,1,0,5,5,measured,x\n", "twice"},
		{"a,hopper\n", "read costs of kernels"},
	} {
		_, err := readCosts(head + c.rows)
		assert.ErrorContains(t, err, c.want)
	}
}
