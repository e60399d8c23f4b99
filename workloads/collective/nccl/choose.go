package nccl

import (
	"fmt"
	"math/bits"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// Estimate is what NCCL thinks of one way to run a collective.
type Estimate struct {
	Algorithm Algorithm
	Protocol  Protocol
	Latency   float64 // us, of a message without bytes
	Bandwidth float64 // GB/s of the message, before its size takes something away
	Time      float64 // us, of the message
	Off       string  // why NCCL does not consider it, "" if it does; without figures then
}

// Estimates returns every algorithm and protocol, in NCCL's order, for a
// message whose larger buffer has so many bytes.
func (m *Model) Estimates(op workloads.Coll, size sim.Bytes) []Estimate {
	var all []Estimate
	for a := range Algorithm(algorithms) {
		for p := range Protocol(protocols) {
			all = append(all, m.Estimate(op, a, p, size))
		}
	}
	return all
}

// Estimate returns one algorithm and protocol.
func (m *Model) Estimate(op workloads.Coll, a Algorithm, p Protocol, size sim.Bytes) Estimate {
	e := Estimate{Algorithm: a, Protocol: p, Off: m.off(op, a, p)}
	if e.Off == "" && a == Tree && p == LL && size < 64 && m.Version.before(23) {
		// Its table is read before its beginning. Derived: the choices of
		// 2.21.5 leave it out, those of 2.27.7 do not.
		e.Off = "before NCCL 2.23 not below 64 B"
	}
	if e.Off == "" {
		e.Latency, e.Bandwidth = m.latency(op, a, p), m.bandwidth(op, a, p)
		e.Time = m.time(op, e, size)
	}
	return e
}

// off says why NCCL does not consider an algorithm and protocol.
func (m *Model) off(op workloads.Coll, a Algorithm, p Protocol) string {
	switch {
	case chained(op) && a != Ring:
		return fmt.Sprintf("%v runs as a ring only", op)
	case sharded(op) && (a == Tree || a == NVLSTree || a == CollNetChain):
		return "all_reduce only"
	case op == workloads.AllReduce && a == PAT:
		return "all_gather and reduce_scatter only"
	case a != Ring && a != Tree && p != Simple:
		return "runs Simple only"
	}
	if why := m.offAlgorithm(a); why != "" {
		return why
	}
	if sharded(op) && m.Nodes > 1 && (a == NVLS || a == CollNetDirect) && m.perNode() > float64(m.graph(a).Channels) {
		return "needs as many heads as a node has GPUs"
	}
	if why := m.Env.masked(op, a, p); why != "" {
		return why
	}
	if p == LL128 {
		return m.offLL128(m.graph(a))
	}
	return ""
}

func (m *Model) offAlgorithm(a Algorithm) string {
	switch a {
	case CollNetDirect, CollNetChain:
		if m.Uneven {
			return "needs as many GPUs on every node"
		}
		return m.offCollNet(a)
	case PAT:
		switch {
		case m.Version.before(23):
			return "not before NCCL 2.23"
		case m.Ranks != m.Nodes:
			return "needs one GPU a node"
		case m.Env.NoPAT:
			return "NCCL_PAT_ENABLE=0"
		case m.c.hw[2][PAT][Simple] == 0:
			return "its constants before NCCL 2.28 are not known to weft"
		}
	case NVLS, NVLSTree:
		switch {
		case m.SM < 90:
			return "needs compute capability 9.0"
		case m.Env.NoNVLS:
			return "NCCL_NVLS_ENABLE=0"
		case m.NVLS.Channels == 0:
			return "no NVSwitch with multicast"
		case m.NVLS.Channels < 2 && !m.Version.before(28):
			return "needs two heads"
		case a == NVLS && m.Nodes > 1 && !m.collNet():
			return "several nodes need in-network reduction for it"
		case a == NVLSTree && m.Nodes == 1:
			return "one node has no tree"
		case m.Nodes > 1 && m.Uneven:
			return "needs as many GPUs on every node"
		}
	}
	return ""
}

// collNet reports whether in-network reduction is asked for, and may be had.
func (m *Model) collNet() bool {
	return m.Env.CollNet && m.Nodes >= max(2, m.Env.CollNetNodes)
}

// offCollNet says why in-network reduction is not considered.
func (m *Model) offCollNet(a Algorithm) string {
	switch {
	case !m.Env.CollNet:
		return "in-network reduction is off (NCCL_COLLNET_ENABLE=0, the default)"
	case !m.collNet():
		return fmt.Sprintf("in-network reduction needs %d nodes", max(2, m.Env.CollNetNodes))
	case m.perNode() > mostDirect:
		return fmt.Sprintf("in-network reduction takes at most %d GPUs a node", mostDirect)
	case m.graph(a).Channels == 0 && a == CollNetDirect:
		return "no channels for it: it needs NVSwitch"
	case m.graph(a).Channels == 0:
		return "no channels for it"
	}
	return ""
}

// offLL128 holds the paths of a graph against what LL128 needs: stores of 128
// bytes that arrive whole.
func (m *Model) offLL128(g Graph) string {
	within := PXB
	if m.SM >= 90 {
		within = PXN
	}
	switch {
	case m.SM < 70:
		return "needs compute capability 7.0"
	case g.TypeIntra > NVB:
		return fmt.Sprintf("needs NVLink within nodes, and channels take %v", g.TypeIntra)
	case m.Nodes > 1 && g.TypeInter > within:
		return fmt.Sprintf("needs a NIC at %v or nearer, and channels take %v", within, g.TypeInter)
	}
	return ""
}

// time returns the prediction for a message: what its size does to latency and
// bandwidth.
func (m *Model) time(op workloads.Coll, e Estimate, size sim.Bytes) float64 {
	latency, bandwidth := e.Latency, e.Bandwidth
	fills := 0 // how many entries of treeFill hold
	switch {
	case op != workloads.AllReduce:
	case e.Algorithm == Tree:
		fills = len(treeFill[0]) - 1
	case e.Algorithm == NVLSTree && !m.Version.before(29) && m.SM >= 100 && (m.CPU == Intel || m.CPU == AMD):
		fills = len(treeFill[0])
	}
	if i := bits.Len64(uint64(size)>>6) - 1; i >= 0 && i < fills {
		bandwidth *= treeFill[e.Protocol][i]
	}
	if op == workloads.AllReduce && e.Algorithm == Ring && e.Protocol == Simple && m.Nodes > 1 &&
		int64(size)/int64(m.Channels()*m.Ranks) >= 64 {
		if m.SM < 80 {
			latency *= 1.9
		} else {
			latency *= 1.4
		}
	}
	return latency + float64(size)/(1000*bandwidth)
}

// Choice is what NCCL runs.
type Choice struct {
	Estimate
	Channels int       // which is thread blocks of the kernel
	Next     *Estimate // the next best; nil if nothing else is considered
	Rule     *Rule     // of a tuner that decided; nil is NCCL's own choice
}

// Choose returns what NCCL runs for a message: of what it considers, the least
// time, and of equals the first.
func (m *Model) Choose(op workloads.Coll, size sim.Bytes) (Choice, error) {
	rule := m.Tuner.choose(m, op, size)
	var best, next *Estimate
	for _, e := range m.Estimates(op, size) {
		ruled := rule != nil && e.Algorithm == rule.Algorithm && e.Protocol == rule.Protocol
		switch {
		case e.Off != "" || ruled:
		case best == nil || e.Time < best.Time:
			best, next = &e, best
		case next == nil || e.Time < next.Time:
			next = &e
		}
	}
	if rule != nil {
		c := Choice{Estimate: m.Estimate(op, rule.Algorithm, rule.Protocol, size), Next: best, Rule: rule}
		c.Channels = m.RunChannels(op, c.Estimate, size)
		if rule.Channels > 0 {
			c.Channels = min(rule.Channels, m.mostChannels(rule.Algorithm))
		}
		return c, nil
	}
	if best == nil {
		return Choice{}, fmt.Errorf("choose as NCCL: nothing is left for %v with %s; Ring with Simple works for every operation", op, m.Env)
	}
	return Choice{Estimate: *best, Channels: m.RunChannels(op, *best, size), Next: next}, nil
}

// Crossover is a size from which NCCL runs something else.
type Crossover struct {
	From sim.Bytes
	Choice
}

// Crossovers returns what NCCL runs at lo, and every power of two up to hi at
// which that changes.
func (m *Model) Crossovers(op workloads.Coll, lo, hi sim.Bytes) ([]Crossover, error) {
	var all []Crossover
	for size := lo; size <= hi; size *= 2 {
		c, err := m.Choose(op, size)
		if err != nil {
			return nil, err
		}
		if n := len(all); n == 0 || all[n-1].Algorithm != c.Algorithm || all[n-1].Protocol != c.Protocol {
			all = append(all, Crossover{From: size, Choice: c})
		}
	}
	return all, nil
}
