package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A key taken over keeps the origin of the record that it was written in; its
// path is that of the record that has it now.
func TestLikeKeepsOrigins(t *testing.T) {
	c := load(t)
	require.NoError(t, c.Merge(strings.NewReader(`
sources:
  lab: {title: Our lab notebook, where: shelf 3, kind: measurement}
systems:
  ours:
    like: dgx-h200
    title: DGX H200 with half the NICs
    origin: {source: lab, status: measured}
    nics: 4
`), "ours.yaml"))
	s, err := c.System("ours")
	require.NoError(t, err)
	assert.Equal(t, "h200-sxm5-141gb", s.GPU)
	for _, tc := range []struct {
		have Provenance
		want Provenance
		why  string
	}{
		{s.NICs.Provenance(), Provenance{Path: "systems.ours.nics", Value: "4", Source: "lab", Status: Measured}, "its own"},
		{s.GPUs.Provenance(), Provenance{Path: "systems.ours.gpus", Value: "8", Source: "stas-net", Status: Datasheet}, "bare in dgx-h100, two records away"},
		{s.NVLink.Planes.Provenance(), Provenance{Path: "systems.ours.nvlink.planes", Value: "5+4+4+5", Source: "nvblog-nvs3", Status: Datasheet,
			Note: "two switches take 5 links of each GPU, two take 4"}, "with an origin of its own"},
	} {
		assert.Equal(t, tc.want, tc.have, tc.why)
	}
	assert.Nil(t, s.Power, "what another system draws and costs is not taken over")
	require.NoError(t, c.Set("systems.ours.sockets", "1"))
	base, err := c.System("dgx-h100")
	require.NoError(t, err)
	assert.EqualValues(t, 2, base.Sockets.Value(), "the other record stays as it was")
}

// A file may change one thing of a record and keep its name.
func TestLikeItself(t *testing.T) {
	c := load(t)
	const file = `
systems:
  dgx-h100:
    like: dgx-h100
    origin: {source: weft, status: assumed, note: "half of the NICs plugged"}
    nics: 4
`
	require.NoError(t, c.Merge(strings.NewReader(file), "a.yaml"))
	require.NoError(t, c.Merge(strings.NewReader(strings.Replace(file, "nics: 4", "sockets: 1", 1)), "b.yaml"), "twice over")
	s, err := c.System("dgx-h100")
	require.NoError(t, err)
	assert.EqualValues(t, 4, s.NICs.Value())
	assert.EqualValues(t, 1, s.Sockets.Value())
	assert.Equal(t, "NVIDIA DGX H100, 8 H100 80 GB", s.Title)
	assert.EqualValues(t, 10200, s.Power.Max.Value())
	derived, err := c.System("dgx-h200")
	require.NoError(t, err)
	assert.EqualValues(t, 4, derived.NICs.Value(), "records that are like it see the change")
}

func TestLikeRefuses(t *testing.T) {
	for _, tc := range []struct{ file, want string }{
		{"systems:\n  a: {like: dgx-h10, title: t, origin: {source: weft, status: derived}}\n",
			`f.yaml:2:13: like: no other system is called "dgx-h10"; did you mean "dgx-h100"?`},
		{"systems:\n  a: {like: a, title: t, origin: {source: weft, status: derived}}\n", `like: no other system is called "a"`},
		{"systems:\n  a: {like: b, title: t, origin: {source: weft, status: derived}}\n  b: {like: a, title: t, origin: {source: weft, status: derived}}\n",
			`8 records are each like the next, expected fewer and no circle`},
		{"systems:\n  a: {like: dgx-h100, title: t}\n", `f.yaml:2:7: key "origin" is missing`},
		{"systems:\n  a: {like: dgx-h100, origin: {source: weft, status: derived}}\n", `key "title" is missing`},
		{"sources:\n  a: {like: weft}\n", `unknown key "like"`},
		{"systems:\n  a: {like: dgx-1-v100, title: t, origin: {source: weft, status: derived}, pcie: {roots: 1+1, switches: 2}}\n",
			`f.yaml:2:83: pcie.switch: switches, layout and uplink need the name of a switch`},
	} {
		assert.ErrorContains(t, load(t).Merge(strings.NewReader(tc.file), "f.yaml"), tc.want)
	}
}

func TestSupplies(t *testing.T) {
	c := load(t)
	s, err := c.System("sys-421ge-tnrt3")
	require.NoError(t, err)
	assert.Equal(t, Supplies{Needed: 2, Spare: 2, Each: 2700}, s.Power.Supplies.Value())
	assert.EqualValues(t, 5400, s.Power.Supplies.Value().Sustained())
	for _, bad := range []string{"", "6", "6x", "x3300W", "0x3300W", "6x3300", "6+x1W", "-1x3W", "99999x1W"} {
		_, err := parseSupplies(bad)
		assert.ErrorContains(t, err, "expected power supplies such as 6x3300W", bad)
	}
}
