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

// A pipeline of 16 stages in 1,024 replicas: each stage sends 512 messages to
// the next and as many back.
func BenchmarkPipeline(b *testing.B) {
	const stages, replicas, messages = 16, 1024, 512
	const n = stages * replicas
	p := &workloads.Program{World: n, PeerMaps: [][]int32{make([]int32, n), make([]int32, n)}}
	for r := range int32(n) {
		p.PeerMaps[0][r], p.PeerMaps[1][r] = r+replicas, r-replicas
	}
	streams := []workloads.Stream{{Name: "compute"}, {Name: "send", Order: workloads.Concurrent}}
	for s := range stages {
		cl := workloads.Class{Streams: streams}
		for r := range int32(replicas) {
			cl.Ranks = append(cl.Ranks, int32(s)*replicas+r)
		}
		for range messages {
			at := int32(len(cl.Ops))
			var deps []int32
			if s > 0 {
				cl.Ops = append(cl.Ops, workloads.Op{Kind: workloads.Recv, Stream: 1, PeerMap: 2, Bytes: 1 << 20})
				deps = []int32{at}
			}
			cl.Ops = append(cl.Ops, workloads.Op{Kind: workloads.Compute, Duration: sim.Microsecond, Deps: deps})
			if s < stages-1 {
				cl.Ops = append(cl.Ops, workloads.Op{Kind: workloads.Send, Stream: 1, PeerMap: 1, Bytes: 1 << 20, Deps: []int32{int32(len(cl.Ops) - 1)}})
			}
		}
		p.Classes = append(p.Classes, cl)
	}
	m := newStar(n, port, latency)
	b.ReportAllocs()
	for b.Loop() {
		r := run(b, p, m, Options{})
		b.ReportMetric(float64(r.Stats.Simulated), "ranks-simulated")
	}
}
