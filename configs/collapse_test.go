package configs

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/replay"
)

// On every embedded scenario, at both grains, simulating one rank of each kind
// gives what simulating all ranks gives, bit for bit; and so does solving all
// rates at every change.
func TestCollapseIsExactOnEveryScenario(t *testing.T) {
	for _, e := range List() {
		t.Run(e.Name, func(t *testing.T) {
			s, err := Load(e.Name, nil, nil)
			require.NoError(t, err)
			j, err := s.Build(nil)
			require.NoError(t, err)
			for _, g := range []collective.Grain{collective.Stream, collective.Chunk} {
				if g == collective.Chunk && j.Program.World > 64 {
					continue // millions of messages with every rank: see the benchmarks of workloads/replay
				}
				run := func(c replay.Collapse, full bool) *replay.Result {
					o := j.Options
					o.Grain, o.Collapse, o.FullSolve = g, c, full
					r, err := replay.Run(context.Background(), j.Program, j.Machine, o)
					require.NoError(t, err)
					r.Stats = replay.Stats{}
					return r
				}
				want := run(replay.Off, false)
				require.Equal(t, want, run(replay.Auto, false), "%v: collapsed", g)
				require.Equal(t, want, run(replay.Off, true), "%v: full solves", g)
			}
		})
	}
}
