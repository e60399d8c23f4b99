package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/configs/measured"
)

// ran runs a command line in this process.
func ran(t *testing.T, args ...string) (string, exitcode.Code) {
	t.Helper()
	var out, errs bytes.Buffer
	root := newRoot(&app{&term.Terminal{In: strings.NewReader(""), Out: &out, Err: &errs}})
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err != nil {
		return err.Error(), exitcode.Of(err)
	}
	return out.String(), exitcode.OK
}

// logOf writes the table of a bench into a file.
func logOf(t *testing.T, args ...string) string {
	t.Helper()
	out, code := ran(t, append([]string{"bench"}, args...)...)
	require.Equal(t, exitcode.OK, code, out)
	name := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(name, []byte(out), 0o600))
	return name
}

// diagnosisOf diagnoses a log, on the machine as it should be.
type diagnosisOf struct {
	Normal bool `json:"normal"`
	Tests  []struct {
		Op      string `json:"op"`
		System  string `json:"system"`
		GPUs    int    `json:"gpus"`
		Nodes   int    `json:"nodes"`
		Verdict string `json:"verdict"`
		Causes  []struct {
			Name     string  `json:"name"`
			What     string  `json:"what"`
			Off      float64 `json:"off_pct"`
			AsLikely bool    `json:"as_likely_as_the_first"`
		} `json:"causes"`
		Untested []struct {
			Name string `json:"name"`
			Why  string `json:"why"`
		} `json:"untested"`
	} `json:"tests"`
	Matrix struct {
		Findings []struct {
			Kind string `json:"kind"`
			Text string `json:"text"`
		} `json:"findings"`
	} `json:"matrix"`
}

func diagnosed(t *testing.T, args ...string) diagnosisOf {
	t.Helper()
	out, code := ran(t, append([]string{"diagnose", "--format", "json"}, args...)...)
	require.Equal(t, exitcode.OK, code, out)
	var d diagnosisOf
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	return d
}

// A machine that weft simulates with a fault is diagnosed to have that fault,
// from the table that it prints.
func TestDiagnoseFindsTheFault(t *testing.T) {
	for _, c := range []struct {
		name   string
		system []string
		fault  []string
		want   string
	}{
		{"NVLS off", []string{"all_reduce", "--system", "dgx-h100"}, []string{"--env", "NCCL_NVLS_ENABLE=0"}, "nvls-off"},
		{"peer access off", []string{"all_reduce", "--system", "pcie-a100-8"}, []string{"--set", "pcie.p2p=nowhere"}, "p2p-off"},
		{"one process", []string{"all_reduce", "--system", "dgx-a100"}, []string{"--launch", "one-process"}, "one-process"},
		{"PyTorch", []string{"all_gather", "--system", "dgx-a100"}, []string{"--launch", "pytorch"}, "host-launch"},
		{"an NVSwitch down", []string{"all_reduce", "--system", "dgx-a100"}, []string{"--fault", "n0.nvswitch0 down"}, "nvswitch-missing"},
		{"Simple alone", []string{"all_reduce", "--system", "dgx-a100"}, []string{"--proto", "Simple"}, "simple-only"},
		{"LL alone", []string{"all_reduce", "--system", "dgx-a100"}, []string{"--proto", "LL"}, "ll-forced"},
		{"two channels", []string{"all_reduce", "--system", "dgx-a100"}, []string{"--env", "NCCL_MAX_NCHANNELS=2"}, "few-channels"},
		{"a NIC down", []string{"all_reduce", "--system", "hgx-h100-4", "--nodes", "4"}, []string{"--fault", "n*.nic0 down"}, "nic-missing"},
		{"a slow network", []string{"all_gather", "--system", "dgx-h100", "--nodes", "4"}, []string{"--fault", "n*.nic*<>* x0.5"}, "network-slow"},
		{"rings between nodes", []string{"all_reduce", "--system", "dgx-a100", "--nodes", "4"}, []string{"--algo", "Ring"}, "ring-only"},
		{"GDR off", []string{"all_gather", "--system", "dgx-a100", "--nodes", "2"}, []string{"--set", "pcie.gdr=nowhere"}, "gdr-off"},
		{"TCP", []string{"all_reduce", "--system", "dgx-a100", "--nodes", "2"}, []string{"--set", "pcie.gdr=nowhere", "--set", "network.plugin.step=15us", "--fault", "n*.nic*<>* 5GB/s"}, "tcp"},
		{"half the lanes", []string{"all_reduce", "--system", "pcie-a100-8"}, []string{"--fault", "n*.gpu*<>n*.pcie-sw* x0.5"}, "pcie-narrow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && slices.Contains(c.system, "--nodes") {
				t.Skip("several nodes take a second")
			}
			log := logOf(t, append(append(c.system, "-b", "8", "-e", "4G", "-f", "16"), c.fault...)...)
			text, err := os.ReadFile(log)
			require.NoError(t, err)
			// A log of nccl-tests does not say what weft's does of the library.
			var plain []byte
			for line := range bytes.Lines(text) {
				if !bytes.HasPrefix(line, []byte("# NCCL ")) && !bytes.HasPrefix(line, []byte("# nThread ")) {
					plain = append(plain, line...)
				}
			}
			require.NoError(t, os.WriteFile(log, plain, 0o600))
			d := diagnosed(t, log)
			require.Len(t, d.Tests, 1)
			require.NotEmpty(t, d.Tests[0].Causes, "%+v", d.Tests[0].Untested)
			var first []string // a half-speed NIC slows a ring as all of them would
			for i, k := range d.Tests[0].Causes {
				if i == 0 || k.AsLikely {
					first = append(first, k.Name)
				}
			}
			assert.Contains(t, first, c.want, "%+v", d.Tests[0].Causes)
			assert.Less(t, len(first), 4, "a diagnosis of everything is none: %v", first)
			assert.Less(t, d.Tests[0].Causes[0].Off, 1.0)
		})
	}
}

// Every machine that a GPU's name is guessed to be in exists, and has such GPUs
// and as many.
func TestGuessedSystemsExist(t *testing.T) {
	c, err := catalog.Load()
	require.NoError(t, err)
	for _, u := range usualSystems {
		m, err := c.Machine(u.system, catalog.Options{Hosts: 1})
		require.NoError(t, err, u.system)
		if m.System.AnySize {
			continue
		}
		assert.Equal(t, u.gpus, m.Spec.Host.GPUs, u.system)
	}
	for _, g := range []struct {
		gpu  string
		host int
		want string
	}{
		{"NVIDIA H100 80GB HBM3", 8, "dgx-h100"}, {"NVIDIA H200", 8, "dgx-h200"}, {"A100-SXM4-40GB", 8, "dgx-a100"}, {"NVIDIA GB200", 4, "gb200-nvl72"},
		{"NVIDIA H100 NVL", 2, "pcie-h100-nvl-8"}, {"Tesla V100-SXM3-32GB", 16, "dgx-2"}, {"NVIDIA L4", 8, ""}, {"NVIDIA H100 80GB HBM3", 9, ""},
	} {
		assert.Equal(t, g.want, guess([]string{g.gpu}, g.host), g.gpu)
	}
	assert.Empty(t, guess([]string{"NVIDIA H100 80GB HBM3", "NVIDIA H200"}, 8))
}

// Systems that were known to be wrong when they were measured: what the note of
// the table says of the cause is what diagnose finds from its times.
func TestDiagnoseRealFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("several nodes take a second")
	}
	dir := sampleFiles(t)
	if dir == "" {
		t.Skip("no real measurements")
	}
	for _, c := range []struct {
		table string
		args  []string
		want  string
	}{
		{"cscs_alps_gh200_2n8_allreduce_misconf", []string{"--system", "gh200-4", "--nodes", "2", "--ranks", "8", "--op", "all_reduce"}, "tcp"},
	} {
		t.Run(c.table, func(t *testing.T) {
			f, err := os.Open(filepath.Join(dir, "reference/measurements", c.table+".csv"))
			if err != nil {
				t.Skip(err)
			}
			defer f.Close()
			r := csv.NewReader(f)
			r.Comment = '#'
			rows, err := r.ReadAll()
			require.NoError(t, err)
			at := map[string]int{}
			for i, name := range rows[0] {
				at[name] = i
			}
			var log strings.Builder
			for _, row := range rows[1:] {
				size, us := row[at["size_bytes"]], row[at["time_us"]]
				if row[at["placement"]] == "out" && us != "" {
					fmt.Fprintf(&log, "%s 1 float sum -1 %s %s %s N/A\n", size, us, row[at["algbw_gbps"]], row[at["busbw_gbps"]])
				}
			}
			name := filepath.Join(t.TempDir(), "log")
			require.NoError(t, os.WriteFile(name, []byte(log.String()), 0o600))
			d := diagnosed(t, append([]string{name}, c.args...)...)
			require.NotEmpty(t, d.Tests[0].Causes)
			assert.Equal(t, "slow", d.Tests[0].Verdict)
			assert.Equal(t, c.want, d.Tests[0].Causes[0].Name, "%+v", d.Tests[0].Causes)
		})
	}
}

// Ctrl-C ends a diagnosis that waits for its log.
func TestInterruptWhileReadingALog(t *testing.T) {
	for _, verb := range []string{"diagnose", "calibrate"} {
		code, _, errs := interrupted(t, strings.Repeat("# nothing yet\n", 16<<10), false, nil, verb, "-")
		assert.Equal(t, int(exitcode.Interrupted), code)
		assert.Contains(t, errs, "interrupted")
	}
}

// What is called normal is what weft's own errors are, as they are measured now.
func TestToleranceIsMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("predicts all published measurements")
	}
	series, err := measured.Load()
	require.NoError(t, err)
	samples, err := measured.Compare(context.Background(), series, new(measured.Simulator).Predict, nil)
	require.NoError(t, err)
	seen := 0
	for _, r := range measured.Score(samples).Rows {
		if r.Table != measured.All || r.Kind == measured.All {
			continue
		}
		seen++
		got := tolerance[r.Kind][slices.Index(measured.Classes(), r.Class)]
		want := min(r.P90, widest)
		assert.True(t, got > want/1.4-0.02 && got < want*1.4+0.02, "%s %s: normal within %.0f %%, but nine of ten measurements are within %.0f %%", r.Kind, r.Class, got*100, want*100)
	}
	assert.Equal(t, 12, seen)
}
