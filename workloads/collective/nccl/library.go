package nccl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// Library is NCCL on a machine: it chooses for any group of its ranks, and
// says what its kernels cost. It remembers what it found out about groups that
// lie alike, and is not for several goroutines at once.
type Library struct {
	Version Version
	Env     Env
	On      Platform
	Setting Setting
	// Graphs are channels from elsewhere, such as a job's own dump; nil searches.
	// What they do not say, the order of ranks, is searched all the same.
	Graphs *Graphs
	Tuner  Tuner // rules that go before NCCL's own choice; the zero value has none

	machine *topology.Machine
	found   map[string]*Communicator
	errs    map[string]error
	kinds   []int32 // of each host, see hostKind
}

// Communicator is what NCCL finds out about a group of ranks.
type Communicator struct {
	*Model
	Channels *Channels
	trip     sim.Time           // across the network and back, by the wires
	rings    *collective.Orders // nil where the order of the group says it
	chains   *collective.Orders
}

// NewLibrary returns NCCL of a release on a machine.
func NewLibrary(m *topology.Machine, v Version, env Env, on Platform, s Setting) *Library {
	return &Library{Version: v, Env: env, On: on, Setting: s, machine: m, found: map[string]*Communicator{}, errs: map[string]error{}}
}

// Ranks is how many ranks the machine has room for.
func (l *Library) Ranks() int { return len(l.machine.Ranks) }

// Communicator returns what NCCL finds for ranks. Groups that lie alike share
// it.
func (l *Library) Communicator(ranks []int32) (*Communicator, error) {
	key, err := l.signature(ranks)
	if err != nil {
		return nil, err
	}
	if err := l.errs[key]; err != nil {
		return nil, err
	}
	c := l.found[key]
	if c == nil {
		if c, err = l.find(ranks); err != nil {
			l.errs[key] = err
			return nil, err
		}
		l.found[key] = c
	}
	return l.placed(key, c, ranks)
}

// placed returns a communicator with the round trip of its own place in the
// network: hosts that are alike may be near or far.
func (l *Library) placed(key string, c *Communicator, ranks []int32) (*Communicator, error) {
	trip, err := l.roundTrip(ranks, c.Channels.Nodes)
	if err != nil || trip == c.trip {
		return c, err
	}
	key += "@" + strconv.FormatInt(int64(trip), 10)
	if far := l.found[key]; far != nil {
		return far, nil
	}
	far := *c
	far.trip = trip
	l.found[key] = &far
	return &far, nil
}

// signature says how ranks lie on hosts: the kind of each host, and the GPUs
// there by their numbers.
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
			host = n.Host
			units = append(strconv.AppendInt(units[:0], int64(l.hostKind(host)), 10), ':')
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
	if len(ranks) < 2 { // nobody to send to
		return collective.Default(op, size, ranks)
	}
	m, err := l.Communicator(ranks)
	if err != nil {
		return collective.Choice{}, err
	}
	asked := op
	switch n := sim.Bytes(len(ranks)); op {
	case workloads.AllToAll, workloads.AllToAllV, workloads.Gather, workloads.Scatter:
		return m.PeerPace(op, (size+n-1)/n, m.Channels.Peers, l.Setting)
	case workloads.Barrier:
		op, size = workloads.AllReduce, n // as torch.distributed does with one element
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

// Send is the [collective.Sender] of the library, with both ranks in the
// communicator of group, or in one of their own if that is empty. both says that
// a sender receives another message in the same group of calls.
func (l *Library) Send(group []int32, both bool) collective.Sender {
	return func(size sim.Bytes, from, to int32) (collective.Choice, error) {
		ranks := group
		if len(ranks) == 0 {
			ranks = []int32{min(from, to), max(from, to)}
		}
		m, err := l.Communicator(ranks)
		if err != nil {
			return collective.Choice{}, err
		}
		host := func(r int32) int32 { return l.machine.Graph.Nodes[l.machine.Ranks[r]].Host }
		return m.SendPace(size, host(from) != host(to), both, m.Channels.Peers, l.Setting)
	}
}

// Run returns how weft runs what NCCL chose, or what somebody forces.
func (m *Communicator) Run(op workloads.Coll, c Choice, size sim.Bytes, s Setting) collective.Choice {
	if s.RoundTrip == 0 {
		s.RoundTrip = m.trip // as the wires say
	}
	out := collective.Choice{
		Algorithm: ways[c.Algorithm], Name: c.Algorithm.String(), Protocol: c.Protocol.String(),
		Channels: c.Channels, Overhead: 1 / c.Protocol.Payload(), Pace: m.Pace(op, c, size, s), Why: c.why(),
	}
	switch {
	case c.Algorithm == NVLS && m.Nodes > 1:
		out.Algorithm = collective.NetReduce
	case c.Algorithm == Tree:
		out.Orders = m.chains
	case c.Algorithm == Ring:
		out.Orders = m.rings
	}
	return out
}

// ways are NCCL's algorithms as traffic.
var ways = [algorithms]collective.Algorithm{
	Tree: collective.Tree, Ring: collective.Ring, CollNetDirect: collective.NetReduce, CollNetChain: collective.NetReduce,
	NVLS: collective.Switch, NVLSTree: collective.SwitchTree, PAT: collective.Doubling,
}

// why says in a clause what decided.
func (c Choice) why() string {
	if c.Rule != nil {
		return fmt.Sprintf("line %d of the tuner's rules", c.Rule.Line)
	}
	if c.Next == nil {
		return fmt.Sprintf("NCCL predicts %.1f us and considers nothing else", c.Time)
	}
	return fmt.Sprintf("NCCL predicts %.1f us, and %.1f us for %v with %v", c.Time, c.Next.Time, c.Next.Algorithm, c.Next.Protocol)
}

// find searches the channels of ranks.
func (l *Library) find(ranks []int32) (*Communicator, error) {
	ch, err := Search(l.Version, l.machine, ranks, l.On, l.Env)
	if err != nil {
		return nil, err
	}
	if l.Graphs != nil {
		given := *ch
		given.Graphs = *l.Graphs
		ch = &given
	}
	m, err := New(l.Version, Summary{Ranks: len(ranks), Nodes: len(ch.Nodes), SM: l.On.SM, CPU: l.On.CPU, Graphs: ch.Graphs, Uneven: uneven(ch.Nodes), AllPeers: ch.Ring.TypeIntra > PXB && l.allPeers(ranks, ch.Rings), Translated: l.On.Translated}, l.Env)
	if err != nil {
		return nil, err
	}
	m.Tuner = l.Tuner
	c := &Communicator{Model: m, Channels: ch, rings: ordersOf(ch.Rings)}
	if len(ch.Nodes) == 1 || ch.Tree.TypeIntra != NVL {
		c.chains = ordersOf(join(ch.Trees))
	}
	return c, nil
}

// uneven reports nodes with unequal numbers of members.
func uneven(nodes [][]int32) bool {
	return slices.ContainsFunc(nodes, func(n []int32) bool { return len(n) != len(nodes[0]) })
}

// allPeers reports whether no neighbours of a ring pass bytes by way of host
// memory.
func (l *Library) allPeers(ranks []int32, rings [][]int32) bool {
	var buf []topology.Hop
	for _, ring := range rings {
		for i, at := range ring {
			from, to := ranks[at], ranks[ring[(i+1)%len(ring)]]
			if l.machine.Graph.Nodes[l.machine.Ranks[from]].Host != l.machine.Graph.Nodes[l.machine.Ranks[to]].Host {
				continue
			}
			p, err := l.machine.Route(from, to, buf)
			if err != nil || p.Staged {
				return false
			}
			buf = p.Hops
		}
	}
	return true
}

// join puts the chains of a tree channel one after the other.
func join(trees [][][]int32) [][]int32 {
	var all [][]int32
	for _, chains := range trees {
		all = append(all, slices.Concat(chains...))
	}
	return all
}

// ordersOf leaves out channels that go the way of another. All channels move
// an equal part, so ways are kept as often as they come, over what all come
// together.
func ordersOf(channels [][]int32) *collective.Orders {
	if len(channels) == 0 {
		return nil
	}
	var kinds [][]int32
	var count []int
	for _, c := range channels {
		at := slices.IndexFunc(kinds, func(k []int32) bool { return slices.Equal(k, c) })
		if at < 0 {
			at = len(kinds)
			kinds, count = append(kinds, c), append(count, 0)
		}
		count[at]++
	}
	common := 0
	for _, n := range count {
		common = gcd(n, common)
	}
	if len(kinds) == 1 && inOrder(kinds[0]) {
		return nil
	}
	var all collective.Orders
	for i, k := range kinds {
		for range count[i] / common {
			all = append(all, k)
		}
	}
	return &all
}

// inOrder reports a channel that passes the members as the group has them.
func inOrder(c []int32) bool {
	for i, p := range c {
		if int(p) != i {
			return false
		}
	}
	return true
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
