package collective

// Stage is a lane of a coupled pattern in the order of its data: slice k of it
// may leave when slice k of each of After is there.
type Stage struct {
	Lane
	After []int32 // indices in Stages
}

// Stages returns the lanes of a coupled pattern as data passes them, slice by
// slice, for grain chunk. A lane of EachLane may stand here several times, with
// as much weight together.
func (p Pattern) Stages(l Layout, o *Orders) []Stage {
	b := stages{into: map[int32][]int32{}}
	switch p {
	case DoubleTree:
		for _, chains := range l.turns(o) {
			for tree := range 2 {
				b.tree(tree, chains)
			}
		}
	case SwitchAll:
		b.reduceInSwitch(l, 1, int64(l.Members()), nil)
	case SwitchGather, SwitchScatter, SwitchAlone:
		b.throughSwitch(p, l)
	case SwitchDoubleTree:
		least := int64(l.Least())
		b.reduceInSwitch(l, 2, least, func(head int) { b.headTrees(l, head) })
	case NetSwitch:
		b.net(l)
	case Powers:
		b.powers(l)
	}
	return b.all
}

// StageParts returns into how many parts stages cut the bytes of a pattern. It
// is a multiple of Parts.
func (p Pattern) StageParts(l Layout, o *Orders) int64 {
	if p == SwitchAll {
		return int64(l.Members()) + 1
	}
	return p.Parts(l, o)
}

type stages struct {
	all []Stage
	// into is the lanes that must have brought a slice to a member before it can
	// be passed on, by position.
	into map[int32][]int32
}

func (b *stages) add(from, to int32, weight int64, part Part, after []int32) int32 {
	b.all = append(b.all, Stage{Lane{from, to, weight, part}, after})
	return int32(len(b.all) - 1)
}

// tree is one of two binary trees, each with half of what a turn carries: up
// the chains to their heads, from head to head, and all the way back.
func (b *stages) tree(tree int, chains Layout) {
	clear(b.into)
	n := len(chains)
	children := make([][]int, n)
	root := 0
	for node := range n {
		if parent, _ := Parent(tree, node, n); parent >= 0 {
			children[parent] = append(children[parent], node)
		} else {
			root = node
		}
	}
	gate := func(parent, child int) int32 {
		_, second := Parent(tree, child, n)
		if second && len(chains[parent]) > 1 {
			return chains[parent][1]
		}
		return chains[parent][0]
	}
	var up func(node int)
	up = func(node int) {
		for _, c := range children[node] {
			up(c)
			to := gate(node, c)
			b.into[to] = append(b.into[to], b.add(chains[c][0], to, 1, Through, b.into[chains[c][0]]))
		}
		chain := chains[node]
		for i := len(chain) - 1; i > 0; i-- {
			b.into[chain[i-1]] = append(b.into[chain[i-1]], b.add(chain[i], chain[i-1], 1, Through, b.into[chain[i]]))
		}
	}
	up(root)
	have := map[int32][]int32{chains[root][0]: b.into[chains[root][0]]}
	var down func(node int)
	down = func(node int) {
		chain := chains[node]
		for i := range len(chain) - 1 {
			have[chain[i+1]] = []int32{b.add(chain[i], chain[i+1], 1, Through, have[chain[i]])}
		}
		for _, c := range children[node] {
			from := gate(node, c)
			have[chains[c][0]] = []int32{b.add(from, chains[c][0], 1, Through, have[from])}
			down(c)
		}
	}
	down(root)
}

// reduceInSwitch sends everybody's message into the switch of its node, from
// where each of heads members takes the sum of its part, gives it to between,
// if there is any, and multicasts what comes back. scale is the weight of one
// part.
func (b *stages) reduceInSwitch(l Layout, scale, heads int64, between func(head int)) {
	outs := make([][]int32, len(l))
	for node, m := range l {
		if len(m) < 2 {
			continue
		}
		for i, a := range m {
			outs[node] = append(outs[node], b.add(a, m[(i+1)%len(m)], scale*heads, Out, nil))
		}
	}
	for node, m := range l {
		for i := range int(heads) {
			if len(m) > 1 {
				before := m[(i+len(m)-1)%len(m)] // the switch gives its part to member i
				b.into[m[i]] = []int32{b.add(before, m[i], scale, In, outs[node])}
			}
		}
	}
	if between != nil {
		for head := range int(heads) {
			between(head)
		}
	}
	for _, m := range l {
		if len(m) < 2 {
			continue
		}
		var multicast []int32
		for i := range int(heads) {
			multicast = append(multicast, b.add(m[i], m[(i+1)%len(m)], scale, Out, b.into[m[i]]))
		}
		for i, a := range m {
			b.add(a, m[(i+1)%len(m)], scale*heads, In, multicast)
		}
	}
}

// headTrees joins the members of one place over two trees, each with half of
// the member's part.
func (b *stages) headTrees(l Layout, head int) {
	chains := make(Layout, len(l))
	var both [][]int32 // what brings each node its part, of both trees
	for node, m := range l {
		chains[node] = []int32{m[head]}
		both = append(both, nil)
	}
	reduced := map[int32][]int32{}
	for _, c := range chains {
		reduced[c[0]] = b.into[c[0]]
	}
	rest := b.into
	for tree := range 2 {
		b.into = map[int32][]int32{}
		first := len(b.all)
		b.tree(tree, chains)
		for i := first; i < len(b.all); i++ {
			s := &b.all[i]
			s.After = append(append([]int32(nil), s.After...), reduced[s.From]...)
			for node, c := range chains {
				if c[0] == s.To {
					both[node] = append(both[node], int32(i))
				}
			}
		}
	}
	b.into = rest
	for node, c := range chains {
		b.into[c[0]] = append(append([]int32(nil), reduced[c[0]]...), both[node]...)
	}
}

// throughSwitch sends into the switch and takes out what all have sent.
func (b *stages) throughSwitch(p Pattern, l Layout) {
	n := int64(l.Members())
	out, in := int64(1), n
	if p != SwitchGather {
		out, in = n, 1
	}
	for _, m := range l {
		if len(m) < 2 {
			continue
		}
		var outs []int32
		for i, a := range m {
			outs = append(outs, b.add(a, m[(i+1)%len(m)], out, Out, nil))
		}
		for i, a := range m {
			b.add(a, m[(i+1)%len(m)], in, In, outs)
		}
	}
}

// net is the way through the network's switches.
func (b *stages) net(l Layout) {
	for _, m := range l {
		for _, a := range m {
			for _, to := range m {
				if a != to {
					b.into[to] = append(b.into[to], b.add(a, to, 1, Through, nil))
				}
			}
		}
	}
	for head := range l.Least() {
		var sums []int32
		for node := range l {
			if next := (node + 1) % len(l); next != node {
				sums = append(sums, b.add(l[node][head], l[next][head], 1, Through, b.into[l[node][head]]))
			}
		}
		if sums == nil {
			sums = b.into[l[0][head]]
		}
		for _, m := range l {
			for _, to := range m {
				if to != m[head] {
					b.add(m[head], to, 1, Through, sums)
				}
			}
		}
	}
}

// powers passes on at each distance what came at longer ones.
func (b *stages) powers(l Layout) {
	var order []int32
	for _, m := range l {
		order = append(order, m...)
	}
	n := len(order)
	far := 1
	for far*2 < n {
		far *= 2
	}
	for d := far; d > 0 && n > 1; d /= 2 {
		came := map[int32][]int32{}
		for i := range n {
			a, to := order[i], order[(i+d)%n]
			came[to] = append(came[to], b.add(a, to, int64(min(d, n-d)), Through, append([]int32(nil), b.into[a]...)))
		}
		for _, to := range order {
			b.into[to] = append(b.into[to], came[to]...)
		}
	}
}
