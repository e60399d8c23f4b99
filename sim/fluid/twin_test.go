package fluid

import (
	"math"
)

// twinFlow is a flow of the twin.
type twinFlow struct {
	hops   []Hop
	weight int32
	limit  int64
}

// twin is progressive filling as the package comment defines it, from scratch,
// with nothing clever: level after level, every link looked at.
func twin(capacity []int64, flows []twinFlow) (rates, used []int64) {
	rates = make([]int64, len(flows))
	used = make([]int64, len(capacity))
	frozen := make([]bool, len(flows))
	weight := func(l int, f twinFlow) (w int64) {
		for _, h := range f.hops {
			if int(h.Link) == l {
				w += int64(f.weight) * int64(h.Weight)
			}
		}
		return w
	}
	for {
		keys := make([]int64, len(capacity))
		least := int64(math.MaxInt64)
		for l := range capacity {
			w := int64(0)
			for i, f := range flows {
				if !frozen[i] {
					w += weight(l, f)
				}
			}
			keys[l] = math.MaxInt64
			if w > 0 {
				keys[l] = (capacity[l] - used[l]) / w
			}
			least = min(least, keys[l])
		}
		for i, f := range flows {
			if !frozen[i] && f.limit > 0 {
				least = min(least, f.limit/int64(f.weight))
			}
		}
		if least == math.MaxInt64 {
			return rates, used
		}
		for i, f := range flows {
			if frozen[i] {
				continue
			}
			full := f.limit > 0 && f.limit/int64(f.weight) == least
			for _, h := range f.hops {
				full = full || keys[h.Link] == least
			}
			if full {
				frozen[i] = true
				rates[i] = least * int64(f.weight)
				for l := range capacity {
					used[l] += least * weight(l, f)
				}
			}
		}
	}
}
