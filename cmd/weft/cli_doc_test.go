package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
)

// TestDocsCommandReference holds docs/reference/cli.md against the verbs as
// they are; -update writes it.
func TestDocsCommandReference(t *testing.T) {
	path := filepath.Join(repoRoot(t), "docs/reference/cli.md")
	want := commandPage(newRoot(&app{&term.Terminal{}}))
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "docs/reference/cli.md is stale; `make golden` rewrites it")
}

func commandPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("<!-- Generated from the command by `make golden`. -->\n# Verbs and flags\n\n")
	b.WriteString("The answer goes to standard output, with the warnings that a reader of it needs; errors and progress go to standard error, and so do the notes of\n" +
		"`weft bench --format csv`, whose columns have no place for them. How a verb ended is in its [exit code](exit-codes.md), what it takes from the environment in\n" +
		"[settings](settings.md).\n\n" +
		"Tables are as wide as they need; on a terminal, or where `COLUMNS` is set, they leave out columns and shorten words to fit, which `--format json` never does.\n")
	for _, c := range root.Commands() {
		if c.Hidden || c.Name() == "completion" || c.Name() == "help" {
			continue
		}
		fmt.Fprintf(&b, "\n## `%s`\n\n%s.\n", c.UseLine(), c.Short)
		if c.Long != "" {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Long))
		}
		fmt.Fprintf(&b, "\n```sh\n%s\n```\n", unindent(c.Example))
		rows := ""
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			name := "`--" + f.Name + "`"
			if f.Shorthand != "" {
				name = "`-" + f.Shorthand + "`, " + name
			}
			value, usage := pflag.UnquoteUsage(f)
			standard := f.DefValue
			if standard == "[]" || standard == "false" {
				standard = ""
			}
			rows += fmt.Sprintf("| %s | %s | %s | %s |\n", name, value, standard, strings.ReplaceAll(usage, "|", "\\|"))
		})
		if rows != "" {
			b.WriteString("\n| flag | value | default | meaning |\n|---|---|---|---|\n" + rows)
		}
	}
	return b.String()
}

func unindent(example string) string {
	lines := strings.Split(strings.Trim(example, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

// TestEveryVerbHasExamples: help without an example is half a help.
func TestEveryVerbHasExamples(t *testing.T) {
	for _, c := range newRoot(&app{&term.Terminal{}}).Commands() {
		if c.Hidden || c.Name() == "completion" {
			continue
		}
		assert.Contains(t, c.Example, "weft "+c.Name(), "weft %s", c.Name())
		assert.NotEmpty(t, c.Short, "weft %s", c.Name())
	}
}
