package configs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads/collective"
)

// A preset lies below the scenario and above the defaults, whoever names it.
func TestPreset(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	preset := write("mine.yaml", "seed: 7\nfigures: {links.nvlink4.calibration: 0.9}\ncollectives: {pace: {step: 1.5}}\n")
	const text = "name: x\nsystem: dgx-h100\ncollectives: {library: nccl}\nworkload: {kind: collective, op: all_reduce, bytes: 1MiB}\n"
	in := write("in.yaml", text+"preset: mine.yaml\n")
	over := write("over.yaml", text+"preset: mine.yaml\nseed: 8\n")
	out := write("out.yaml", text)

	s, err := Load(in, nil, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 7, s.Seed)
	assert.Equal(t, 1.5, s.Collectives.Pace.Step)
	assert.Equal(t, "links.nvlink4.calibration", s.Figures[0].Path)
	assert.Contains(t, s.Origin("seed"), "mine.yaml:1")

	s, err = Load(over, nil, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 8, s.Seed, "the scenario lies over its preset")

	s, err = Overlay{Flags: []Flag{{"--preset", "preset", preset}}}.Load(out)
	require.NoError(t, err)
	assert.EqualValues(t, 7, s.Seed)

	s, err = Load(out, []string{"seed=9"}, []string{"WEFT_PRESET=" + preset})
	require.NoError(t, err)
	assert.EqualValues(t, 9, s.Seed)
	assert.Equal(t, 1.5, s.Collectives.Pace.Step)

	for _, c := range []struct{ name, preset, want string }{
		{"missing", "nowhere.yaml", "read preset"},
		{"a key that is none", write("key.yaml", "figure: {}\n"), "figures"},
		{"broken", write("broken.yaml", "a: [\n"), "broken.yaml"},
		{"a list", write("list.yaml", "- 1\n"), "keys of a scenario"},
		{"a preset of a preset", write("nested.yaml", "preset: mine.yaml\n"), "write preset in the scenario"},
		{"a workload", write("work.yaml", "workload: {kind: collective, op: all_reduce, bytes: 1MiB}\n"), "not what runs"},
		{"no name", "", "read nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(out, []string{"preset=" + c.preset}, nil)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestPaceScalesTheLibrarys(t *testing.T) {
	own := collective.Pace{Start: 1000, Step: 100, NetStep: 200, Slice: 10, Slices: 4, Spread: 20, Limit: 1e9, Floor: 5}
	var none *Pace
	assert.Equal(t, own, none.Apply(own))
	assert.Equal(t, own, (&Pace{}).Apply(own))
	got := (&Pace{Start: 2, Step: 0.5, NetStep: 3, Slice: 2, Rate: 0.5, Floor: 7}).Apply(own)
	assert.Equal(t, collective.Pace{Start: 2000, Step: 50, NetStep: 600, Slice: 20, Slices: 4, Spread: 40, Limit: 0.5e9, Floor: 7}, got)
	assert.Equal(t, sim.Time(4*20+40), got.Tail())
}
