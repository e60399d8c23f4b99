package topology

import "github.com/weft-sim/weft/sim"

// Bisection returns what the first half of the ranks can send to the second
// half, all at once: the least capacity, per direction, of any set of links
// whose loss parts the two. It counts every wire, NVLink, PCIe and network,
// and is an upper bound of what any traffic can carry across. It is zero for
// fewer than two ranks.
func (m *Machine) Bisection() sim.Rate {
	half := len(m.Ranks) / 2
	return m.Graph.MaxFlow(m.Ranks[:half], m.Ranks[half:2*half])
}

// MaxFlow returns the largest total rate that the sources can send to the
// sinks together (by Dinic's algorithm). Sources and sinks may be passed
// through by the flow of others.
func (g *Graph) MaxFlow(sources, sinks []NodeID) sim.Rate {
	if len(sources) == 0 || len(sinks) == 0 {
		return 0
	}
	n := len(g.Nodes)
	f := &maxFlow{next: make([][]int32, n+2), level: make([]int32, n+2), at: make([]int32, n+2)}
	var all sim.Rate
	for _, l := range g.Links {
		if l.Down {
			continue
		}
		f.arc(int32(l.From), int32(l.To), l.Rate)
		all += l.Rate
	}
	for _, s := range sources {
		f.arc(int32(n), int32(s), all)
	}
	for _, t := range sinks {
		f.arc(int32(t), int32(n+1), all)
	}
	// Rates are whole bytes per second in any catalogue; less than one is the
	// rounding of float64.
	f.least = min(1, all*1e-12)
	var total sim.Rate
	for f.levels(int32(n), int32(n+1)) {
		clear(f.at)
		for {
			pushed := f.push(int32(n), int32(n+1), all)
			if pushed <= f.least {
				break
			}
			total += pushed
		}
	}
	return total
}

// maxFlow is a residual network: arc i and its reverse i^1.
type maxFlow struct {
	to        []int32
	room      []sim.Rate
	next      [][]int32 // arcs that leave a node
	level, at []int32
	least     sim.Rate // room below this is none
}

func (f *maxFlow) arc(from, to int32, room sim.Rate) {
	f.next[from] = append(f.next[from], int32(len(f.to)))
	f.next[to] = append(f.next[to], int32(len(f.to)+1))
	f.to = append(f.to, to, from)
	f.room = append(f.room, room, 0)
}

// levels ranks the nodes by their distance from s and reports whether t is
// still in reach.
func (f *maxFlow) levels(s, t int32) bool {
	for i := range f.level {
		f.level[i] = -1
	}
	f.level[s] = 0
	queue := []int32{s}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, a := range f.next[n] {
			if to := f.to[a]; f.room[a] > f.least && f.level[to] < 0 {
				f.level[to] = f.level[n] + 1
				queue = append(queue, to)
			}
		}
	}
	return f.level[t] >= 0
}

// push sends up to limit from n to t along rising levels, returns what went.
func (f *maxFlow) push(n, t int32, limit sim.Rate) sim.Rate {
	if n == t {
		return limit
	}
	for ; int(f.at[n]) < len(f.next[n]); f.at[n]++ {
		a := f.next[n][f.at[n]]
		to := f.to[a]
		if f.room[a] <= f.least || f.level[to] != f.level[n]+1 {
			continue
		}
		if sent := f.push(to, t, min(limit, f.room[a])); sent > f.least {
			f.room[a] -= sent
			f.room[a^1] += sent
			return sent
		}
	}
	return 0
}
