package mscclpp

import (
	"fmt"
	"slices"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/msccl"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// CostsOf returns the costs of a message where MSCCL++'s thread blocks cost what
// NCCL's do in a ring of as many: they copy at the rate of its protocol (LL for
// packets, Simple for the rest), and poll flags as LL does. That is an
// assumption; nothing here was fitted.
func (p *Plan) CostsOf(pace msccl.Pacer, size sim.Bytes, memory sim.Rate) msccl.Costs {
	blocks := max(p.Blocks(), 1)
	choice := func(proto nccl.Protocol) nccl.Choice {
		return nccl.Choice{Estimate: nccl.Estimate{Algorithm: nccl.Ring, Protocol: proto}, Channels: blocks}
	}
	rate := func(proto nccl.Protocol) sim.Rate {
		full := sim.Bytes(blocks*len(p.GPUs)) * 2 * sim.MiB
		return pace(workloads.AllReduce, choice(proto), full).Limit / sim.Rate(blocks)
	}
	// As if each thread block had its line of 8 bytes to send.
	small := pace(workloads.AllReduce, choice(nccl.LL), sim.Bytes(blocks*len(p.GPUs))*16)
	c := msccl.Costs{Start: small.Start, Floor: small.Floor, Local: rate(nccl.Simple), Memory: memory}
	block := c.Local
	if p.Protocol == "LL" {
		block = rate(nccl.LL)
	}
	message := collective.Pace{Step: small.Step, NetStep: small.NetStep, Limit: block}
	c.Message = func(sim.Bytes) collective.Pace { return message }
	return c
}

// Expand makes the program of one call with a message of size bytes, as
// nccl-tests counts. GPU i of the plan is ranks[i] of a world of so many; the
// others are idle. Every thread block is a stream of its rank, and what arrives
// at a GPU's memory from elsewhere is another.
func (p *Plan) Expand(size sim.Bytes, ranks []int32, world int32, c msccl.Costs) (*msccl.Run, error) {
	if len(ranks) != len(p.GPUs) {
		return nil, fmt.Errorf("run %s: it is for %d GPUs, and there are %d", p.File, len(p.GPUs), len(ranks))
	}
	if err := p.Fits(size); err != nil {
		return nil, fmt.Errorf("run %s: a message of %w", p.File, err)
	}
	r := p.run(false)
	if err := r.verdict(); err != nil {
		return nil, err
	}
	x := &expansion{
		p: p, run: r, costs: c, size: size, ranks: ranks, classes: make([]workloads.Class, len(ranks)), tags: make([]int32, len(ranks)),
		came: map[arrival]int32{}, signal: map[arrival]int32{}, last: map[ref]int32{}, arrive: map[ref]int32{}, gate: map[ref]int32{},
	}
	if err := x.groups(); err != nil {
		return nil, err
	}
	for g := range p.GPUs {
		x.open(g)
	}
	for g := range p.GPUs {
		for b := range p.GPUs[g].Blocks {
			for k := range p.GPUs[g].Blocks[b].Ops {
				x.op(ref{g, b, k})
			}
		}
	}
	x.wait()
	out := &msccl.Run{
		Program: &workloads.Program{Name: p.Name, World: world, Classes: x.classes, Comms: x.comms},
		Send:    x.send, Sent: x.sent / float64(len(ranks)),
	}
	if x.comms != nil {
		out.Choose = x.choose
	}
	var idle []int32
	for rank := range world {
		if !slices.Contains(ranks, rank) {
			idle = append(idle, rank)
		}
	}
	if idle != nil {
		out.Program.Classes = append(out.Program.Classes, workloads.Class{Name: "idle", Ranks: idle, Streams: []workloads.Stream{{Name: "none"}}})
	}
	return out, nil
}

// expansion is the state of one Expand.
type expansion struct {
	p       *Plan
	run     *run
	costs   msccl.Costs
	size    sim.Bytes
	ranks   []int32
	classes []workloads.Class
	tags    []int32 // the next of each sender: every message has its own
	comms   []workloads.Comm
	sizes   [][]sim.Bytes     // of the k-th sum of each communicator
	at      []map[int]int     // by GPU: how many sums of each communicator there are
	came    map[arrival]int32 // the operation that receives what was written
	signal  map[arrival]int32 // the tag of a signal
	last    map[ref]int32     // the last operation of each
	arrive  map[ref]int32     // the operation that reaches a barrier
	gate    map[ref]int32     // the operation that waits for others
	sent    float64
}

// send is the pace of each message.
func (x *expansion) send(b sim.Bytes, _, _ int32) (collective.Choice, error) {
	return collective.Choice{
		Algorithm: collective.Direct, Name: x.p.Name, Protocol: x.p.Protocol,
		Pace: x.pace(b),
	}, nil
}

func (x *expansion) pace(b sim.Bytes) collective.Pace {
	if x.costs.Message == nil {
		return collective.Pace{}
	}
	return x.costs.Message(b)
}

// choose is how a sum in the switch runs.
func (x *expansion) choose(_ workloads.Coll, b sim.Bytes, _ []int32) (collective.Choice, error) {
	return collective.Choice{
		Algorithm: collective.Switch, Name: x.p.Name, Protocol: "multimem", Channels: 1,
		Pace: x.pace(b), Why: "the plan says so",
	}, nil
}

// groups makes a communicator for each set of ranks whose switch adds up, and
// adds up the parts of its ranks.
func (x *expansion) groups() error {
	p := x.p
	var keys []string
	count := make([][]int, 0)
	x.at = make([]map[int]int, len(p.GPUs))
	for g := range p.GPUs {
		x.at[g] = map[int]int{}
		for b := range p.GPUs[g].Blocks {
			for k := range p.GPUs[g].Blocks[b].Ops {
				op := &p.GPUs[g].Blocks[b].Ops[k]
				if op.Name != "glres" {
					continue
				}
				key := fmt.Sprint(op.Src[0].Switch)
				at := slices.Index(keys, key)
				if at < 0 {
					at = len(keys)
					keys = append(keys, key)
					cm := workloads.Comm{Name: "switch " + key}
					var group []int32
					for _, m := range op.Src[0].Switch {
						group = append(group, x.ranks[m])
					}
					cm.Groups = [][]int32{group}
					x.comms, x.sizes, count = append(x.comms, cm), append(x.sizes, nil), append(count, make([]int, len(p.GPUs)))
				}
				nth := count[at][g]
				count[at][g]++
				if nth == len(x.sizes[at]) {
					x.sizes[at] = append(x.sizes[at], 0)
				}
				x.sizes[at][nth] += p.bytes(x.size, op.Src[0], op.Part)
			}
		}
	}
	for at, n := range count {
		first := -1
		for g, c := range n {
			if !slices.Contains(x.comms[at].Groups[0], x.ranks[g]) {
				continue
			}
			if first < 0 {
				first = g
			}
			if c != n[first] {
				return fmt.Errorf("run %s: glres: GPU %d has %d of them on a switch channel and GPU %d has %d, which is not modelled; expected as many on each", p.File, first, n[first], g, c)
			}
		}
	}
	return nil
}

// open makes the class of a GPU.
func (x *expansion) open(g int) {
	cl := &x.classes[g]
	cl.Name, cl.Ranks = fmt.Sprintf("GPU %d", g), []int32{x.ranks[g]}
	for b := range x.p.GPUs[g].Blocks {
		cl.Streams = append(cl.Streams, workloads.Stream{Name: fmt.Sprintf("thread block %d", b)})
	}
	cl.Streams = append(cl.Streams, workloads.Stream{Name: "memory", Order: workloads.Concurrent})
	for b := range x.p.GPUs[g].Blocks {
		if x.costs.Start > 0 {
			x.add(g, b, workloads.Op{Name: "start", Kind: workloads.Delay, Duration: x.costs.Start})
		}
	}
	if x.costs.Floor > 0 {
		x.add(g, x.memory(g), workloads.Op{Name: "launch", Kind: workloads.Delay, Duration: x.costs.Floor})
	}
}

// memory is the stream of what arrives at a GPU.
func (x *expansion) memory(g int) int { return len(x.p.GPUs[g].Blocks) }

func (x *expansion) add(g, stream int, op workloads.Op) int32 {
	op.Stream = int16(stream)
	x.classes[g].Ops = append(x.classes[g].Ops, op)
	return int32(len(x.classes[g].Ops)) - 1
}

// message sends bytes from a stream of one GPU to one of another, and returns
// the operations at both ends.
func (x *expansion) message(name string, from, stream, to, into int, b sim.Bytes, deps ...int32) (send, recv int32) {
	tag := x.tags[from]
	x.tags[from]++
	send = x.add(from, stream, workloads.Op{Name: name, Kind: workloads.Send, Peer: x.ranks[to], Tag: tag, Bytes: b, Deps: deps})
	recv = x.add(to, into, workloads.Op{Name: name, Kind: workloads.Recv, Peer: x.ranks[from], Tag: tag, Bytes: b})
	x.sent += float64(b)
	return send, recv
}

// op writes what an operation does.
func (x *expansion) op(at ref) {
	op := &x.p.GPUs[at.gpu].Blocks[at.block].Ops[at.op]
	k := known[op.Name]
	g := at.gpu
	gate := func(name string) {
		x.gate[at] = x.add(g, at.block, workloads.Op{Name: name, Kind: workloads.Delay})
	}
	if k.takes >= 0 {
		gate("packets")
	}
	switch {
	case op.Name == "barrier":
		x.arrive[at] = x.add(g, at.block, workloads.Op{Name: "reach barrier", Kind: workloads.Delay})
		gate("pass barrier")
	case op.Name == "glres":
		x.sum(at, op)
	case k.reads:
		x.pull(at, op)
	case k.data:
		x.push(at, op, k)
	case k.waits:
		x.gate[at] = int32(len(x.classes[g].Ops))
		for _, c := range op.Channels {
			x.add(g, at.block, workloads.Op{Name: op.Name, Kind: workloads.Recv, Peer: x.ranks[c.Peer], Bytes: signalBytes})
		}
	case !k.signals: // others may wait for it, or it for others
		gate(op.Name)
	}
	if k.signals {
		for i, c := range op.Channels {
			tag := x.tags[g]
			x.signal[arrival{at, i}] = tag
			x.tags[g]++
			x.add(g, at.block, workloads.Op{Name: op.Name, Kind: workloads.Send, Peer: x.ranks[c.Peer], Tag: tag, Bytes: signalBytes})
			x.sent += signalBytes
		}
	}
	x.last[at] = int32(len(x.classes[g].Ops)) - 1
}

// wait makes operations wait for what they waited for in the run without
// numbers.
func (x *expansion) wait() {
	for g := range x.p.GPUs {
		for b := range x.p.GPUs[g].Blocks {
			for k := range x.p.GPUs[g].Blocks[b].Ops {
				at := ref{g, b, k}
				m := x.run.matches[at]
				if m == nil {
					continue
				}
				ops := x.classes[g].Ops
				gate := x.gate[at]
				for i, s := range m.signals {
					ops[int(gate)+i].Tag = x.signal[s]
				}
				deps := &ops[gate].Deps
				for _, a := range m.packets {
					on := x.last[a.ref]
					if a.gpu != g {
						on = x.came[a]
					}
					*deps = append(*deps, on)
				}
				for _, o := range m.done {
					*deps = append(*deps, x.last[o])
				}
				for _, o := range m.meet {
					*deps = append(*deps, x.arrive[o])
				}
			}
		}
	}
}
