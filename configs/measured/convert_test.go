package measured

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write data/ from the collected tables")

// collected returns the folder of the collected tables.
func collected(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("WEFT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(shared, "reference", "measurements")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no collected tables: %v", err)
	}
	return dir
}

// TestDataIsThatOfTheTables holds data/ against the tables that it is made of;
// -update writes it.
func TestDataIsThatOfTheTables(t *testing.T) {
	dir := collected(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join(dir, "aiconfigurator", "*.csv"))
	require.NoError(t, err)
	var tables, points bytes.Buffer
	tw, pw := csv.NewWriter(&tables), csv.NewWriter(&points)
	require.NoError(t, tw.Write(tableColumns))
	require.NoError(t, pw.Write(pointColumns))
	for _, name := range append(files, more...) {
		f := readCollected(t, name)
		lines := f.points(t)
		if len(lines) == 0 {
			continue
		}
		require.NoError(t, tw.Write([]string{f.id, f.system, f.conditions, f.source, f.trust}))
		require.NoError(t, pw.WriteAll(lines))
	}
	tw.Flush()
	for name, want := range map[string][]byte{"tables.csv": tables.Bytes(), "points.csv": points.Bytes()} {
		path := filepath.Join("data", name)
		if *update {
			require.NoError(t, os.WriteFile(path, want, 0o644))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got), "%s differs from the collected tables: run go test ./configs/measured -run %s -update", path, t.Name())
		assert.Less(t, len(got), 2<<20, "%s is to stay small: it is in the binary", path)
	}
}

// file is a collected table as it stands.
type file struct {
	id, system, conditions, source, trust string
	columns                               map[string]int
	rows                                  [][]string
}

// collector is how ai-dynamo/aiconfigurator measures, by what its tables hold
// (its folders collector/network and collector/wideep).
var collector = map[string]string{
	"nccl":    "nccl-tests, one process with a thread for each GPU, 40 warm-ups, 100 iterations, out of place",
	"oneccl":  "oneCCL benchmark, a process for each GPU, 20 warm-ups, 100 iterations",
	"custom":  "all-reduce of a framework on bfloat16, in a CUDA graph or launched by the host with a copy each",
	"deepep":  "DeepEP kernels timed on the GPU; FP8 dispatch, BF16 combine",
	"trtllm":  "TensorRT-LLM kernels over NVLink in a CUDA graph, balanced routing",
	"vllm":    "calls of vLLM launched by the host",
	"unknown": "",
}

var (
	storedWords = regexp.MustCompile(`[,;]? ?(full text |log )?(as )?stored( page| file)?( id \d+)?[,;]?( (the )?(repository|owner) not shown( by the index)?)?`)
	emptyParens = regexp.MustCompile(` ?\(\s*(; )?\)`)
	spaces      = regexp.MustCompile(`\s+`)
)

// readCollected reads a table with its comments.
func readCollected(t *testing.T, name string) *file {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	f := &file{columns: map[string]int{}}
	var body []string
	for line := range strings.Lines(string(text)) {
		c, comment := strings.CutPrefix(line, "# ")
		if !comment {
			body = append(body, line)
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSpace(c), ": ")
		switch key {
		case "id":
			f.id = strings.TrimPrefix(value, "aiconfigurator/")
		case "system":
			f.system = value
		case "topology":
			f.system += "; " + value
		case "conditions":
			f.conditions = value
		case "source":
			f.source = value
		case "kind of figure":
			_, f.trust, _ = strings.Cut(value, "trust: ")
		}
	}
	f.source = strings.ReplaceAll(storedWords.ReplaceAllString(f.source, ""), "( also", "(also")
	f.source = spaces.ReplaceAllString(emptyParens.ReplaceAllString(f.source, ""), " ")
	if i := strings.Index(f.source, " ; aic-core"); i > 0 { // the table's name says the rest
		f.source = f.source[:i]
	}
	if strings.Contains(name, "aiconfigurator") {
		f.trust = "high"
		if strings.Contains(f.id, "oneccl") {
			f.trust = "medium"
		}
		for _, word := range strings.Split(f.id, "_") {
			if c, ok := collector[word]; ok && f.conditions == "" {
				f.conditions = c
			}
		}
	}
	all, err := csv.NewReader(strings.NewReader(strings.Join(body, ""))).ReadAll()
	require.NoError(t, err, name)
	for i, c := range all[0] {
		f.columns[c] = i
	}
	f.rows = all[1:]
	return f
}

// get returns a field, "" if the table has no such column.
func (f *file) get(row []string, column string) string {
	if i, ok := f.columns[column]; ok {
		return row[i]
	}
	return ""
}

// points returns the lines of points.csv for a table.
func (f *file) points(t *testing.T) [][]string {
	type curve struct {
		line  []string
		sizes []int64
		text  []string
	}
	var curves []*curve
	for _, row := range f.rows {
		op, variant, placement := f.get(row, "op"), f.get(row, "algo"), f.get(row, "placement")
		size, time := f.get(row, "size_bytes"), f.get(row, "time_us")
		kind := f.get(row, "dtype")
		if f.get(row, "phase") != "" { // DeepEP's own page: only these rows have a time
			op, kind, size, time = lowLatency(f.get(row, "phase"), f.get(row, "tokens_per_rank"), f.get(row, "latency_us"))
			variant, placement = "hidden 7168, top 8, 288 experts", "out"
			row = slices.Clone(row)
		}
		if f.get(row, "impl") != "" {
			variant, placement = f.get(row, "impl"), "out"
			if m := f.get(row, "mode"); m == "graph" || m == "eager" {
				variant += " " + m
			}
			if h := f.get(row, "hidden"); h != "" {
				variant = fmt.Sprintf("%s, hidden %s, top %s, %s experts", variant, h, f.get(row, "topk"), f.get(row, "experts"))
			}
			if s := f.get(row, "sms"); s != "" {
				variant += ", " + s + " SMs"
			}
		}
		if p := f.get(row, "proto"); p != "" && p != "mean of sweep" {
			variant = strings.TrimSpace(variant + " " + p)
		}
		if i := strings.Index(variant, " of "); i > 0 && strings.Contains("median min max", variant[:i]) {
			variant, placement = "", placement+" "+variant // a summary over nodes or pairs of nodes
		}
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n <= 0 {
			continue // the source does not print the size
		}
		ranks := f.get(row, "ranks") + f.get(row, "ep_ranks")
		us, coarse := time, false
		// Grouped send and receive of few bytes are not monotonic over repeats:
		// the least of the passes is the test's own time.
		if lo := f.get(row, "time_min_us"); op == "alltoall" && lo != "" && (ranks == "4" || ranks == "8") && n < 512<<10 {
			us = lo
		}
		if us == "" {
			of, err := strconv.Atoi(ranks)
			require.NoError(t, err)
			us, coarse = fromRate(op, of, n, f.get(row, "busbw_gbps"), f.get(row, "algbw_gbps"))
		}
		if us == "" {
			continue
		}
		if coarse {
			us += "r"
		}
		line := []string{f.id, op, ranks, f.get(row, "nodes"), kind, variant, placement}
		i := slices.IndexFunc(curves, func(c *curve) bool { return slices.Equal(c.line, line) })
		if i < 0 {
			i = len(curves)
			curves = append(curves, &curve{line: line})
		}
		curves[i].sizes = append(curves[i].sizes, n)
		curves[i].text = append(curves[i].text, strconv.FormatInt(n, 10)+"="+us)
	}
	// Placements of one run stand together.
	slices.SortStableFunc(curves, func(a, b *curve) int {
		for _, i := range []int{1, 2, 3} {
			if c := len(a.line[i]) - len(b.line[i]); c != 0 && i > 1 {
				return c
			} else if c := strings.Compare(a.line[i], b.line[i]); c != 0 {
				return c
			}
		}
		if c := strings.Compare(a.line[4]+a.line[5], b.line[4]+b.line[5]); c != 0 {
			return c
		}
		return strings.Compare(b.line[6], a.line[6])
	})
	var lines [][]string
	for _, c := range curves {
		order := make([]int, len(c.sizes))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(min(max(c.sizes[a]-c.sizes[b], -1), 1)) })
		words := make([]string, len(order))
		for i, o := range order {
			words[i] = c.text[o]
		}
		lines = append(lines, append(c.line, strings.Join(words, " ")))
	}
	return lines
}

// lowLatency is a row of DeepEP's page: bytes of all copies of the tokens, 7168
// wide, to eight experts: FP8 with a scale for 128 values on the way out, BF16
// on the way back (deepseek-ai/DeepEP, docs/legacy.md).
func lowLatency(phase, tokens, us string) (op, kind, size, time string) {
	n, _ := strconv.Atoi(tokens)
	if us == "" {
		n = 0
	}
	if phase == "dispatch" {
		return "deepep_ll_dispatch", "fp8", strconv.Itoa(n * 8 * (7168 + 7168/128*4 + 16)), us
	}
	return "deepep_ll_combine", "bfloat16", strconv.Itoa(n * 8 * 7168 * 2), us
}
