package configs

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads/replay"
)

var expectLine = regexp.MustCompile(`(?m)^# expect: (\S+) within ([0-9.]+)%$`)

// Every embedded scenario says what it teaches and which step time to expect,
// worked out by hand in its comment, and gives that.
func TestScenariosGiveWhatTheirCommentsSay(t *testing.T) {
	require.Contains(t, List(), Entry{Default, "A decode step of a 70B transformer on eight H100 is memory, not NVLink; its all-reduces are latency."})
	for _, e := range List() {
		t.Run(e.Name, func(t *testing.T) {
			text, err := Text(e.Name)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(text), "# "), "it begins with what it teaches")
			assert.NotEmpty(t, e.About)
			m := expectLine.FindStringSubmatch(string(text))
			require.NotNil(t, m, "a line \"# expect: TIME within N%%\"")
			want, err := sim.ParseTime(m[1])
			require.NoError(t, err)
			within, err := strconv.ParseFloat(m[2], 64)
			require.NoError(t, err)

			s, err := Load(e.Name, nil, nil)
			require.NoError(t, err)
			j, err := s.Build(nil)
			require.NoError(t, err)
			require.NoError(t, j.Program.Validate())
			r, err := replay.Run(context.Background(), j.Program, j.Machine, j.Options)
			require.NoError(t, err)
			assert.InEpsilon(t, want.Seconds(), r.StepTime.Seconds(), within/100, "step time %v, expected %v", r.StepTime, want)
			if b := s.Thresholds.StepTime; b != nil {
				assert.True(t, b.Met(r.StepTime))
			}
		})
	}
}

// run loads, builds and runs a scenario.
func run(t *testing.T, name string, set ...string) *replay.Result {
	t.Helper()
	s, err := Load(name, set, nil)
	require.NoError(t, err)
	j, err := s.Build(nil)
	require.NoError(t, err)
	r, err := replay.Run(context.Background(), j.Program, j.Machine, j.Options)
	require.NoError(t, err)
	return r
}

// Equal ranks simulated once give the answer of all ranks, to the bit.
func TestCollapseChangesNothing(t *testing.T) {
	for _, e := range List() {
		t.Run(e.Name, func(t *testing.T) {
			var small []string
			switch e.Name {
			case "w1-ring-all-reduce", "w2-all-to-all", "w3-transformer-flat":
				small = []string{"gpus=16"}
			case "w3-transformer-2d":
				small = []string{"nodes=4"}
			}
			on := run(t, e.Name, small...)
			off := run(t, e.Name, append(small, "collapse=off")...)
			assert.Equal(t, off.StepTime, on.StepTime)
			assert.Equal(t, off.Breakdown, on.Breakdown)
		})
	}
}

// With jitter a ring waits for its slowest rank: the step can only be longer
// than the mean, and at most the longest draw, 10 %, on its compute.
func TestJitterMakesAStepLonger(t *testing.T) {
	flat := run(t, "w3-transformer-flat", "gpus=32")
	jitter := run(t, "w3-transformer-flat", "gpus=32", "workload.jitter=0.1")
	again := run(t, "w3-transformer-flat", "gpus=32", "workload.jitter=0.1")
	other := run(t, "w3-transformer-flat", "gpus=32", "workload.jitter=0.1", "seed=2")
	assert.Equal(t, jitter.StepTime, again.StepTime, "the same seed")
	assert.NotEqual(t, jitter.StepTime, other.StepTime)
	assert.Greater(t, jitter.StepTime, flat.StepTime)
	assert.Less(t, jitter.StepTime.Seconds(), 1.1*flat.StepTime.Seconds())
}

// The wires of W1 and W2 at other sizes, against their closed forms.
func TestBenchmarkWorkAtOtherSizes(t *testing.T) {
	const port = 400 * (1 << 30)
	for _, n := range []float64{2, 8, 256} {
		gpus := "gpus=" + strconv.Itoa(int(n))
		ring := 2 * (n - 1) * ((1<<30)/(n*port) + 1872.5e-9)
		assert.InEpsilon(t, ring, run(t, "w1-ring-all-reduce", gpus).StepTime.Seconds(), 1e-3, gpus)
		all := (n-1)/n*(1<<28)/port + 1872.5e-9
		assert.InEpsilon(t, all, run(t, "w2-all-to-all", gpus).StepTime.Seconds(), 1e-3, gpus)
	}
}

func TestBound(t *testing.T) {
	for text, met := range map[string]bool{"< 20ms": false, "<=20ms": true, "> 19.9ms": true, ">= 21 ms": false} {
		var b Bound
		require.NoError(t, b.UnmarshalText([]byte(text)))
		assert.Equal(t, met, b.Met(20*sim.Millisecond), "%s", b)
	}
	for _, bad := range []string{"20ms", "< 20", "", "== 3us", "<"} {
		assert.Error(t, new(Bound).UnmarshalText([]byte(bad)), bad)
	}
}

// What stands between a command and its first answer.
func BenchmarkLoadAndBuildDefault(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := Load(Default, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Build(nil); err != nil {
			b.Fatal(err)
		}
	}
}
