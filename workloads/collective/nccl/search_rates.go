package nccl

// mostLocal is the most ranks of a node.
//
// Source: NVIDIA/nccl, src/include/device.h, 2.30.7.
const mostLocal = 72

// LinkRate returns GB/s of one NVLink, one way, as NCCL plans with it.
//
// Source: NVIDIA/nccl, src/graph/topo.h; 20.6 since 2.20, 40.1 since 2.27.
func LinkRate(v Version, sm int) float64 {
	switch {
	case sm < 70:
		return 18
	case sm == 86:
		return 12
	case sm < 90:
		return 20
	case sm < 100 && v.before(20):
		return 20
	case sm < 100:
		return 20.6
	case v.before(27):
		return 40
	}
	return 40.1
}

// SlotRate returns GB/s of a PCIe slot of a generation, as NCCL plans with it;
// a generation that it does not know counts as the third.
//
// Source: NVIDIA/nccl, src/graph/topo.cc: lanes x rate of a lane / 80.
func SlotRate(generation, lanes int) float64 {
	lane := map[int]float64{1: 15, 2: 30, 4: 120, 5: 240, 6: 480}[generation]
	if lane == 0 {
		lane = 60
	}
	return float64(lanes) * lane / 80
}

// speeds are the rates of a channel that the search tries, high to low.
//
// Source: NVIDIA/nccl, src/graph/search.cc, tags 2.25.1, 2.27.7 and 2.30.7.
func speeds(v Version, sm int, between bool) []float64 {
	switch {
	case sm < 90 && !between:
		return []float64{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3}
	case sm < 90:
		return []float64{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12}
	case sm < 100 && !between:
		return []float64{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3}
	case sm < 100 || v.before(27) && between:
		return []float64{48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12}
	case v.before(27):
		return []float64{90, 80, 70, 60, 50, 40, 30, 24, 20, 19}
	case v.before(30) && !between:
		return []float64{90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18}
	case v.before(30):
		return []float64{96, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12}
	case !between:
		return []float64{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18}
	}
	return []float64{96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12}
}
