package collective

import "math/bits"

// Layout says how the members of a group lie on nodes: positions in the group,
// node by node. A node is a host, or a rack that is one NVLink domain.
type Layout [][]int32

// OneNode is the layout of n members of one node.
func OneNode(n int) Layout {
	if n < 1 {
		return nil
	}
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return Layout{all}
}

// Members returns the size of the group.
func (l Layout) Members() int {
	n := 0
	for _, node := range l {
		n += len(node)
	}
	return n
}

// Least and Most return how many members the node with the fewest and the one
// with the most has.
func (l Layout) Least() int {
	n := 0
	for i, node := range l {
		if i == 0 || len(node) < n {
			n = len(node)
		}
	}
	return n
}

// Most returns how many members the fullest node has.
func (l Layout) Most() int {
	n := 0
	for _, node := range l {
		n = max(n, len(node))
	}
	return n
}

// depth is how many edges a binary tree over the nodes is deep.
func (l Layout) depth() int {
	if len(l) < 2 {
		return 0
	}
	return bits.Len(uint(len(l))) - 1
}

// Parent returns the parent of node r in one of the two binary trees over n
// nodes, and whether r is its second child; -1 for the root. A node that is
// inside one tree is a leaf of the other.
//
// Source: NVIDIA/nccl 2.30.7, src/graph/trees.cc, written down anew: in the
// first tree the parent of r has the lowest bit b of r cleared and 2b set, or
// only cleared where that is no node; the second is its mirror for an even
// number of nodes and shifted by one for an odd one.
func Parent(tree, r, n int) (parent int, second bool) {
	if tree == 0 {
		return firstTree(r, n)
	}
	to := func(r int) int { return n - 1 - r }
	back := to
	if n%2 == 1 {
		to = func(r int) int { return (r - 1 + n) % n }
		back = func(r int) int { return (r + 1) % n }
	}
	p, second := firstTree(to(r), n)
	if p < 0 {
		return -1, false
	}
	return back(p), second
}

func firstTree(r, n int) (parent int, second bool) {
	if r == 0 {
		return -1, false
	}
	b := r & -r
	p := r&^b | 2*b
	if p >= n {
		p = r &^ b
	}
	return p, r > p
}
