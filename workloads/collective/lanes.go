package collective

// Part says which wires of the way from one member to another a lane takes.
type Part uint8

// The parts of a way.
const (
	Through Part = iota // all of it
	Out                 // those before the last, into the switch
	In                  // the last, out of the switch
)

// Lane is an ordered pair of members between which a coupled plan sends, with
// what it carries, in parts of the plan's bytes.
type Lane struct {
	From, To int32
	Weight   int64
	Part     Part
}

// Coupled says that the lanes of a pattern move in step, as one flow, whatever
// the grain.
func (p Pattern) Coupled() bool { return p >= DoubleTree }

// Parts returns into how many parts the lanes of a coupled pattern cut its
// bytes.
func (p Pattern) Parts(l Layout, o *Orders) int64 {
	n, least := int64(l.Members()), int64(l.Least())
	switch p {
	case DoubleTree:
		if o != nil {
			return 2 * int64(len(*o))
		}
		return 2 * least
	case SwitchGather, SwitchScatter, SwitchAlone, Powers:
		return n
	case SwitchDoubleTree:
		return 2 * (least + 1)
	case NetSwitch:
		return least
	}
	return 1
}

// EachLane calls f for every lane of a coupled pattern, in a fixed order. A
// double tree chains the members of a node as each of the orders has them, if
// there are any; other patterns have none.
func (p Pattern) EachLane(l Layout, o *Orders, f func(Lane) error) error {
	switch p {
	case DoubleTree:
		for _, chains := range l.turns(o) {
			if err := doubleTree(chains, f); err != nil {
				return err
			}
		}
		return nil
	case SwitchAll, SwitchGather, SwitchScatter, SwitchAlone, SwitchDoubleTree:
		return p.switched(l, f)
	case NetSwitch:
		return netSwitch(l, f)
	case Powers:
		return powers(l, f)
	}
	return nil
}

// turns returns the chains of a tree algorithm, one set after the other: as the
// orders have them, or from every one of the least node's members.
func (l Layout) turns(o *Orders) []Layout {
	var all []Layout
	if o == nil {
		least := l.Least()
		for turn := range least {
			chains := make(Layout, len(l))
			for node, m := range l {
				first := turn * len(m) / least
				chains[node] = append(append(chains[node], m[first:]...), m[:first]...)
			}
			all = append(all, chains)
		}
		return all
	}
	nodeOf := make([]int, l.Members())
	for node, m := range l {
		for _, p := range m {
			nodeOf[p] = node
		}
	}
	for _, order := range *o {
		chains := make(Layout, len(l))
		for _, p := range order {
			chains[nodeOf[p]] = append(chains[nodeOf[p]], p)
		}
		all = append(all, chains)
	}
	return all
}

// doubleTree runs two binary trees over the heads of the nodes' chains. Bytes
// go up every edge and down again.
func doubleTree(chains Layout, f func(Lane) error) error {
	both := func(a, b int32, weight int64) error {
		if err := f(Lane{From: a, To: b, Weight: weight}); err != nil {
			return err
		}
		return f(Lane{From: b, To: a, Weight: weight})
	}
	for _, chain := range chains {
		for i := range len(chain) - 1 {
			if err := both(chain[i+1], chain[i], 2); err != nil {
				return err
			}
		}
	}
	for tree := range 2 {
		for node := range chains {
			parent, second := Parent(tree, node, len(chains))
			if parent < 0 {
				continue
			}
			gate := 0 // the second child meets the second member of the chain
			if second && len(chains[parent]) > 1 {
				gate = 1
			}
			if err := both(chains[node][0], chains[parent][gate], 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// switched sends from every member into the switch of its node and back, and
// with SwitchDoubleTree over two trees that join the members of one place.
func (p Pattern) switched(l Layout, f func(Lane) error) error {
	n := int64(l.Members())
	out, in := int64(1), int64(1)
	switch p {
	case SwitchGather:
		in = n
	case SwitchScatter, SwitchAlone:
		out = n
	case SwitchDoubleTree:
		out = 2 * (int64(l.Least()) + 1)
		in = out
	}
	for _, m := range l {
		for i, a := range m {
			if len(m) < 2 {
				continue
			}
			b := m[(i+1)%len(m)]
			if err := f(Lane{From: a, To: b, Weight: out, Part: Out}); err != nil {
				return err
			}
			if err := f(Lane{From: a, To: b, Weight: in, Part: In}); err != nil {
				return err
			}
		}
	}
	if p != SwitchDoubleTree {
		return nil
	}
	for head := range l.Least() {
		for tree := range 2 {
			for node := range l {
				parent, _ := Parent(tree, node, len(l))
				if parent < 0 {
					continue
				}
				a, b := l[node][head], l[parent][head]
				if err := f(Lane{From: a, To: b, Weight: 1}); err != nil {
					return err
				}
				if err := f(Lane{From: b, To: a, Weight: 1}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// netSwitch spreads a node's message over its members, each of which sends its
// part to the network once and receives the sum. To a NIC a partner on the next
// node is the same as the switch above.
func netSwitch(l Layout, f func(Lane) error) error {
	for _, m := range l {
		for _, a := range m {
			for _, b := range m {
				if a == b {
					continue
				}
				if err := f(Lane{From: a, To: b, Weight: 2}); err != nil { // scatter, then gather
					return err
				}
			}
		}
	}
	for head := range l.Least() {
		for node := range l {
			if next := (node + 1) % len(l); next != node {
				if err := f(Lane{From: l[node][head], To: l[next][head], Weight: 1}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// powers sends from every member to those at distance 1, 2, 4 ..., as many
// parts as the distance, or what is left.
func powers(l Layout, f func(Lane) error) error {
	var order []int32
	for _, m := range l {
		order = append(order, m...)
	}
	n := len(order)
	for d := 1; d < n; d *= 2 {
		for i := range n {
			if err := f(Lane{From: order[i], To: order[(i+d)%n], Weight: int64(min(d, n-d))}); err != nil {
				return err
			}
		}
	}
	return nil
}
