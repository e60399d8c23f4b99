package configs

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/replay"
)

// collectiveOn builds one collective on nodes of a system of the catalogue.
func collectiveOn(t *testing.T, system string, nodes int, op, bytes, library string) *Job {
	t.Helper()
	text := fmt.Sprintf("name: one\nsystem: %s\nnodes: %d\nworkload: {kind: collective, op: %s, bytes: %s}\n", system, nodes, op, bytes)
	if library != "" {
		text += "collectives: {library: " + library + "}\n"
	}
	s, err := Parse("one.yaml", []byte(text), "", nil, nil)
	require.NoError(t, err)
	j, err := s.Build(nil)
	require.NoError(t, err)
	return j
}

// Every system of the catalogue, alone and as a pair: collapsed and expanded
// runs agree bit for bit on a ring and on all pairs, and no law is broken.
func TestEverySystemRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every system")
	}
	c, err := catalog.Load()
	require.NoError(t, err)
	for _, name := range c.Systems() {
		sys, err := c.System(name)
		require.NoError(t, err)
		for nodes := 1; nodes <= 2; nodes++ {
			if nodes == 2 && sys.Fabric == "" {
				continue
			}
			for _, run := range []struct{ op, library string }{{"all_reduce", "explicit"}, {"alltoall", "explicit"}, {"all_reduce", ""}, {"alltoall", ""}} {
				op := run.op
				j := collectiveOn(t, name, nodes, op, "16MiB", run.library)
				var want *replay.Result
				for _, collapse := range []replay.Collapse{replay.Off, replay.Auto} {
					o := j.Options
					o.Collapse = collapse
					r, err := replay.Run(context.Background(), j.Program, j.Machine, o)
					require.NoError(t, err, "%s x %d, %s, collapse %v", name, nodes, op, collapse)
					r.Stats = replay.Stats{}
					if want == nil {
						want = r
					}
					require.Equal(t, want, r, "%s x %d, %s", name, nodes, op)
				}
			}
		}
	}
}

// Flows that a hash leaves on unlike ways: what little is alike collapses, and
// the answers are equal.
func TestHashedFlowsCollapseExactly(t *testing.T) {
	for seed := range 4 {
		for _, op := range []string{"all_reduce", "alltoall"} {
			text := fmt.Sprintf("name: one\nsystem: dgx-h100\nnodes: 4\nseed: %d\nnetwork: {fabric: roce-400-ecmp}\nworkload: {kind: collective, op: %s, bytes: 16MiB}\n", seed+1, op)
			s, err := Parse("one.yaml", []byte(text), "", nil, nil)
			require.NoError(t, err)
			j, err := s.Build(nil)
			require.NoError(t, err)
			var want *replay.Result
			for _, collapse := range []replay.Collapse{replay.Off, replay.Auto} {
				o := j.Options
				o.Collapse = collapse
				r, err := replay.Run(context.Background(), j.Program, j.Machine, o)
				require.NoError(t, err)
				r.Stats = replay.Stats{}
				if want == nil {
					want = r
				}
				require.Equal(t, want, r, "seed %d, %s", seed+1, op)
			}
		}
	}
}

// The grains agree within 3 % from 64 MiB up, also where lanes are unlike and
// several rings share wires.
func TestGrainsAgreeOnMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates every message")
	}
	for _, c := range []struct {
		system string
		nodes  int
	}{
		{"dgx-h100", 1}, {"dgx-h100", 2}, {"dgx-h100", 16}, {"dgx-a100", 4}, {"hgx-h100-4", 4}, {"dgx-1-v100", 1},
		{"gb200-nvl72", 1}, {"gb200-nvl72", 2}, {"vera-rubin-nvl72", 2}, {"pcie-a100-8", 1},
	} {
		for _, bytes := range []string{"64MiB", "1GiB"} {
			j := collectiveOn(t, c.system, c.nodes, "all_reduce", bytes, "explicit")
			run := func(g collective.Grain) float64 {
				o := j.Options
				o.Grain = g
				r, err := replay.Run(context.Background(), j.Program, j.Machine, o)
				require.NoError(t, err)
				return r.StepTime.Seconds()
			}
			require.InEpsilon(t, run(collective.Stream), run(collective.Chunk), 0.03, "%s x %d, %s", c.system, c.nodes, bytes)
		}
	}
}

// What NCCL runs takes the same slice by slice, within 5 % in a host and 10 %
// across hosts.
func TestGrainsOfNCCLAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates every slice")
	}
	agree := func(system string, nodes int, bytes string, within float64) {
		j := collectiveOn(t, system, nodes, "all_reduce", bytes, "nccl")
		run := func(g collective.Grain) float64 {
			o := j.Options
			o.Grain = g
			r, err := replay.Run(context.Background(), j.Program, j.Machine, o)
			require.NoError(t, err)
			return r.StepTime.Seconds()
		}
		assert.InEpsilon(t, run(collective.Stream), run(collective.Chunk), within, "%d of %s, %s", nodes, system, bytes)
	}
	for _, system := range []string{"dgx-h100", "dgx-a100", "hgx-h100-4", "dgx-1-v100", "pcie-a100-8", "dgx-b200", "gb200-nvl72"} {
		for _, bytes := range []string{"256MiB", "1GiB"} {
			agree(system, 1, bytes, 0.05)
		}
	}
	for _, bytes := range []string{"64MiB", "256MiB", "1GiB"} {
		agree("dgx-h100", 2, bytes, 0.10)
		agree("dgx-h100", 4, bytes, 0.10)
		agree("dgx-a100", 4, bytes, 0.10)
	}
}
