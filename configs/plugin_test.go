package configs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

// The network's plugin reaches NCCL, with its settings; what a scenario says
// itself goes first.
func TestPluginOfTheFabric(t *testing.T) {
	for _, c := range []struct {
		name, text       string
		base, step, post sim.Time
		algorithms       string // forced
	}{
		{"InfiniBand has none", "system: dgx-h100\nnodes: 2\n", 0, 0, 0, ""},
		{"a cloud's", "system: gcp-a3-high\nnodes: 2\n", 0, 0, 43 * sim.Microsecond, "NCCL_ALGO=Ring NCCL_PROTO=Simple"},
		{"none within a node", "system: gcp-a3-high\n", 0, 0, 0, ""},
		{"the scenario's own", "system: gcp-a3-high\nnodes: 2\nnetwork: {plugin: {base: 1us}}\n", sim.Microsecond, 0, 0, "NCCL_ALGO=Ring NCCL_PROTO=Simple"},
		{"another fabric", "system: dgx-h100\nnodes: 2\nnetwork: {fabric: tcpx}\n", 0, 0, 43 * sim.Microsecond, "NCCL_ALGO=Ring NCCL_PROTO=Simple"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse("test.yaml", []byte("name: x\n"+c.text+"collectives: {library: nccl}\nworkload: {kind: collective, op: all_reduce, bytes: 1MiB}\n"), "", nil, nil)
			require.NoError(t, err)
			hw, err := s.Hardware(nil)
			require.NoError(t, err)
			lib, notes, err := s.NCCL(hw)
			require.NoError(t, err)
			p := lib.Setting.Plugin
			assert.Equal(t, []sim.Time{c.base, c.step, c.post}, []sim.Time{p.Base, p.Step, p.Post})
			assert.Contains(t, lib.Env.String(), c.algorithms)
			if c.algorithms != "" {
				assert.Contains(t, strings.Join(notes, "\n"), "comes with "+c.algorithms)
			}
		})
	}
}
