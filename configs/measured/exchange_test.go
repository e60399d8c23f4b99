package measured

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
)

func TestShapeIsReadOffTheVariant(t *testing.T) {
	r := Run{Op: "deepep_normal_dispatch", Ranks: 16, Type: "fp8", Variant: "DeepEP (sglang 0.5.0), hidden 7168, top 8, 256 experts, 24 SMs"}
	s, err := r.shape()
	require.NoError(t, err)
	assert.Equal(t, shape{hidden: 7168, topK: 8, experts: 256, blocks: 24, precision: "fp8"}, s)
	assert.Equal(t, "kind: exchange, phase: dispatch, mode: normal, tokens: 1, hidden: 7168, top_k: 8, experts: 256, world: 16, blocks: 24, dispatch: fp8",
		s.workload(exchangeOf(r.Op), r.Ranks))
	r = Run{Op: "trtllm_alltoall_combine", Ranks: 4, Type: "nvfp4", Variant: "NVLinkOneSided (TRT-LLM 1.2.0rc6), hidden 7168, top 8, 256 experts"}
	s, err = r.shape()
	require.NoError(t, err)
	assert.Equal(t, "kind: exchange, phase: combine, mode: normal, tokens: 1, hidden: 7168, top_k: 8, experts: 256, world: 4, routing: balanced",
		s.workload(exchangeOf(r.Op), r.Ranks), "what is combined is BF16 whatever was dispatched")
	whole := Run{Op: "deepep_ll_combine", Ranks: 64, Variant: "hidden 7168, top 8, 288 experts"}
	s, err = whole.shape()
	require.NoError(t, err)
	assert.Equal(t, 256, s.experts, "as many for each rank")
	for _, bad := range []string{"", "hidden 7168", "hidden 0, top 8, 256 experts", "hidden 99999999999999999999, top 8, 256 experts"} {
		_, err := (&Run{Op: "deepep_ll_combine", Ranks: 8, Variant: bad}).shape()
		assert.ErrorContains(t, err, "read variant", bad)
	}
}

// TestTokensAreThoseOfTheTables gets back the tokens a rank of three rows.
func TestTokensAreThoseOfTheTables(t *testing.T) {
	hw, err := catalog.Load()
	require.NoError(t, err)
	for _, c := range []struct {
		r      Run
		system string
		size   sim.Bytes
		want   float64 // bytes to one rank
	}{
		{Run{Op: "deepep_ll_dispatch", Ranks: 8, Variant: "hidden 7168, top 8, 256 experts"}, "dgx-h100", 128 * 59264, 128 * 59264 / 8},
		{Run{Op: "deepep_normal_combine", Ranks: 8, Variant: "hidden 2048, top 8, 128 experts"}, "dgx-h100", 2799360, 2799360.0 / 8},
		{Run{Op: "trtllm_alltoall_dispatch", Ranks: 4, Type: "nvfp4", Variant: "hidden 7168, top 8, 256 experts"}, "gb200-nvl72", 64 * 4032 * 3, 64 * 4032},
	} {
		s, err := c.r.shape()
		require.NoError(t, err)
		text := "name: x\nsystem: " + c.system + "\nworkload: {" + s.workload(exchangeOf(c.r.Op), c.r.Ranks) + "}\n"
		scenario, err := configs.Parse("case", []byte(text), ".", nil, nil)
		require.NoError(t, err)
		job, err := scenario.Build(hw)
		require.NoError(t, err)
		p, err := c.r.tokens(scenario.Workload.Exchange, job.Machine, c.size)
		require.NoError(t, err)
		op := p.Classes[0].Ops[0]
		got := float64(op.Bytes) / float64(c.r.Ranks)
		if op.Splits != nil {
			got = float64(op.Splits[0])
		}
		assert.InEpsilon(t, c.want, got, 1e-3, "%s", c.r.Op)
		_, err = c.r.tokens(scenario.Workload.Exchange, job.Machine, 1)
		assert.ErrorContains(t, err, "exchange of 1 bytes")
	}
}

// TestExchangesNeedTheirShape: a table of one's own that does not tell it is an
// error, not a guess.
func TestExchangesNeedTheirShape(t *testing.T) {
	s := &Series{
		Run:  &Run{Table: &Table{ID: "mine"}, Op: "deepep_ll_dispatch", Ranks: 8, Nodes: 1, Variant: "v1"},
		Case: &Case{Kind: "nvlink-node", System: "dgx-h100"},
	}
	_, err := new(Simulator).Predict(context.Background(), s, []sim.Bytes{sim.MiB})
	assert.ErrorContains(t, err, `case of mine: read variant "v1"`)
}
