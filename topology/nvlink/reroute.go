package nvlink

import (
	"slices"

	"github.com/weft-sim/weft/topology"
)

// Reroute returns the wiring of another host, or of the same one, on a graph
// where links are slower, later, narrower or out of service. The links of that
// host follow those of w by the given distance, its resources as move says;
// the new wiring holds their own numbers.
//
// Slower links keep their shares, since the hardware spreads by a hash that
// knows nothing of rates: the slowest plane limits. Where links are missing
// the shares follow what is left. If all GPUs still see equal planes, new
// trunks are added to g. coarse rounds sprayed paths to
// [topology.CoarseParts].
func (w *Wiring) Reroute(g *topology.Graph, links topology.LinkID, move func(topology.ResourceID) topology.ResourceID, coarse bool) *Wiring {
	n := &Wiring{g: g, coarse: coarse, gpus: w.gpus, hop: w.hop, balance: w.balance, even: w.even}
	m := mover{from: w.g, to: g, shift: links}
	n.toPlane, n.fromPlane, n.direct = m.matrix(w.toPlane), m.matrix(w.fromPlane), m.matrix(w.direct)
	ways := n.toPlane
	if n.direct != nil {
		ways = n.direct
	}
	n.width = matrix[int32](len(ways), len(w.width[0]), 0)
	for i := range ways {
		for k, l := range ways[i] {
			if l != none {
				n.width[i][k] = g.Links[l].Width
			}
		}
	}
	if w.tier != nil {
		n.tier = &tier{g: g, per: w.tier.per, hop: w.tier.hop, twin: m.cube(w.tier.twin), rise: m.cube(w.tier.rise), fall: m.cube(w.tier.fall)}
	}
	n.late = m.late
	if m.missing {
		n.even = n.direct == nil && n.isEven()
		n.AddTrunks(g)
		return n
	}
	moved := func(rs []topology.ResourceID) []topology.ResourceID {
		rs = slices.Clone(rs)
		for i, r := range rs {
			if r >= 0 {
				rs[i] = move(r)
			}
		}
		return rs
	}
	n.up, n.down = moved(w.up), moved(w.down)
	if n.tier != nil && n.even {
		n.tier.rises, n.tier.falls = moved(w.tier.rises), moved(w.tier.falls)
		for _, t := range w.tier.twins {
			n.tier.twins = append(n.tier.twins, moved(t))
		}
	}
	return n
}

// mover takes links over from one graph to another and notes what differs.
type mover struct {
	from, to      *topology.Graph
	shift         topology.LinkID
	missing, late bool // out of service or narrower; of another latency
}

func (m *mover) link(l topology.LinkID) topology.LinkID {
	if l == none {
		return none
	}
	was, is := m.from.Links[l], m.to.Links[l+m.shift]
	m.missing = m.missing || is.Down || is.Width != was.Width
	if is.Down {
		return none
	}
	m.late = m.late || is.Latency != was.Latency
	return l + m.shift
}

func (m *mover) matrix(rows [][]topology.LinkID) [][]topology.LinkID {
	if rows == nil {
		return nil
	}
	out := make([][]topology.LinkID, len(rows))
	for i, row := range rows {
		out[i] = make([]topology.LinkID, len(row))
		for k, l := range row {
			out[i][k] = m.link(l)
		}
	}
	return out
}

func (m *mover) cube(c [][][]topology.LinkID) [][][]topology.LinkID {
	var out [][][]topology.LinkID
	for _, rows := range c {
		out = append(out, m.matrix(rows))
	}
	return out
}
