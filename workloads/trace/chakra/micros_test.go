package chakra

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// A duration in text is exact to the picosecond.
func TestFractionsOfMicroseconds(t *testing.T) {
	for text, want := range map[string]sim.Time{
		`0.4`: 400_000, `"0.4"`: 400_000, `1.234567`: 1_234_567, `3e-6`: 3, `4.5e-7`: 0, `5e-7`: 1, `2E3`: 2000 * sim.Microsecond,
		`12`: 12 * sim.Microsecond, `0`: 0, `0.0`: 0, `-0.0`: 0, `123456789.000001`: 123_456_789_000_001, `1e12`: 1e18,
	} {
		js := `{"workload_graph": [{"id": 1, "type": 4, "duration_micros": ` + text + `}]}`
		tr, err := Decode(strings.NewReader(js), "f", 0)
		require.NoError(t, err, text)
		assert.Equal(t, want, tr.Nodes[0].Duration, text)
	}
	for text, part := range map[string]string{
		`1e30`: "duration 1e30 us, expected 0 to 1000000000000", `1e999`: "11 days", `-3`: "duration -3 us", `1000000000000.1`: "11 days",
		`"soon"`: `"soon", which is no number`, `"NaN"`: "no number", `""`: "no number", `true`: "no number", `[1]`: "no number",
	} {
		_, err := Decode(strings.NewReader(`{"workload_graph": [{"id": 1, "type": 4, "runtime": `+text+`}]}`), "f", 0)
		wantError(t, err, part, `key "runtime"`)
	}
}

// A thousand kernels of 0.4 us are 400 us.
func TestFractionsAddUp(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"workload_graph": [`)
	for i := range 1000 {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"id": %d, "type": 4, "runtime": 0.4}`, i+1)
	}
	b.WriteString("]}")
	p, rep, err := Load(fstest.MapFS{"t.json": {Data: []byte(b.String())}}, "t.json", Options{})
	require.NoError(t, err)
	var sum sim.Time
	for _, o := range p.Classes[0].Ops {
		sum += o.Duration
	}
	assert.Equal(t, 400*sim.Microsecond, sum)
	assert.Equal(t, 400*sim.Microsecond, rep.Files[0].Summary.Duration)
	assert.Equal(t, int64(400), rep.Files[0].Summary.DurationMicros)
	assert.Equal(t, 1000, rep.RecordedKernels)
}

// What is recorded is counted, and a roofline with nothing to time says so.
func TestRecordedKernelsAreCounted(t *testing.T) {
	sized := comp(2, 5)
	sized.NumOps, sized.Has = 1000, HasNumOps
	_, rep, err := Load(folder(trace(comp(1, 5), sized)), "job", Options{PreferRoofline: true})
	require.NoError(t, err)
	assert.Equal(t, 1, rep.RecordedKernels)
	assert.Equal(t, 1, rep.ModelledKernels)
	assert.NotContains(t, strings.Join(rep.Warnings, "\n"), "roofline")

	_, rep, err = Load(folder(trace(comp(1, 5), comp(2, 5))), "job", Options{PreferRoofline: true})
	require.NoError(t, err)
	assert.Contains(t, rep.Warnings, "no kernel of the trace records num_ops or tensor_size: the roofline can time nothing, and the 2 that have a time run as long as recorded")
}

func TestGroupDims(t *testing.T) {
	p, _, err := Load(folder(trace(collNode(1, AllReduce, 8, "")), trace(collNode(1, AllReduce, 8, ""))), "job",
		Options{GroupDims: map[string]workloads.Dim{"world": workloads.DP}})
	require.NoError(t, err)
	assert.Equal(t, workloads.DP, p.Comms[0].Dim)
}
