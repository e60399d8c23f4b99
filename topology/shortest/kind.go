package shortest

import "github.com/weft-sim/weft/topology"

// describe fills in what all of the equal paths share: the latency and, taken
// from the first of them, the kind.
func (r *router) describe(w *scratch, p *topology.Path, src, dst int32) {
	var between [topology.NodeKinds]int // nodes that are passed
	apart := false                      // a link joins GPUs of two servers
	for n := src; n != dst; {
		l := r.graph.Links[r.leading(w, n)[0]]
		n = r.to[w.ahead[0]]
		p.Latency = p.Latency.Add(l.Latency)
		from, to := r.graph.Nodes[l.From], r.graph.Nodes[l.To]
		if n != dst {
			between[to.Kind]++
		}
		if from.Kind == topology.GPU && to.Kind == topology.GPU && from.Host != to.Host {
			apart = true
		}
	}
	p.Kind = kind(between, apart)
}

// kind names a path by the nodes that it passes, in the words of nvidia-smi.
func kind(between [topology.NodeKinds]int, apart bool) topology.PathKind {
	bridges, sockets := between[topology.RootComplex], between[topology.Socket]
	switch {
	case apart || between[topology.Switch] > 0:
		return topology.NET
	case sockets > 1:
		return topology.SYS
	case bridges > 1:
		return topology.NODE
	case bridges == 1:
		return topology.PHB
	case sockets == 1:
		return topology.C2C
	case between[topology.PCIeSwitch] > 1:
		return topology.PXB
	case between[topology.PCIeSwitch] == 1:
		return topology.PIX
	case between[topology.GPU] > 0:
		return topology.NVB
	}
	return topology.NVL
}
