package configs

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const small = `name: Small
system: dgx-h100
workload:
  kind: program
  groups: {TP: {size: 2}, tp: {size: 4}, Dp.x: {stride: 4}}
  blocks:
    forward: {repeat: 2, ops: [{compute: 5us}]}
`

func load(t *testing.T, text string, overrides, environ []string) *Scenario {
	t.Helper()
	s, err := Parse("small.yaml", []byte(text), ".", overrides, environ)
	require.NoError(t, err)
	return s
}

func TestLaterLayersWin(t *testing.T) {
	env := []string{"WEFT_NODES=2", "WEFT_SYSTEM=dgx-a100", "HOME=/root", "WEFT_NAME=405"}
	s := load(t, small, nil, nil)
	assert.Equal(t, int32(1), s.Nodes)
	assert.Equal(t, "default", s.Origin("nodes"))
	assert.Equal(t, "small.yaml:2:9", s.Origin("system"))

	s = load(t, small, nil, env)
	assert.Equal(t, int32(2), s.Nodes)
	assert.Equal(t, "env WEFT_NODES", s.Origin("nodes"))
	assert.Equal(t, "dgx-a100", s.System.Name)
	assert.Equal(t, "405", s.Name, "a text from outside needs no quotes")

	s = load(t, small, []string{"nodes=4", "nodes=8", "workload.jitter=0.1"}, env)
	assert.Equal(t, int32(8), s.Nodes)
	assert.Equal(t, "--set nodes=8", s.Origin("nodes"))
	assert.Equal(t, 0.1, s.Workload.Program.Jitter)
	assert.Equal(t, "dgx-a100", s.System.Name)
}

func TestNamesKeepTheirCaseAndOrder(t *testing.T) {
	s := load(t, small, []string{"workload.groups.TP.size=8", "workload.blocks.forward.repeat=3"}, nil)
	g := s.Workload.Program.Groups
	require.Len(t, g, 3)
	assert.Equal(t, "TP", g[0].Name)
	assert.Equal(t, int32(8), g[0].Size)
	assert.Equal(t, "tp", g[1].Name)
	assert.Equal(t, int32(4), g[1].Size)
	assert.Equal(t, "Dp.x", g[2].Name, "a dot in a name is not a path")
	assert.Equal(t, 3, s.Workload.Program.Blocks[0].Repeat)
}

func TestOverridesReplaceShapes(t *testing.T) {
	const inline = `name: a
system: {gpus: 4, nvlink: {bandwidth: 1GB/s, latency: 1us}}
workload: {kind: collective, op: all_reduce, bytes: 1GiB}
`
	for name, environ := range map[string][]string{"flag": nil, "env": {"WEFT_SYSTEM=dgx-h100"}} {
		t.Run(name, func(t *testing.T) {
			set := []string{"system=dgx-h100"}
			if environ != nil {
				set = nil
			}
			s := load(t, inline, set, environ)
			assert.Equal(t, "dgx-h100", s.System.Name)
			assert.Zero(t, s.System.GPUs)
			assert.Nil(t, s.System.NVLink)
		})
	}
	s := load(t, small, []string{"system.gpus=3"}, nil)
	assert.Equal(t, 3, s.System.GPUs, "a mapping over a name")
	s = load(t, small, []string{"workload.groups={a: {size: 2}}", "workload.groups.a.size=4"}, nil)
	require.Len(t, s.Workload.Program.Groups, 4, "a mapping goes into a mapping")
	assert.Equal(t, int32(4), s.Workload.Program.Groups[3].Size, "and a later flag goes into that")
	s = load(t, small, []string{"workload.blocks.forward.ops=[{compute: 1us}, {compute: 2us}]"}, nil)
	assert.Len(t, s.Workload.Program.Blocks[0].Ops, 2, "a list replaces a list")
}

func TestUnknownVariableWarns(t *testing.T) {
	s := load(t, small, nil, []string{"WEFT_NODE=2"})
	require.Len(t, s.Warnings, 1)
	assert.Contains(t, s.Warnings[0], `WEFT_NODE sets nothing`)
	assert.Contains(t, s.Warnings[0], `did you mean "WEFT_NODES"?`)
}

func TestErrorsOfAllLayersAtOnce(t *testing.T) {
	_, err := Parse("small.yaml", []byte(small+"colapse: auto\n"), ".",
		[]string{"nodes=two", "workload.jiter=0.1", "nodes", "workload.blocks[0]=x"}, []string{"WEFT_SEED=-1", "WEFT_COLLAPSE=of"})
	require.Error(t, err)
	assert.Equal(t, `--set nodes: expected path=value, such as network.model=ideal
   | nodes
   | ^
--set nodes=two: nodes: read "two", expected a whole number, 1 to 1048576
   | nodes=two
   |       ^
--set workload.blocks[0]=x: expected path=value, such as network.model=ideal; a list is replaced as a whole
   | workload.blocks[0]=x
   | ^
--set workload.jiter=0.1: workload: unknown key "jiter", expected one of kind, world, groups, streams, blocks, jitter, straggler, precision; did you mean "jitter"?
   | workload.jiter=0.1
   |          ^
env WEFT_COLLAPSE: collapse: read "of", expected one of auto, off; did you mean "off"?
   | of
   | ^
env WEFT_SEED: seed: read -1, expected a whole number
   | -1
   | ^
small.yaml:8:1: unknown key "colapse", expected one of name, about, system, gpu, gpus, nodes, network, collectives, collapse, issue, faults, workload, seed, thresholds; did you mean "collapse"?
  8 | colapse: auto
    | ^`, err.Error())
}

// A path in a file starts at the file, one from a flag at the working
// directory.
func TestPathsStartWhereTheyAreWritten(t *testing.T) {
	const inFile = "../scenarios/traces/pipeline" // seen from testdata
	text := "name: a\nsystem: dgx-h100\nworkload: {kind: trace, path: " + inFile + "}\n"
	s, err := Parse("testdata/a.yaml", []byte(text), "testdata", nil, nil)
	require.NoError(t, err)
	_, err = s.Build(nil)
	require.NoError(t, err)

	s, err = Parse("testdata/a.yaml", []byte(text), "testdata", []string{"workload.path=scenarios/traces/pipeline"}, nil)
	require.NoError(t, err)
	j, err := s.Build(nil)
	require.NoError(t, err)
	assert.Equal(t, int32(4), j.Trace.World)

	s, err = Parse("testdata/a.yaml", []byte(text), "testdata", []string{"workload.path=" + inFile}, nil)
	require.NoError(t, err)
	_, err = s.Build(nil)
	require.Error(t, err, "there is no such folder seen from here")
}

func TestUnknownScenario(t *testing.T) {
	_, err := Load("defualt", nil, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.Contains(t, err.Error(), `did you mean "default"?`)
	_, err = Load("none/here.yaml", nil, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
