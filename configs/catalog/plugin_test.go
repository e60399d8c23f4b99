package catalog

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

func TestSettings(t *testing.T) {
	s, err := parseSettings(" NCCL_ALGO=Ring  NCCL_PROTO=Simple ")
	require.NoError(t, err)
	assert.Equal(t, Settings{"NCCL_ALGO=Ring", "NCCL_PROTO=Simple"}, s)
	for _, bad := range []string{"", " ", "NCCL_ALGO", "NCCL_ALGO=", "=Ring", "nccl_algo=Ring", "NCCL_ALGO =Ring"} {
		_, err := parseSettings(bad)
		assert.ErrorContains(t, err, "such as NCCL_PROTO=Simple", "%q", bad)
	}
}

// What a fabric costs beyond its wires has a source, and goes into a machine
// only between hosts.
func TestPluginOfAFabric(t *testing.T) {
	c := load(t)
	m, err := c.Machine("aws-p4de", Options{Hosts: 2})
	require.NoError(t, err)
	assert.Equal(t, []any{66 * sim.Microsecond, sim.Time(0), 22 * sim.Microsecond, 0.886}, []any{m.Plugin.Base, m.Plugin.Step, m.Plugin.Post, m.Plugin.Rate})
	found := 0
	for _, p := range m.Provenance {
		switch p.Path {
		case "fabrics.efa-100.plugin.base", "fabrics.efa-100.plugin.post", "fabrics.efa-100.plugin.rate":
			found++
			assert.Equal(t, Measured, p.Status, p.Path)
		}
	}
	assert.Equal(t, 3, found)
	m, err = c.Machine("aws-p4de", Options{})
	require.NoError(t, err)
	assert.Equal(t, Plugin{}, m.Plugin)
}
