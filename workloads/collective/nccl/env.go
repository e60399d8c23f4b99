package nccl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/workloads"
)

// Env is what NCCL's environment variables ask for.
type Env struct {
	NoNVLS, NoPAT bool
	MinChannels   int     // 0 is not given
	MaxChannels   int     // 0 is not given
	NVLSChannels  int     // 0 is not given
	NetOverhead   float64 // ns, negative is NCCL's own
	NoP2P         bool    // GPUs may not reach each other

	// What follows acts on paths and channels; nil and 0 are not given.
	P2PLevel                       *PathType // how far GPUs reach each other
	GDRLevel                       *PathType // how far a NIC reaches GPUs
	GDRRead, GDRC2C, PXNC2C        *int
	CrossNIC                       *int
	NoPXN, NoNVB, NoMNNVL, CollNet bool
	NoSHM, NoNetIntra              bool
	NetsPerGPU                     int // that each uses of those near it; 0 is its share, -1 all
	MinP2P, MaxP2P, PerNetPeer     int
	CollNetNodes                   int // the least for in-network reduction; 0 is 2
	algorithms, protocol           mask
	given                          []string
}

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

// variable is an environment variable that acts on the model.
type variable struct {
	name string
	set  func(e *Env, v Version, value string) error
}

// variables are those that weft obeys, in the order in which they are listed.
var variables = []variable{
	{"NCCL_ALGO", func(e *Env, v Version, s string) (err error) {
		e.algorithms, err = parseMask("NCCL_ALGO", s, v, names[Algorithm](algorithms))
		return err
	}},
	{"NCCL_PROTO", func(e *Env, v Version, s string) (err error) {
		e.protocol, err = parseMask("NCCL_PROTO", s, v, names[Protocol](protocols))
		return err
	}},
	{"NCCL_NVLS_ENABLE", func(e *Env, _ Version, s string) (err error) {
		n, err := number(s, 0, 2)
		e.NoNVLS = n == 0
		return err
	}},
	{"NCCL_PAT_ENABLE", func(e *Env, _ Version, s string) (err error) {
		n, err := number(s, 0, 2)
		e.NoPAT = n == 0
		return err
	}},
	{"NCCL_MIN_NCHANNELS", func(e *Env, _ Version, s string) (err error) { e.MinChannels, err = number(s, 1, 64); return err }},
	{"NCCL_MAX_NCHANNELS", func(e *Env, _ Version, s string) (err error) { e.MaxChannels, err = number(s, 1, 64); return err }},
	{"NCCL_MIN_CTAS", func(e *Env, _ Version, s string) (err error) { e.MinChannels, err = number(s, 1, 64); return err }},
	{"NCCL_MAX_CTAS", func(e *Env, _ Version, s string) (err error) { e.MaxChannels, err = number(s, 1, 64); return err }},
	{"NCCL_NVLS_NCHANNELS", func(e *Env, _ Version, s string) (err error) { e.NVLSChannels, err = number(s, 1, 64); return err }},
	{"NCCL_NET_OVERHEAD", func(e *Env, _ Version, s string) error {
		n, err := number(s, 0, 1e9)
		e.NetOverhead = float64(n)
		return err
	}},
	{"NCCL_P2P_DISABLE", func(e *Env, _ Version, s string) (err error) {
		n, err := number(s, 0, 1)
		e.NoP2P = n == 1
		return err
	}},
	{"NCCL_P2P_LEVEL", func(e *Env, _ Version, s string) error {
		levels := []string{"LOC", "NVL", "PIX", "PXB", "PHB", "SYS", "0", "1", "2", "3", "4", "5"}
		if !slices.Contains(levels, strings.ToUpper(s)) {
			return fmt.Errorf("read %q, expected one of %s", s, strings.Join(levels, " "))
		}
		e.NoP2P = strings.EqualFold(s, "LOC") || s == "0"
		return nil
	}},
	{"NCCL_COLLNET_ENABLE", func(_ *Env, _ Version, s string) error {
		if s != "0" {
			return fmt.Errorf("read %q, expected 0: weft does not choose in-network reduction yet", s)
		}
		return nil
	}},
}

// Variables lists the names of the variables that [ParseEnv] takes.
func Variables() []string {
	var all []string
	for _, v := range variables {
		all = append(all, v.name)
	}
	return all
}

// ParseEnv reads settings such as "NCCL_ALGO=Ring". A variable that does not
// act on the choice here is an error, since it would be ignored in silence.
func ParseEnv(v Version, settings []string) (Env, error) {
	e := Env{NetOverhead: -1}
	for _, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok || value == "" {
			return e, fmt.Errorf("read NCCL environment: read %q, expected NAME=VALUE, such as NCCL_ALGO=Ring", s)
		}
		i := slices.IndexFunc(variables, func(v variable) bool { return v.name == name })
		if i < 0 {
			return e, fmt.Errorf("read NCCL environment: %s does not act on the choice here, expected one of %s", name, strings.Join(Variables(), ", "))
		}
		if err := variables[i].set(&e, v, value); err != nil {
			return e, fmt.Errorf("read NCCL environment: %s: %w", name, err)
		}
		e.given = append(e.given, s)
	}
	if e.MaxChannels > 0 && e.MinChannels > e.MaxChannels {
		return e, fmt.Errorf("read NCCL environment: at least %d channels and at most %d, expected the least first", e.MinChannels, e.MaxChannels)
	}
	return e, nil
}

// String lists what was set.
func (e Env) String() string {
	if len(e.given) == 0 {
		return "no variables set"
	}
	return strings.Join(e.given, " ")
}

// clamp holds a number of channels within what was asked for.
func (e Env) clamp(n, most int) int {
	if e.MaxChannels > 0 {
		n = min(n, e.MaxChannels)
	}
	return min(max(n, e.MinChannels), most)
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

// number reads a whole number within bounds.
func number(s string, low, high int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("read %q, expected a whole number from %d to %d", s, low, high)
	}
	return n, nil
}
