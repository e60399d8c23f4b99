package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/weft-sim/weft/configs/measured"
)

// TestAccuracyPage holds docs/accuracy.md and its plots against what weft
// predicts; -update writes them. WEFT_PLOTS=folder writes the plots as PNG too,
// to look at them.
func TestAccuracyPage(t *testing.T) {
	if testing.Short() {
		t.Skip("predicts all measurements")
	}
	series, err := measured.Load()
	require.NoError(t, err)
	samples, err := measured.Compare(context.Background(), series, new(measured.Simulator).Predict, nil)
	require.NoError(t, err)
	files := map[string][]byte{}
	plots := []string{"by-size"}
	drawn := []*plot.Plot{spread(t, samples)}
	files["accuracy/by-size.svg"] = svg(t, drawn)
	seen(t, "by-size", png(t, drawn))
	for _, f := range figures {
		drawn := f.draw(t, samples)
		files["accuracy/"+f.name+".svg"] = svg(t, drawn)
		seen(t, f.name, png(t, drawn))
		plots = append(plots, f.name)
	}
	files["accuracy.md"] = accuracyPage(t, series, samples, plots)
	docs := filepath.Join(repoRoot(t), "docs")
	for _, name := range namesOf(files) {
		path := filepath.Join(docs, filepath.FromSlash(name))
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, files[name], 0o644))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(files[name], got), "docs/%s is not what weft predicts now: run go test ./cmd/weft -run %s -update", name, t.Name())
	}
}

// seen writes a picture to look at.
func seen(t *testing.T, name string, png []byte) {
	if dir := os.Getenv("WEFT_PLOTS"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
	}
}

// namesOf lists the keys of a map in order.
func namesOf[T any](m map[string]T) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func sortXY(p plotter.XYs) {
	slices.SortFunc(p, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
}

// accuracyPage writes the page.
func accuracyPage(t *testing.T, series []*measured.Series, samples []measured.Sample, plots []string) []byte {
	rep := measured.Score(samples)
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- Written by `go test ./cmd/weft -run TestAccuracyPage -update`; the texts are in cmd/weft/testdata/accuracy. -->\n\n")
	b.Write(passage(t, "intro"))
	fmt.Fprintf(&b, "\n## By kind of system\n\n%s of %s points count. Each cell is the median / the 90th percentile of the absolute error, then the bias, in per cent; below, the number of series.\n\n",
		thousands(rep.Counted), thousands(rep.Points))
	kindTable(&b, rep)
	fmt.Fprintf(&b, "\n%s\n", boundSentence(rep))
	b.WriteString("\n## Pictures\n\nDots are measured, lines predicted; a hollow dot does not count.\n\n")
	for _, p := range plots {
		fmt.Fprintf(&b, "![%s](accuracy/%s.svg)\n\n", strings.ReplaceAll(p, "-", " "), p)
	}
	b.Write(passage(t, "cross"))
	b.Write(passage(t, "why"))
	b.WriteString("\n## By table\n\nMedian / 90th percentile of the absolute error, then the bias, in per cent.\n\n")
	seriesTable(&b, rep)
	b.WriteString("\n## What does not count\n\n| points | because |\n|---:|---|\n")
	for _, l := range rep.Left {
		fmt.Fprintf(&b, "| %s | %s |\n", thousands(l.Points), l.Because)
	}
	b.WriteString("\n")
	b.Write(passage(t, "own"))
	b.WriteString("\n## Sources\n\n")
	sourceTable(&b, series)
	return b.Bytes()
}

// passage is a hand-written part of the page.
func passage(t *testing.T, name string) []byte {
	text, err := os.ReadFile(filepath.Join("testdata", "accuracy", name+".md"))
	require.NoError(t, err)
	return text
}

// cell is the score of a class in a table of the page.
func cell(r measured.Row) string {
	return fmt.Sprintf("%s / %s, %s", tenths(r.Median), tenths(r.P90), plus(r.Bias))
}

// tenths prints a share in per cent, whole ones from 20.
func tenths(v float64) string {
	if v*100 >= 19.95 {
		return fmt.Sprintf("%.0f", v*100)
	}
	return fmt.Sprintf("%.1f", v*100)
}

// plus is tenths with a sign.
func plus(v float64) string {
	if s := tenths(max(v, -v)); v < 0 && strings.Trim(s, "0.") != "" {
		return "−" + s
	} else {
		return "+" + s
	}
}

// thousands prints a number with its groups of three.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// kindTable is the score by kind and class.
func kindTable(b *bytes.Buffer, rep *measured.Report) {
	b.WriteString("| kind | small (< 1 MiB) | medium | large (≥ 64 MiB) |\n|---|---|---|---|\n")
	for _, kind := range append(measured.Kinds(), measured.All) {
		fmt.Fprintf(b, "| %s |", kind)
		for _, class := range measured.Classes() {
			text := ""
			for _, r := range rep.Rows {
				if r.Table == measured.All && r.Kind == kind && r.Class == class {
					text = fmt.Sprintf("%s<br>%d series", cell(r), r.Series)
				}
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteString("\n")
	}
}

// boundSentence says whether a prediction is below what the wires allow.
func boundSentence(rep *measured.Report) string {
	if len(rep.Below) == 0 {
		return "No prediction is below what the wires allow: bytes on the wire over the nominal rate of the links."
	}
	tables := map[string]int{}
	for _, s := range rep.Below {
		tables[s.Series.Table.ID]++
	}
	var words []string
	for _, id := range namesOf(tables) {
		words = append(words, fmt.Sprintf("%s (%d)", id, tables[id]))
	}
	return "Below what the wires allow are predictions of " + strings.Join(words, ", ") + "."
}

// seriesTable has a line for each series.
func seriesTable(b *bytes.Buffer, rep *measured.Report) {
	b.WriteString("| table | kind | operation | GPUs (nodes) | small | medium | large |\n|---|---|---|---:|---|---|---|\n")
	type key struct {
		table, kind, op string
		ranks, nodes    int
	}
	var order []key
	cells := map[key]map[string]string{}
	for _, r := range rep.Rows {
		if r.Table == measured.All {
			continue
		}
		k := key{r.Table, r.Kind, r.Op, r.Ranks, r.Nodes}
		if cells[k] == nil {
			order, cells[k] = append(order, k), map[string]string{}
		}
		cells[k][r.Class] = cell(r)
	}
	for _, k := range order {
		fmt.Fprintf(b, "| %s | %s | %s | %d (%d) | %s | %s | %s |\n", k.table, k.kind, k.op, k.ranks, k.nodes,
			cells[k]["small"], cells[k]["medium"], cells[k]["large"])
	}
}

// sourceTable says where each table is from, and what is doubtful about it.
func sourceTable(b *bytes.Buffer, series []*measured.Series) {
	b.WriteString("| table | system | conditions | source | trust | remarks |\n|---|---|---|---|---|---|\n")
	var tables []*measured.Table
	remarks := map[*measured.Table][]string{}
	for _, s := range series {
		if !slices.Contains(tables, s.Table) {
			tables = append(tables, s.Table)
		}
		c := s.Case
		for _, r := range []string{prefixed("not simulated: ", c.Skip), prefixed("never counted: ", c.NeverFit), prefixed("stands for it: "+c.System+"; ", c.StandIn), c.Care} {
			if r != "" && !slices.Contains(remarks[s.Table], r) {
				remarks[s.Table] = append(remarks[s.Table], r)
			}
		}
	}
	for _, tb := range tables {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", tb.ID, tb.System, tb.Conditions, tb.Source, tb.Trust, strings.Join(remarks[tb], ". "))
	}
}

// prefixed is a sentence with its beginning, or nothing.
func prefixed(head, s string) string {
	if s == "" {
		return ""
	}
	return head + s
}
