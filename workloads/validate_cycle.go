package workloads

import (
	"fmt"
	"strings"
)

// cycle returns operations that wait for one another in a circle, the first
// repeated at the end, or nil. Besides dependencies, an operation of an
// in-order stream waits for the one before it.
func (c *Class) cycle() []int32 {
	n := len(c.Ops)
	prev := make([]int32, n) // in the in-order stream, -1
	last := make([]int32, len(c.Streams))
	for s := range last {
		last[s] = -1
	}
	wait := make([]int32, n)
	start := make([]int32, n+1)
	each := func(i int, f func(d int32)) {
		for _, d := range c.Ops[i].Deps {
			f(d)
		}
		if prev[i] >= 0 {
			f(prev[i])
		}
	}
	total := 0
	for i := range c.Ops {
		s := c.Ops[i].Stream
		prev[i] = -1
		if c.Streams[s].Order == InOrder {
			prev[i] = last[s]
			last[s] = int32(i)
		}
		each(i, func(d int32) {
			wait[i]++
			start[d+1]++
			total++
		})
	}
	for i := range n {
		start[i+1] += start[i]
	}
	next := make([]int32, total)
	fill := append([]int32(nil), start...)
	var ready []int32
	for i := range n {
		each(i, func(d int32) {
			next[fill[d]] = int32(i)
			fill[d]++
		})
		if wait[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	left := n
	for len(ready) > 0 {
		v := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		wait[v] = -1
		left--
		for _, w := range next[start[v]:start[v+1]] {
			if wait[w]--; wait[w] == 0 {
				ready = append(ready, w)
			}
		}
	}
	if left == 0 {
		return nil
	}
	// What is left waits for something that is left: walk until it repeats.
	v := int32(0)
	for wait[v] < 0 {
		v++
	}
	seen := map[int32]int{}
	var walk []int32
	for {
		if at, ok := seen[v]; ok {
			return append(walk[at:], v)
		}
		seen[v] = len(walk)
		walk = append(walk, v)
		to := int32(-1)
		each(int(v), func(d int32) {
			if to < 0 && wait[d] >= 0 {
				to = d
			}
		})
		v = to
	}
}

// words writes a cycle.
func (c *Class) words(cycle []int32) string {
	const show = 10
	var parts []string
	for k, i := range cycle {
		if k == show && len(cycle) > show+1 {
			parts = append(parts, fmt.Sprintf("... %d more", len(cycle)-show-1))
			break
		}
		parts = append(parts, fmt.Sprintf("op %d (%.40q)", i, c.Ops[i].Name))
	}
	return strings.Join(parts, " waits for ")
}
