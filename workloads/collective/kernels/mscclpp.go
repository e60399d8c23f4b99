package kernels

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// pickMSCCLPP chooses as MSCCL++ does within a node.
// Source: microsoft/mscclpp, src/ext/nccl/algorithm_selector.cc at 03599e27.
func pickMSCCLPP(l *Library, op workloads.Coll, size sim.Bytes, n int, _ bool) (*kernel, string) {
	m, zero := l.Machine, l.Machine.Multicast && !l.Setting.NoSymmetric
	upTo := func(name string, most sim.Bytes) (*kernel, string) {
		return named(name), fmt.Sprintf("up to %v", most)
	}
	switch {
	case !m.NVLink:
		return nil, "needs NVLink"
	case op == workloads.AllGather && size <= 32*sim.MiB:
		return upTo("mscclpp-fullmesh", 32*sim.MiB)
	case op == workloads.AllGather:
		return nil, "above 32MiB NCCL is there"
	case op != workloads.AllReduce:
		return nil, "all_reduce and all_gather only"
	case m.SM < 100 && size <= 16*sim.KiB:
		return upTo("mscclpp-allpair", 16*sim.KiB)
	case size <= 32*sim.KiB && m.Multicast:
		return upTo("mscclpp-nvls-packet", 32*sim.KiB)
	case size <= 64*sim.KiB:
		return upTo("mscclpp-packet", 64*sim.KiB)
	case size <= sim.MiB && !zero:
		return upTo("mscclpp-packet", sim.MiB)
	case zero:
		return named("mscclpp-nvls"), "symmetric memory and switches that reduce"
	case m.SM >= 100 && size <= 2*sim.MiB:
		return upTo("mscclpp-packet", 2*sim.MiB)
	case m.SM >= 100:
		return named("mscclpp-rsag"), "above 2MiB without symmetric memory"
	case m.Multicast:
		return named("mscclpp-nvls-copy"), "switches that reduce, without symmetric memory"
	}
	return nil, "above 1MiB without switches that reduce"
}
