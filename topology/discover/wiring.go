package discover

import (
	"slices"

	"github.com/weft-sim/weft/topology/nvlink"
)

// wiring is the NVLink side of a dump, the GPUs of all hosts counted on.
type wiring struct {
	hosts    []Host
	gpus     int
	kind     LinkKind
	sample   *GPU // the first GPU with the most links, or just the first
	most     int  // links of a GPU
	switched bool
}

func (w *wiring) survey() {
	for h := range w.hosts {
		w.switched = w.switched || w.hosts[h].switched()
		for i := range w.hosts[h].GPUs {
			g := &w.hosts[h].GPUs[i]
			w.gpus++
			if n := g.meshLinks(); w.sample == nil || n > w.most {
				w.sample, w.most = g, n
				for _, l := range g.Links {
					if l.Kind != C2C {
						w.kind = l.Kind
					}
				}
			}
		}
	}
}

// edges returns the links of each pair; where the two ends tell different
// numbers, the smaller.
func (w *wiring) edges() [][3]int {
	count := func(h *Host, a, b int) int {
		n := 0
		for _, l := range h.GPUs[a].Links {
			if l.Peer == b && l.Kind != C2C {
				n += l.Count
			}
		}
		return n
	}
	var edges [][3]int
	first := 0
	for h := range w.hosts {
		host := &w.hosts[h]
		for a := range host.GPUs {
			for b := a + 1; b < len(host.GPUs); b++ {
				if n := min(count(host, a, b), count(host, b, a)); n > 0 {
					edges = append(edges, [3]int{first + a, first + b, n})
				}
			}
		}
		first += len(host.GPUs)
	}
	return edges
}

// planes returns the bus ids of the switches, in order; nil if the dump does
// not name all of them, or spans hosts, where one bus id is many switches.
func (w *wiring) planes() []string {
	if len(w.hosts) > 1 {
		return nil
	}
	var names []string
	for i := range w.hosts[0].GPUs {
		for _, l := range w.hosts[0].GPUs[i].Links {
			switch {
			case !l.Switch:
			case l.Target == "" || l.Target == Invisible:
				return nil
			case !slices.Contains(names, l.Target):
				names = append(names, l.Target)
			}
		}
	}
	slices.Sort(names)
	return names
}

// width returns the links of a GPU to a plane.
func (w *wiring) width(gpu int, plane string) int {
	n := 0
	for _, l := range w.hosts[0].GPUs[gpu].Links {
		if l.Switch && l.Target == plane {
			n += l.Count
		}
	}
	return n
}

// widths returns the links that a sound GPU has to each plane.
func (w *wiring) widths(planes []string) []int {
	widths := make([]int, len(planes))
	for p, name := range planes {
		for i := range w.hosts[0].GPUs {
			widths[p] = max(widths[p], w.width(i, name))
		}
	}
	return widths
}

// missing lists what single GPUs lack of the widths.
func (w *wiring) missing(planes []string, widths []int) []nvlink.Down {
	var down []nvlink.Down
	for i := range w.hosts[0].GPUs {
		for p, name := range planes {
			if lack := widths[p] - w.width(i, name); lack > 0 {
				down = append(down, nvlink.Down{GPU: i, Plane: p, Links: lack})
			}
		}
	}
	return down
}
