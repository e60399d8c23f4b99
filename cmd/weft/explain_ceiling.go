package main

import (
	"fmt"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// ceiling says in words what the wires allow the algorithm that NCCL chooses.
func ceiling(m *topology.Machine, model *nccl.Model, op workloads.Coll, size sim.Bytes) []string {
	c, err := model.Choose(op, size)
	if err != nil {
		return nil // whoever asks for the choice hears why
	}
	wire := model.Wire(op, c.Algorithm, c.Protocol)
	within, links := m.GPUEgress(0)
	between, nics, nic := egressOfNode(m)
	var out []string
	floor, at := 0., ""
	least := func(perByte float64, rate sim.Rate, where string) {
		if t := perByte * float64(size) / float64(rate) * 1e6; perByte > 0 && rate > 0 && t > floor {
			floor, at = t, where
		}
	}
	if links > 0 {
		raw := classOf(m, m.Ranks[0], topology.NVSwitch, topology.GPU).Raw
		out = append(out, fmt.Sprintf("A GPU has %s of %s each way, which is %s; packets leave %s%s.",
			report.Plural(links, "link"), report.Rate(raw), report.Rate(raw*sim.Rate(links)), report.Rate(within), payload(c.Protocol, within)))
		least(wire.GPU, within, "the links of a GPU")
	}
	if model.Nodes > 1 && nics > 0 {
		out = append(out, fmt.Sprintf("A node has %s of %s each way; packets leave %s together.", report.Plural(nics, "NIC"), report.Rate(nic), report.Rate(between)))
		least(wire.Node, between, "the NICs of a node")
	}
	out = append(out, sends(model, op, c, wire))
	if at == "" {
		return out
	}
	if floor < 1e-3 {
		return append(out, fmt.Sprintf("So %s are no bound here: they need less than a nanosecond.", at))
	}
	bus := float64(size) / floor / 1e3 * collective.BusFactor(op, model.Ranks)
	out = append(out, fmt.Sprintf("So %s allow no less than %s, a bus bandwidth of %s GB/s, with this algorithm and protocol.", at, report.Duration(sim.Time(floor*1e6)), report.Figure(bus)))
	if c.Time < floor {
		out = append(out, fmt.Sprintf("NCCL's prediction of %s is below that: its formula counts rates that these wires do not have.", report.Duration(sim.Time(c.Time*1e6))))
	}
	if model.Nodes == 2 && op == workloads.AllReduce && (c.Algorithm == nccl.Tree || c.Algorithm == nccl.NVLSTree) {
		out = append(out, "On two nodes a tree sends about half of what a ring does, and bus bandwidth counts every algorithm as a ring: it may exceed the sum of the NICs.")
	}
	return out
}

// payload says what the flags of a protocol leave of a rate.
func payload(p nccl.Protocol, rate sim.Rate) string {
	if p == nccl.Simple {
		return ", and Simple fills them with data"
	}
	return fmt.Sprintf(", and the flags of %v leave %s of data", p, report.Rate(rate*sim.Rate(p.Payload())))
}

// sends says what an algorithm puts on the wires.
func sends(model *nccl.Model, op workloads.Coll, c nccl.Choice, w nccl.Wire) string {
	text := ""
	switch n := model.Ranks; {
	case c.Algorithm == nccl.Ring && op == workloads.AllReduce:
		text = fmt.Sprintf("A ring takes all of the message but one part in %d around twice", n)
	case c.Algorithm == nccl.Ring && collective.BusFactor(op, n) < 1:
		text = fmt.Sprintf("A ring takes all of the message but one part in %d around", n)
	case c.Algorithm == nccl.Ring:
		text = "The ring hands the whole message on from GPU to GPU"
	case c.Algorithm == nccl.Tree:
		text = "A tree takes the message up to its root and the sum down"
	case op == workloads.AllReduce:
		text = "The switch adds the message up, and each GPU sends it once and its own part of the sum"
	default:
		text = "The switch copies what each GPU sends to all"
	}
	text += fmt.Sprintf(": a GPU sends %s bytes within its node for each byte of the message, flags included", report.Figure(w.GPU))
	if model.Nodes > 1 {
		text += fmt.Sprintf(", and a node %s to others", report.Figure(w.Node))
	}
	return text + "."
}

// classOf returns the class of the links from a node to such nodes.
func classOf(m *topology.Machine, from topology.NodeID, kinds ...topology.NodeKind) topology.Class {
	for _, l := range m.Graph.Links {
		if l.From != from || l.Down {
			continue
		}
		for _, k := range kinds {
			if m.Graph.Nodes[l.To].Kind == k {
				return m.Graph.Classes[l.Class]
			}
		}
	}
	return topology.Class{}
}

// egressOfNode returns what the NICs of the first node send, in sum, their
// number and the nominal rate of one.
func egressOfNode(m *topology.Machine) (sum sim.Rate, nics int, nominal sim.Rate) {
	for i, n := range m.Graph.Nodes {
		if n.Kind != topology.NIC || n.Host != 0 || n.Down {
			continue
		}
		if rate, width := m.Graph.Egress(topology.NodeID(i), topology.Switch); width > 0 {
			sum += rate
			nics++
			nominal = classOf(m, topology.NodeID(i), topology.Switch).Raw * sim.Rate(width)
		}
	}
	return sum, nics, nominal
}
