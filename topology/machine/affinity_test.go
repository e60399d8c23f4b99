package machine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fault"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/pcie"
)

func TestNICsAreRankedByDistance(t *testing.T) {
	// Four switches, each with GPUs 2k and 2k+1 and NIC k, two on each socket.
	// Staged in host memory the ways to both NICs of a socket are alike; the
	// nearest is the one below the GPU's own switch all the same.
	for name, change := range map[string]func(s *machine.Spec){
		"direct":       func(*machine.Spec) {},
		"without GDR":  func(s *machine.Spec) { s.Host.PCIe.GDR = pcie.Nowhere },
		"over sockets": func(s *machine.Spec) { s.Fabric.Staged = true },
	} {
		t.Run(name, func(t *testing.T) {
			s := dgxH100(2)
			s.Relay = machine.RelayNever
			s.Host.PCIe.NICs = nil
			for i := range 4 {
				s.Host.PCIe.NICs = append(s.Host.PCIe.NICs, under(pcie.OnSwitch, i, gen5))
			}
			change(&s)
			m := build(t, s)
			for gpu := range int32(8) {
				_, names := route(t, m, gpu, 8+gpu)
				assert.Contains(t, names, fmt.Sprintf("n0.nic%d > leaf%d (1 ndr link)", gpu/2, gpu/2))
			}
		})
	}
}

func TestMemoryOfAnotherSocketStages(t *testing.T) {
	s := dgxH100(1)
	s.Host.NVLink, s.Fabric = nil, nil
	s.Host.PCIe.P2P = pcie.Nowhere
	m := faulty(t, build(t, s), "n0.mem0 down")
	p, names := route(t, m, 0, 1)
	assert.True(t, p.Staged)
	assert.Equal(t, topology.PIX, p.Kind)
	assert.Contains(t, names, "n0.cpu1 > n0.mem1 (1 ddr5 link)")
	// No memory at all.
	m = build(t, s)
	f, err := fault.Parse("n0.mem* down")
	require.NoError(t, err)
	_, err = fault.Apply(m, f)
	assert.ErrorContains(t, err, "they may not reach each other over PCIe, and no host memory is left that both reach")
	f, err = fault.Parse("n0.gpu0<>n0.pcie-sw0 down")
	require.NoError(t, err)
	_, err = fault.Apply(m, f)
	assert.ErrorContains(t, err, "links of their PCIe tree are out of service")
}
