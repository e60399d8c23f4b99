package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ownFile = `
sources:
  lab:
    title: Our lab notebook
    where: shelf 3
    kind: measurement
gpus:
  h100-sxm5-64gb:
    title: H100 with less memory
    arch: hopper
    origin: {source: lab, status: measured}
    peak: {bf16: 900TFLOP/s}
    flop_efficiency: 0.8
    memory: 64GB
    memory_rate: {value: 2TB/s, source: lab, status: assumed, note: "guessed from two runs"}
    memory_efficiency: 0.9
    launch: 2us
    nvlink: {link: nvlink4, count: 18}
    pcie: {link: pcie5, lanes: 16}
systems:
  ours:
    title: Four of them
    origin: {source: lab, status: measured}
    gpu: h100-sxm5-64gb
    gpus: 4
    nvlink: {link: nvlink4, edges: 0-1:6 0-2:6 0-3:6 1-2:6 1-3:6 2-3:6}
`

func TestMerge(t *testing.T) {
	c := load(t)
	require.NoError(t, c.Merge(strings.NewReader(ownFile), "ours.yaml"))
	m, built := build(t, c, "ours", Options{})
	assert.Len(t, built.Ranks, 4)
	assert.Equal(t, "lab", m.Provenance[0].Source)
	line, used, err := m.GPU.Roofline("bf16")
	require.NoError(t, err)
	assert.EqualValues(t, 2e12, line.Memory)
	assert.Equal(t, "gpus.h100-sxm5-64gb.memory_rate", used[2].Path)
	assert.Equal(t, Assumed, used[2].Status)
	assert.Contains(t, c.Systems(), "ours")
	assert.NotContains(t, load(t).Systems(), "ours", "another catalogue does not see it")
}

func TestMergeReplaces(t *testing.T) {
	c := load(t)
	was := c.Fabrics()
	require.NoError(t, c.Merge(strings.NewReader(`
fabrics:
  ib-ndr:
    title: ours
    kind: fat-tree
    switch: quantum2-ndr
    link: infiniband-ndr
    origin: {source: weft, status: assumed, note: "as we build it"}
    oversubscription: 2
`), "f.yaml"))
	m, err := c.Machine("dgx-h100", Options{Hosts: 2})
	require.NoError(t, err)
	assert.EqualValues(t, "fat-tree", m.Spec.Fabric.Kind)
	assert.EqualValues(t, 2, m.Spec.Fabric.Oversubscription)
	assert.Equal(t, was, c.Fabrics(), "in its place")
}

// All that is wrong with a file comes at once, and the catalogue stays as it
// was.
func TestMergeRefuses(t *testing.T) {
	const bad = `links:
  mine:
    title: no origin at all
    kind: nvlink
    rate: 25GB/s
    latency: 80ns
  half:
    title: half an origin
    kind: nvlink
    origin: {source: weft, status: measured}
    rate: {value: 25GB/s, source: nvkm}
    latency: {value: 80ns, source: weft, status: assumed}
  unitless:
    title: no unit
    kind: nvlnk
    origin: {source: nvkn, status: measured}
    rate: 25
    latency: 80ns
linx: {}
`
	c := load(t)
	err := c.Merge(strings.NewReader(bad), "bad.yaml")
	require.Error(t, err)
	for _, want := range []string{
		`bad.yaml:3:5: key "origin" is missing`,
		`bad.yaml:11:12: rate: 25GB/s has no status, expected datasheet, measured, derived or assumed beside it`,
		`bad.yaml:12:15: latency: 80ns is assumed without a reason, expected a note`,
		`bad.yaml:15:11: kind: read "nvlnk", expected one of nvlink, pcie, socket, c2c, network, ideal; did you mean "nvlink"?`,
		`bad.yaml:17:11: rate:`,
		`bad.yaml:19:1: unknown key "linx", expected one of sources, gpus, links`,
	} {
		assert.ErrorContains(t, err, want)
	}
	assert.NotContains(t, c.Links(), "mine")

	err = c.Merge(strings.NewReader("links:\n  a: {title: t, kind: nvlink, origin: {source: nvkn, status: measured}, rate: 25GB/s, latency: 1ns}\n"), "b.yaml")
	assert.ErrorContains(t, err, `source "nvkn" is not in the sources table; did you mean "nvkm"?`)
	assert.Error(t, c.Merge(strings.NewReader("- a\n- b\n"), "list.yaml"))
	assert.Error(t, c.Merge(strings.NewReader("gpus: 3\n"), "three.yaml"))
}

// The strict reader names what it expected by the Go type; here it must read
// as a person would say it.
func TestMergeErrorsAreInWords(t *testing.T) {
	c := load(t)
	err := c.Merge(strings.NewReader(`systems:
  mine:
    title: t
    origin: {source: weft, status: derived}
    gpu: l40s
    nvlink: {link: nvlink4, switch: nvswitch3, planes: [5, 4, 4, 5]}
`), "m.yaml")
	assert.ErrorContains(t, err, `m.yaml:3:5: key "gpus" is missing, expected a whole number, or a mapping`)
	assert.ErrorContains(t, err, `read a list, expected numbers such as 5+4+4+5, or equal parts such as 18x1, or a mapping`)
	require.NotContains(t, err.Error(), "amount")
}

func TestSet(t *testing.T) {
	c := load(t)
	require.NoError(t, c.Set("links.nvlink4.calibration", "0.5"))
	require.NoError(t, c.Set("links.upi2-16.latency", "1us"))
	require.NoError(t, c.Set("systems.dgx-h100.trays", "1"), "a figure that the record leaves out")
	m, err := c.Machine("dgx-h100", Options{})
	require.NoError(t, err)
	assert.InEpsilon(t, 25e9*16/17*0.5, float64(m.Spec.Host.NVLink.Link.Rate), 1e-12)
	for _, p := range m.Provenance {
		if p.Path == "links.nvlink4.calibration" {
			assert.Equal(t, Provenance{Path: p.Path, Value: "0.5", Source: "user", Status: Assumed, Note: "set for this run"}, p)
		}
	}
	assert.NotContains(t, strings.Join(m.Warnings, "\n"), "calibration = 0.5", "the user knows")

	assert.EqualError(t, c.Set("links.nvlink4.calibraton", "0.5"),
		`catalogue: set links.nvlink4.calibraton: no such figure; did you mean "links.nvlink4.calibration"?`)
	assert.EqualError(t, c.Set("link.nvlink4.calibration", "0.5"), `catalogue: set link.nvlink4.calibration: no family "link"; did you mean "links"?`)
	assert.ErrorContains(t, c.Set("links.nvlink4.rate", "25"), "catalogue: set links.nvlink4.rate: ")
	assert.ErrorContains(t, c.Set("links.nvlink4.calibration", "1.5"), `read "1.5", expected a fraction above 0 and at most 1`)
}

// Whatever a file holds, Merge returns: an error, or a catalogue whose new
// systems resolve or say why not.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(ownFile))
	f.Add([]byte("systems:\n  x: {title: t, origin: {source: weft, status: derived}, gpu: l40s, gpus: 3, nvlink: {link: pcie3, edges: 0-1:1}}\n"))
	f.Add([]byte("systems:\n  x: {like: dgx-2, title: t, origin: {source: weft, status: derived}, power: {supplies: 2+2x2700W}}\n  y: {like: x}\n"))
	f.Add([]byte("links: {a: {rate: {value: {}}}}\n"))
	f.Add([]byte("gpus:\n  a:\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Load()
		require.NoError(t, err)
		had := len(c.Systems())
		if c.Merge(strings.NewReader(string(b)), "fuzz.yaml") != nil {
			assert.Len(t, c.Systems(), had)
			return
		}
		for _, name := range c.Systems()[had:] {
			if m, err := c.Machine(name, Options{}); err == nil {
				_ = m.Spec.Validate()
			}
		}
	})
}
