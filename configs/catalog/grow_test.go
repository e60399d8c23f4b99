package catalog

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology/machine"
)

// 512 DGX H100 need a third tier of 64-port switches; nobody has to know that.
// Who names the fabric gets that fabric, or its refusal.
func TestUsualFabricGrows(t *testing.T) {
	c, err := Load()
	require.NoError(t, err)
	m, err := c.Machine("dgx-h100", Options{Hosts: 512})
	require.NoError(t, err)
	assert.Equal(t, 3, m.Spec.Fabric.Tiers)
	assert.Contains(t, m.Warnings[len(m.Warnings)-1], "three tiers")
	require.NoError(t, m.Spec.Validate())

	// All that a third tier of such switches holds, and one more.
	for system, most := range map[string]int{"dgx-h100": 8192, "gb200-nvl72": 910} {
		m, err = c.Machine(system, Options{Hosts: most})
		require.NoError(t, err, system)
		require.NoError(t, m.Spec.Validate(), system)
		_, err = c.Machine(system, Options{Hosts: most + 1})
		assert.ErrorContains(t, err, "with three tiers of switches", system)
		assert.ErrorContains(t, err, "do not fit on 32 cores of radix 64", system)
		assert.ErrorContains(t, err, "name another fabric (network.fabric) or use fewer nodes", system)
	}

	m, err = c.Machine("dgx-h100", Options{Hosts: 32})
	require.NoError(t, err)
	assert.Equal(t, 2, m.Spec.Fabric.Tiers)

	m, err = c.Machine("dgx-h100", Options{Hosts: 512, Fabric: "ib-ndr"})
	require.NoError(t, err)
	_, err = machine.Build(m.Spec)
	assert.ErrorContains(t, err, "do not fit")
}
