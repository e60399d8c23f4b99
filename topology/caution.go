package topology

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// Cautions says what a survey found amiss, a sentence each, the gravest kind
// first; nil if nothing. nvlinkCapable says that the GPUs have NVLink, so that
// its absence is worth a word: the wiring alone cannot tell.
func (m *Machine) Cautions(s *Survey, nvlinkCapable bool) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	gpus := func(ranks []int32) string {
		ids := make([]NodeID, len(ranks))
		for i, r := range ranks {
			ids[i] = m.Ranks[r]
		}
		return m.Graph.few(ids)
	}
	if n := len(s.WithoutNVLink); n > 0 && len(m.Ranks) > 1 {
		switch {
		case n == len(m.Ranks) && nvlinkCapable:
			add("GPUs of this kind have NVLink, but nothing is wired to it: traffic between them takes PCIe and the sockets")
		case n < len(m.Ranks):
			add("%s %s no NVLink, though other GPUs have: traffic to and from there takes PCIe or the network", gpus(s.WithoutNVLink), have(n))
		}
	}
	if s.Pairs {
		add("NVLink joins pairs of GPUs only: a collective over more GPUs of a host runs at the speed of PCIe")
	}
	m.offCautions(s, add)
	if len(s.Short) > 0 {
		add("%s %s fewer links to NVSwitches than the peers: collectives run at the pace of the poorest", gpus(s.Short), have(len(s.Short)))
	}
	for _, kind := range []PathKind{SYS, NODE} {
		var ranks []int32
		for _, f := range s.Far {
			if f.Kind == kind {
				ranks = append(ranks, f.Rank)
			}
		}
		if len(ranks) == 0 {
			continue
		}
		where := "across the sockets (SYS): a NIC on the wrong socket"
		if kind == NODE {
			where = "behind another host bridge (NODE)"
		}
		add("the nearest NIC of %s is %s", gpus(ranks), where)
	}
	for _, u := range s.Uplinks {
		add("%s: %s GB/s from below share %s GB/s upwards each, %.3g:1 oversubscribed",
			m.Graph.few(u.Switches), three(u.Down), three(u.Up), u.Ratio())
	}
	return out
}

// three prints a rate in GB/s with three digits, and never an exponent.
func three(r sim.Rate) string {
	gb := float64(r) / 1e9
	if gb >= 1000 {
		return strconv.FormatFloat(gb, 'f', 0, 64)
	}
	return fmt.Sprintf("%.3g", gb)
}

func (m *Machine) offCautions(s *Survey, add func(string, ...any)) {
	for start := 0; start < len(s.Off); {
		end := start
		for end < len(s.Off) && m.Graph.Nodes[s.Off[end]].Kind == m.Graph.Nodes[s.Off[start]].Kind {
			end++
		}
		be := "is"
		if end-start > 1 {
			be = "are"
		}
		add("%s %s out of service or joined to nothing", m.Graph.few(s.Off[start:end]), be)
		start = end
	}
}

func have(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

// few names the first of some nodes: "a, b, c and 5 more".
func (g *Graph) few(ids []NodeID) string {
	const most = 3
	var names []string
	for i, id := range ids {
		if i == most {
			break
		}
		names = append(names, g.Nodes[id].Name)
	}
	s := strings.Join(names, ", ")
	if n := len(ids) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", s, n)
	}
	return s
}
