package nccl

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// nodePace is Pace within one NVLink domain.
func (m *Model) nodePace(_ workloads.Coll, _ Choice, _ sim.Bytes, _ Setting) collective.Pace {
	return collective.Pace{}
}
