package discover

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/pcie"
)

// levels are the words of PCIe, nearest first. Devices with a word up to
// levels[k] between them are in one part of level k: below one switch, below
// one top switch, below one host bridge, on one socket.
var levels = [...]topology.PathKind{topology.PIX, topology.PXB, topology.PHB, topology.NODE}

// Infer finds a PCIe tree, without rates, that has exactly the words of the
// matrix: devices with PIX share a switch, those with PXB a switch above
// their switches, those with PHB a host bridge, those with NODE a socket.
// Sockets stand for NUMA nodes.
//
// NVLink hides the word of PCIe. Such pairs, and those that the matrix does
// not know, are as near as their other words make them; devices that nothing
// else relates are on one socket if they have the same NUMA node (or the same
// CPUs), or if nothing is known of that, and a note says so.
//
// If no tree has these words, the error (of kind [ErrContradiction]) names
// the cells that cannot all be true.
func Infer(m *Matrix) (*pcie.Spec, []Note, error) {
	f := inference{m: m, n: len(m.Devices)}
	for range levels {
		f.parts = append(f.parts, newPartition(f.n))
	}
	for i := range f.n {
		for j := range i {
			c := f.word(i, j)
			for k, most := range levels {
				if c.Known && c.Kind <= most {
					f.parts[k].join(i, j)
				}
			}
		}
	}
	if err := f.check(); err != nil {
		return nil, nil, err
	}
	f.guess()
	return f.build(), f.notes, nil
}

type inference struct {
	m     *Matrix
	n     int
	parts []partition // by level
	notes []Note
}

// word returns the PCIe word of a pair, unknown if NVLink hides it.
func (f *inference) word(i, j int) Cell {
	c := f.m.At(i, j)
	if c.Kind < topology.PIX {
		return Cell{}
	}
	return c
}

// check finds pairs that other words bring nearer than their own word says.
func (f *inference) check() error {
	var errs []error
	for i := range f.n {
		for j := i + 1; j < f.n; j++ {
			c := f.word(i, j)
			if !c.Known {
				continue
			}
			for k, most := range levels {
				if c.Kind > most && f.parts[k].same(i, j) {
					if len(errs) < maxFaults {
						errs = append(errs, f.contradiction(i, j, k))
					}
					break
				}
			}
		}
	}
	return errors.Join(errs...)
}

// contradiction tells the shortest chain of words up to a level that leads
// from i to j.
func (f *inference) contradiction(i, j, level int) error {
	from := make([]int, f.n)
	for k := range from {
		from[k] = -1
	}
	from[j] = j
	queue := []int{j}
	for len(queue) > 0 && from[i] < 0 {
		at := queue[0]
		queue = queue[1:]
		for k := range f.n {
			if c := f.word(at, k); from[k] < 0 && c.Known && c.Kind <= levels[level] {
				from[k] = at
				queue = append(queue, k)
			}
		}
	}
	var chain []string
	for at := i; at != j; at = from[at] {
		chain = append(chain, fmt.Sprintf("%s-%s is %s", f.m.Devices[at], f.m.Devices[from[at]], f.word(at, from[at])))
	}
	what := [...]string{"a switch", "a top switch", "a host bridge", "a socket"}[level]
	return &Error{
		Doing: "find a PCIe tree", Source: "matrix", Err: ErrContradiction,
		Text: fmt.Sprintf("%s, so that %s and %s share %s, but %s-%s is %s; no tree has these words",
			strings.Join(chain, " and "), f.m.Devices[i], f.m.Devices[j], what, f.m.Devices[i], f.m.Devices[j], f.word(i, j)),
	}
}

// guess puts devices that no word relates on one socket if their affinity is
// the same, unless other words hold their sockets apart.
func (f *inference) guess() {
	node := f.parts[len(levels)-1]
	apart := make([]bool, f.n*f.n) // by root
	for i := range f.n {
		for j := range f.n {
			if f.word(i, j).Kind == topology.SYS {
				apart[node.find(i)*f.n+node.find(j)] = true
			}
		}
	}
	guessed := make([]bool, f.n)
	for i := range f.n {
		for j := range i {
			a, b := node.find(i), node.find(j)
			if a == b || apart[a*f.n+b] || f.word(i, j).Known || f.m.socketKey(i) != f.m.socketKey(j) {
				continue
			}
			node.join(a, b)
			for k := range f.n { // what holds one apart holds both
				either := apart[a*f.n+k] || apart[b*f.n+k]
				apart[a*f.n+k], apart[b*f.n+k], apart[k*f.n+a], apart[k*f.n+b] = either, either, either, either
			}
			guessed[i], guessed[j] = true, true
		}
	}
	f.tell(guessed)
}

// tell notes what was guessed.
func (f *inference) tell(guessed []bool) {
	var alike, blank []string
	for i, g := range guessed {
		switch {
		case !g:
		case f.m.socketKey(i) != "":
			alike = append(alike, f.m.Devices[i])
		default:
			blank = append(blank, f.m.Devices[i])
		}
	}
	if alike != nil {
		f.notes = append(f.notes, Note{Kind: Assumed, Where: list(alike, 6),
			Text: "no word tells their way over PCIe; those with one NUMA node are taken as NODE"})
	}
	if blank != nil {
		f.notes = append(f.notes, Note{Kind: Assumed, Where: list(blank, 6),
			Text: "neither words nor NUMA nodes tell where they are; taken as on one socket, NODE to each other"})
	}
}

// build makes the tree, with everything in the order of the devices.
func (f *inference) build() *pcie.Spec {
	s := &pcie.Spec{GPUs: make([]pcie.Slot, f.m.GPUs), NICs: make([]pcie.Slot, f.n-f.m.GPUs)}
	all := make([]int, f.n)
	for i := range all {
		all[i] = i
	}
	for _, socket := range f.split(all, 3) {
		for _, bridge := range f.split(socket, 2) {
			s.Bridges = append(s.Bridges, pcie.Bridge{Socket: s.Sockets})
			for _, top := range f.split(bridge, 1) {
				f.hang(s, top, pcie.Parent{Kind: pcie.OnBridge, Index: len(s.Bridges) - 1})
			}
		}
		s.Sockets++
	}
	return s
}

// hang puts devices that are joined by switches below a host bridge: one
// alone directly, those of one switch below it, those of several below a top
// switch. The first device that shares a switch with no other takes a port of
// the top switch; a second one there would be PIX to it.
func (f *inference) hang(s *pcie.Spec, devices []int, under pcie.Parent) {
	leaves := f.split(devices, 0)
	addSwitch := func() pcie.Parent {
		s.Switches = append(s.Switches, pcie.Slot{Under: under})
		return pcie.Parent{Kind: pcie.OnSwitch, Index: len(s.Switches) - 1}
	}
	if len(leaves) > 1 {
		under = addSwitch()
	}
	direct := true
	for _, leaf := range leaves {
		at := under
		if len(leaf) > 1 || len(leaves) > 1 && !direct {
			at = addSwitch()
		} else {
			direct = false
		}
		for _, d := range leaf {
			if d < f.m.GPUs {
				s.GPUs[d].Under = at
			} else {
				s.NICs[d-f.m.GPUs].Under = at
			}
		}
	}
}

// split divides devices into their parts of a level, in their order.
func (f *inference) split(devices []int, level int) [][]int {
	var parts [][]int
	index := make(map[int]int)
	for _, d := range devices {
		root := f.parts[level].find(d)
		i, ok := index[root]
		if !ok {
			i = len(parts)
			index[root] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], d)
	}
	return parts
}

// partition is a union-find forest.
type partition []int

func newPartition(n int) partition {
	p := make(partition, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func (p partition) find(i int) int {
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}

func (p partition) join(i, j int) {
	a, b := p.find(i), p.find(j)
	p[max(a, b)] = min(a, b)
}

func (p partition) same(i, j int) bool { return p.find(i) == p.find(j) }
