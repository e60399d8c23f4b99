package catalog

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology/pcie"
)

func TestQuantities(t *testing.T) {
	reads(t, "18", Count(18))
	reads(t, "16/17", Ratio(16.0/17))
	reads(t, "0.98", Ratio(0.98))
	reads(t, "700W", Watts(700))
	reads(t, "5m", Metres(5))
	reads(t, "5ns/m", TimePerMetre(5*sim.Nanosecond))
	reads(t, "true", Flag(true))
	reads(t, "5+4+4+5", Split{5, 4, 4, 5})
	reads(t, "3x2", Split{2, 2, 2})
	reads(t, "4", Split{4})
	reads(t, "0-1:6 2-3:1", Edges{{0, 1, 6}, {2, 3, 1}})
	reads(t, "within-socket", Reach(pcie.WithinSocket))
	reads(t, "450GB/s", 450*sim.GBps)

	refuses[Count](t, "-1", "99999999999", "1.5", "many", "")
	refuses[Ratio](t, "0", "1.1", "17/16", "1/0", "half", "NaN", "-1")
	refuses[Watts](t, "700", "700kW", "-1W", "InfW", "NaNW")
	refuses[Metres](t, "5", "5ns")
	refuses[TimePerMetre](t, "5ns", "5/m")
	refuses[Flag](t, "yes", "1")
	refuses[Split](t, "", "5+", "x2", "2x", "0x3", "5-4", "99999999x1", "2x99999999", "4096+1")
	refuses[Edges](t, "", "0-1", "0:1", "0-1:0", "a-b:1")
	refuses[Reach](t, "far", "")
	refuses[sim.Rate](t, "450")
}

func reads[T Quantity](t *testing.T, text string, want T) {
	t.Helper()
	got, err := parse[T](text)
	require.NoError(t, err, text)
	assert.Equal(t, want, got, text)
}

func refuses[T Quantity](t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		_, err := parse[T](text)
		assert.Error(t, err, "%q as a %T", text, *new(T))
	}
}

func TestNewFigure(t *testing.T) {
	f, err := NewFigure[sim.Rate]("x.rate", "25GB/s", Origin{Source: "weft", Status: Measured})
	require.NoError(t, err)
	assert.Equal(t, 25*sim.GBps, f.Value())
	assert.Equal(t, Provenance{Path: "x.rate", Value: "25GB/s", Source: "weft", Status: Measured}, f.Provenance())
	for _, o := range []Origin{{}, {Source: "weft"}, {Status: Measured}, {Source: "weft", Status: Assumed}} {
		_, err := NewFigure[sim.Rate]("x.rate", "25GB/s", o)
		assert.Error(t, err, "%+v", o)
	}
	_, err = NewFigure[sim.Rate]("x.rate", "25", Origin{Source: "weft", Status: Measured})
	assert.Error(t, err, "no unit")
	assert.False(t, Figure[Count]{}.Known())
}
