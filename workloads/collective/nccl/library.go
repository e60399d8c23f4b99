package nccl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// Host is what NCCL asks of a machine beside its wires.
type Host struct {
	SM  int // compute capability of the GPUs, times ten
	CPU CPU
}

// Library is NCCL on a machine: it chooses for any group of its ranks, and
// says what its kernels cost. It remembers what it found out about groups that
// lie alike, and is not for several goroutines at once.
type Library struct {
	Version Version
	Env     Env
	Host    Host
	Setting Setting

	machine *topology.Machine
	models  map[string]*Model
	errs    map[string]error
}

// NewLibrary returns NCCL of a release on a machine.
func NewLibrary(m *topology.Machine, v Version, env Env, h Host, s Setting) *Library {
	return &Library{Version: v, Env: env, Host: h, Setting: s, machine: m, models: map[string]*Model{}, errs: map[string]error{}}
}

// Model returns NCCL's model of a communicator of ranks.
func (l *Library) Model(ranks []int32) (*Model, error) {
	key, err := l.signature(ranks)
	if err != nil {
		return nil, err
	}
	if m := l.models[key]; m != nil {
		return m, nil
	}
	if err := l.errs[key]; err != nil {
		return nil, err
	}
	m, err := l.model(ranks)
	if err != nil {
		l.errs[key] = err
		return nil, err
	}
	l.models[key] = m
	return m, nil
}

// signature says how ranks lie on hosts: the GPUs of each, by their numbers
// there. Hosts are taken as equal.
func (l *Library) signature(ranks []int32) (string, error) {
	g := l.machine.Graph
	var b strings.Builder
	last, run, times := "", "", 0
	flush := func() {
		switch {
		case run == "":
		case run == last:
			times++
		default:
			if times > 1 {
				b.WriteByte('*')
				b.WriteString(strconv.Itoa(times))
			}
			b.WriteByte('/')
			b.WriteString(run)
			last, times = run, 1
		}
	}
	host := int32(-2)
	var units []byte
	for _, r := range ranks {
		if r < 0 || int(r) >= len(l.machine.Ranks) {
			return "", fmt.Errorf("make communicator: there is no rank %d, expected 0 to %d", r, len(l.machine.Ranks)-1)
		}
		n := g.Nodes[l.machine.Ranks[r]]
		if n.Host != host {
			run = string(units)
			flush()
			units, host = units[:0], n.Host
		}
		units = strconv.AppendInt(units, int64(n.Unit), 10)
		units = append(units, ',')
	}
	run = string(units)
	flush()
	if times > 1 {
		b.WriteByte('*')
		b.WriteString(strconv.Itoa(times))
	}
	return b.String(), nil
}

// Choose is the [collective.Chooser] of the library.
func (l *Library) Choose(op workloads.Coll, size sim.Bytes, ranks []int32) (collective.Choice, error) {
	if len(ranks) < 2 {
		return collective.Choice{Algorithm: collective.Ring, Protocol: Simple.String(), Why: "one rank has nobody to send to"}, nil
	}
	asked := op
	switch op {
	case workloads.AllToAll, workloads.AllToAllV, workloads.Gather, workloads.Scatter:
		return collective.Choice{Algorithm: collective.Direct, Protocol: Simple.String(), Why: "made of sends and receives"}, nil
	case workloads.Barrier:
		op, size = workloads.AllReduce, sim.Bytes(len(ranks)) // as torch.distributed does with one element
	}
	m, err := l.Model(ranks)
	if err != nil {
		return collective.Choice{}, err
	}
	c, err := m.Choose(op, size)
	if err != nil {
		return collective.Choice{}, err
	}
	out := m.Run(op, c, size, l.Setting)
	if asked == workloads.Barrier {
		out.Algorithm = collective.Ring // of one byte a rank, whatever the choice
	}
	return out, nil
}

// Run returns how weft runs what NCCL chose.
func (m *Model) Run(op workloads.Coll, c Choice, size sim.Bytes, s Setting) collective.Choice {
	return collective.Choice{
		Algorithm: ways[c.Algorithm], Name: c.Algorithm.String(), Protocol: c.Protocol.String(),
		Channels: c.Channels, Overhead: 1 / c.Protocol.Payload(), Pace: m.Pace(op, c, size, s), Why: c.why(),
	}
}

// ways are NCCL's algorithms as traffic.
var ways = [algorithms]collective.Algorithm{
	Tree: collective.Tree, Ring: collective.Ring, CollNetDirect: collective.NetReduce, CollNetChain: collective.NetReduce,
	NVLS: collective.Switch, NVLSTree: collective.SwitchTree, PAT: collective.Doubling,
}

// why says in a clause what decided.
func (c Choice) why() string {
	if c.Next == nil {
		return fmt.Sprintf("NCCL predicts %.1f us and considers nothing else", c.Time)
	}
	return fmt.Sprintf("NCCL predicts %.1f us, and %.1f us for %v with %v", c.Time, c.Next.Time, c.Next.Algorithm, c.Next.Protocol)
}

// model makes the model of a communicator.
func (l *Library) model(ranks []int32) (*Model, error) {
	nodes := map[int32]int{}
	for _, r := range ranks {
		nodes[l.machine.Graph.Nodes[l.machine.Ranks[r]].Host]++
	}
	f, err := Describe(l.machine, l.Host.SM)
	if err != nil {
		return nil, err
	}
	f.Nodes, f.GPUs = len(nodes), len(ranks)/len(nodes)
	g, err := f.Graphs(l.Version)
	if err != nil {
		return nil, err
	}
	return New(l.Version, Summary{Ranks: len(ranks), Nodes: f.Nodes, SM: l.Host.SM, CPU: l.Host.CPU, Graphs: g}, l.Env)
}
