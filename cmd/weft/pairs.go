package main

import (
	"context"
	"fmt"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/replay"
)

// messages is the program of one message along each pair, all at once.
func messages(world int32, pairs [][2]int32, bytes sim.Bytes) *workloads.Program {
	p := &workloads.Program{Name: "messages", World: world}
	ops := make([][]workloads.Op, world)
	for _, pair := range pairs {
		a, b := pair[0], pair[1]
		ops[a] = append(ops[a], workloads.Op{Name: "send", Kind: workloads.Send, Peer: b, Bytes: bytes})
		ops[b] = append(ops[b], workloads.Op{Name: "recv", Kind: workloads.Recv, Peer: a, Bytes: bytes})
	}
	var idle []int32
	streams := []workloads.Stream{{Name: "comm", Order: workloads.Concurrent}}
	for r, o := range ops {
		if o == nil {
			idle = append(idle, int32(r))
			continue
		}
		p.Classes = append(p.Classes, workloads.Class{Name: fmt.Sprintf("rank %d", r), Ranks: []int32{int32(r)}, Streams: streams, Ops: o})
	}
	if idle != nil {
		p.Classes = append(p.Classes, workloads.Class{Name: "idle", Ranks: idle, Streams: streams})
	}
	return p
}

// neighbours is the program of sendrecv in nccl-tests: every rank sends to the
// next and receives from the one before. Ranks that take no part are idle.
func neighbours(world int32, ranks []int32, bytes sim.Bytes) *workloads.Program {
	n := len(ranks)
	next, before := make([]int32, world), make([]int32, world)
	part := make([]bool, world)
	for i, r := range ranks {
		next[r], before[r] = ranks[(i+1)%n], ranks[(i+n-1)%n]
		part[r] = true
	}
	streams := []workloads.Stream{{Name: "comm", Order: workloads.Concurrent}}
	p := &workloads.Program{Name: "sendrecv", World: world, PeerMaps: [][]int32{next, before}}
	p.Classes = []workloads.Class{{Name: "ring", Ranks: ranks, Streams: streams, Ops: []workloads.Op{
		{Name: "send", Kind: workloads.Send, PeerMap: 1, Bytes: bytes},
		{Name: "recv", Kind: workloads.Recv, PeerMap: 2, Bytes: bytes},
	}}}
	var idle []int32
	for r := range world {
		if !part[r] {
			idle = append(idle, r)
			next[r], before[r] = r, r
		}
	}
	if idle != nil {
		p.Classes = append(p.Classes, workloads.Class{Name: "idle", Ranks: idle, Streams: streams})
	}
	return p
}

// mostCopied is up to how many GPUs all pairs are copied; beyond, the pairs of
// GPU 0.
const mostCopied = 16

// copies copies between each pair of the first n GPUs of a host, one way and
// then both ways at once. With noPeer, peer access is turned off.
func copies(ctx context.Context, m *topology.Machine, n int32, size sim.Bytes, noPeer bool, opt replay.Options) ([]report.CopyPair, error) {
	m, err := machine.Copies(m, noPeer)
	if err != nil {
		if noPeer {
			err = fmt.Errorf("%w; expected a system whose GPUs share one known host memory, such as %s, or no --no-p2p", err, standardSystem)
		}
		return nil, exitcode.With(exitcode.Config, err)
	}
	world := int32(len(m.Ranks))
	took := func(pairs ...[2]int32) (sim.Rate, error) {
		res, err := replay.Run(ctx, messages(world, pairs, size), m, opt)
		if err != nil {
			return 0, fmt.Errorf("copy from GPU %d to GPU %d: %w", pairs[0][0], pairs[0][1], err)
		}
		return sim.Rate(float64(size) * float64(len(pairs)) / res.StepTime.Seconds()), nil
	}
	rows := n
	if n > mostCopied {
		rows = 1
	}
	var all []report.CopyPair
	both := map[[2]int32]sim.Rate{}
	for a := range rows {
		for b := range n {
			if a == b {
				continue
			}
			p, err := m.Route(a, b, nil)
			if err != nil {
				return nil, err
			}
			c := report.CopyPair{From: a, To: b, Kind: p.Kind.String(), Staged: p.Staged}
			if c.OneWay, err = took([2]int32{a, b}); err != nil {
				return nil, err
			}
			if rate, ok := both[[2]int32{b, a}]; ok {
				c.BothWays = rate
			} else if c.BothWays, err = took([2]int32{a, b}, [2]int32{b, a}); err != nil {
				return nil, err
			}
			both[[2]int32{a, b}] = c.BothWays
			all = append(all, c)
		}
	}
	return all, nil
}
