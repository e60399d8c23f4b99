package replay

import (
	"fmt"
	"testing"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// The wires of the work that peers were timed on: one switch, a full-duplex
// port of 429.50 GB/s each way, two links of 936.25 ns a path.
const (
	port    sim.Rate = 429.50e9
	latency          = 1872500 * sim.Picosecond
)

func BenchmarkRing(b *testing.B) {
	for _, n := range []int{72, 1024, 4096} {
		for _, g := range []collective.Grain{collective.Stream, collective.Chunk} {
			for _, c := range []Collapse{Auto, Off} {
				if n == 4096 && g == collective.Chunk && c == Off && testing.Short() {
					continue
				}
				b.Run(fmt.Sprintf("n=%d/%v/collapse=%v", n, g, c), func(b *testing.B) {
					m := newStar(n, port, latency)
					p := one(n, workloads.AllReduce, 1<<30)
					b.ReportAllocs()
					for b.Loop() {
						r := run(b, p, m, Options{Grain: g, Collapse: c})
						b.ReportMetric(r.StepTime.Microseconds(), "simulated-us")
					}
				})
			}
		}
	}
}

func BenchmarkAllToAll(b *testing.B) {
	for _, n := range []int{72, 256, 1024} {
		for _, c := range []Collapse{Auto, Off} {
			b.Run(fmt.Sprintf("n=%d/collapse=%v", n, c), func(b *testing.B) {
				m := newStar(n, port, latency)
				p := one(n, workloads.AllToAll, 1<<28)
				b.ReportAllocs()
				for b.Loop() {
					r := run(b, p, m, Options{Collapse: c})
					b.ReportMetric(r.StepTime.Microseconds(), "simulated-us")
				}
			})
		}
	}
}
