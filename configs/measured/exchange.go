package measured

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective/kernels"
)

// exchange is an operation of expert parallelism.
type exchange struct {
	phase, mode string // as in a scenario
	// remote says that a size is what goes to other ranks, of a balanced
	// routing; else it is what a rank sends with its own share, drawn by chance.
	remote bool
}

// exchangeOf returns the exchange that an operation is, nil if it is none.
func exchangeOf(op string) *exchange {
	if i := slices.IndexFunc(ops, func(o operation) bool { return o.name == op }); i >= 0 {
		return ops[i].exchange
	}
	return nil
}

// shape is what an exchange moves of each token. The variant of a run spells it
// out: "hidden 7168, top 8, 256 experts, 24 SMs".
type shape struct {
	hidden, topK, experts, blocks int
	precision                     string
}

var shapes = regexp.MustCompile(`hidden (\d+), top (\d+), (\d+) experts(?:, (\d+) SMs)?$`)

// shape reads the shape of a run.
func (r *Run) shape() (shape, error) {
	m := shapes.FindStringSubmatch(r.Variant)
	if m == nil {
		return shape{}, fmt.Errorf("read variant %q, expected what is exchanged at its end, such as hidden 7168, top 8, 256 experts", clip(r.Variant))
	}
	var n [4]int
	for i, text := range m[1:] {
		if text == "" {
			continue // no SMs
		}
		var err error
		if n[i], err = strconv.Atoi(text); err != nil || n[i] < 1 {
			return shape{}, fmt.Errorf("read variant %q: %s is none of the numbers that are simulated", clip(r.Variant), text)
		}
	}
	s := shape{hidden: n[0], topK: n[1], experts: n[2], blocks: n[3], precision: map[string]string{"bfloat16": "bf16", "fp8": "fp8", "nvfp4": "fp4"}[r.Type]}
	// DeepEP's own test takes a whole number of experts for each rank.
	s.experts = max(1, s.experts/r.Ranks) * r.Ranks
	return s, nil
}

// workload writes the workload of a scenario among so many ranks.
func (s shape) workload(x *exchange, ranks int) string {
	text := fmt.Sprintf("kind: exchange, phase: %s, mode: %s, tokens: 1, hidden: %d, top_k: %d, experts: %d, world: %d", x.phase, x.mode, s.hidden, s.topK, s.experts, ranks)
	if s.blocks > 0 {
		text += fmt.Sprintf(", blocks: %d", s.blocks)
	}
	if x.remote {
		text += ", routing: balanced"
	}
	if s.precision != "" && x.phase == "dispatch" {
		text += ", dispatch: " + s.precision
	}
	return text
}

// tokens returns the program of an exchange of so many bytes.
func (r *Run) tokens(e *configs.Exchange, m *topology.Machine, size sim.Bytes) (*workloads.Program, error) {
	x := exchangeOf(r.Op)
	of := kernels.Exchange{Hidden: e.Hidden, TopK: e.TopK, Experts: e.Experts, LowLatency: e.Mode == "low-latency", Combine: e.Phase == "combine"}
	token := of.TokenBytes() * of.Reach(r.Ranks)
	if x.remote {
		element := 2.0
		if e.Phase == "dispatch" {
			element = map[string]float64{"bf16": 2, "fp8": 1, "fp4": 0.5625}[e.Dispatch]
		}
		token = float64(e.Hidden) * element * float64(min(e.TopK, r.Ranks)-1)
	}
	more := *e
	more.Tokens = int(math.Round(float64(size) / token))
	if more.Tokens < 1 {
		return nil, fmt.Errorf("exchange of %d bytes: a token has %.0f", size, token)
	}
	return more.Program(m, int32(r.Ranks))
}
