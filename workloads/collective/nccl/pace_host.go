package nccl

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// hostPace is Pace within one host whose GPUs meet over PCIe.
func (m *Model) hostPace(_ workloads.Coll, _ Choice, _ sim.Bytes, _ Setting) collective.Pace {
	return collective.Pace{}
}
