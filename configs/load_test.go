package configs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/trace/chakra"
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

// A variable that sets nothing is refused, with what would.
func TestUnknownVariablesAreRefused(t *testing.T) {
	_, err := Parse("small.yaml", []byte(small), ".", nil, []string{"WEFT_NODEZ=2", "WEFT_WORKLOAD_GROUPS_TP_SIZE=2",
		"WEFT_WORKLOAD_BLOCKS_FWD_REPEAT=1", "WEFT_FIGURES_LINKS_NVLINK4_LATENCY=1us", "WEFT_QXQXQXQXQXQXQX=", "WEFT_SHARED=/data", "WEFT_DEBUG=1", "HOME=/root"})
	assert.EqualError(t, err, `env WEFT_FIGURES_LINKS_NVLINK4_LATENCY: sets nothing: the keys below figures are chosen by the scenario and have no variable; write --set figures.links.nvlink4.latency=1us, in the scenario's own spelling
env WEFT_NODEZ: sets nothing: no key of a scenario has this variable; did you mean "WEFT_NODES"?
env WEFT_QXQXQXQXQXQXQX: sets nothing: no key of a scenario has this variable
env WEFT_WORKLOAD_BLOCKS_FWD_REPEAT: sets nothing: the keys below workload.blocks are chosen by the scenario and have no variable; write --set workload.blocks.fwd.repeat=1, in the scenario's own spelling
env WEFT_WORKLOAD_GROUPS_TP_SIZE: sets nothing: the keys below workload.groups are chosen by the scenario and have no variable; write --set workload.groups.tp.size=2, in the scenario's own spelling`)
	var e *strict.Error
	require.ErrorAs(t, err, &e)
}

// A mapping whose keys the scenario chooses can be set as a whole.
func TestVariablesTakeWholeMappings(t *testing.T) {
	s := load(t, small, nil, []string{"WEFT_WORKLOAD_GROUPS={tp: {size: 8}}"})
	assert.Equal(t, int32(8), s.Workload.Program.Groups[1].Size)
}

// Flags are shown as they were typed, and lie over --set.
func TestFlagsHaveNames(t *testing.T) {
	o := Overlay{Set: []string{"nodes=4", "seed=3"}, Flags: []Flag{{"--nodes", "nodes", "2"}, {"--system", "system", "dgx-a100"}}}
	s, err := o.Parse("small.yaml", []byte(small), ".")
	require.NoError(t, err)
	assert.Equal(t, int32(2), s.Nodes)
	assert.Equal(t, "--nodes 2", s.Origin("nodes"))
	assert.Equal(t, "--set seed=3", s.Origin("seed"))
	assert.Equal(t, "--system dgx-a100", s.Origin("system"))

	o.Flags = []Flag{{"--system", "system", "dgx-h10"}}
	s, err = o.Parse("small.yaml", []byte(small), ".")
	require.NoError(t, err)
	_, err = s.Build(nil)
	require.ErrorContains(t, err, "--system dgx-h10: system: ")
	assert.Contains(t, err.Error(), "\n   | --system dgx-h10\n   |          ^")

	o.Flags = []Flag{{"--nodes", "nodes", "two"}}
	_, err = o.Parse("small.yaml", []byte(small), ".")
	require.ErrorContains(t, err, `--nodes two: nodes: read "two", expected a whole number`)
}

func TestEmptySystemIsNoSystem(t *testing.T) {
	for _, c := range []struct {
		set, env []string
		want     string
	}{
		{[]string{"system="}, nil, `--set system=: system: read "", expected a system of the catalogue`},
		{nil, []string{"WEFT_SYSTEM="}, `env WEFT_SYSTEM: system: read "", expected a system`},
		{[]string{"name="}, nil, `--set name=: name: read "", expected a text that is not empty`},
		{[]string{"network.fabric="}, nil, `network.fabric: read "", expected a fabric`},
	} {
		_, err := Parse("small.yaml", []byte(small), ".", c.set, c.env)
		require.ErrorContains(t, err, c.want)
	}
}

// The path of a figure has dots and dashes, and is one key.
func TestFiguresAreSet(t *testing.T) {
	slow := func(set ...string) *Job {
		s, err := Parse("small.yaml", []byte(small), ".", set, nil)
		require.NoError(t, err)
		j, err := s.Build(nil)
		require.NoError(t, err)
		return j
	}
	const set = "figures.links.nvlink4.calibration=0.5"
	s := load(t, small, []string{set}, nil)
	assert.Equal(t, []Figure{{"links.nvlink4.calibration", "0.5"}}, s.Figures)
	assert.Contains(t, s.Resolved(), Setting{"figures.links.nvlink4.calibration", "0.5", "--set " + set})

	j := slow(set)
	var found catalog.Provenance
	for _, p := range j.Provenance {
		if p.Path == "links.nvlink4.calibration" {
			found = p
		}
	}
	assert.Equal(t, catalog.Provenance{Path: found.Path, Value: "0.5", Source: "user", Status: catalog.Assumed, Note: "set for this run"}, found)
	idle := func(j *Job) string {
		for _, w := range j.Warnings {
			if strings.Contains(w, "changes nothing") {
				return w
			}
		}
		return ""
	}
	assert.Empty(t, idle(j))
	assert.Equal(t, "figure links.nvlink3.calibration was set to 0.5 and changes nothing: this machine and this work do not use it",
		idle(slow("figures.links.nvlink3.calibration=0.5")))
}

// A figure of a system that the scenario brings itself can be set too.
func TestFiguresOfOwnSystem(t *testing.T) {
	s, err := Load("testdata/system-file.good.yaml", []string{"figures.links.lab-link.latency=3us"}, nil)
	require.NoError(t, err)
	j, err := s.Build(nil)
	require.NoError(t, err)
	assert.Contains(t, j.Provenance, catalog.Provenance{Path: "links.lab-link.latency", Value: "3us", Source: "user", Status: catalog.Assumed, Note: "set for this run"})
}

// The shortcut of a trace takes as many nodes as the ranks need, and says so.
func TestOfTrace(t *testing.T) {
	const dir = "scenarios/traces/pipeline"
	s, err := Overlay{Set: []string{"workload.world=4"}}.OfTrace(dir, "pair-nvlink")
	require.NoError(t, err)
	assert.Equal(t, "pipeline", s.Name)
	assert.Equal(t, "trace "+dir, s.Origin("workload.path"))
	assert.Equal(t, "default for traces", s.Origin("system"))
	assert.Equal(t, "default", s.Origin("nodes"))

	s, err = Overlay{}.OfTrace(dir, "dgx-h100")
	require.NoError(t, err)
	j, err := s.Build(nil)
	require.NoError(t, err)
	assert.Equal(t, int32(1), j.Machine.Hosts)
	assert.Equal(t, "default", s.Origin("nodes"), "one is enough")

	s, err = Overlay{Flags: []Flag{{"--system", "system", "gb200-nvl72"}}}.OfTrace(dir, "dgx-h100")
	require.NoError(t, err)
	assert.Equal(t, "--system gb200-nvl72", s.Origin("system"))
	s, err = Overlay{Set: []string{"system=bench-2d", "gpus=2"}}.OfTrace(dir, "dgx-h100")
	require.NoError(t, err)
	if j, err = s.Build(nil); err == nil {
		assert.Equal(t, int32(2), j.Machine.Hosts)
		assert.Equal(t, "as many as 4 ranks need", s.Origin("nodes"))
	}
	_, err = Overlay{}.OfTrace(dir, "")
	require.ErrorContains(t, err, "default for traces: system: read \"\"")
}

// A trace that is cut off is refused, and the error says how to accept it.
func TestTruncatedTraceIsRefused(t *testing.T) {
	dir := t.TempDir()
	const text = `{"workload_graph": [{"id": 1, "type": 4, "duration_micros": 5}, {"id": 2, "ty`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.0.json"), []byte(text), 0o644))
	s, err := Overlay{}.OfTrace(dir, "dgx-h100")
	require.NoError(t, err)
	_, err = s.Build(nil)
	var e *chakra.Error
	require.ErrorAs(t, err, &e)
	assert.Contains(t, err.Error(), "the node before it is complete")
	assert.Contains(t, err.Error(), "or give --set workload.truncated=accept")

	s, err = Overlay{Set: []string{"workload.truncated=accept"}}.OfTrace(dir, "dgx-h100")
	require.NoError(t, err)
	j, err := s.Build(nil)
	require.NoError(t, err)
	assert.Equal(t, 1, j.Trace.RecordedKernels)
	assert.Contains(t, j.Warnings, "1 kernel runs as long as recorded; it was not scaled to h100-sxm5-80gb")
}

// Dimensions of groups come from the scenario where the trace has none.
func TestGroupDims(t *testing.T) {
	s, err := Overlay{Set: []string{"workload.group_dims={1: dp}"}}.OfTrace("scenarios/traces/pipeline", "dgx-h100")
	require.NoError(t, err)
	j, err := s.Build(nil)
	require.NoError(t, err)
	dims := map[workloads.Dim]bool{}
	for _, c := range j.Program.Comms {
		dims[c.Dim] = true
	}
	assert.True(t, dims[workloads.DP], "%+v", j.Program.Comms)
}

// A pipe, as a shell makes it of <(command), is read once.
func TestLoadOfAPipe(t *testing.T) {
	if _, err := os.Stat("/dev/fd"); err != nil {
		t.Skip("no /dev/fd here")
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	_, err = w.WriteString("name: a\nsystem: dgx-h100\nworkload: {kind: trace, path: scenarios/traces/pipeline}\n")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	s, err := Load(fmt.Sprintf("/dev/fd/%d", r.Fd()), nil, nil)
	require.NoError(t, err)
	_, err = s.Build(nil)
	require.NoError(t, err, "its paths start at the working directory")
}

// What has no end is read no further than a scenario can be long.
func TestEndlessScenario(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("no /dev/zero here")
	}
	_, err := Load("/dev/zero", nil, nil)
	require.ErrorContains(t, err, "read more than 4 MiB")
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
small.yaml:8:1: unknown key "colapse", expected one of name, about, preset, system, gpu, gpus, nodes, network, pcie, collectives, collapse, issue, faults, figures, workload, seed, thresholds; did you mean "collapse"?
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
