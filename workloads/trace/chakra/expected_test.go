package chakra

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// samples returns the folder of sample traces that are not in the repository.
func samples(tb testing.TB) string {
	tb.Helper()
	shared := os.Getenv("WEFT_SHARED")
	if shared == "" {
		dir, err := os.Getwd()
		require.NoError(tb, err)
		for dir != "/" {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				break
			}
			dir = filepath.Dir(dir)
		}
		shared = filepath.Join(dir, "..", "shared")
	}
	traces := filepath.Join(shared, "traces")
	if _, err := os.Stat(filepath.Join(traces, "chakra")); err != nil {
		tb.Skip("no sample traces: set WEFT_SHARED to the folder that holds traces/chakra")
	}
	return traces
}

// TestSamplesHoldWhatIsExpected compares every Chakra file with the counts
// that an independent reader made of it.
func TestSamplesHoldWhatIsExpected(t *testing.T) {
	traces := samples(t)
	f, err := os.Open(filepath.Join(traces, "EXPECTED.md"))
	require.NoError(t, err)
	defer f.Close()
	section := false
	files := 0
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := sc.Text()
		if strings.HasPrefix(line, "## ") {
			section = line == "## chakra"
		}
		head, want, ok := strings.Cut(line, ": ")
		if !section || !strings.HasPrefix(line, "- ") || !ok || strings.Contains(want, " newlines") {
			continue
		}
		for _, name := range expandRange(t, head) {
			files++
			t.Run(name, func(t *testing.T) {
				f, err := os.Open(filepath.Join(traces, "chakra", name))
				require.NoError(t, err)
				defer f.Close()
				trace, err := Decode(f, name, 0)
				require.NoError(t, err)
				require.Nil(t, trace.Truncated)
				checkExpected(t, trace.Summary(), want)
			})
		}
	}
	require.NoError(t, sc.Err())
	require.Greater(t, files, 60, "lines understood")
}

// expandRange reads "`a.0.et`" or "`a.0.et` … `a.7.et` (8 files, each)".
func expandRange(t *testing.T, head string) []string {
	names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(head, -1)
	if len(names) == 1 {
		return []string{names[0][1]}
	}
	count, err := strconv.Atoi(regexp.MustCompile(`\((\d+) files`).FindStringSubmatch(head)[1])
	require.NoError(t, err)
	var out []string
	for i := range count {
		out = append(out, regexp.MustCompile(`\.\d+\.`).ReplaceAllString(names[0][1], fmt.Sprintf(".%d.", i)))
	}
	return out
}

// checkExpected holds a summary against the parts of an expected line.
func checkExpected(t *testing.T, s Summary, want string) {
	counts := func(list []Count) map[string]int {
		m := map[string]int{}
		for _, c := range list {
			m[c.Name] = c.N
		}
		return m
	}
	pyMap := func(text string) map[string]int {
		m := map[string]int{}
		for _, p := range regexp.MustCompile(`'?([\w ]+)'?: (\d+)`).FindAllStringSubmatch(text, -1) {
			m[p[1]], _ = strconv.Atoi(p[2])
		}
		return m
	}
	colls := func() string {
		var parts []string
		for _, c := range s.Collectives {
			parts = append(parts, fmt.Sprintf("%s x%d = %d B", c.Type, c.Count, c.Bytes))
		}
		return strings.Join(parts, ", ")
	}
	checked := 0
	for _, part := range strings.Split(want, "; ") {
		checked++
		var a, b int
		switch {
		case strings.HasPrefix(part, "metadata record"):
			meta := regexp.MustCompile(`metadata record (\w+) \(version (.*), schema attr (.*)\)`).FindStringSubmatch(part)
			none := func(v string) string {
				if v == "" {
					return "None"
				}
				return "'" + v + "'"
			}
			assert.Equal(t, meta[1] == "yes", s.HasMeta, part)
			assert.Equal(t, meta[2], none(s.Version), part)
			assert.Equal(t, meta[3], none(s.SchemaAttr), part)
			assert.Equal(t, G4, s.Schema)
		case strings.HasPrefix(part, "schema v0"):
			assert.Equal(t, G0, s.Schema)
		case strings.HasPrefix(part, "nodes in cycles: "):
			if n, _ := fmt.Sscanf(part, "nodes in cycles: ctrl+data %d, data only %d", &a, &b); n == 2 {
				assert.Equal(t, []int{a, b}, []int{s.Blocked, s.DataBlocked}, part)
			} else {
				assert.Fail(t, part)
			}
		case strings.HasPrefix(part, "nodes in cycles "):
			assert.Equal(t, part, fmt.Sprint("nodes in cycles ", s.DataBlocked))
		case strings.HasPrefix(part, "nodes "):
			assert.Equal(t, part, fmt.Sprint("nodes ", s.Nodes))
		case strings.HasPrefix(part, "types "):
			assert.Equal(t, pyMap(part), counts(s.Types), part)
		case strings.HasPrefix(part, "NodeType "):
			assert.Equal(t, map[string]int{"COMP": 4, "COMM_COLL": 3}, counts(s.Types), part)
		case strings.HasPrefix(part, "ctrl deps "):
			assert.Equal(t, fmt.Sprintf("ctrl deps %d (dangling %d), data deps %d (dangling %d)",
				s.CtrlDeps, s.CtrlDangling, s.DataDeps, s.DataDangling), part)
		case strings.HasPrefix(part, "parent edges "), strings.HasPrefix(part, "data_deps "):
			assert.Equal(t, atoiLast(part), s.DataDeps, part)
		case strings.HasPrefix(part, "ctrlDeps "):
			assert.Equal(t, atoiLast(part), s.CtrlDeps, part)
		case strings.HasPrefix(part, "dangling "):
			assert.Equal(t, atoiLast(part), s.DataDangling, part)
		case strings.HasPrefix(part, "roots "):
			assert.Equal(t, part, fmt.Sprint("roots ", s.Roots))
		case strings.HasPrefix(part, "forward references "):
			assert.Equal(t, part, fmt.Sprint("forward references ", s.Forward))
		case part == "collectives none":
			assert.Empty(t, s.Collectives, part)
		case strings.HasPrefix(part, "collectives "):
			assert.Equal(t, strings.TrimPrefix(part, "collectives "), colls(), part)
		case strings.HasPrefix(part, "by pg_name "):
			assert.Equal(t, pyMap(part), counts(s.PGNames), part)
		case strings.HasPrefix(part, "p2p "):
			got := map[string]int{}
			for _, p := range s.P2P {
				got[fmt.Sprintf("('%s', %d, %d)", p.Type, p.Peer, p.Bytes)] = p.Count
			}
			all := map[string]int{}
			for _, p := range regexp.MustCompile(`(\([^)]*\)): (\d+)`).FindAllStringSubmatch(part, -1) {
				all[p[1]], _ = strconv.Atoi(p[2])
			}
			assert.Equal(t, all, got, part)
		case strings.HasPrefix(part, "sum num_ops "):
			assert.Equal(t, part, fmt.Sprint("sum num_ops ", s.NumOps))
		case strings.HasPrefix(part, "sum "): // duration_micros, simulated_run_time
			assert.Equal(t, atoiLast(part), int(s.DurationMicros), part)
		case strings.HasPrefix(part, "keys "): // spelling of the JSON sample
		default:
			assert.Fail(t, "an expectation that the test does not know", part)
		}
	}
	assert.Greater(t, checked, 5)
}

func atoiLast(s string) int {
	n, err := strconv.Atoi(s[strings.LastIndexByte(s, ' ')+1:])
	if err != nil {
		return -1
	}
	return n
}

// TestSampleGroups holds the group files against the cross-rank checks of the
// same independent reader.
func TestSampleGroups(t *testing.T) {
	chakra := filepath.Join(samples(t), "chakra")
	for file, want := range map[string]map[int]int{ // groups by size
		"stage_llama_dp2_tp2_pp2/llama.json":           {2: 8, 1: 8},
		"stage_llama_tp8_notpsp/llama_tp8_notpsp.json": {1: 16, 8: 1},
		"stage_moe_dp2_tp2_ep4/moe_dp2_tp2_ep4.json":   {2: 16, 1: 16, 4: 4},
	} {
		f, err := os.Open(filepath.Join(chakra, file))
		require.NoError(t, err)
		groups, err := ReadGroups(f, file)
		f.Close()
		require.NoError(t, err)
		got := map[int]int{}
		for _, g := range groups {
			got[len(g.Ranks)]++
		}
		assert.Equal(t, want, got, file)
	}
}
