package sim_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
)

func wait(who, on int32, why string) sim.Wait {
	name := func(id int32) string { return "rank " + string(rune('0'+id)) }
	return sim.Wait{Who: name(who), On: name(on), Why: why, WhoID: who, OnID: on}
}

func deadlock(t *testing.T, waits []sim.Wait) *sim.DeadlockError {
	t.Helper()
	e := sim.NewEngine()
	id := e.Register(script(func(*sim.Engine, sim.Event) {}))
	e.Schedule(1500, id, 0, 0)
	e.OnDrain(func() []sim.Wait { return nil })
	e.OnDrain(func() []sim.Wait { return waits })
	stop, err := e.Run(t.Context(), sim.Limits{})
	if len(waits) == 0 {
		require.NoError(t, err)
		assert.Equal(t, sim.Drained, stop)
		return nil
	}
	assert.Equal(t, sim.Failed, stop)
	var d *sim.DeadlockError
	require.ErrorAs(t, err, &d)
	assert.Equal(t, sim.Time(1500), d.At)
	return d
}

func TestDeadlockWithCircle(t *testing.T) {
	d := deadlock(t, []sim.Wait{
		wait(5, 0, "all_reduce 7 of tp"),
		wait(0, 2, "recv of 4MiB, tag 1"),
		wait(1, 9, "barrier"),
		wait(2, 1, "all_reduce 3"),
		wait(2, 3, "all_reduce 3"),
		wait(3, 0, "send of 1KiB"),
	})
	assert.EqualError(t, d, strings.Join([]string{
		"simulate: deadlock at 1.5ns: nothing is left to happen, and 6 waits are unmet, in a circle:",
		"  rank 0 waits for rank 2: recv of 4MiB, tag 1",
		"  rank 2 waits for rank 3: all_reduce 3",
		"  rank 3 waits for rank 0: send of 1KiB",
	}, "\n"))
}

func TestDeadlockWithoutCircle(t *testing.T) {
	d := deadlock(t, []sim.Wait{wait(0, 1, "recv, tag 3")})
	assert.EqualError(t, d, "simulate: deadlock at 1.5ns: nothing is left to happen, and 1 wait is unmet:\n"+
		"  rank 0 waits for rank 1: recv, tag 3")

	var many []sim.Wait
	for range 64 {
		many = append(many, wait(0, 1, ""))
	}
	lines := strings.Split(deadlock(t, many).Error(), "\n")
	assert.Len(t, lines, 12)
	assert.Equal(t, "  and 54 more", lines[11])
	deadlock(t, nil)
}

func TestDeadlockOfOne(t *testing.T) {
	d := deadlock(t, []sim.Wait{wait(1, 2, ""), wait(3, 3, "recv from itself")})
	assert.Equal(t, []sim.Wait{wait(3, 3, "recv from itself")}, d.Cycle())

	outside := sim.Wait{Who: "rank 3", On: "the disk", WhoID: -1, OnID: -1}
	assert.Nil(t, (&sim.DeadlockError{Waits: []sim.Wait{outside}}).Cycle(), "negative IDs are outside the search")
}

// A circle is found exactly if there is one, and it is one.
func TestCycleProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int32Range(1, 8).Draw(t, "participants")
		var waits []sim.Wait
		for range rapid.IntRange(0, 12).Draw(t, "waits") {
			waits = append(waits, wait(rapid.Int32Range(0, n-1).Draw(t, "who"), rapid.Int32Range(0, n-1).Draw(t, "on"), ""))
		}
		cycle := (&sim.DeadlockError{Waits: waits}).Cycle()
		for i, w := range cycle {
			require.Contains(t, waits, w)
			require.Equal(t, w.OnID, cycle[(i+1)%len(cycle)].WhoID)
		}
		// Warshall's closure: a circle exists if somebody reaches himself.
		var reach [8][8]bool
		for _, w := range waits {
			reach[w.WhoID][w.OnID] = true
		}
		exists := false
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		for i := range n {
			exists = exists || reach[i][i]
		}
		require.Equal(t, exists, cycle != nil)
	})
}
