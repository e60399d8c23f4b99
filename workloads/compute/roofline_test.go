package compute

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
)

var h100 = Roofline{Peak: 989 * sim.TFLOPS, Memory: 3350 * sim.GBps, FLOPEfficiency: 0.5, MemoryEfficiency: 0.5, Launch: 2 * sim.Microsecond}

// 989e12 x 0.5 FLOP take a second; 3350e9 x 0.5 bytes take another.
func TestRooflineByHand(t *testing.T) {
	assert.Equal(t, sim.Second+2*sim.Microsecond, h100.Time(494.5e12, 0))
	assert.Equal(t, sim.Second+2*sim.Microsecond, h100.Time(0, 1675e9))
	assert.Equal(t, 2*sim.Second+2*sim.Microsecond, h100.Time(494.5e12, 2*1675e9), "the slower of the two decides")
	assert.Zero(t, h100.Time(0, 0), "a label takes no time")
	assert.Equal(t, sim.Second+2*sim.Microsecond, h100.CopyTime(1675e9/2), "a copy reads and writes")
}

func TestRooflineValidate(t *testing.T) {
	require.NoError(t, h100.Validate())
	for name, change := range map[string]func(*Roofline){
		"no peak":              func(r *Roofline) { r.Peak = 0 },
		"peak not a number":    func(r *Roofline) { r.Peak = sim.FlopRate(math.NaN()) },
		"endless memory":       func(r *Roofline) { r.Memory = sim.Rate(math.Inf(1)) },
		"efficiency above one": func(r *Roofline) { r.FLOPEfficiency = 1.1 },
		"no efficiency":        func(r *Roofline) { r.MemoryEfficiency = 0 },
		"negative launch":      func(r *Roofline) { r.Launch = -1 },
	} {
		r := h100
		change(&r)
		assert.ErrorContains(t, r.Validate(), "roofline", name)
	}
}

// More work never takes less time, and time never goes below the launch.
func TestRooflineIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(0, 1e18).Draw(t, "flop")
		b := sim.Bytes(rapid.Int64Range(0, 1e15).Draw(t, "bytes"))
		more := h100.Time(2*f+1, b)
		require.GreaterOrEqual(t, more, h100.Time(f, b))
		require.GreaterOrEqual(t, more, h100.Launch)
	})
}

func ExampleRoofline_Time() {
	r := Roofline{Peak: 1000 * sim.TFLOPS, Memory: 2000 * sim.GBps, FLOPEfficiency: 0.5, MemoryEfficiency: 1}
	fmt.Println(r.Time(1e12, 1_000_000))
	// Output: 2ms
}
