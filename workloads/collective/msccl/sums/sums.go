// Package sums follows the contents of buffers through an algorithm without
// numbers: a value is which inputs were added up to make it, and how often
// each.
//
// [Table] makes values and adds them; equal sums are equal values. [Expected]
// says what a collective must leave behind, in chunks:
//
//	all_reduce      out[c] of every rank is the sum over all ranks q of in_q[c]
//	all_gather      out[q*p + x] of every rank is in_q[x], with p chunks a rank
//	reduce_scatter  out[x] of rank r is the sum over all q of in_q[r*p + x]
//	alltoall        out[q*p + x] of rank r is in_q[r*p + x]
//	broadcast       out[c] of every rank is in_root[c]
//	reduce          out[c] of the root is the sum over all ranks q of in_q[c]
//
// Overflow and order of additions are left out: a sum is the same in every
// order.
package sums

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-sim/weft/workloads"
)

// Value is a sum of inputs. The zero Value is memory that nobody wrote.
type Value int32

// Unwritten is memory that holds no input.
const Unwritten Value = 0

// term is an input and how often it was added, at most 255 times.
type term struct {
	input int32
	times uint8
}

// mostTerms bounds the memory of a table.
const mostTerms = 1 << 23

// ErrTooLarge says that an algorithm makes more different sums than are kept.
var ErrTooLarge = errors.New("its sums are too many to be followed")

// Table holds the sums that occurred. The zero Table is not ready; see
// [NewTable].
type Table struct {
	sums  [][]term // by value
	known map[string]Value
	added map[[2]Value]Value
	terms int
	chunk int32         // chunks of a rank's input
	whole map[int]Value // the sums over all ranks, by chunk
}

// NewTable returns a table for inputs of so many chunks a rank.
func NewTable(chunks int) *Table {
	return &Table{sums: [][]term{nil}, known: map[string]Value{}, added: map[[2]Value]Value{}, whole: map[int]Value{}, chunk: int32(max(chunks, 1))}
}

// Input is the value of a chunk of a rank's input.
func (t *Table) Input(rank, chunk int) Value {
	return t.intern([]term{{int32(rank)*t.chunk + int32(chunk), 1}})
}

// Add returns a + b, which is unwritten where either is.
func (t *Table) Add(a, b Value) Value {
	if a == Unwritten || b == Unwritten {
		return Unwritten
	}
	key := [2]Value{min(a, b), max(a, b)}
	if v, ok := t.added[key]; ok {
		return v
	}
	x, y := t.sums[a], t.sums[b]
	out := make([]term, 0, len(x)+len(y))
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0].input < y[0].input:
			out, x = append(out, x[0]), x[1:]
		case y[0].input < x[0].input:
			out, y = append(out, y[0]), y[1:]
		default:
			out = append(out, term{x[0].input, uint8(min(255, int(x[0].times)+int(y[0].times)))})
			x, y = x[1:], y[1:]
		}
	}
	v := t.intern(append(append(out, x...), y...))
	t.added[key] = v
	return v
}

// Err is ErrTooLarge once a table has overflowed: its values mean nothing then.
func (t *Table) Err() error {
	if t.terms > mostTerms {
		return ErrTooLarge
	}
	return nil
}

func (t *Table) intern(s []term) Value {
	if t.terms > mostTerms {
		return Unwritten
	}
	key := make([]byte, 0, 5*len(s))
	for _, e := range s {
		key = append(binary.LittleEndian.AppendUint32(key, uint32(e.input)), e.times)
	}
	v, ok := t.known[string(key)]
	if !ok {
		v = Value(len(t.sums))
		t.sums = append(t.sums, s)
		t.known[string(key)] = v
		t.terms += len(s)
	}
	return v
}

// mostNamed is how many inputs a description names.
const mostNamed = 6

// Describe says in words what a value is.
func (t *Table) Describe(v Value) string {
	if v == Unwritten {
		return "what nobody wrote"
	}
	s := t.sums[v]
	if len(s) == 1 && s[0].times == 1 {
		return fmt.Sprintf("chunk %d of rank %d", s[0].input%t.chunk, s[0].input/t.chunk)
	}
	same := true
	for _, e := range s {
		same = same && e.input%t.chunk == s[0].input%t.chunk
	}
	var parts []string
	for i, e := range s {
		if i == mostNamed {
			parts = append(parts, fmt.Sprintf("%d more", len(s)-i))
			break
		}
		word := fmt.Sprintf("%d", e.input/t.chunk)
		if !same {
			word = fmt.Sprintf("chunk %d of rank %d", e.input%t.chunk, e.input/t.chunk)
		}
		if e.times > 1 {
			word += fmt.Sprintf(" (%d times)", e.times)
		}
		parts = append(parts, word)
	}
	if same {
		return fmt.Sprintf("the sum of chunk %d of ranks %s", s[0].input%t.chunk, strings.Join(parts, ", "))
	}
	return "the sum of " + strings.Join(parts, ", ")
}

// Expected returns what an operation among n ranks must leave in chunk c of
// rank r's output, where total chunks are the whole of what nccl-tests calls
// the size, and root matters to broadcast and reduce alone. care is false where
// the operation says nothing about the chunk.
func (t *Table) Expected(op workloads.Coll, n, total, root, r, c int) (v Value, care bool) {
	per := total / n
	switch op {
	case workloads.AllReduce:
		return t.all(n, c), true
	case workloads.Reduce:
		if r != root {
			return Unwritten, false
		}
		return t.all(n, c), true
	case workloads.ReduceScatter:
		return t.all(n, r*per+c), true
	case workloads.AllGather:
		return t.Input(c/per, c%per), true
	case workloads.AllToAll:
		return t.Input(c/per, r*per+c%per), true
	case workloads.Broadcast:
		return t.Input(root, c), true
	}
	return Unwritten, false
}

func (t *Table) all(n, c int) Value {
	if v, ok := t.whole[c]; ok {
		return v
	}
	v := t.Input(0, c)
	for q := 1; q < n; q++ {
		v = t.Add(v, t.Input(q, c))
	}
	t.whole[c] = v
	return v
}

// Sizes returns how many chunks of total a rank has as its input and as its
// output.
func Sizes(op workloads.Coll, n, total int) (in, out int) {
	switch op {
	case workloads.AllGather:
		return total / n, total
	case workloads.ReduceScatter:
		return total, total / n
	}
	return total, total
}

// Verify compares what is in the outputs with what an operation must leave
// there, and tells of the first chunk that is wrong, by rank and then by chunk.
// Of an operation with a root that nobody named, any root will do; it is
// returned.
func (t *Table) Verify(op workloads.Coll, n, total int, out func(r, c int) Value) (root int, err error) {
	roots := 1
	if op == workloads.Broadcast || op == workloads.Reduce {
		roots = n
	}
	var first error
	for root := range roots {
		err := t.verify(op, n, total, root, out)
		if e := t.Err(); e != nil {
			return 0, e
		}
		if err == nil {
			return root, nil
		}
		if first == nil {
			first = err
		}
	}
	return 0, first
}

func (t *Table) verify(op workloads.Coll, n, total, root int, out func(r, c int) Value) error {
	_, chunks := Sizes(op, n, total)
	for r := range n {
		for c := range chunks {
			want, care := t.Expected(op, n, total, root, r, c)
			if got := out(r, c); care && got != want {
				return fmt.Errorf("it is no %v: at its end chunk %d of the output of rank %d holds %s, expected %s", op, c, r, t.Describe(got), t.Describe(want))
			}
		}
	}
	return nil
}
