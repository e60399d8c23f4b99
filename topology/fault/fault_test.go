package fault_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fault"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]fault.Fault{
		"n0.gpu3 down":                   {Target: "n0.gpu3", Down: true},
		"n*.nvswitch1=down":              {Target: "n*.nvswitch1", Down: true},
		"n0.gpu0 > n0.nvswitch* x0.5":    {Target: "n0.gpu0>n0.nvswitch*", Factor: 0.5},
		"leaf2<>spine* 25GB/s +2us":      {Target: "leaf2<>spine*", Rate: 25e9, Latency: 2 * sim.Microsecond},
		"n0.gpu4<>n0.pcie-sw2 x8":        {Target: "n0.gpu4<>n0.pcie-sw2", Width: 8},
		"class:ndr x1e-1":                {Target: "class:ndr", Factor: 0.1},
		" class:pcie5x16  x4  x0.9 +1ns": {Target: "class:pcie5x16", Width: 4, Factor: 0.9, Latency: sim.Nanosecond},
	} {
		got, err := fault.Parse(text)
		require.NoError(t, err)
		assert.Equal(t, want, got, text)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "want a target and what befalls it",
		"n0.gpu3":             "want a target and what befalls it",
		"n0.gpu3 broken":      `effect "broken": want down, a factor (x0.5)`,
		"n0.gpu3 25":          `effect "25": want down`,
		"n0.gpu3 x1.5":        `factor "x1.5", want above 0 and at most 1`,
		"n0.gpu3 x0.0":        "write down for what is out of service",
		"n0.gpu3 x0":          `width "x0", want a number of lanes`,
		"n0.gpu3 +fast":       `latency "+fast"`,
		"n0.gpu3 down x0.5":   "down and something else",
		"n0.gpu3 x0.5 x0.6":   `"x0.6" says the same kind of thing a second time`,
		"n0.gpu3 x0.5 25GB/s": "a factor and a rate; give one of them",
		"n0.gpu[3 down":       `"n0.gpu[3" is no pattern`,
		">n0.gpu3 down":       "an end is left out",
		"n0.gpu3 0GB/s":       "want more than 0",
	} {
		_, err := fault.Parse(text)
		assert.ErrorContains(t, err, want, text)
	}
	f := fault.Fault{Target: "a"}
	assert.ErrorContains(t, f.Validate(), "nothing befalls it")
}

// TestStringParses: a fault is read as it is written.
func TestStringParses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := fault.Fault{Target: rapid.SampledFrom([]string{"n0.gpu3", "a*>b?", "a<>b", "class:ndr"}).Draw(t, "target")}
		if f.Down = rapid.Bool().Draw(t, "down"); !f.Down {
			f.Width = rapid.Int32Range(0, 32).Draw(t, "width")
			f.Latency = sim.Time(rapid.Int64Range(1, 1e12).Draw(t, "latency"))
			if rapid.Bool().Draw(t, "factor") {
				f.Factor = rapid.Float64Range(1e-9, 1).Draw(t, "x")
			} else {
				f.Rate = sim.Rate(rapid.Float64Range(1, 1e12).Draw(t, "rate"))
			}
		}
		got, err := fault.Parse(f.String())
		require.NoError(t, err)
		require.Equal(t, f, got)
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"n0.gpu3 down", "a>b x0.5", "a<>b 25GB/s +2us", "class:ndr x8", "[ down", "a = b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := fault.Parse(s)
		if err != nil {
			return
		}
		again, err := fault.Parse(got.String())
		require.NoError(t, err, "%q became %q", s, got)
		require.Equal(t, got, again)
	})
}

// fixed is a machine whose routes cannot be found anew.
type fixed struct{}

func (fixed) Route(_, _ int32, buf []topology.Hop) (topology.Path, error) {
	return topology.Path{Hops: append(buf[:0], topology.Hop{Share: 1}), Den: 1}, nil
}

func pair() *topology.Machine {
	g := &topology.Graph{}
	a := g.AddNode(topology.Node{Kind: topology.GPU, Name: "n0.gpu0"})
	b := g.AddNode(topology.Node{Kind: topology.GPU, Name: "n0.gpu1"})
	g.AddDuplex(topology.Link{From: a, To: b, Rate: 10e9, Width: 4, Class: g.AddClass(topology.Class{Name: "wire"})})
	return &topology.Machine{Name: "pair", Graph: g, Ranks: []topology.NodeID{a, b}, Hosts: 1, Router: fixed{}}
}

func TestFixedRoutes(t *testing.T) {
	m := pair()
	n, err := fault.Apply(m, fault.Fault{Target: "n0.gpu0>*", Factor: 0.5}, fault.Fault{Target: "class:w*", Factor: 0.5})
	require.NoError(t, err)
	assert.Equal(t, sim.Rate(2.5e9), n.Graph.Links[0].Rate)
	assert.Equal(t, sim.Rate(5e9), n.Graph.Links[1].Rate)
	assert.Equal(t, sim.Rate(10e9), m.Graph.Links[0].Rate, "the machine before stays as it is")
	_, err = fault.Apply(m, fault.Fault{Target: "n0.gpu0", Down: true})
	assert.ErrorContains(t, err, "the routes of this machine are fixed")
	n, err = fault.Apply(m)
	require.NoError(t, err)
	assert.Same(t, m, n)
	_, err = fault.Apply(m, fault.Fault{Target: "n0.gpu0", Down: true}, fault.Fault{Target: "n0.gpu0", Down: true})
	assert.ErrorContains(t, err, "out of service already")
	_, err = fault.Apply(m, fault.Fault{Target: "n0.gpu0>*", Width: 4})
	assert.ErrorContains(t, err, "n0.gpu0 > n0.gpu1 has a width of 4 already")
	_, err = fault.Apply(m, fault.Fault{Target: "n0.gpu0>*", Width: 5})
	assert.ErrorContains(t, err, "has a width of 4, so x5 would leave more than there is")
	_, err = fault.Apply(m, fault.Fault{})
	assert.ErrorContains(t, err, "apply faults to pair: fault of \"\": no target")
}
