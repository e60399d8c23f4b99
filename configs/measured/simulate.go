package measured

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/replay"
	"github.com/weft-sim/weft/workloads/synth"
)

// Prediction is what is said of one size.
type Prediction struct {
	Time     sim.Time
	Algo     string // "" where nobody chose
	Proto    string
	Channels int
	// Bound is the least that the wires allow, whoever sends over them.
	Bound sim.Time
}

// Predictor says how long each size of a series takes. What it cannot simulate
// is an [*Unsimulated].
type Predictor func(ctx context.Context, s *Series, sizes []sim.Bytes) ([]Prediction, error)

// Unsimulated is the error of a series that a predictor has no model of.
type Unsimulated struct{ Why string }

func (u *Unsimulated) Error() string { return u.Why }

// operation is what moves the bytes of an operation of the tables: a collective,
// messages from each rank to the next, or an exchange of tokens.
type operation struct {
	name     string
	coll     workloads.Coll
	pair     bool
	exchange *exchange
}

var ops = []operation{
	{name: "all_reduce", coll: workloads.AllReduce},
	{name: "all_gather", coll: workloads.AllGather},
	{name: "reduce_scatter", coll: workloads.ReduceScatter},
	{name: "alltoall", coll: workloads.AllToAll},
	{name: "broadcast", coll: workloads.Broadcast},
	{name: "reduce", coll: workloads.Reduce},
	{name: "sendrecv", pair: true},
	{name: "deepep_ll_dispatch", exchange: &exchange{phase: "dispatch", mode: "low-latency"}},
	{name: "deepep_ll_combine", exchange: &exchange{phase: "combine", mode: "low-latency"}},
	{name: "deepep_normal_dispatch", exchange: &exchange{phase: "dispatch", mode: "normal"}},
	{name: "deepep_normal_combine", exchange: &exchange{phase: "combine", mode: "normal"}},
	{name: "trtllm_alltoall_dispatch", exchange: &exchange{phase: "dispatch", mode: "normal", remote: true}},
	{name: "trtllm_alltoall_combine", exchange: &exchange{phase: "combine", mode: "normal", remote: true}},
	{name: "trtllm_alltoall_combine_low_precision", exchange: &exchange{phase: "combine", mode: "normal", remote: true}},
}

// opNames lists the operations.
func opNames() []string {
	var names []string
	for _, o := range ops {
		names = append(names, o.name)
	}
	return names
}

// simulated reports whether an operation is one of ops.
func simulated(name string) bool { return slices.Contains(opNames(), name) }

// Simulator predicts by building the scenario of each case and replaying it.
// Machines are built once; it may be used by several goroutines at once.
type Simulator struct {
	mu    sync.Mutex
	built map[string]*stage
}

// stage is a machine that is built once. A library remembers what it found out
// about a group, so one goroutine at a time asks it.
type stage struct {
	sync.Mutex
	once sync.Once
	job  *configs.Job
	err  error
	// moved is what the workload exchanges; nil if it is none.
	moved *configs.Exchange
	// pace makes the pace of messages among ranks, which NCCL joins in one
	// communicator; nil without NCCL.
	pace func(ranks []int32, both bool) collective.Sender
}

// build makes the machine of a scenario.
func (st *stage) build(text string) error {
	cat, err := catalog.Load()
	if err != nil {
		return err
	}
	scenario, err := configs.Parse("case", []byte(text), ".", nil, nil)
	if err != nil {
		return err
	}
	if st.job, err = scenario.Build(cat); err != nil {
		return err
	}
	st.moved = scenario.Workload.Exchange
	if scenario.Collectives.Library != "nccl" {
		return nil
	}
	hw, err := scenario.Hardware(cat)
	if err != nil {
		return err
	}
	lib, _, err := scenario.NCCL(hw)
	if err != nil {
		return err
	}
	st.pace = func(ranks []int32, both bool) collective.Sender {
		return scenario.Collectives.Pace.Sends(lib.Send(ranks, both))
	}
	return nil
}

// stage returns the machine of a scenario.
func (m *Simulator) stage(text string) *stage {
	m.mu.Lock()
	st := m.built[text]
	if st == nil {
		if m.built == nil {
			m.built = map[string]*stage{}
		}
		st = &stage{}
		m.built[text] = st
	}
	m.mu.Unlock()
	st.once.Do(func() { st.err = st.build(text) })
	return st
}

// Predict is a [Predictor].
func (m *Simulator) Predict(ctx context.Context, s *Series, sizes []sim.Bytes) ([]Prediction, error) {
	machines, each, err := s.Case.machines(s.Run)
	if err == nil {
		err = s.Case.unmodelled()
	}
	if err != nil {
		return nil, err
	}
	text, err := s.Case.scenario(machines, s.Run)
	if err != nil {
		return nil, err
	}
	st := m.stage(text)
	if st.err != nil {
		return nil, fmt.Errorf("case of %s: %w", s.Table.ID, st.err)
	}
	st.Lock()
	defer st.Unlock()
	job := st.job
	ranks, err := s.Case.ranks(job, each)
	if err != nil {
		return nil, fmt.Errorf("case of %s: %w", s.Table.ID, err)
	}
	limits := limitsOf(job.Machine, ranks, each)
	options := job.Options
	if s.Op == "sendrecv" && st.pace != nil {
		options.Send = st.pace(ranks, !s.Case.OneWay)
	}
	out := make([]Prediction, 0, len(sizes))
	for _, size := range sizes {
		var program *workloads.Program
		var err error
		if st.moved != nil {
			program, err = s.Run.tokens(st.moved, job.Machine, size)
		} else {
			program, err = s.Case.program(s.Op, ranks, int32(len(job.Machine.Ranks)), size)
		}
		if err != nil {
			return nil, fmt.Errorf("case of %s: %w", s.Table.ID, err)
		}
		res, err := replay.Run(ctx, program, job.Machine, options)
		if err != nil {
			return nil, fmt.Errorf("case of %s, %s of %d bytes: %w", s.Table.ID, s.Op, size, err)
		}
		p := Prediction{Time: res.StepTime, Bound: limits.bound(s.Op, size)}
		if len(res.Colls) > 0 {
			c := res.Colls[0]
			p.Algo, p.Proto = c.Algo, c.Proto
			p.Bound = max(p.Bound, limits.sending(c.WireBytes))
		}
		out = append(out, p)
	}
	return out, nil
}

// ranks lists the ranks that take part: so many of each machine.
func (c *Case) ranks(job *configs.Job, each int) ([]int32, error) {
	all, hosts := len(job.Machine.Ranks), int(job.Machine.Hosts)
	per := all / max(hosts, 1)
	if each > per {
		return nil, fmt.Errorf("%d GPUs of each %s, but it has %d", each, c.System, per)
	}
	var ranks []int32
	for h := range hosts {
		for i := range each {
			if c.GPUs != nil {
				if i = c.GPUs[i]; i < 0 || i >= per {
					return nil, fmt.Errorf("gpus: read %d, expected 0 to %d", i, per-1)
				}
			}
			ranks = append(ranks, int32(h*per+i))
		}
	}
	return ranks, nil
}

// program is one operation among ranks.
func (c *Case) program(op string, ranks []int32, world int32, size sim.Bytes) (*workloads.Program, error) {
	for _, o := range ops {
		switch {
		case o.name != op:
		case o.pair:
			return ring(ranks, world, size, c.OneWay), nil
		default:
			r := synth.Repeated{Op: o.coll, Bytes: size}
			if len(ranks) < int(world) {
				r.Group = synth.Group{Name: "measured", Ranks: [][]int32{ranks}}
			}
			return r.Build(world)
		}
	}
	return nil, &Unsimulated{fmt.Sprintf("operation %s is not simulated", op)}
}

// ring sends from each rank to the next, as sendrecv_perf of nccl-tests does,
// or from the first to the second alone.
func ring(ranks []int32, world int32, size sim.Bytes, oneWay bool) *workloads.Program {
	n := len(ranks)
	streams := []workloads.Stream{{Name: "comm", Order: workloads.Concurrent}}
	p := &workloads.Program{Name: "sendrecv", World: world}
	if oneWay {
		from, to := ranks[0], ranks[1]
		p.Classes = []workloads.Class{
			{Name: "sender", Ranks: []int32{from}, Streams: streams, Ops: []workloads.Op{{Name: "send", Kind: workloads.Send, Peer: to, Bytes: size}}},
			{Name: "receiver", Ranks: []int32{to}, Streams: streams, Ops: []workloads.Op{{Name: "recv", Kind: workloads.Recv, Peer: from, Bytes: size}}},
		}
		var idle []int32
		for r := range world {
			if r != from && r != to {
				idle = append(idle, r)
			}
		}
		if idle != nil {
			p.Classes = append(p.Classes, workloads.Class{Name: "idle", Ranks: idle, Streams: streams})
		}
		return p
	}
	next, before := make([]int32, world), make([]int32, world)
	for r := range world {
		next[r], before[r] = r, r
	}
	var idle []int32
	for i, r := range ranks {
		next[r], before[r] = ranks[(i+1)%n], ranks[(i+n-1)%n]
	}
	for r := range world {
		if !slices.Contains(ranks, r) {
			idle = append(idle, r)
		}
	}
	p.PeerMaps = [][]int32{next, before}
	p.Classes = []workloads.Class{{Name: "ring", Ranks: ranks, Streams: streams, Ops: []workloads.Op{
		{Name: "send", Kind: workloads.Send, PeerMap: 1, Bytes: size},
		{Name: "recv", Kind: workloads.Recv, PeerMap: 2, Bytes: size},
	}}}
	if idle != nil {
		p.Classes = append(p.Classes, workloads.Class{Name: "idle", Ranks: idle, Streams: streams})
	}
	return p
}
