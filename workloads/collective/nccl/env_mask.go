package nccl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/workloads"
)

// mask is the value of NCCL_ALGO or NCCL_PROTO.
type mask struct {
	name string
	sets []maskSet
}

// maskSet allows members for one operation, or for all.
type maskSet struct {
	op      workloads.Coll
	all     bool
	members []string
	not     bool
}

// masked says which variable forbids an algorithm and protocol.
func (e Env) masked(op workloads.Coll, a Algorithm, p Protocol) string {
	for _, m := range []struct {
		mask
		member string
	}{{e.algorithms, a.String()}, {e.protocol, p.String()}} {
		for i := len(m.sets) - 1; i >= 0; i-- { // the last that speaks of the operation counts
			set := m.sets[i]
			if !set.all && set.op != op {
				continue
			}
			if slices.Contains(set.members, m.member) == set.not {
				return "left out by " + m.name
			}
			break
		}
	}
	return ""
}

// parseMask reads "list[;op:list...]", where ^ in front of a list means all
// others.
func parseMask(name, text string, v Version, known []string) (mask, error) {
	m := mask{name: name}
	for i, part := range strings.Split(text, ";") {
		set := maskSet{all: true}
		list := part
		if op, rest, ok := strings.Cut(part, ":"); ok {
			if v.before(24) {
				return m, fmt.Errorf("read %q, but lists for one operation are of NCCL 2.24 and later; expected names of %s", part, strings.Join(known, ","))
			}
			at := slices.IndexFunc(Ops, func(o workloads.Coll) bool {
				return strings.EqualFold(strings.ReplaceAll(o.String(), "_", ""), strings.TrimSpace(op))
			})
			if at < 0 {
				return m, fmt.Errorf("read operation %q, expected one of AllReduce, AllGather, ReduceScatter, Broadcast, Reduce", op)
			}
			set.all, set.op, list = false, Ops[at], rest
		} else if i > 0 {
			return m, fmt.Errorf("read %q after a semicolon, expected an operation and a colon, such as AllReduce:%s", part, known[0])
		}
		list, set.not = strings.CutPrefix(strings.TrimSpace(list), "^")
		for _, word := range strings.Split(list, ",") {
			at := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, strings.TrimSpace(word)) })
			if at < 0 {
				return m, fmt.Errorf("read %q, expected names of %s, such as %s", word, strings.Join(known, ","), known[0])
			}
			set.members = append(set.members, known[at])
		}
		m.sets = append(m.sets, set)
	}
	return m, nil
}

// names lists the names of the first n values of an enumeration.
func names[T interface {
	~uint8
	fmt.Stringer
}](n int) []string {
	var all []string
	for i := range n {
		all = append(all, T(i).String())
	}
	return all
}
