package nccl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// Tuner is the rules of NCCL's example tuner plugin: for which messages it
// says what to run, whatever NCCL would choose.
//
// Source: NVIDIA/nccl 2.30.7, ext-tuner/example (plugins/tuner/example).
type Tuner struct {
	Name  string // of the file
	Rules []Rule
}

// Rule is a line of a tuner's file.
type Rule struct {
	Op          workloads.Coll
	Least, Most sim.Bytes // of the larger buffer; both count
	Algorithm   Algorithm
	Protocol    Protocol
	Channels    int // to run on; -1 leaves it to NCCL
	Nodes       int // that the rule is for; -1 is any
	Ranks       int // likewise
	Pipe        int // operations of one launch; -1 is any
	Registered  int // 1 for registered buffers, 0 for others, -1 for any
	Line        int // of the file
}

// Bounds of a tuner's file. A line of the plugin has 256 characters.
const (
	mostRules = 1 << 16
	mostLine  = 1 << 10
)

// names as the plugin reads them.
var (
	tunerOps        = []string{"broadcast", "reduce", "allgather", "reducescatter", "allreduce"}
	tunerColls      = []workloads.Coll{workloads.Broadcast, workloads.Reduce, workloads.AllGather, workloads.ReduceScatter, workloads.AllReduce}
	tunerAlgorithms = []string{"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"}
	tunerProtocols  = []string{"ll", "ll128", "simple"}
)

// ReadTuner reads the file of NCCL's example tuner plugin: lines of
//
//	collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks[,pipelined operations[,registered]]
//
// The plugin takes a name that it does not know for another one, and passes
// over lines with too few fields. Both are errors here, with the line, since
// whoever wrote them meant something else.
func ReadTuner(name string, content []byte) (Tuner, error) {
	t := Tuner{Name: name}
	line := 0
	for text := range strings.Lines(string(content)) {
		line++
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		r, err := parseRule(text)
		if err == nil && len(t.Rules) == mostRules {
			err = fmt.Errorf("more than %d rules, expected fewer", mostRules)
		}
		if err != nil {
			return Tuner{}, fmt.Errorf("read tuner: %s: line %d: %w", name, line, err)
		}
		r.Line = line
		t.Rules = append(t.Rules, r)
	}
	if len(t.Rules) == 0 {
		return Tuner{}, fmt.Errorf("read tuner: %s: no rules in %d lines, expected lines such as allreduce,0,65536,tree,ll,-1,-1,-1", name, line)
	}
	return t, nil
}

func parseRule(text string) (Rule, error) {
	if len(text) > mostLine {
		return Rule{}, fmt.Errorf("%d characters, expected at most %d", len(text), mostLine)
	}
	f := strings.Split(text, ",")
	if len(f) < 8 || len(f) > 10 {
		return Rule{}, fmt.Errorf("%d fields, expected 8 to 10: collective, least and most bytes, algorithm, protocol, channels, nodes, ranks, and if wanted pipelined operations and registered", len(f))
	}
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	r := Rule{Pipe: -1, Registered: -1}
	p := fields{text: f}
	r.Op = tunerColls[p.name(0, "collective", tunerOps)]
	r.Least, r.Most = p.bytes(1, "least bytes"), p.bytes(2, "most bytes")
	r.Algorithm = Algorithm(p.name(3, "algorithm", tunerAlgorithms))
	r.Protocol = Protocol(p.name(4, "protocol", tunerProtocols))
	r.Channels = p.number(5, "channels", 64)
	r.Nodes, r.Ranks = p.number(6, "nodes", 1<<24), p.number(7, "ranks", 1<<24)
	if len(f) > 8 {
		r.Pipe = p.number(8, "pipelined operations", 1<<20)
	}
	if len(f) > 9 {
		r.Registered = p.number(9, "registered", 1)
	}
	switch {
	case p.err != nil:
		return Rule{}, p.err
	case r.Most < r.Least:
		return Rule{}, fmt.Errorf("bytes from %d to %d, expected the least first", r.Least, r.Most)
	case r.Channels == 0:
		return Rule{}, fmt.Errorf("0 channels, expected 1 to 64, or -1 to leave it to NCCL")
	}
	return r, nil
}

// fields reads fields and keeps the first error.
type fields struct {
	text []string
	err  error
}

func (p *fields) fail(i int, what, expected string) {
	if p.err == nil {
		p.err = fmt.Errorf("field %d, %s: read %q, expected %s", i+1, what, p.text[i], expected)
	}
}

func (p *fields) name(i int, what string, known []string) int {
	at := slices.Index(known, p.text[i])
	if at < 0 {
		p.fail(i, what, "one of "+strings.Join(known, " ")+", in lower case")
		return 0
	}
	return at
}

func (p *fields) bytes(i int, what string) sim.Bytes {
	n, err := strconv.ParseInt(p.text[i], 10, 64)
	if err != nil || n < 0 {
		p.fail(i, what, "a number of bytes, such as 65536")
		return 0
	}
	return sim.Bytes(n)
}

func (p *fields) number(i int, what string, most int) int {
	n, err := strconv.Atoi(p.text[i])
	if err != nil || n < -1 || n > most {
		p.fail(i, what, fmt.Sprintf("a number up to %d, or -1", most))
		return -1
	}
	return n
}

// matches reports whether a rule is for a lone operation of a job whose
// buffers are not registered.
func (r *Rule) matches(op workloads.Coll, size sim.Bytes, nodes, ranks int) bool {
	return r.Op == op && r.Least <= size && size <= r.Most &&
		(r.Nodes < 0 || r.Nodes == nodes) && (r.Ranks < 0 || r.Ranks == ranks) &&
		(r.Pipe < 0 || r.Pipe == 1) && r.Registered < 1
}

// choose returns the rule that decides: the first that is for the message and
// names what NCCL considers; nil if none does.
func (t *Tuner) choose(m *Model, op workloads.Coll, size sim.Bytes) *Rule {
	for i := range t.Rules {
		r := &t.Rules[i]
		if r.matches(op, size, m.Nodes, m.Ranks) && m.Estimate(op, r.Algorithm, r.Protocol, size).Off == "" {
			return r
		}
	}
	return nil
}
